"""A client made of plain ASGI messages, as strict as a server: what an app sends, when, and to whom."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
from sse_events import event_in, frames_in, is_comment

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from starlette.types import ASGIApp, Message

PATIENCE = 15.0  # seconds for a busy machine; only a failing test waits so long


class Exchange:
    """One request and its answer.

    Args:
        body: the pieces of the request's body; anything else is sent as JSON.
        whole: False: the body never ends.
        spec_version: of ASGI. From 2.4 on `send` raises OSError when the client has left, before it absorbs.
        blocked: while it is not set, the client does not read: `send` waits for it.
    """

    def __init__(
        self,
        app: ASGIApp,
        body: Any = None,
        *,
        method: str = "POST",
        path: str = "/v1/responses",
        headers: Sequence[tuple[bytes, bytes]] = (),
        spec_version: str = "2.3",
        whole: bool = True,
        blocked: anyio.Event | None = None,
        **scope: Any,
    ) -> None:
        pieces = body if isinstance(body, list) else [body if isinstance(body, bytes) else json.dumps(body).encode()]
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": spec_version},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(b"host", b"testserver"), *headers],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 80),
            **scope,
        }
        self.messages: list[Message] = []
        self.has_left = False
        self._app = app
        self._pieces = [
            {"type": "http.request", "body": piece, "more_body": not whole or place < len(pieces)}
            for place, piece in enumerate(pieces, 1)
        ]
        self._blocked = blocked
        self._raises = spec_version >= "2.4"
        self._over = anyio.Event()  # nothing comes or goes any more
        self._news = anyio.Event()
        self._sends = 0

    # -- what happens
    async def run(self) -> Exchange:
        """Call the app and let it end; raises what it raises."""
        with anyio.fail_after(PATIENCE):
            await self._app(self.scope, self._receive, self._send)
        return self

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Exchange]:
        """The same beside the block; what the app raises comes as an ExceptionGroup."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.run)
            yield self

    async def until(self, text: bytes) -> None:
        """Wait until the answer has the text."""
        with anyio.fail_after(PATIENCE):
            while text not in self.body:
                await self._news.wait()

    def leave(self) -> None:
        """The client hangs up."""
        self.has_left = True
        self._over.set()

    # -- the server's side
    async def _receive(self) -> Message:
        if self._pieces:
            await anyio.lowlevel.checkpoint()
            return self._pieces.pop(0)
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self.has_left:
            if self._raises:
                raise OSError("the client has left")
            return
        kinds = ["http.response.body"] if self.messages else ["http.response.start"]
        assert message["type"] in kinds, f"{message['type']} instead of {kinds}"
        assert not self.ended, "a message behind the last one"
        assert not self._sends, "two sends at a time"
        self._sends += 1
        self.messages.append(message)
        self._news.set()
        self._news = anyio.Event()
        try:
            await (self._blocked.wait() if self._blocked else anyio.lowlevel.checkpoint())
        finally:
            self._sends -= 1
        if self.ended:
            self._over.set()

    # -- the answer
    @property
    def ended(self) -> bool:
        return bool(self.messages[1:]) and not self.messages[-1].get("more_body", False)

    @property
    def status(self) -> int:
        status: int = self.messages[0]["status"]
        return status

    def header(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.messages[0]["headers"] if key == name]

    @property
    def sends(self) -> list[bytes]:
        """The bodies of the messages, one by one."""
        return [message.get("body", b"") for message in self.messages[1:]]

    @property
    def body(self) -> bytes:
        return b"".join(self.sends)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.json["error"]
        return error

    @property
    def events(self) -> list[dict[str, Any]]:
        return events_of(self.body)

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def response(self) -> dict[str, Any]:
        """The final Response object, streamed or not."""
        final: dict[str, Any] = self.json if self.body[:1] == b"{" else self.events[-1]["response"]
        return final

    @property
    def text(self) -> str:
        return text_of(self.response)


class Lifespan:
    """The lifespan of an app as a server runs it: `start`, then `stop`, which waits for the app's last word."""

    def __init__(self, app: ASGIApp) -> None:
        self.said: list[str] = []
        self._app = app
        self._started, self._stopping, self._stopped = anyio.Event(), anyio.Event(), anyio.Event()
        self._asked = 0

    async def run(self) -> None:
        await self._app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, self._receive, self._send)

    async def start(self, group: TaskGroup) -> None:
        group.start_soon(self.run)
        with anyio.fail_after(PATIENCE):
            await self._started.wait()

    async def stop(self) -> None:
        self._stopping.set()
        with anyio.fail_after(PATIENCE):
            await self._stopped.wait()

    async def _receive(self) -> Message:
        self._asked += 1
        if self._asked == 1:
            return {"type": "lifespan.startup"}
        await self._stopping.wait()
        return {"type": "lifespan.shutdown"}

    async def _send(self, message: Message) -> None:
        self.said.append(message["type"])
        (self._stopped if self._started.is_set() else self._started).set()


@asynccontextmanager
async def started(app: ASGIApp, *, really: bool = True) -> AsyncIterator[Lifespan]:
    """Run the app's lifespan around the block; not `really`: as for a mounted app, which gets none."""
    lifespan = Lifespan(app)
    async with anyio.create_task_group() as group:
        if really:
            await lifespan.start(group)
        yield lifespan
        if really and not lifespan._stopping.is_set():
            await lifespan.stop()


def events_of(body: bytes) -> list[dict[str, Any]]:
    """The events of a whole stream, numbered from 0; comments may stand between them, `data: [DONE]` behind them."""
    frames = [frame for frame in frames_in(body) if not is_comment(frame)]
    if frames and frames[-1] == "data: [DONE]":
        frames.pop()
    events = [event_in(frame) for frame in frames]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def text_of(response: dict[str, Any]) -> str:
    """The text of a response's messages."""
    messages = [item for item in response["output"] if item["type"] == "message"]
    return "".join(part["text"] for item in messages for part in item["content"] if part["type"] == "output_text")


def request(**parameters: Any) -> dict[str, Any]:
    """A request body."""
    return {"model": "m", "input": "hi", **parameters}


async def ask(app: ASGIApp, *, exchange: dict[str, Any] | None = None, **parameters: Any) -> Exchange:
    """Ask for a response with these parameters and wait for its end."""
    return await Exchange(app, request(**parameters), **(exchange or {})).run()
