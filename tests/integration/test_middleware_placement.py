"""Where the middleware may stand, and that everything that is not its own passes as if it were not there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import Exchange, ask, request
from chat_app import ChatApp, completion, frame, frames, read_body, streamed, whole
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute

from responses_middleware import ResponsesMiddleware

if TYPE_CHECKING:
    from conftest import ClientOf
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from starlette.websockets import WebSocket

pytestmark = pytest.mark.anyio


async def chat(request: Any) -> Response:
    """The chat handler of a plain Starlette app."""
    asked = await request.json()
    if asked.get("stream"):
        return StreamingResponse(pieces(), media_type="text/event-stream")
    return JSONResponse(completion("Hello"))


async def pieces() -> AsyncIterator[bytes]:
    for piece in frames("Hel", "lo"):
        yield piece


CHAT = Route("/v1/chat/completions", chat, methods=["POST"])


def starlette(*routes: Any) -> Starlette:
    app = Starlette(routes=[CHAT, *routes])
    app.add_middleware(ResponsesMiddleware)
    return app


def fastapi() -> FastAPI:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(asked: dict[str, Any]) -> Any:
        if asked.get("stream"):
            return StreamingResponse(pieces(), media_type="text/event-stream")
        return completion("Hello")

    app.add_middleware(ResponsesMiddleware)
    return app


def wrapped() -> ASGIApp:
    return ResponsesMiddleware(Starlette(routes=[CHAT]))


@pytest.mark.parametrize("make", [starlette, fastapi, wrapped])
@pytest.mark.parametrize("stream", [True, False])
async def test_one_line_serves_responses(make: Any, stream: bool) -> None:
    exchange = await ask(make(), stream=stream)

    assert (exchange.status, exchange.response["status"], exchange.text) == (200, "completed", "Hello")


@pytest.mark.parametrize("make", [starlette, fastapi, wrapped])
def test_it_works_with_the_lifespan_of_the_app_running(make: Any, client_of: ClientOf) -> None:
    client = client_of(make())

    response = client.post("/v1/responses", json=request())

    assert response.json()["output"][0]["content"][0]["text"] == "Hello"


# -- below a mount, behind a prefix
async def test_it_may_stand_below_a_mount() -> None:
    app = Starlette(routes=[Mount("/openai", starlette())])

    exchange = await ask(app, stream=True, exchange={"path": "/openai/v1/responses"})

    assert exchange.text == "Hello"


async def test_it_may_stand_above_a_mount() -> None:
    app = Starlette(routes=[Mount("/openai", Starlette(routes=[CHAT]))])

    exchange = await ask(ResponsesMiddleware(app, prefix="/openai/v1"), exchange={"path": "/openai/v1/responses"})

    assert exchange.text == "Hello"


async def test_below_a_mount_other_paths_are_those_of_the_app() -> None:
    app = Starlette(routes=[Mount("/openai", starlette())])

    exchange = await ask(app, exchange={"path": "/v1/responses"})

    assert exchange.status == 404


@pytest.mark.parametrize("path", ["/api/v1/responses", "/v1/responses"])
async def test_a_root_path_is_honoured_whether_it_stands_in_the_path_or_not(path: str) -> None:
    app = ChatApp(whole(completion()))

    exchange = await ask(ResponsesMiddleware(app), exchange={"path": path, "root_path": "/api"})

    assert exchange.status == 200
    assert app.scopes[0]["path"] == path.replace("responses", "chat/completions")
    assert app.scopes[0]["root_path"] == "/api"


async def test_the_raw_path_is_that_of_the_chat_request() -> None:
    app = ChatApp(whole(completion()))

    await ask(ResponsesMiddleware(app))

    assert app.scopes[0]["raw_path"] == b"/v1/chat/completions"


@pytest.mark.parametrize(
    ("prefix", "path", "chat_path"),
    [("", "/responses", "/chat/completions"), ("/a/b/", "/a/b/responses", "/a/b/chat/completions")],
)
async def test_the_prefix_may_be_another(prefix: str, path: str, chat_path: str) -> None:
    app = ChatApp(whole(completion()))

    await ask(ResponsesMiddleware(app, prefix=prefix), exchange={"path": path})

    assert app.scopes[0]["path"] == chat_path


@pytest.mark.parametrize("host", [b"evil/v1/responses?", b"", b"a b", b"\xff"])
async def test_the_host_header_does_not_decide_the_path(host: bytes) -> None:
    app = ChatApp(whole(completion()))

    exchange = await ask(ResponsesMiddleware(app), exchange={"path": "/other", "headers": [(b"host", host)]})

    assert app.scopes[0]["path"] == "/other"
    assert exchange.json["object"] == "chat.completion"


# -- other middleware
@pytest.mark.parametrize("stream", [True, False])
async def test_two_instances_may_be_nested(stream: bool) -> None:
    app = ChatApp()

    exchange = await ask(ResponsesMiddleware(ResponsesMiddleware(app)), stream=stream)

    assert exchange.text == "Hello"
    assert [scope["path"] for scope in app.scopes] == ["/v1/chat/completions"]


async def test_two_instances_may_serve_two_prefixes() -> None:
    app = ChatApp()
    both = ResponsesMiddleware(ResponsesMiddleware(app, prefix="/a"), prefix="/b")

    await ask(both, exchange={"path": "/a/responses"})
    await ask(both, exchange={"path": "/b/responses"})

    assert [scope["path"] for scope in app.scopes] == ["/a/chat/completions", "/b/chat/completions"]


async def tag(request: Request, call_next: Any) -> Response:
    response: Response = await call_next(request)
    response.headers["x-tagged"] = request.url.path
    return response


class Sessions:
    """What a session middleware does: something in the scope, a cookie in the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["session"] = {"user": "u"}

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    (b"set-cookie", b"session=" + scope["session"]["user"].encode()),
                ]
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def with_gzip(app: ASGIApp) -> ASGIApp:
    return GZipMiddleware(app, minimum_size=1)


def with_cors(app: ASGIApp) -> ASGIApp:
    return CORSMiddleware(
        app, allow_origins=["https://a.example"], allow_methods=["POST"], expose_headers=["x-request-id"]
    )


def with_base(app: ASGIApp) -> ASGIApp:
    return BaseHTTPMiddleware(app, dispatch=tag)


OTHERS = [with_gzip, with_cors, with_base, Sessions]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("other", OTHERS)
async def test_other_middleware_may_stand_inside(other: Any, stream: bool) -> None:
    app = ResponsesMiddleware(other(Starlette(routes=[CHAT])))

    exchange = await ask(app, stream=stream, exchange={"headers": [(b"accept-encoding", b"gzip")]})

    assert (exchange.status, exchange.text) == (200, "Hello")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("other", OTHERS)
async def test_other_middleware_may_stand_around(other: Any, stream: bool) -> None:
    app = other(ResponsesMiddleware(Starlette(routes=[CHAT])))

    exchange = await ask(app, stream=stream)

    assert (exchange.status, exchange.text) == (200, "Hello")


def test_a_compressing_middleware_around_compresses_our_answer(client_of: ClientOf) -> None:
    client = client_of(with_gzip(wrapped()))

    response = client.post("/v1/responses", json=request(), headers={"accept-encoding": "gzip"})

    assert response.headers["content-encoding"] == "gzip"
    assert response.json()["status"] == "completed"


async def test_cookies_of_an_inner_session_reach_the_client() -> None:
    exchange = await ask(ResponsesMiddleware(Sessions(Starlette(routes=[CHAT]))), stream=True)

    assert exchange.header(b"set-cookie") == [b"session=u"]


async def test_the_session_of_an_outer_middleware_reaches_the_app() -> None:
    app = ChatApp()

    await ask(Sessions(ResponsesMiddleware(app)), stream=True)

    assert app.scopes[0]["session"] == {"user": "u"}


@pytest.mark.parametrize("inside", [True, False])
async def test_a_preflight_is_answered_by_the_cors_middleware(inside: bool) -> None:
    inner = Starlette(routes=[CHAT])
    app = ResponsesMiddleware(with_cors(inner)) if inside else with_cors(ResponsesMiddleware(inner))
    asked = [(b"origin", b"https://a.example"), (b"access-control-request-method", b"POST")]

    exchange = await Exchange(app, b"", method="OPTIONS", headers=asked).run()

    assert (exchange.status, exchange.header(b"access-control-allow-origin")) == (200, [b"https://a.example"])


@pytest.mark.parametrize("inside", [True, False])
async def test_the_cors_headers_are_there_once(inside: bool) -> None:
    inner = Starlette(routes=[CHAT])
    app = ResponsesMiddleware(with_cors(inner)) if inside else with_cors(ResponsesMiddleware(inner))

    exchange = await ask(app, stream=True, exchange={"headers": [(b"origin", b"https://a.example")]})

    assert exchange.header(b"access-control-allow-origin") == [b"https://a.example"]


async def test_events_arrive_live_with_a_base_http_middleware_inside_and_around() -> None:
    gate = anyio.Event()
    inner = with_base(ChatApp(streamed(frame("Hel"), gate, *frames("lo"))))
    app = with_base(ResponsesMiddleware(inner))

    async with Exchange(app, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        ended = exchange.ended
        gate.set()

    assert not ended
    assert exchange.text == "Hello"


async def test_the_inner_middleware_sees_the_chat_path_and_the_outer_one_ours() -> None:
    app = with_base(ResponsesMiddleware(with_base(ChatApp())))

    exchange = await ask(app, stream=True)

    assert set(exchange.header(b"x-tagged")) >= {b"/v1/responses"}


async def test_an_http_exception_of_fastapi_stays_what_it_is() -> None:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete() -> None:
        raise HTTPException(401, "no such key", headers={"WWW-Authenticate": "Bearer"})

    app.add_middleware(ResponsesMiddleware)

    exchange = await ask(app, stream=True)

    assert (exchange.status, exchange.error["message"]) == (401, "no such key")
    assert exchange.header(b"www-authenticate") == [b"Bearer"]


# -- what is not ours
class Recorder:
    """An app that keeps what it is called with, answers what it gets, and never changes anything."""

    def __init__(self) -> None:
        self.calls: list[tuple[Scope, Receive, Send]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls.append((scope, receive, send))
        body = await read_body(receive)
        await send(
            {"type": "http.response.start", "status": 418, "headers": [(b"ETag", b'"1"'), (b"a", b"1"), (b"a", b"2")]}
        )
        await send({"type": "http.response.body", "body": body[:3], "more_body": True})
        await send({"type": "http.response.body", "body": body[3:]})


NOT_OURS = [
    "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/models", "/v1/response", "/v1/responsesx", "/v1/responses.json",
    "/V1/responses", "/responses", "/x/v1/responses", "//v1/responses", "/v1/embeddings", "/v1/conversations",
]  # fmt: skip


@pytest.mark.parametrize("path", NOT_OURS)
async def test_other_paths_pass_untouched(path: str) -> None:
    app = Recorder()

    exchange = await Exchange(ResponsesMiddleware(app), b"\x00\xffbytes", path=path).run()

    assert exchange.messages == [
        {"type": "http.response.start", "status": 418, "headers": [(b"ETag", b'"1"'), (b"a", b"1"), (b"a", b"2")]},
        {"type": "http.response.body", "body": b"\x00\xffb", "more_body": True},
        {"type": "http.response.body", "body": b"ytes"},
    ]


async def test_for_other_paths_nothing_stands_between_the_server_and_the_app() -> None:
    app = Recorder()
    exchange = Exchange(ResponsesMiddleware(app), b"", path="/v1/models")
    before = dict(exchange.scope)

    await exchange.run()

    scope, receive, send = app.calls[0]
    assert (scope is exchange.scope, receive, send) == (True, exchange._receive, exchange._send)
    assert exchange.scope == before


@pytest.mark.parametrize("method", ["OPTIONS"])
async def test_options_is_answered_by_the_app(method: str) -> None:
    exchange = await Exchange(ResponsesMiddleware(Recorder()), b"", method=method).run()

    assert exchange.status == 418


async def test_a_scope_of_an_unknown_kind_passes() -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    await ResponsesMiddleware(app)({"type": "webtransport"}, anyio.sleep_forever, anyio.sleep)  # type: ignore[arg-type]

    assert seen == [{"type": "webtransport"}]


def test_other_websockets_pass_untouched(client_of: ClientOf) -> None:
    async def echo(websocket: WebSocket) -> None:
        await websocket.accept(subprotocol="p", headers=[(b"x-a", b"1")])
        await websocket.send_bytes(await websocket.receive_bytes())
        await websocket.close(4001)

    app = Starlette(routes=[WebSocketRoute("/v1/realtime", echo), WebSocketRoute("/v1/responses/x", echo)])
    client = client_of(ResponsesMiddleware(app))

    for path in ("/v1/realtime", "/v1/responses/x"):
        with client.websocket_connect(path, subprotocols=["p"]) as websocket:
            websocket.send_bytes(b"\x00\xff")
            assert websocket.receive_bytes() == b"\x00\xff"
            assert websocket.accepted_subprotocol == "p"
