"""Real ASGI servers in front: uvicorn on asyncio, hypercorn on asyncio and trio."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
import sniffio
from asgi_client import PATIENCE, events_of, request, text_of
from chat_app import ChatApp, chat_server, completion, frame, frames, http_stream, serving, streamed, whole
from hypercorn.config import Config, Sockets
from starlette.applications import Starlette
from starlette.routing import Mount

from responses_middleware import ResponsesMiddleware, ResponsesProxy

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from starlette.types import ASGIApp

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def hypercorn(app: ASGIApp) -> AsyncIterator[str]:
    """Serve an app with hypercorn in the running loop; its base URL."""
    if sniffio.current_async_library() == "trio":
        from hypercorn.trio import serve
    else:
        from hypercorn.asyncio import serve
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.errorlog = None
    sockets: Sockets = config.create_sockets()
    config.create_sockets = lambda: sockets  # type: ignore[method-assign]
    sockets.insecure_sockets[0].listen()  # connections wait until the app is up
    stop = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: serve(app, config, shutdown_trigger=stop.wait, mode="asgi"))  # type: ignore[arg-type]
        yield f"http://127.0.0.1:{sockets.insecure_sockets[0].getsockname()[1]}"
        stop.set()


@asynccontextmanager
async def uvicorn(app: ASGIApp) -> AsyncIterator[str]:
    with serving(app) as url:
        yield url


async def connect(url: str) -> SocketStream:
    return await anyio.connect_tcp("127.0.0.1", int(url.rpartition(":")[2]))


SERVERS = [uvicorn, hypercorn]


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE) as client:
        yield client


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_response_is_served(server: Any, stream: bool) -> None:
    async with server(ResponsesMiddleware(ChatApp())) as url, client_of(url) as client:
        answer = await client.post("/v1/responses", json=request(stream=stream))

    response = events_of(answer.content)[-1]["response"] if stream else answer.json()
    assert (answer.status_code, text_of(response)) == (200, "Hello")


@pytest.mark.parametrize("server", SERVERS)
async def test_the_framing_is_that_of_http_for_each_form(server: Any) -> None:
    async with server(ResponsesMiddleware(ChatApp())) as url, client_of(url) as client:
        stream = await client.post("/v1/responses", json=request(stream=True))
        plain = await client.post("/v1/responses", json=request())

    assert (stream.headers.get("transfer-encoding"), stream.headers.get("content-length")) == ("chunked", None)
    assert plain.headers["content-length"] == str(len(plain.content))
    assert "transfer-encoding" not in plain.headers


async def test_events_arrive_live_through_two_real_servers() -> None:
    gate = anyio.Event()
    async with (
        chat_server(http_stream(frame("Hel"), gate, *frames("lo"))) as upstream,
        hypercorn(ResponsesProxy(upstream.url)) as url,
        client_of(url) as client,
        client.stream("POST", "/v1/responses", json=request(stream=True)) as answer,
    ):
        received = b""
        async for piece in answer.aiter_raw():
            received += piece
            if b'"delta":"Hel"' in received:
                gate.set()

    assert text_of(events_of(received)[-1]["response"]) == "Hello"


@pytest.mark.parametrize("server", SERVERS)
async def test_errors_are_sent_in_clean_http(server: Any) -> None:
    async with server(ResponsesMiddleware(ChatApp())) as url, client_of(url) as client:
        wrong = await client.post("/v1/responses", content=b"{oops")
        method = await client.put("/v1/responses", content=b"")
        head = await client.head("/v1/responses")
        missing = await client.get("/v1/responses/resp_missing")
        after = await client.post("/v1/responses", json=request())

    assert [answer.status_code for answer in (wrong, method, head, missing, after)] == [400, 405, 405, 404, 200]
    assert wrong.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("server", SERVERS)
async def test_a_refused_upgrade_does_not_harm_the_server(server: Any) -> None:
    upgrade = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    async with server(ResponsesMiddleware(ChatApp())) as url:
        async with client_of(url) as client:
            refused = await client.get("/v1/responses", headers=upgrade)
        async with client_of(url) as client:
            after = await client.post("/v1/responses", json=request())

    assert (refused.status_code, after.status_code) == (426, 200)
    assert refused.json()["error"]["type"] == "invalid_request_error"


async def test_a_compressed_request_is_served() -> None:
    body = gzip.compress(json.dumps(request()).encode())
    async with uvicorn(ResponsesMiddleware(ChatApp())) as url, client_of(url) as client:
        answer = await client.post("/v1/responses", content=body, headers={"content-encoding": "gzip"})

    assert answer.status_code == 200


async def test_a_request_that_waits_for_100_continue_is_served() -> None:
    body = json.dumps(request()).encode()
    head = b"POST /v1/responses HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nconnection: close\r\n"
    async with uvicorn(ResponsesMiddleware(ChatApp())) as url, await connect(url) as stream:
        await stream.send(head + b"content-length: %d\r\n\r\n" % len(body))
        with anyio.fail_after(PATIENCE):
            first = await stream.receive()
            await stream.send(body)
            answer = b"".join([piece async for piece in stream])

    assert first.startswith(b"HTTP/1.1 100")
    assert b"HTTP/1.1 200" in answer


@pytest.mark.parametrize("cut", [1, 20, -1])
async def test_half_a_request_never_reaches_the_app(cut: int) -> None:
    app = ChatApp()
    body = json.dumps(request()).encode()
    async with hypercorn(ResponsesMiddleware(app)) as url:
        async with await connect(url) as stream:
            await stream.send(b"POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body))
            await stream.send(body[:cut])
        async with client_of(url) as client:
            await client.post("/v1/responses", json=request(model="whole"))

    assert [payload["model"] for payload in app.payloads] == ["whole"]


async def test_a_mounted_app_without_a_lifespan_reaches_its_upstream() -> None:
    async with chat_server(http_stream(*frames("Hello"))) as upstream:
        app = Starlette(routes=[Mount("/ai", ResponsesProxy(upstream.url))])
        async with hypercorn(app) as url, client_of(url) as client:
            answer = await client.post("/ai/v1/responses", json=request())

    assert text_of(answer.json()) == "Hello"


async def test_one_app_may_be_started_again_after_it_was_stopped() -> None:
    app = ResponsesMiddleware(ChatApp(whole(completion())))
    answers = []
    for _ in range(2):
        async with hypercorn(app) as url, client_of(url) as client:
            answers.append((await client.post("/v1/responses", json=request())).status_code)

    assert answers == [200, 200]


async def test_many_clients_at_once_get_their_own_answers() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        await ChatApp(streamed(*frames(*dict(scope["headers"])[b"x-say"].decode())))(scope, receive, send)

    texts: dict[int, str] = {}
    async with hypercorn(ResponsesMiddleware(app)) as url, client_of(url) as client:

        async def one(number: int) -> None:
            headers = {"x-say": f"answer {number}"}
            answer = await client.post("/v1/responses", json=request(stream=True), headers=headers)
            texts[number] = text_of(events_of(answer.content)[-1]["response"])

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)

    assert texts == {number: f"answer {number}" for number in range(20)}
