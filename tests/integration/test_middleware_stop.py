"""A graceful stop: what ends in time is whole, the rest is told that it is not, and nothing new begins."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from asgi_client import Exchange, ask, request, started
from chat_app import HELLO, ChatApp, frame, frames, streamed
from starlette.testclient import TestClient

from responses_middleware import Limits, ResponsesMiddleware

pytestmark = pytest.mark.anyio


def stopping(app: Any, grace: float) -> ResponsesMiddleware:
    return ResponsesMiddleware(app, limits=Limits(grace=grace))


async def test_a_stream_that_ends_within_grace_is_completed() -> None:
    gate = anyio.Event()
    middleware = stopping(ChatApp(streamed(frame("Hel"), gate, *frames("lo"))), grace=10)

    async with started(middleware) as lifespan, Exchange(middleware, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        async with anyio.create_task_group() as group:
            group.start_soon(lifespan.stop)
            await anyio.wait_all_tasks_blocked()
            gate.set()

    assert (exchange.kinds[-1], exchange.text) == ("response.completed", "Hello")


async def test_a_stream_that_takes_longer_gets_a_terminal_event_that_is_not_completed() -> None:
    middleware = stopping(ChatApp(streamed(frame("Hel"), anyio.Event())), grace=0.2)

    async with started(middleware) as lifespan, Exchange(middleware, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        await lifespan.stop()

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")
    assert exchange.ended


@pytest.mark.parametrize("stream", [True, False])
async def test_a_request_without_an_answer_yet_is_a_503_at_once(stream: bool) -> None:
    middleware = stopping(ChatApp(streamed(anyio.Event())), grace=10)

    async with started(middleware) as lifespan, Exchange(middleware, request(stream=stream)).running() as exchange:
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5):
            await lifespan.stop()

    assert (exchange.status, exchange.header(b"retry-after")) == (503, [b"1"])
    assert exchange.error["code"] == "server_is_overloaded"


async def test_no_request_begins_any_more() -> None:
    gate = anyio.Event()
    app = ChatApp(streamed(frame("Hel"), gate, *frames("lo")))
    middleware = stopping(app, grace=10)

    async with started(middleware) as lifespan, Exchange(middleware, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        async with anyio.create_task_group() as group:
            group.start_soon(lifespan.stop)
            await anyio.wait_all_tasks_blocked()
            refused = await ask(middleware)
            gate.set()

    assert refused.status == 503
    assert len(app.scopes) == 1


async def test_the_app_shuts_down_when_its_last_answer_has_ended() -> None:
    gate, log = anyio.Event(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await ChatApp(streamed(frame("Hel"), gate, *frames("lo")))(scope, receive, send)
            log.append("answered")
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        log.append("shutting down")
        await send({"type": "lifespan.shutdown.complete"})

    middleware = stopping(app, grace=10)
    async with started(middleware) as lifespan, Exchange(middleware, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        async with anyio.create_task_group() as group:
            group.start_soon(lifespan.stop)
            await anyio.wait_all_tasks_blocked()
            gate.set()

    assert log == ["answered", "shutting down"]
    assert lifespan.said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_an_idle_app_stops_at_once() -> None:
    middleware = stopping(ChatApp(), grace=60)
    await ask(middleware, stream=True)

    async with started(middleware) as lifespan:
        with anyio.fail_after(5):
            await lifespan.stop()


async def test_one_app_may_be_started_again() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    answers = []
    for _ in range(2):
        async with started(middleware):
            answers.append((await ask(middleware, stream=True)).status)

    assert answers == [200, 200]


@pytest.mark.parametrize("requests", [0, 1])
def test_one_app_may_be_started_again_in_another_event_loop(anyio_backend: Any, requests: int) -> None:
    middleware = ResponsesMiddleware(ChatApp())
    with TestClient(middleware, backend=anyio_backend) as client:
        for _ in range(requests):
            client.post("/v1/responses", json=request())

    with TestClient(middleware, backend=anyio_backend) as client:
        answer = client.post("/v1/responses", json=request())

    assert (answer.status_code, answer.json()["status"]) == (200, "completed")


async def test_an_app_that_was_stopped_takes_requests_again() -> None:
    app = ChatApp(streamed(frame("Hel"), anyio.Event()), HELLO)
    middleware = stopping(app, grace=0.2)
    async with started(middleware) as lifespan, Exchange(middleware, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        await lifespan.stop()

    again = await ask(middleware, stream=True)
    async with started(middleware):
        once_more = await ask(middleware, stream=True)

    assert exchange.kinds[-1] == "response.failed"
    assert [(answer.status, answer.text) for answer in (again, once_more)] == [(200, "Hello")] * 2
