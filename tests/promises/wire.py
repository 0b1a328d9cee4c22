"""A client on a raw socket: it sees every byte, ends where it wants, and is as strict with HTTP as a proxy in front.

`Caller` is one connection with one request; `Reply` is what came back. Both work on asyncio and trio.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketAttribute
from asgi_client import text_of
from sse_events import event_in, frames_in, is_comment, refuse_constant

from responses_middleware.stream.grammar import Grammar

if TYPE_CHECKING:
    from anyio.abc import SocketStream

PATIENCE = 30.0  # seconds for a busy machine; only a failing test waits so long
TERMINAL = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


@dataclass
class Reply:
    """One HTTP answer; `clean` when its body ended as its framing said, and nothing stood behind it."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)
    clean: bool = False

    @property
    def body(self) -> bytes:
        return bytes(self.data)

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def json(self) -> Any:
        return json.loads(self.body, parse_constant=refuse_constant)

    @property
    def error(self) -> dict[str, Any]:
        """The error object, which always has its four keys."""
        error: dict[str, Any] = self.json["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert isinstance(error["message"], str)
        return error

    @property
    def events(self) -> list[dict[str, Any]]:
        """With comments between them at most."""
        return [event_in(frame) for frame in frames_in(self.body) if not is_comment(frame)]

    @property
    def response(self) -> dict[str, Any]:
        """The Response object, streamed or not."""
        final: dict[str, Any] = self.json if self.body[:1] == b"{" else self.events[-1]["response"]
        return final

    @property
    def outcome(self) -> str:
        """`completed`, `failed`, `incomplete`; `http 503` for an error; `nothing` for an answer that has no end."""
        if self.status != 200:
            return f"http {self.status}" if self.status else "nothing"
        return str(self.response["status"])

    @property
    def deltas(self) -> str:
        """The text as it was streamed."""
        return "".join(event["delta"] for event in self.events if event["type"] == "response.output_text.delta")

    @property
    def text(self) -> str:
        """The text of the final object."""
        return text_of(self.response)

    def check_stream(self) -> Reply:
        """A1, B2: legal events in their order, one terminal event and nothing behind it, clean framing."""
        events, grammar = self.events, Grammar()
        for event in events:
            grammar.accept(event)
        grammar.finish()
        assert [event["type"] for event in events if event["type"] in TERMINAL] == [events[-1]["type"]]
        assert self.clean, "the framing of the body is broken"
        if events[-1]["type"] == "response.failed":
            assert events[-2]["type"] == "error"
            assert set(events[-2]["error"]) == {"type", "code", "message", "param"}
        return self


def http_request(
    url: str,
    body: bytes = b"",
    *,
    method: str = "POST",
    path: str | None = None,
    headers: Iterable[tuple[str, str]] = (),
    length: int | None = None,
) -> bytes:
    """The bytes of a request; `length` lies about the body's, -1 leaves the header out."""
    parts = urlsplit(url)
    lines = [f"{method} {path if path is not None else parts.path or '/'} HTTP/1.1"]
    given = list(headers)
    if "host" not in [name.lower() for name, _ in given]:
        lines.append(f"Host: {parts.netloc}")
    lines += [f"{name}: {value}" for name, value in given]
    if length != -1:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body


class Caller:
    """One connection with one request. `got` is the body so far, its transfer encoding undone."""

    def __init__(self, stream: SocketStream) -> None:
        self.reply = Reply()
        self._stream = stream
        self._data = bytearray()
        self._left = 0  # of a chunk
        self._over = False

    async def send(self, data: bytes) -> None:
        await self._stream.send(data)

    async def send_eof(self) -> None:
        await self._stream.send_eof()

    async def head(self) -> Reply:
        """Read status and headers, once."""
        while not self.reply.status:
            head = await self._until(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            status = int(first.split()[1])
            if status >= 200:
                self.reply.status = status
                self.reply.headers = [
                    (name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)
                ]
        return self.reply

    async def piece(self) -> bytes:
        """The next bytes of the body, b"" at its end; sets `clean` if that is the right one."""
        reply = await self.head()
        if self._over:
            return b""
        try:
            data = await self._piece(reply)
            self._over = not data
            if self._over:
                reply.clean = await self._nothing_behind()
        except GONE:
            self._over, data = True, b""
        reply.data += data
        return data

    async def until(self, text: bytes) -> None:
        """Wait until the body has the text."""
        with anyio.fail_after(PATIENCE):
            while text not in self.reply.data and await self.piece():
                pass
        if text in self.reply.data:
            return
        raise AssertionError(f"the answer ended without {text!r}: {self.reply.body[-300:]!r}")

    async def rest(self) -> Reply:
        """Read to the end."""
        try:
            with anyio.fail_after(PATIENCE):
                while await self.piece():
                    pass
        except GONE:  # in the head
            pass
        return self.reply

    async def leave(self, *, by_reset: bool = False) -> None:
        """Hang up, by FIN or by RST."""
        await (reset(self._stream) if by_reset else self._stream.aclose())

    # -- bytes
    async def _more(self) -> None:
        self._data += await self._stream.receive(1 << 18)

    async def _until(self, end: bytes) -> bytes:
        while end not in self._data:
            await self._more()
        head, _, self._data = self._data.partition(end)
        return bytes(head)

    async def _piece(self, reply: Reply) -> bytes:
        coding, length = reply.header("transfer-encoding"), reply.header("content-length")
        assert len(coding) + len(length) <= 1, "two framings"
        if coding:
            return await self._of_chunks()
        if length:
            return await self._at_most(int(length[0]) - len(reply.data))
        try:
            return await self._at_most(1 << 20)
        except anyio.EndOfStream:
            return b""

    async def _of_chunks(self) -> bytes:
        if not self._left:
            self._left = int(await self._until(b"\r\n"), 16)
            if not self._left:
                assert await self._until(b"\r\n") == b"", "trailers"
                return b""
        data = await self._at_most(self._left)
        self._left -= len(data)
        if not self._left:
            assert await self._until(b"\r\n") == b""
        return data

    async def _at_most(self, size: int) -> bytes:
        if size and not self._data:
            await self._more()
        data = bytes(self._data[:size])
        del self._data[:size]
        return data

    async def _nothing_behind(self) -> bool:
        """We asked for `Connection: close`: the server says nothing more and closes."""
        if self._data:
            return False
        try:
            await self._more()
        except GONE:
            return True
        return False


async def reset(stream: SocketStream) -> None:
    """Close with RST instead of FIN."""
    stream.extra(SocketAttribute.raw_socket).setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await stream.aclose()


@asynccontextmanager
async def calling(url: str, data: bytes = b"") -> AsyncIterator[Caller]:
    """Connect and send; hangs up at the end of the block."""
    parts = urlsplit(url)
    assert parts.hostname == "127.0.0.1"
    stream = await anyio.connect_tcp(parts.hostname, parts.port or 80)
    try:
        if data:
            await stream.send(data)
        yield Caller(stream)
    finally:
        with anyio.CancelScope(shield=True):
            await stream.aclose()


async def fetch(url: str, body: bytes = b"", **options: Any) -> Reply:
    """One request and its whole answer."""
    async with calling(url, http_request(url, body, **options)) as caller:
        return await caller.rest()
