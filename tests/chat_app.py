"""What the tests put below the middleware: a scripted chat completions app, and the same as a server on a socket.

A script is a list of pieces, taken in order: bytes are sent, an event is waited for, an exception is raised (the socket
server hangs up instead).
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from anyio.abc import SocketAttribute

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from starlette.types import ASGIApp, Receive, Scope, Send

Piece = bytes | anyio.Event | Exception
HeaderList = list[tuple[bytes, bytes]]

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
SSE = (b"content-type", b"text/event-stream")
JSON = (b"content-type", b"application/json")


def frame(text: str | None = None, *, finish: str | None = None, **delta: Any) -> bytes:
    """One chunk as a server-sent event."""
    if text is not None:
        delta["content"] = text
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return (
        b"data: " + json.dumps({"id": "c1", "object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"
    )


def frames(*texts: str, finish: str = "stop") -> list[bytes]:
    """A whole stream that says these texts."""
    return [*(frame(text) for text in texts), frame(finish=finish), DONE]


def call_frame(name: str, arguments: dict[str, Any], *, call_id: str = "call_123456", index: int = 0) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return frame(tool_calls=[{"index": index, "id": call_id, "type": "function", "function": function}])


def completion(text: str | None = "Hello", *, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion", "choices": [choice], "usage": USAGE}


@dataclass
class Reply:
    """One answer of the app: status, headers, and the script of its body; `ends` sends the last body message."""

    pieces: Sequence[Piece]
    status: int = 200
    headers: HeaderList = field(default_factory=list)
    ends: bool = True


def streamed(*pieces: Piece, headers: HeaderList | None = None, ends: bool = True) -> Reply:
    return Reply(pieces, headers=[SSE, *(headers or [])], ends=ends)


def whole(value: object, *, status: int = 200, headers: HeaderList | None = None) -> Reply:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Reply([body], status, [JSON, *(headers or [])])


HELLO = streamed(*frames("Hel", "lo"))


class ChatApp:
    """An ASGI app that gives one reply after the other, the last one again and again, and keeps what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = replies or (HELLO,)
        self.scopes: list[Scope] = []
        self.bodies: list[bytes] = []

    @property
    def payloads(self) -> list[dict[str, Any]]:
        """The chat requests."""
        return [json.loads(body) for body in self.bodies]

    @property
    def headers(self) -> HeaderList:
        """Of the last request."""
        headers: HeaderList = self.scopes[-1]["headers"]
        return headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        reply = self._replies[min(len(self.scopes), len(self._replies) - 1)]
        self.scopes.append(scope)
        self.bodies.append(await read_body(receive))
        await send({"type": "http.response.start", "status": reply.status, "headers": reply.headers})
        for piece in reply.pieces:
            await play(piece, send)
        if reply.ends:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def play(piece: Piece, send: Send) -> None:
    if isinstance(piece, Exception):
        raise piece
    if isinstance(piece, bytes):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    else:
        await piece.wait()


async def read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        assert message["type"] == "http.request"
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


# -- on sockets
def http(body: bytes | object = b"", *, status: int = 200, headers: HeaderList | None = None) -> list[Piece]:
    """A whole HTTP answer; what is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = headers or ([] if isinstance(body, bytes) else [JSON])
    return [_head(status, [*lines, (b"content-length", b"%d" % len(content))]) + content]


def http_stream(*pieces: Piece) -> list[Piece]:
    """An HTTP answer in chunks, whole unless an exception ends it."""
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) if isinstance(piece, bytes) else piece for piece in pieces]
    return [_head(200, [SSE, (b"transfer-encoding", b"chunked")]), *chunks, b"0\r\n\r\n"]


def _head(status: int, headers: HeaderList) -> bytes:
    lines = b"".join(b"%b: %b\r\n" % header for header in headers)
    return b"HTTP/1.1 %d Whatever\r\n%bconnection: close\r\n\r\n" % (status, lines)


@dataclass
class ChatServer:
    """A scripted server on a socket: one answer after the other, the last one again and again."""

    answers: Sequence[Sequence[Piece]]
    url: str = ""
    requests: list[bytes] = field(default_factory=list)  # heads and bodies as they came
    asked: anyio.Event = field(default_factory=anyio.Event)
    left: anyio.Event = field(default_factory=anyio.Event)  # a client hung up while its answer was waited for

    @property
    def payloads(self) -> list[dict[str, Any]]:
        return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in self.requests]

    def header(self, name: str) -> list[str]:
        """Values of a header of the last request."""
        head = self.requests[-1].partition(b"\r\n\r\n")[0].decode("latin-1")
        lines = [line.partition(": ") for line in head.split("\r\n")[1:]]
        return [value for key, _, value in lines if key.lower() == name]

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            try:
                self.requests.append(await _read_request(stream))
                self.asked.set()
                answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
                async with anyio.create_task_group() as group:
                    group.start_soon(self._watch, stream, group.cancel_scope)
                    await self._answer(stream, answer)
                    group.cancel_scope.cancel()
            except* (anyio.BrokenResourceError, anyio.EndOfStream):
                self.left.set()

    async def _watch(self, stream: SocketStream, answer: anyio.CancelScope) -> None:
        try:
            await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            self.left.set()
            answer.cancel()

    async def _answer(self, stream: SocketStream, answer: Sequence[Piece]) -> None:
        for piece in answer:
            if isinstance(piece, Exception):
                return
            if isinstance(piece, bytes):
                await stream.send(piece)
            else:
                await piece.wait()


async def _read_request(stream: SocketStream) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head = data.partition(b"\r\n\r\n")[0]
    lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
    length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
    while len(data) < len(head) + 4 + length:
        data += await stream.receive()
    return data


@asynccontextmanager
async def chat_server(*answers: Sequence[Piece]) -> AsyncIterator[ChatServer]:
    """A ChatServer under way; its `url` ends with /v1."""
    server = ChatServer(answers)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/v1"
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve an app with uvicorn in a thread; its base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"  # the kernel lets connections wait until it is up
    finally:
        server.should_exit = True
        thread.join(10)
