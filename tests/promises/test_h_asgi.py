"""H. ASGI citizenship: a good guest in the wrapped app's process, on both loops.

H7, the servers, and the rest of H1, where it may stand, have modules of their own.
"""

from __future__ import annotations

import contextvars
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import request
from fronts import bridge_of, serving
from misbehaving import CUT, SECRET, SSE, STALL, Answer, by_model, completion, ending, says, streamed, whole
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse
from starlette.routing import Route
from wire import PATIENCE, calling, fetch, http_request

from responses_middleware import ResponsesMiddleware, ResponsesProxy

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

pytestmark = pytest.mark.anyio

STARLETTE = pytest.mark.parametrize("anyio_backend", ["asyncio"])
"""Starlette 1.10 streaming on hypercorn's trio worker never closes its connection, without us too: it takes the
disconnect that hypercorn 0.18 tells in the middle of the last `send` for a client that left, and cancels that send."""

BODY = json.dumps(request(stream=True)).encode()


def start(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": [SSE, *headers]}


def part(data: Any, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}


def http_only(app: ASGIApp) -> ResponsesMiddleware:
    """The middleware around an app that knows no lifespan, and says so as the ASGI specification lets it."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        await app(scope, receive, send)

    return ResponsesMiddleware(guarded)


async def read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


# -- H1
def test_h1_it_is_pure_asgi() -> None:
    for kind in (ResponsesMiddleware, ResponsesProxy):
        assert kind.__mro__ == (kind, object)
    script = (
        "import responses_middleware, sys; "
        "assert not [name for name in sys.modules if name.startswith(('starlette', 'fastapi'))], 'imports starlette'"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])


async def test_h1_each_event_is_sent_before_the_next_frame_is_written(form: str) -> None:
    steps = [anyio.Event() for _ in range(3)]
    answer = Answer([*says("a"), steps[0], *says("b"), steps[1], *says("c"), steps[2], *ending()])
    async with bridge_of(form, answer) as bridge, bridge.asking() as caller:
        for letter, step in zip("abc", steps, strict=True):
            await caller.until(b'"delta":"%b"' % letter.encode())
            step.set()
        reply = await caller.rest()

    assert reply.check_stream().text == "abc"


# -- H2
async def test_h2_receive_behind_the_body_waits_for_the_real_disconnect(anyio_backend: str) -> None:
    early: list[bool] = []
    told = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        with anyio.move_on_after(0.3) as waiting:
            await receive()
        early.append(not waiting.cancelled_caught)
        await send(start())
        await send(part(b"".join(says("Hello"))))  # type: ignore[arg-type]
        assert (await receive())["type"] == "http.disconnect"
        told.set()

    async with serving(http_only(app)) as url:
        async with calling(url, http_request(f"{url}/v1/responses", BODY)) as caller:
            await caller.until(b'"delta":"Hello"')
        with anyio.fail_after(PATIENCE):
            await told.wait()

    assert early == [False]


async def test_h2_the_whole_chat_request_comes_in_one_message_with_its_right_length(anyio_backend: str) -> None:
    async with bridge_of("app") as bridge:
        await bridge.ask(input="x" * 100_000)
        [asked] = bridge.asked

    assert asked.header(b"content-length") == [b"%d" % len(asked.body)]
    assert [name for name, _ in asked.headers if name != name.lower()] == []
    assert asked.path == "/v1/chat/completions"


# -- H3
FAULTS: dict[str, tuple[Answer, str]] = {
    "raises before the start": (Answer([], before=[RuntimeError(SECRET)]), "http 500"),
    "raises behind the start": (Answer([RuntimeError(SECRET)]), "http 500"),
    "raises in the middle": (Answer([*says("Hello"), RuntimeError(SECRET)]), "failed"),
    "raises OSError before the start": (Answer([], before=[ConnectionRefusedError(SECRET)]), "http 500"),
    "raises OSError in the middle": (Answer([*says("Hello"), ConnectionResetError(SECRET)]), "failed"),
    "returns without an answer": (Answer([], before=[CUT]), "http 502"),
    "returns without a body": (Answer([CUT]), "http 502"),
    "returns without the last message": (Answer([*says("Hello"), CUT]), "failed"),
}


async def test_h3_a_fault_of_the_wrapped_app_is_an_error_object_or_failed(anyio_backend: str, subtests: Any) -> None:
    async with bridge_of("app", by_model({name: answer for name, (answer, _) in FAULTS.items()})) as bridge:
        for name, (_, outcome) in FAULTS.items():
            with subtests.test(name):
                reply = await bridge.ask(model=name)

                assert reply.outcome == outcome
                if outcome != "failed":
                    assert reply.error["type"] == "server_error"
        assert (await bridge.ask(model="returns without a body", stream=False)).status == 502


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_h3_an_exception_is_raised_on_to_the_servers_log_once(
    anyio_backend: str, caplog: pytest.LogCaptureFixture, subtests: Any
) -> None:
    async with bridge_of("app", by_model({name: answer for name, (answer, _) in FAULTS.items()})) as bridge:
        for name in FAULTS:
            if name.startswith("raises"):
                with subtests.test(name):
                    caplog.clear()
                    await bridge.ask(model=name)
                    raised = [each for each in caplog.records if each.exc_info and SECRET in str(each.exc_info[1])]

                    assert [each.name for each in raised] == ["uvicorn.error"]


async def test_h3_messages_out_of_order_are_a_failure_not_an_exception_for_the_client(anyio_backend: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if json.loads(await read_body(receive))["model"] == "early":
            await send(part(b"x"))
        await send(start())
        await send(start())

    async with serving(http_only(app)) as url:
        replies = [
            await fetch(f"{url}/v1/responses", json.dumps(request(model=model)).encode())
            for model in ("early", "twice")
        ]

    assert [reply.status >= 500 for reply in replies] == [True, True]
    assert [reply.error["type"] for reply in replies] == ["server_error"] * 2


# -- H4
async def test_h4_background_work_runs_to_its_end_and_delays_nobody(anyio_backend: str) -> None:
    go_on, done = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        await send(start())
        for piece in (*says("Hello"), *ending(), b": one more\n\n"):
            await send(part(piece))
        await send(part(b"", more=False))
        await go_on.wait()
        done.set()

    async with serving(http_only(app)) as url, calling(url, http_request(f"{url}/v1/responses", BODY)) as caller:
        await caller.until(b"event: response.completed")
        was_done = done.is_set()
        go_on.set()
        with anyio.fail_after(PATIENCE):
            await done.wait()
        reply = await caller.rest()

    assert not was_done
    assert reply.check_stream().text == "Hello"


@STARLETTE
async def test_h4_a_background_task_of_starlette_runs_too(anyio_backend: str) -> None:
    done = anyio.Event()

    async def work() -> None:
        done.set()

    async def complete(scope_request: Any) -> StreamingResponse:
        async def pieces() -> AsyncIterator[Any]:
            for piece in (*says("Hello"), *ending()):
                yield piece

        return StreamingResponse(pieces(), media_type="text/event-stream", background=BackgroundTask(work))

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    app.add_middleware(ResponsesMiddleware)
    async with serving(app) as url:
        reply = await fetch(f"{url}/v1/responses", BODY)
        with anyio.fail_after(PATIENCE):
            await done.wait()

    assert reply.check_stream().text == "Hello"


async def test_h4_background_work_goes_on_when_the_client_leaves_behind_its_answer(anyio_backend: str) -> None:
    go_on, done = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        await send(start())
        await send(part(b"".join([*says("Hello"), *ending()]), more=False))  # type: ignore[list-item]
        await go_on.wait()
        await anyio.sleep(0.7)  # more than twice _FAREWELL_OF_APP of engine/turns.py: what an app has that was told
        done.set()

    async with serving(http_only(app)) as url:
        async with calling(url, http_request(f"{url}/v1/responses", BODY)) as caller:
            await caller.until(b"event: response.completed")
        go_on.set()
        with anyio.fail_after(PATIENCE):
            await done.wait()


# -- H5
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


async def test_h5_context_variables_are_those_of_the_requests_own_task(anyio_backend: str) -> None:
    seen: dict[str, list[str]] = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        model = json.loads(await read_body(receive))["model"]
        token = VARIABLE.set(f"inner of {VARIABLE.get()}")
        await send(start())
        for piece in (*says("Hel", "lo"), *ending()):
            await send(part(piece))
            await anyio.sleep(0.001)
            seen.setdefault(model, []).append(VARIABLE.get())
        VARIABLE.reset(token)  # raises in another context
        await send(part(b"", more=False))

    middleware = http_only(app)

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            VARIABLE.set(dict(scope["headers"])[b"x-name"].decode())
        await middleware(scope, receive, send)

    async with serving(outer) as url, anyio.create_task_group() as group:

        async def one(name: str) -> None:
            body = json.dumps(request(model=name, stream=True)).encode()
            reply = await fetch(f"{url}/v1/responses", body, headers=[("X-Name", name)])
            assert reply.check_stream().outcome == "completed"

        for number in range(20):
            group.start_soon(one, f"m{number}")

    assert seen == {f"m{n}": [f"inner of m{n}"] * 6 for n in range(20)}


async def test_h5_the_state_of_the_request_is_the_same_object(anyio_backend: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        scope["state"]["inner"] = scope["state"]["outer"] + 1
        await send(start())
        await send(part(b"".join([*says("Hello"), *ending()]), more=False))  # type: ignore[list-item]

    middleware, states = http_only(app), []

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["state"] = {"outer": 1}
            states.append(scope["state"])
        await middleware(scope, receive, send)

    async with serving(outer) as url:
        await fetch(f"{url}/v1/responses", BODY)

    assert states == [{"outer": 1, "inner": 2}]


# -- H6
@pytest.mark.parametrize("stream", [True, False])
async def test_h6_cancellation_goes_through_and_completes_nothing(form: str, stream: bool) -> None:
    async with bridge_of(form, Answer([*says("Hello"), STALL])) as bridge:
        sent: list[Any] = []
        cancelled: list[bool] = []

        body = [json.dumps(request(stream=stream)).encode()]

        async def receive() -> Any:
            if not body:
                await anyio.sleep_forever()
            return {"type": "http.request", "body": body.pop(), "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/v1/responses", "headers": [], "query_string": b""}

        async def run(group: Any) -> None:
            with anyio.CancelScope() as cancelling:
                group.start_soon(cancel, cancelling)
                await bridge.middleware(scope, receive, send)
            cancelled.append(cancelling.cancelled_caught)

        async def cancel(cancelling: anyio.CancelScope) -> None:
            asked = await bridge.upstream.wait_asked()
            await asked.playing.wait()
            cancelling.cancel()

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                await run(group)
            await bridge.asked[0].left.wait()

    assert cancelled == [True]
    assert b"response.completed" not in b"".join(message.get("body", b"") for message in sent)
    assert not [message for message in sent if message.get("more_body") is False]


# -- H8
async def test_h8_headers_of_the_wrapped_app_stay_and_those_of_its_body_go(anyio_backend: str, subtests: Any) -> None:
    kept = [
        *((b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"x-request-id", b"r1"), (b"x-own", b"1")),
        *((b"vary", b"x"), (b"access-control-allow-origin", b"*"), (b"x-ratelimit-remaining", b"5")),
    ]
    gone = [(b"etag", b"e"), (b"content-md5", b"m"), (b"content-encoding", b"identity"), (b"last-modified", b"l")]
    table = {
        "sse": streamed("Hello", headers=[*kept, *gone]),
        "json": whole(completion("Hello"), headers=[*kept, *gone]),
        "error": whole({"error": "x"}, status=429, headers=[*kept, *gone]),
    }
    async with bridge_of("app", by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    for key, value in kept:
                        assert value.decode() in reply.header(key.decode())
                    assert len(reply.header("set-cookie")) == 2
                    assert not [key for key, _ in gone if reply.header(key.decode())]
