"""httpx's own transport with one connection for each request, which ends with it; imported with the first request.

A pool that keeps no idle connection is not enough. One that is cancelled between connecting and asking stays in the
pool of httpcore 1.0, open and never used again; and that pool looks through all its connections with every request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import anyio
import httpx

from .transport import CLOSE_SECONDS

if TYPE_CHECKING:
    import ssl


class ConnectionPerRequest(httpx.AsyncBaseTransport):
    """Ask on a new connection; close it with the answer, or when there is none."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        transport = httpx.AsyncHTTPTransport(verify=self._tls, trust_env=False)
        if isinstance(request.stream, httpx.ByteStream):
            request.stream = _Whole(request.content)
        try:
            response = await transport.handle_async_request(request)
        except BaseException:  # cancellation above all: httpcore would keep the connection; raised on
            await _close(transport)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Answer(response.stream, transport)
        return response


class _Whole(httpx.AsyncByteStream):
    """A body in one piece, read without an async generator: httpcore leaves that behind when a request is cancelled,
    and trio warns of it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Once(self._body)


class _Once(AsyncIterator[bytes]):
    def __init__(self, body: bytes) -> None:
        self._rest = [body] if body else []

    async def __anext__(self) -> bytes:
        if not self._rest:
            raise StopAsyncIteration
        return self._rest.pop()


class _Answer(httpx.AsyncByteStream):
    """The bytes of an answer; closing it closes its connection."""

    def __init__(self, stream: httpx.AsyncByteStream, transport: httpx.AsyncBaseTransport) -> None:
        self._stream = stream
        self._transport = transport

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            await _close(self._transport)


async def _close(transport: httpx.AsyncBaseTransport) -> None:
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
        await transport.aclose()
