"""A server on a raw socket that says what it is told, byte by byte, and the upstream that asks it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import httpx2
from anyio.abc import SocketAttribute

from responses_middleware.options import Limits
from responses_middleware.upstream.base import Headers, UpstreamCall
from responses_middleware.upstream.http import HttpUpstream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from anyio.abc import SocketStream
    from starlette.types import Message


@dataclass
class Server:
    """Answers each connection with `answer`; `requests` holds what came, head and body, as bytes."""

    answer: Callable[[SocketStream], Awaitable[None]]
    whole_requests: bool = True
    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    left: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            if not self.whole_requests:
                await self.answer(stream)
                return
            while request := await read_request(stream):
                self.requests.append(request)
                try:
                    await self.answer(stream)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    break
        self.left.set()


async def read_request(stream: SocketStream) -> bytes:
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head = data.partition(b"\r\n\r\n")[0]
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(data) < len(head) + 4 + length:
            data += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return b""
    return data


def saying(*parts: bytes) -> Callable[[SocketStream], Awaitable[None]]:
    async def answer(stream: SocketStream) -> None:
        for part in parts:
            await stream.send(part)

    return answer


def saying_and_hanging_up(*parts: bytes) -> Callable[[SocketStream], Awaitable[None]]:
    async def answer(stream: SocketStream) -> None:
        await saying(*parts)(stream)
        await stream.aclose()

    return answer


@asynccontextmanager
async def serving(
    answer: Callable[[SocketStream], Awaitable[None]], *, whole_requests: bool = True
) -> AsyncIterator[Server]:
    server = Server(answer, whole_requests)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", backlog=512)
    server.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/v1"
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        with anyio.fail_after(20):
            yield server
        group.cancel_scope.cancel()


async def never() -> Message:
    await anyio.sleep_forever()
    raise AssertionError


@asynccontextmanager
async def upstream_of(kind: str, url: str, **options: Any) -> AsyncIterator[HttpUpstream]:
    library: Any = {"httpx": httpx, "httpx2": httpx2}.get(kind)
    client = library and library.AsyncClient(trust_env=False, limits=library.Limits(max_connections=None))
    upstream = HttpUpstream(url, client=client, **{"limits": Limits(), **options})
    try:
        yield upstream
    finally:
        await upstream.aclose()
        if client:
            await client.aclose()


class Record:
    """A sink that writes down what it gets; `stop` says when it has enough, `fail` what it raises at a body."""

    def __init__(self, *, stop_at: int | None = None, fail: Exception | None = None) -> None:
        self.status = 0
        self.headers: Headers = []
        self.pieces: list[bytes] = []
        self.ended = False
        self.began = anyio.Event()
        self._stop_at = stop_at
        self._fail = fail

    @property
    def finished(self) -> bool:
        return self._stop_at is not None and sum(map(len, self.pieces)) >= self._stop_at

    async def start(self, status: int, headers: Headers) -> None:
        self.status, self.headers = status, headers

    async def body(self, data: bytes) -> None:
        if self._fail is not None:
            raise self._fail
        self.pieces.append(data)
        self.began.set()

    async def end(self) -> None:
        self.ended = True

    @property
    def text(self) -> bytes:
        return b"".join(self.pieces)


def call(*headers: tuple[bytes, bytes]) -> UpstreamCall:
    scope = {"type": "http", "method": "POST", "path": "/v1/responses", "headers": list(headers)}
    return UpstreamCall(body=b'{"a":1}', stream=True, scope=scope, receive=never, path="/v1/chat/completions")


async def ask(kind: str, url: str, sink: Record, *headers: tuple[bytes, bytes], **options: Any) -> None:
    async with upstream_of(kind, url, **options) as upstream:
        await upstream.send(call(*headers), sink)
