"""The lifespan: that of the app runs as if we were not there, and is spoken for an app that has none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import request
from chat_app import ChatApp, completion
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from responses_middleware import ResponsesMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio


def test_the_lifespan_of_the_app_runs_and_its_state_is_shared(anyio_backend: Any) -> None:
    log: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, str]]:
        log.append("start")
        yield {"name": "shared"}
        log.append("stop")

    async def complete(request: Any) -> Response:
        log.append(request.state.name)
        return JSONResponse(completion())

    route = Route("/v1/chat/completions", complete, methods=["POST"])
    app = ResponsesMiddleware(Starlette(routes=[route], lifespan=lifespan))
    with TestClient(app, backend=anyio_backend) as client:
        client.post("/v1/responses", json=request())

    assert log == ["start", "shared", "stop"]


async def speak_lifespan(app: ASGIApp, *, asked: tuple[str, ...] = ("startup", "shutdown")) -> list[Message]:
    """Play the server's side of the lifespan; what the app said."""
    questions = [{"type": f"lifespan.{name}"} for name in asked]
    said: list[Message] = []

    async def receive() -> Message:
        return questions.pop(0)

    async def send(message: Message) -> None:
        said.append(message)

    with anyio.fail_after(5):
        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)
    return said


COMPLETE = [{"type": "lifespan.startup.complete"}, {"type": "lifespan.shutdown.complete"}]


async def test_the_lifespan_is_spoken_for_an_app_that_raises_at_it() -> None:
    assert await speak_lifespan(ResponsesMiddleware(ChatApp())) == COMPLETE


async def test_the_lifespan_is_spoken_for_an_app_that_returns_from_it() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        return

    assert await speak_lifespan(ResponsesMiddleware(app)) == COMPLETE


async def test_the_lifespan_is_spoken_for_an_app_that_raises_behind_the_question() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        raise AssertionError("http only")

    assert await speak_lifespan(ResponsesMiddleware(app)) == COMPLETE


async def test_a_failed_startup_of_the_app_is_told_to_the_server() -> None:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        raise RuntimeError("no database")
        yield

    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        said.append(message)

    with pytest.raises(RuntimeError, match="no database"):
        await ResponsesMiddleware(Starlette(lifespan=lifespan))({"type": "lifespan", "state": {}}, receive, send)

    assert [message["type"] for message in said] == ["lifespan.startup.failed"]


async def test_messages_of_the_apps_lifespan_pass_as_they_are() -> None:
    failed = {"type": "lifespan.shutdown.failed", "message": "left open"}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send(COMPLETE[0])
        await receive()
        await send(failed)

    assert await speak_lifespan(ResponsesMiddleware(app)) == [COMPLETE[0], failed]
