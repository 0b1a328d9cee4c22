"""What is watched of one upstream call: a client that leaves, a silent upstream, a stream that needs a comment.

The bytes write down when they passed, and nothing else; the supervisor looks at that from time to time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from ..errors import ResponsesError, UpstreamTimeoutError
from ..options import Limits

if TYPE_CHECKING:
    from starlette.types import Message, Receive

    from .answers import Answer

StartSoon = Callable[[Callable[[], Coroutine[Any, Any, None]]], object]


class Pulse:
    """When something last happened, in seconds of the monotonic clock."""

    __slots__ = ("error_since", "finished", "passed", "progress", "received", "sent")

    def __init__(self) -> None:
        now = time.monotonic()
        self.passed = now  # a frame of the upstream, at once on its way to the client
        self.received = now  # bytes of the upstream
        self.progress = now  # a data frame of the upstream
        self.sent = now  # anything to the client
        self.error_since: float | None = None  # the upstream's error body is being read
        self.finished = False  # the client has all it gets


class Watch:
    """One upstream call under watch.

    Args:
        receive: the client's; only one at a time waits for it, the wrapped app or we.
        answer: whose pulse is looked at; it sends the client a comment, if its stream has begun.
        farewell: seconds that an upstream which was told of the disconnect has to end by itself.
        scope: cancels the upstream's call.
    """

    __slots__ = (
        "_answer",
        "_farewell",
        "_left",
        "_left_at",
        "_limits",
        "_listener",
        "_listening",
        "_receive",
        "_scope",
        "verdict",
    )

    def __init__(
        self,
        receive: Receive,
        answer: Answer,
        limits: Limits,
        *,
        farewell: float,
        scope: anyio.CancelScope,
    ) -> None:
        self.verdict: ResponsesError | None = None  # why the upstream was cut short
        self._receive = receive
        self._answer = answer
        self._limits = limits
        self._farewell = farewell
        self._scope = scope
        self._left_at: float | None = None
        self._left: anyio.Event | None = None  # made when somebody waits for it
        self._listening = False
        self._listener: anyio.CancelScope | None = None

    @property
    def client_left(self) -> bool:
        return self._left_at is not None

    # -- the client
    async def inner_receive(self) -> Message:
        """What the wrapped app gets after its body: nothing until the client has left."""
        if self._listening:
            self._left = self._left or anyio.Event()
            await self._left.wait()
        elif not self.client_left:
            self._listening = True
            try:
                while (await self._receive())["type"] != "http.disconnect":
                    await anyio.lowlevel.checkpoint()
            finally:
                self._listening = False
            self._leave()
        return {"type": "http.disconnect"}

    async def _listen(self) -> None:
        """Wait for the client's leave, since the wrapped app does not."""
        if self._listening or self._answer.pulse.finished:
            return
        with anyio.CancelScope() as self._listener:
            try:
                await self.inner_receive()
            except Exception:  # whatever the server raises here, there is no client to be heard any more
                self._leave()

    def _leave(self) -> None:
        self._left_at = time.monotonic()
        if self._left is not None:
            self._left.set()

    # -- the upstream
    def look(self, start_soon: StartSoon, tick: float) -> None:
        """See what is due; `tick` seconds pass until the next look."""
        now, pulse, limits = time.monotonic(), self._answer.pulse, self._limits
        if pulse.finished:
            return
        if self._left_at is not None:
            if now >= self._left_at + self._farewell:
                self._scope.cancel()
            return
        if not self._listening:
            start_soon(self._listen)
        if pulse.error_since is not None and now >= pulse.error_since + limits.error_body_timeout:
            self.cut_short(None)  # the status alone is used
        elif limits.idle_timeout is not None and now >= max(pulse.received, pulse.passed) + limits.idle_timeout:
            self.cut_short(UpstreamTimeoutError(f"the upstream sent nothing for {limits.idle_timeout:g} seconds"))
        elif limits.progress_timeout is not None and now >= max(pulse.progress, pulse.passed) + limits.progress_timeout:
            why = f"the upstream made no progress for {limits.progress_timeout:g} seconds"
            self.cut_short(UpstreamTimeoutError(why))
        elif limits.keepalive is not None and now + tick > max(pulse.sent, pulse.passed) + limits.keepalive:
            pulse.sent = now
            start_soon(self._send_keepalive)

    async def _send_keepalive(self) -> None:
        try:
            await self._answer.keepalive()
        except Exception:  # OSError where ASGI 2.4 tells that the client is gone; whatever it is, there is no way to it
            self._leave()

    def cut_short(self, error: ResponsesError | None) -> None:
        """End the upstream's call; with an error, that is what the client is told."""
        self.verdict = self.verdict or error
        self._scope.cancel()

    def end(self) -> None:
        """The call has ended: nothing more is to be watched."""
        if self._listener is not None:
            self._listener.cancel()
