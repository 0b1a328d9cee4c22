"""A client that leaves: the app is told at once and cancelled within a second, and nothing is finished in its name."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
from asgi_client import PATIENCE, Exchange, ask, request, started
from chat_app import JSON, SSE, ChatApp, completion, frame, frames, read_body, serving, streamed, whole
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import StreamingResponse
from starlette.routing import Route

from responses_middleware import Limits, MemoryStore, ResponsesMiddleware

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio

PROMISED = 1.0  # seconds from leaving to the cancellation
BUSY = 1.0  # and what a busy machine may add

START = {"type": "http.response.start", "status": 200, "headers": [SSE]}
JSON_START = {"type": "http.response.start", "status": 200, "headers": [JSON]}


def body(data: bytes) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": True}


STAGES = {
    "before the headers": (False, []),
    "before the first token": (True, [START]),
    "between tokens": (True, [START, body(frame("Hel"))]),
    "inside JSON": (False, [JSON_START, body(b'{"choices": [')]),
}


class WaitingApp:
    """Says something and waits; `told` when it gets http.disconnect, `cancelled` when that is ignored."""

    def __init__(self, messages: list[Message], *, obeys: bool = False) -> None:
        self.waiting = anyio.Event()
        self.told = anyio.Event()
        self.ended = anyio.Event()
        self.was_cancelled = False
        self._messages = messages
        self._obeys = obeys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        await read_body(receive)
        try:
            for message in self._messages:
                await send(message)
            self.waiting.set()
            assert await receive() == {"type": "http.disconnect"}
            self.told.set()
            if not self._obeys:
                await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.was_cancelled = True
            raise
        finally:
            self.ended.set()


LIFESPANS = [*((stage, True) for stage in STAGES), ("between tokens", False)]


@pytest.mark.parametrize(("stage", "lifespan"), LIFESPANS)
async def test_the_app_is_told_and_then_cancelled_within_a_second(stage: str, lifespan: bool) -> None:
    stream, messages = STAGES[stage]
    app = WaitingApp(messages)
    middleware = ResponsesMiddleware(app)

    async with (
        started(middleware, really=lifespan),
        Exchange(middleware, request(stream=stream)).running() as exchange,
    ):
        await app.waiting.wait()
        exchange.leave()
        with anyio.fail_after(PROMISED + BUSY):
            await app.told.wait()
            await app.ended.wait()

    assert app.was_cancelled


@pytest.mark.parametrize("stage", STAGES)
async def test_an_app_that_obeys_ends_its_own_way(stage: str) -> None:
    stream, messages = STAGES[stage]
    app = WaitingApp(messages, obeys=True)

    async with Exchange(ResponsesMiddleware(app), request(stream=stream)).running() as exchange:
        await app.waiting.wait()
        exchange.leave()

    assert not app.was_cancelled
    assert b"response.completed" not in exchange.body


@pytest.mark.parametrize("stage", STAGES)
async def test_nothing_is_sent_and_nothing_is_stored_when_the_client_has_left(stage: str) -> None:
    stream, messages = STAGES[stage]
    app = WaitingApp(messages, obeys=True)
    kept: list[Any] = []

    class Store(MemoryStore):
        async def put(self, owner: str, row: Any) -> None:
            kept.append(row)

    middleware = ResponsesMiddleware(app, store=Store(max_bytes=None, max_rows=None, ttl=None))
    async with Exchange(middleware, request(stream=stream)).running() as exchange:
        await app.waiting.wait()
        before = list(exchange.messages)
        exchange.leave()

    assert exchange.messages == before
    assert [row.response["status"] for row in kept if row.response["status"] == "completed"] == []


@pytest.mark.parametrize("lifespan", [True, False])
async def test_an_app_that_never_reads_behind_its_body_is_cancelled(lifespan: bool) -> None:
    waiting, cancelled = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        try:
            waiting.set()
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    middleware = ResponsesMiddleware(app)
    async with started(middleware, really=lifespan), Exchange(middleware, request(stream=True)).running() as exchange:
        await waiting.wait()
        exchange.leave()
        with anyio.fail_after(PROMISED + BUSY):
            await cancelled.wait()


async def endless(scope: Scope, receive: Receive, send: Send) -> None:
    await send(START)
    while True:
        await send(body(frame("a")))
        await anyio.sleep(0.01)  # the pace of a model


@pytest.mark.parametrize("stream", [True, False])
async def test_an_endless_app_is_stopped_by_the_disconnect(stream: bool) -> None:
    middleware = ResponsesMiddleware(endless)

    async with Exchange(middleware, request(stream=stream)).running() as exchange:
        await (exchange.until(b'"delta":"a"') if stream else anyio.wait_all_tasks_blocked())
        exchange.leave()


async def test_with_asgi_2_4_an_endless_app_is_stopped_by_the_error_of_send() -> None:
    exchange = Exchange(ResponsesMiddleware(endless), request(stream=True), spec_version="2.4")

    async with anyio.create_task_group() as group:

        async def run() -> None:
            with pytest.raises(OSError, match="the client has left"):
                await exchange.run()

        group.start_soon(run)
        await exchange.until(b'"delta":"a"')
        exchange.leave()

    assert "response.failed" not in exchange.kinds
    assert "error" not in exchange.kinds


async def test_the_error_of_send_reaches_the_app() -> None:
    raised: list[Exception] = []
    gate = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(START)
        await send(body(frame("Hel")))
        await gate.wait()
        try:
            await send(body(frame("lo")))
        except OSError as error:
            raised.append(error)
            raise

    exchange = Exchange(ResponsesMiddleware(app), request(stream=True), spec_version="2.4")
    async with anyio.create_task_group() as group:

        async def run() -> None:
            with pytest.raises(OSError, match="the client has left"):
                await exchange.run()

        group.start_soon(run)
        await exchange.until(b'"delta":"Hel"')
        exchange.leave()
        gate.set()

    assert len(raised) == 1
    assert b"response.failed" not in exchange.body


class Streaming:
    """A Starlette app whose stream never ends; `ended` when its call has, `closed` when its generator has."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.closed = anyio.Event()
        self._app = Starlette(routes=[Route("/v1/chat/completions", self._complete, methods=["POST"])])

    async def _complete(self, request: Any) -> StreamingResponse:
        return StreamingResponse(self._pieces(), media_type="text/event-stream")

    async def _pieces(self) -> Any:
        try:
            while True:
                yield frame("a")
                await anyio.sleep(0.01)
        finally:
            self.closed.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http":
                self.ended.set()


async def run_although_the_client_leaves(exchange: Exchange) -> None:
    try:
        await exchange.run()
    except* OSError:
        assert exchange.scope["asgi"]["spec_version"] == "2.4"


@pytest.mark.filterwarnings("ignore:.*garbage collected before it had been exhausted:ResourceWarning")  # by trio
@pytest.mark.parametrize("spec_version", ["2.3", "2.4"])
@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("lifespan", [False, True])
async def test_a_streaming_response_of_starlette_is_stopped(spec_version: str, around: bool, lifespan: bool) -> None:
    async def dispatch(request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        return await call_next(request)

    streaming = Streaming()
    app: Any = ResponsesMiddleware(streaming)
    if around:
        app = BaseHTTPMiddleware(app, dispatch)
    exchange = Exchange(app, request(stream=True), spec_version=spec_version)

    async with started(app, really=lifespan), anyio.create_task_group() as group:
        group.start_soon(run_although_the_client_leaves, exchange)
        await exchange.until(b'"delta":"a"')
        exchange.leave()
        with anyio.fail_after(PROMISED + BUSY):
            await streaming.ended.wait()

    assert b"response.completed" not in exchange.body


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_generator_of_the_app_is_closed_at_once_as_it_is_without_us() -> None:
    streaming = Streaming()
    exchange = Exchange(ResponsesMiddleware(streaming), request(stream=True), spec_version="2.4")

    async with anyio.create_task_group() as group:
        group.start_soon(run_although_the_client_leaves, exchange)
        await exchange.until(b'"delta":"a"')
        exchange.leave()
        with anyio.fail_after(PROMISED + BUSY):  # nothing of ours may hold it until the garbage collector comes
            await streaming.closed.wait()


async def test_a_client_that_left_in_the_middle_of_its_request_never_reaches_the_app() -> None:
    app = ChatApp()
    exchange = Exchange(ResponsesMiddleware(app), [b'{"model": "m", ', b'"input": "hi"}'], whole=False)

    async with exchange.running():
        exchange.leave()

    assert app.scopes == []
    assert exchange.messages == []


async def test_an_app_that_raises_at_the_disconnect_has_nobody_to_tell() -> None:
    waiting = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        waiting.set()
        await receive()
        raise RuntimeError("disconnected")

    exchange = Exchange(ResponsesMiddleware(app), request(stream=True))
    async with anyio.create_task_group() as group:

        async def run() -> None:
            with suppress(RuntimeError):  # whether the server hears of it is not decided
                await exchange.run()

        group.start_soon(run)
        await waiting.wait()
        exchange.leave()

    assert exchange.messages == []


async def test_a_slot_is_free_again_after_the_client_has_left() -> None:
    app = WaitingApp([START], obeys=True)
    middleware = ResponsesMiddleware(app, limits=Limits(max_concurrent=1))

    async with Exchange(middleware, request(stream=True)).running() as exchange:
        await app.waiting.wait()
        refused = await ask(middleware)
        exchange.leave()
    after = await Exchange(middleware, b"[]").run()

    assert refused.status == 503
    assert after.status == 400


# -- cancellation of the whole request, as servers do it at a stop or a timeout
@pytest.mark.parametrize("lifespan", [True, False])
@pytest.mark.parametrize("stage", STAGES)
async def test_cancellation_goes_through_and_completes_nothing(stage: str, lifespan: bool) -> None:
    stream, messages = STAGES[stage]
    app = WaitingApp(messages)
    middleware = ResponsesMiddleware(app)
    exchange = Exchange(middleware, request(stream=stream))

    async with started(middleware, really=lifespan):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(exchange.run)
                await app.waiting.wait()
                scope.cancel()

    assert scope.cancelled_caught
    assert app.was_cancelled
    assert b"response.completed" not in exchange.body


async def test_cancellation_while_the_client_does_not_read_goes_through() -> None:
    reading = anyio.Event()
    exchange = Exchange(ResponsesMiddleware(ChatApp()), request(stream=True), blocked=reading)

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(exchange.run)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()

    assert scope.cancelled_caught


# -- a real server
async def test_a_client_that_hangs_up_on_a_real_server_stops_the_app() -> None:
    stopped = threading.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        try:
            await endless(scope, receive, send)
        finally:
            stopped.set()

    asked = json.dumps(request(stream=True)).encode()
    head = b"POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(asked)
    with serving(ResponsesMiddleware(app)) as url:
        async with await anyio.connect_tcp("127.0.0.1", int(url.rpartition(":")[2])) as client:
            await client.send(head + asked)
            with anyio.fail_after(PATIENCE):
                while b'"delta":"a"' not in await client.receive():
                    pass

        assert await anyio.to_thread.run_sync(stopped.wait, PROMISED + BUSY)


async def test_the_next_request_is_served_after_a_client_has_left() -> None:
    gate = anyio.Event()
    middleware = ResponsesMiddleware(ChatApp(streamed(frame("Hel"), gate, *frames("lo")), whole(completion("next"))))

    async with Exchange(middleware, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        exchange.leave()
    after = await ask(middleware)

    assert after.text == "next"
