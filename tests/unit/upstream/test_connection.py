"""One connection for each request: whatever becomes of the request, nothing of it stays."""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import anyio
import pytest

from responses_middleware.upstream.transport import new_client

if TYPE_CHECKING:
    import httpx
    from anyio.abc import SocketStream
    from anyio.streams.memory import MemoryObjectReceiveStream

pytestmark = pytest.mark.anyio

PATIENCE = 10  # seconds


@asynccontextmanager
async def server(answer: bytes = b"") -> AsyncIterator[tuple[str, MemoryObjectReceiveStream[bytes]]]:
    """A server that answers so, reads on, and tells what came on each connection when that is closed."""
    tell, closed = anyio.create_memory_object_stream[bytes](10)

    async def serve(stream: SocketStream) -> None:
        came = b""
        async with stream:
            if answer:
                came = await stream.receive()
                await stream.send(answer)
            async for data in stream:
                came += data
        tell.send_nowait(came)

    async with (
        tell,
        closed,
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, serve)
        host, port = listener.extra(anyio.abc.SocketAttribute.local_address)
        yield f"http://{host}:{port}", closed
        group.cancel_scope.cancel()


@asynccontextmanager
async def plain_client() -> AsyncIterator[httpx.AsyncClient]:
    with patch.dict(sys.modules, {"httpx_aiohttp": None}):
        client = new_client()
    async with client:
        yield client


async def next_of(closed: MemoryObjectReceiveStream[bytes]) -> bytes:
    with anyio.fail_after(PATIENCE):
        return await closed.receive()


@pytest.mark.parametrize(
    "step",
    [
        "connection.connect_tcp.started",
        "connection.connect_tcp.complete",
        "http11.send_request_headers.complete",
        "http11.send_request_body.complete",
        "http11.receive_response_headers.started",
    ],
)
async def test_a_request_that_is_cancelled_at_any_step_leaves_no_connection_and_no_generator(step: str) -> None:
    async with server() as (url, closed), plain_client() as client:
        with anyio.CancelScope() as scope:

            async def trace(name: str, info: Any) -> None:
                if name == step:
                    scope.cancel()

            await client.post(url, content=b"{}", extensions={"trace": trace})
        assert scope.cancelled_caught
        if not step.endswith("connect_tcp.started"):
            await next_of(closed)
    gc.collect()  # trio warns of generators that nobody ended, and warnings are errors


async def test_an_answer_that_is_read_or_closed_takes_its_connection_along() -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
    async with server(answer) as (url, closed), plain_client() as client:
        assert (await client.post(url, content=b"{}")).text == "hi"
        assert (await next_of(closed)).endswith(b"\r\n\r\n{}")
        async with client.stream("POST", url, content=b"{}") as response:
            assert response.status_code == 200
        assert (await next_of(closed)).endswith(b"\r\n\r\n{}")


async def test_a_body_of_several_pieces_is_sent_as_it_comes() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"ab"
        yield b"c"

    answer = b"HTTP/1.1 204 No Content\r\n\r\n"
    async with server(answer) as (url, closed), plain_client() as client:
        assert (await client.post(url, content=pieces())).status_code == 204
        came = await next_of(closed)
        assert b"transfer-encoding: chunked" in came.lower()
        assert came.endswith(b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
