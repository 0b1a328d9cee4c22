"""H1. Among other middlewares, mounted, nested, with and without a lifespan."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import request, started
from fronts import serving
from misbehaving import AppUpstream, completion, ending, says
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Mount, Route
from wire import PATIENCE, Reply, fetch

from responses_middleware import ResponsesMiddleware

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

BODY = json.dumps(request(stream=True)).encode()
WHOLE_BODY = json.dumps(request()).encode()
STARLETTE = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # not on trio: test_h_asgi.py says why


class Signed(BaseHTTPMiddleware):
    async def dispatch(self, request: Any, call_next: Any) -> Any:
        response = await call_next(request)
        response.headers["x-signed"] = "1"
        return response


def chat_app(*, inside: Callable[[Starlette], None] = lambda app: None) -> Starlette:
    async def complete(scope_request: Any) -> Any:
        payload = await scope_request.json()
        if not payload.get("stream"):
            return JSONResponse(completion("Hello"))

        async def pieces() -> AsyncIterator[Any]:
            for piece in (*says("Hel", "lo"), *ending()):
                yield piece

        return StreamingResponse(pieces(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    inside(app)
    app.add_middleware(ResponsesMiddleware)
    return app


async def both(url: str, path: str = "/v1/responses", **options: Any) -> list[Reply]:
    return [await fetch(url + path, body, path=path, **options) for body in (BODY, WHOLE_BODY)]


INSIDE: dict[str, Callable[[Starlette], None]] = {
    "gzip": lambda app: app.add_middleware(GZipMiddleware, minimum_size=1),
    "BaseHTTPMiddleware": lambda app: app.add_middleware(Signed),
    "cors": lambda app: app.add_middleware(CORSMiddleware, allow_origins=["https://a.example"]),
    "all": lambda app: [app.add_middleware(kind) for kind in (GZipMiddleware, Signed, Signed)] and None,
}


@STARLETTE
@pytest.mark.parametrize("name", INSIDE)
async def test_h1_middlewares_inside_do_no_harm(anyio_backend: str, name: str) -> None:
    async with serving(chat_app(inside=INSIDE[name])) as url:
        headers = [("Accept-Encoding", "gzip"), ("Origin", "https://a.example")]
        replies = await both(url, headers=headers)

    assert [reply.text for reply in replies] == ["Hello", "Hello"]
    assert all(reply.clean and reply.header("content-encoding") == [] for reply in replies)
    if name == "cors":
        assert replies[0].header("access-control-allow-origin") == ["https://a.example"]


@STARLETTE
async def test_h1_gzip_around_us_compresses_what_we_write(anyio_backend: str) -> None:
    app = chat_app()
    app.add_middleware(GZipMiddleware, minimum_size=1)
    async with serving(app) as url:
        _, whole_reply = await both(url, headers=[("Accept-Encoding", "gzip")])

    assert whole_reply.header("content-encoding") == ["gzip"]
    assert json.loads(gzip.decompress(whole_reply.body))["status"] == "completed"


@STARLETTE
async def test_h1_base_http_middleware_around_us_does_no_harm(anyio_backend: str) -> None:
    app = chat_app()
    app.add_middleware(Signed)
    async with serving(app) as url:
        replies = await both(url)

    assert [(reply.text, reply.header("x-signed")) for reply in replies] == [("Hello", ["1"])] * 2


@STARLETTE
async def test_h1_authentication_around_us_decides_first(anyio_backend: str) -> None:
    from starlette.authentication import AuthCredentials, AuthenticationBackend, AuthenticationError, SimpleUser

    class Backend(AuthenticationBackend):
        async def authenticate(self, conn: Any) -> Any:
            if conn.headers.get("authorization") != "Bearer right":
                raise AuthenticationError("no")
            return AuthCredentials(["x"]), SimpleUser("anna")

    app = chat_app()
    app.add_middleware(AuthenticationMiddleware, backend=Backend())
    async with serving(app) as url:
        statuses = [
            (await fetch(f"{url}/v1/responses", BODY, headers=[("Authorization", f"Bearer {key}")])).status
            for key in ("wrong", "right")
        ]

    assert statuses == [400, 200]


async def test_h1_a_mounted_app_works_and_needs_no_lifespan(anyio_backend: str) -> None:
    outer = Starlette(routes=[Mount("/openai", app=ResponsesMiddleware(AppUpstream()))])
    async with serving(outer) as url:
        replies = await both(url, "/openai/v1/responses")
        elsewhere = await fetch(f"{url}/v1/responses", BODY)

    assert [reply.outcome for reply in replies] == ["completed"] * 2
    assert elsewhere.status == 404


async def test_h1_two_instances_nested_or_side_by_side_do_not_meet(anyio_backend: str) -> None:
    chat = AppUpstream()
    nested = ResponsesMiddleware(ResponsesMiddleware(chat))
    beside = ResponsesMiddleware(ResponsesMiddleware(chat, prefix="/a"), prefix="/b")
    async with serving(nested) as url:
        first = await both(url)
    async with serving(beside) as url:
        second = [*await both(url, "/a/responses"), *await both(url, "/b/responses")]

    assert [reply.outcome for reply in (*first, *second)] == ["completed"] * 6
    assert len(chat.asked) == 6


async def test_h1_an_app_whose_lifespan_fails_fails_as_without_us(
    anyio_backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        raise RuntimeError("no database")
        yield

    app = Starlette(lifespan=lifespan)
    app.add_middleware(ResponsesMiddleware)
    asked = [{"type": "lifespan.startup"}]
    answers: list[Any] = []

    async def receive() -> Any:
        return asked.pop()

    async def send(message: Any) -> None:
        answers.append(message)

    with pytest.raises(RuntimeError, match="no database"):
        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    assert [message["type"] for message in answers] == ["lifespan.startup.failed"]


async def test_h1_an_app_without_lifespan_is_served_all_the_same(anyio_backend: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        await AppUpstream()(scope, receive, send)

    middleware = ResponsesMiddleware(app)
    with anyio.fail_after(PATIENCE):
        async with started(middleware):
            pass
    async with serving(middleware) as url:
        assert [reply.outcome for reply in await both(url)] == ["completed"] * 2
