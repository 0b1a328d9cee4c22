"""A chat server that misbehaves as its script says, on a socket and as an ASGI app.

The same `Answer` is played by both: `SocketUpstream` writes its HTTP by hand, so that every byte can be wrong;
`AppUpstream` is what ResponsesMiddleware wraps. Both keep what they were `asked`.
"""

from __future__ import annotations

import enum
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.lowlevel
from anyio.abc import SocketAttribute
from wire import GONE, reset

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from starlette.types import Receive, Scope, Send

HeaderList = list[tuple[bytes, bytes]]
Framing = Literal["chunked", "length", "close", "raw"]

SSE = (b"content-type", b"text/event-stream; charset=utf-8")
JSON = (b"content-type", b"application/json")
DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
SECRET = "SECRET-postgres://admin:hunter2@10.0.0.5/prod"  # what only the server's own log may hold


class Accident(enum.Enum):
    CUT = "hangs up"
    RESET = "resets the connection; an app: raises an OSError of its own"
    STALL = "says nothing more, until the client leaves"


CUT, RESET, STALL = Accident
Flood = Iterator[bytes]
Step = bytes | float | anyio.Event | Accident | Exception | Flood


@dataclass
class Answer:
    """One answer.

    Args:
        steps: bytes are sent, events waited for, seconds slept, accidents happen, a generator floods.
        framing: how a socket frames the body; `raw`: the steps are all there is, the head among them.
        ends: whether the body is ended as its framing has it.
    """

    steps: Sequence[Step]
    status: int = 200
    headers: HeaderList = field(default_factory=lambda: [SSE])
    framing: Framing = "chunked"
    ends: bool = True
    before: Sequence[Step] = ()  # before the status
    keeps_open: bool = False  # the connection, behind a raw answer


# -- what chat servers say
def chunk(delta: Any = None, finish: Any = None, **members: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **members}


def frame(value: Any) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return b"data: %b\n\n" % data


def says(*texts: str) -> list[Step]:
    """Frames that say these texts, the role first."""
    return [frame(chunk({"role": "assistant", "content": ""})), *(frame(chunk({"content": text})) for text in texts)]


def ending(finish: str = "stop", *, done: bool = True) -> list[Step]:
    usage = frame({**chunk(), "choices": [], "usage": USAGE})
    return [frame(chunk(finish=finish)), usage, *([DONE] if done else [])]


def streamed(*texts: str, headers: HeaderList | None = None, **options: Any) -> Answer:
    """A whole stream."""
    return Answer([*says(*texts), *ending()], headers=[SSE, *(headers or [])], **options)


def completion(text: str | None = "Hello", *, finish: str = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}


def whole(value: object, *, status: int = 200, headers: HeaderList | None = None, **options: Any) -> Answer:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    lines = [*(headers or [])]
    if not any(name == b"content-type" for name, _ in lines):
        lines.insert(0, JSON)
    return Answer([body], status, lines, framing=options.pop("framing", "length"), **options)


def refused(status: int, message: str, *, headers: HeaderList | None = None) -> Answer:
    error = {"message": message, "type": "some_error", "param": None, "code": "some_code"}
    return whole({"error": error}, status=status, headers=headers)


# -- the two forms
@dataclass
class Asked:
    """One request that came, and what became of it."""

    method: str
    path: str
    headers: HeaderList
    body: bytes = b""
    taken: int = 0  # bytes of the body that the other side has taken
    playing: anyio.Event = field(default_factory=anyio.Event)  # its script has begun to wait, or is over
    left: anyio.Event = field(default_factory=anyio.Event)  # the other side has gone, or was told so
    left_at: float = 0.0

    @property
    def payload(self) -> dict[str, Any]:
        payload: dict[str, Any] = json.loads(self.body)
        return payload

    def header(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key == name]

    def note_left(self) -> None:
        if not self.left.is_set():
            self.left_at = time.monotonic()
            self.left.set()


Script = Callable[[Asked], Answer]


def by_model(table: Mapping[str, Answer]) -> Script:
    """The model's name chooses the answer."""
    return lambda asked: table[asked.payload["model"]]


class Misbehaving:
    """Gives one answer after the other, the last one again and again; or what a function of the request returns."""

    def __init__(self, *answers: Answer | Script) -> None:
        self.asked: list[Asked] = []
        self.live = 0  # requests under way
        self._answers = answers or (streamed("Hel", "lo"),)
        self._news = anyio.Event()

    async def wait_asked(self, count: int = 1) -> Asked:
        """Wait until so many requests came; the last of them."""
        while len(self.asked) < count:
            await self._news.wait()
        return self.asked[count - 1]

    async def wait_asked_for(self, model: str) -> Asked:
        """Wait until a model was asked for."""
        while not (found := [asked for asked in self.asked if asked.payload["model"] == model]):
            await self._news.wait()
        return found[0]

    def _note(self, asked: Asked) -> Answer:
        if asked.path == "/v1/models":  # the command looks once whether somebody is there
            return whole({"object": "list", "data": []})
        answer = self._answers[min(len(self.asked), len(self._answers) - 1)]
        self.asked.append(asked)
        self._news.set()
        self._news = anyio.Event()
        return answer if isinstance(answer, Answer) else answer(asked)


class SocketUpstream(Misbehaving):
    """On a socket; `url` ends with /v1. A connection may be used again and again, as its client likes."""

    url = ""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[SocketUpstream]:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", backlog=1024)
        self.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/v1"
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, self._serve)
            yield self
            group.cancel_scope.cancel()

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            rest = b""
            while (read := await _read_request(stream, rest)) is not None:
                asked, rest = read
                answer = self._note(asked)
                self.live += 1
                try:
                    async with anyio.create_task_group() as group:
                        group.start_soon(self._watch, stream, asked, group.cancel_scope)
                        await _play(answer, asked, stream)
                        group.cancel_scope.cancel()
                except* GONE:
                    asked.note_left()
                finally:
                    self.live -= 1
                    asked.playing.set()
                over = answer.framing in ("close", "raw") or not answer.ends
                if asked.left.is_set() or (over and not answer.keeps_open):
                    break

    async def _watch(self, stream: SocketStream, asked: Asked, playing: anyio.CancelScope) -> None:
        """Note when the other side hangs up."""
        try:
            while True:
                await stream.receive()
        except GONE:
            asked.note_left()
            playing.cancel()


async def _read_request(stream: SocketStream, data: bytes) -> tuple[Asked, bytes] | None:
    try:
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head, _, data = data.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        method, path, _ = first.decode("latin-1").split(" ")
        pairs = (line.partition(b":") for line in lines)
        asked = Asked(method, path, [(name.lower(), value.strip()) for name, _, value in pairs])
        length = int((asked.header(b"content-length") or [b"0"])[0])
        while len(data) < length:
            data += await stream.receive()
    except GONE:
        return None
    asked.body, data = data[:length], data[length:]
    return asked, data


async def _play(answer: Answer, asked: Asked, stream: SocketStream) -> None:
    async def send(data: bytes) -> None:
        await stream.send(b"%x\r\n%b\r\n" % (len(data), data) if answer.framing == "chunked" else data)
        asked.taken += len(data)

    for step in answer.before:
        await _step(step, asked, stream, send)
    if answer.framing != "raw":
        await stream.send(_head(answer))
    for step in answer.steps:
        await _step(step, asked, stream, send)
    if answer.ends and answer.framing == "chunked":
        await stream.send(b"0\r\n\r\n")


async def _step(step: Step, asked: Asked, stream: SocketStream, send: Callable[[bytes], Any]) -> None:
    match step:
        case bytes():
            await send(step)
        case float():
            await anyio.sleep(step)
        case anyio.Event():
            asked.playing.set()
            await step.wait()
        case Accident.STALL:
            asked.playing.set()
            await anyio.sleep_forever()
        case Accident.RESET:
            await reset(stream)
            raise anyio.ClosedResourceError
        case Accident.CUT | Exception():
            await stream.aclose()
            raise anyio.ClosedResourceError
        case _:
            asked.playing.set()
            for piece in step:
                await send(piece)


def _head(answer: Answer) -> bytes:
    lines = list(answer.headers)
    if answer.framing == "chunked":
        lines.append((b"transfer-encoding", b"chunked"))
    elif answer.framing == "length" and not any(name == b"content-length" for name, _ in lines):
        lines.append((b"content-length", b"%d" % sum(len(step) for step in answer.steps if isinstance(step, bytes))))
    head = b"".join(b"%b: %b\r\n" % line for line in lines)
    return b"HTTP/1.1 %d Whatever\r\n%b\r\n" % (answer.status, head)


class AppUpstream(Misbehaving):
    """As an ASGI app. It is told of a client that leaves only while it waits, as ordinary apps are."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        asked = Asked(scope["method"], scope["path"], list(scope["headers"]))
        asked.body = await _read_body(receive)
        answer = self._note(asked)
        self.live += 1
        try:
            await self._play(answer, asked, receive, send)
        finally:  # told, cancelled, stopped by an error of `send`, or at its own end
            self.live -= 1
            asked.playing.set()
            asked.note_left()

    async def _play(self, answer: Answer, asked: Asked, receive: Receive, send: Send) -> None:
        for step in answer.before:
            if not await self._step(step, asked, receive, send):
                return
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        for step in answer.steps:
            if not await self._step(step, asked, receive, send):
                return
        if answer.ends:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _step(self, step: Step, asked: Asked, receive: Receive, send: Send) -> bool:
        match step:
            case bytes():
                await send({"type": "http.response.body", "body": step, "more_body": True})
                asked.taken += len(step)
            case float():
                await anyio.sleep(step)
            case anyio.Event():
                asked.playing.set()
                await step.wait()
            case Accident.STALL:
                asked.playing.set()
                assert (await receive())["type"] == "http.disconnect"
                asked.note_left()
                return False
            case Accident.RESET:
                raise ConnectionResetError(SECRET)
            case Exception():
                raise step
            case Accident.CUT:
                return False
            case _:
                asked.playing.set()
                for piece in step:
                    # uvicorn's `send` returns at once when the client has gone: an app that waits for nothing else
                    # would keep the loop for ever, with us or without
                    await anyio.lowlevel.checkpoint()
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    asked.taken += len(piece)
        return True


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        assert message["type"] == "http.request"
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body
