"""Beside the bytes: a client that leaves, an upstream that falls silent, and comments that keep a quiet stream open.

One task per request, which only waits. The bytes themselves go through no task of ours.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from ..errors import UpstreamTimeoutError
from ..options import Limits

if TYPE_CHECKING:
    from starlette.types import Message, Receive


class Pulse:
    """When something last happened, in seconds of the monotonic clock; written by the bytes, read by the watch."""

    __slots__ = ("error_since", "finished", "progress", "received", "sent")

    def __init__(self) -> None:
        now = time.monotonic()
        self.received = now  # bytes of the upstream
        self.progress = now  # a data frame of the upstream
        self.sent = now  # anything to the client
        self.error_since: float | None = None  # the upstream's error body is being read
        self.finished = False  # the client has all it gets


class Watch:
    """Watch one request.

    Args:
        receive: the client's; nobody else calls it while the watch runs.
        keepalive: sends a comment to the client, if its stream has begun.
        farewell: seconds that an upstream which was told of the disconnect has to end by itself.
    """

    def __init__(
        self,
        receive: Receive,
        pulse: Pulse,
        limits: Limits,
        *,
        keepalive: Callable[[], Awaitable[None]],
        farewell: float,
    ) -> None:
        self.client_left = False
        self.timeout: UpstreamTimeoutError | None = None
        self.error_body_too_slow = False
        self._receive = receive
        self._pulse = pulse
        self._limits = limits
        self._keepalive = keepalive
        self._farewell = farewell
        self._left = anyio.Event()

    async def inner_receive(self) -> Message:
        """What the wrapped app gets after its body: nothing until the client has left."""
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def run(self, upstream: anyio.CancelScope) -> None:
        """Watch until cancelled; cancels the upstream when it must not go on."""
        while not self._pulse.finished:
            with anyio.move_on_after(self._next_deadline()):
                await self._wait_for_leave()
                break
            await self._look(upstream)
        if self.client_left and not self._pulse.finished:
            self._left.set()
            await anyio.sleep(self._farewell)
            upstream.cancel()

    async def _wait_for_leave(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            await anyio.lowlevel.checkpoint()
        self.client_left = True

    def _next_deadline(self) -> float:
        """Seconds until the next moment at which something may be due."""
        now, pulse, limits = time.monotonic(), self._pulse, self._limits
        due = [
            start + limit - now
            for start, limit in (
                (pulse.received, limits.idle_timeout),
                (pulse.progress, limits.progress_timeout),
                (pulse.sent, limits.keepalive),
                (pulse.error_since, limits.error_body_timeout),
            )
            if start is not None and limit is not None
        ]
        return max(min(due), 0.001) if due else float("inf")

    async def _look(self, upstream: anyio.CancelScope) -> None:
        now, pulse, limits = time.monotonic(), self._pulse, self._limits
        if pulse.finished:
            return
        if pulse.error_since is not None and now - pulse.error_since >= limits.error_body_timeout:
            self.error_body_too_slow = True
            upstream.cancel()
        elif limits.idle_timeout is not None and now - pulse.received >= limits.idle_timeout:
            self._give_up(upstream, f"the upstream sent nothing for {limits.idle_timeout:g} seconds")
        elif limits.progress_timeout is not None and now - pulse.progress >= limits.progress_timeout:
            self._give_up(upstream, f"the upstream made no progress for {limits.progress_timeout:g} seconds")
        elif limits.keepalive is not None and now - pulse.sent >= limits.keepalive:
            pulse.sent = now
            await self._keepalive()

    def _give_up(self, upstream: anyio.CancelScope, why: str) -> None:
        self.timeout = UpstreamTimeoutError(why)
        upstream.cancel()
