"""Where a chat request goes and how its answer comes back: two Protocols and the call between them.

Both sides push. `Upstream.send` calls the sink for each piece that it reads, and reads the next one when the sink is
done with it, so that a client that stops reading stops the upstream. No queue and no task of ours stands between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

Headers: TypeAlias = list[tuple[bytes, bytes]]
"""Header lines in the order in which they came, names in lower case, repeated names kept."""


class Sink(Protocol):
    """Takes one answer: `start` once, `body` any number of times, `end` once after a whole body.

    What a method raises (OSError: the client is gone; ResponsesError; cancellation) leaves `Upstream.send` as it is,
    after the upstream's answer was closed.
    """

    @property
    def finished(self) -> bool:
        """Whether nothing more is wanted: the upstream stops reading, closes, pushes nothing more, not even `end`."""

    @property
    def abandoned(self) -> bool:
        """Whether the rest of the answer is of no use: an app that goes on sending gets OSError, as from a server."""

    async def start(self, status: int, headers: Headers) -> None:
        """Take the status and the headers as the upstream sent them; names in lower case."""

    async def body(self, data: bytes) -> None:
        """Take the next bytes of the body, never empty, content encodings already undone."""

    async def end(self) -> None:
        """Take note that the body is whole. Not called for a body that was cut or is damaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamCall:
    """One chat request.

    Args:
        body: the JSON of the chat request.
        stream: whether the request asks for a stream.
        scope: the client's scope as the middleware got it; read, never changed.
        receive: what an app in process may call after its body; blocks until the client left, then `http.disconnect`.
        path: the chat path inside the app with its root_path, "/openai/v1/chat/completions".
    """

    body: bytes
    stream: bool
    scope: Scope
    receive: Receive
    path: str


class Upstream(Protocol):
    """Something that answers chat completion requests: the wrapped app, or a URL."""

    async def send(self, call: UpstreamCall, sink: Sink) -> None:
        """Ask once, push the answer into the sink, return when the upstream is done.

        Never asks twice, follows no redirect, sends nothing that an earlier answer set. It has no limit on waiting for
        the answer: the caller cancels, and the connection is closed before the cancellation goes on.

        Raises:
            UpstreamConnectionError: no connection, or it broke; before or after `sink.start`.
            UpstreamTimeoutError: no connection in time.
            UpstreamProtocolError: a damaged, truncated or unknown content encoding, or an app that did not finish.
        """

    async def aclose(self) -> None:
        """Close what this upstream opened in the running event loop; fine to call again, or before any `send`."""
