"""Requests of other paths, passed on to the URL upstream on real sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest
from raw_server import never, read_request, saying, saying_and_hanging_up, serving, upstream_of

from responses_middleware.upstream.passthrough import PassThrough

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from starlette.types import Message

pytestmark = pytest.mark.anyio
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@pytest.mark.parametrize("kind", ["fast", "plain"], indirect=True)
async def test_a_get_that_is_passed_on_is_asked_once_even_if_the_server_hangs_up(kind: str) -> None:
    parts: list[Message] = [{"type": "http.request", "body": b""}]
    sent: list[Message] = []

    async def receive() -> Message:
        return parts.pop() if parts else await never()

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/v1/models", "headers": []}
    async with serving(saying_and_hanging_up()) as server, upstream_of(kind, server.url) as upstream:
        await PassThrough(upstream, "/v1")(scope, receive, send)

    assert sent[0]["status"] == 502
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", ["fast", "plain"], indirect=True)
async def test_an_upload_in_parts_arrives_and_its_answer_is_streamed_back(kind: str) -> None:
    parts: list[Message] = [
        {"type": "http.request", "body": b"abc", "more_body": True},
        {"type": "http.request", "body": b"de"},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return parts.pop(0) if parts else await never()

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/files", "headers": [(b"content-length", b"5")]}
    async with serving(saying(OK)) as server, upstream_of(kind, server.url) as upstream:
        await PassThrough(upstream, "/v1")(scope, receive, send)

    assert server.requests[0].endswith(b"\r\n\r\nabcde")
    assert sent[0] == {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    assert b"".join(message["body"] for message in sent[1:]) == b"ok"


@pytest.mark.parametrize("kind", ["fast", "plain"], indirect=True)
async def test_a_client_that_leaves_in_the_middle_of_its_upload_ends_the_request(kind: str) -> None:
    parts: list[Message] = [{"type": "http.request", "body": b"abc", "more_body": True}]
    sent: list[Message] = []
    arrived, left = anyio.Event(), anyio.Event()

    async def receive() -> Message:
        if parts:
            return parts.pop()
        await arrived.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def serve(stream: SocketStream) -> None:
        arrived.set()
        assert await read_request(stream) == b""  # cut, never whole
        left.set()

    scope = {"type": "http", "method": "POST", "path": "/v1/files", "headers": [(b"content-length", b"5")]}
    async with serving(serve, whole_requests=False) as server, upstream_of(kind, server.url) as upstream:
        await PassThrough(upstream, "/v1")(scope, receive, send)
        await left.wait()

    assert sent == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # httpx reads no answer before its request is written
async def test_an_answer_that_comes_before_the_end_of_the_upload_is_passed_on() -> None:
    parts: list[Message] = [{"type": "http.request", "body": b"abc", "more_body": True}]
    sent: list[Message] = []

    async def receive() -> Message:
        return parts.pop() if parts else await never()

    async def send(message: Message) -> None:
        sent.append(message)

    async def serve(stream: SocketStream) -> None:
        await stream.receive()
        await stream.send(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")

    scope = {"type": "http", "method": "POST", "path": "/v1/files", "headers": [(b"content-length", b"5")]}
    async with serving(serve, whole_requests=False) as server, upstream_of("fast", server.url) as upstream:
        await PassThrough(upstream, "/v1")(scope, receive, send)

    assert sent[0]["status"] == 413
