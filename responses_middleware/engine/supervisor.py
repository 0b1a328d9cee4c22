"""One task looks after all upstream calls that are under way; a request needs none, and its bytes go through none.

The task lives in the app's lifespan. Where there is none (a mounted app, a server without it) a request brings its own.

A graceful stop, `drain`:

1. No request begins any more: 503 with Retry-After.
2. Requests of which the client has got nothing yet end at once with 503: another server can take them.
3. The others have `grace` seconds to end by themselves; then they get a terminal event that is not `completed`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from ..errors import OverloadedError
from ..options import Limits

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from .answers import Answer
    from .watch import Watch

_LONGEST_TICK, _SHORTEST_TICK = 0.2, 0.01  # seconds between two looks
_LAST_WORDS = 1.0  # seconds for writing the terminal events


class Supervisor:
    """Looks after the calls that are held."""

    def __init__(self, limits: Limits) -> None:
        self.is_draining = False
        self._grace = limits.grace
        self._tick = _tick(limits)
        self._held: dict[Watch, Answer] = {}
        self._guests = 0
        self._loop: object = None  # the event loop that the task runs in
        self._running = 0
        self._busy: anyio.Event | None = None
        self._idle: anyio.Event | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Supervisor]:
        """Run the task as long as the block does."""
        failure: BaseException | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_on, group)
            self._loop = anyio.lowlevel.current_token()
            self._running += 1  # two servers may run one app in a process
            try:
                yield self
            except Exception as error:  # raised outside the group, which would wrap it
                failure = error
            finally:
                self._running -= 1
                if not self._running:  # the next start may be in another event loop
                    self._loop = self._busy = self._idle = None
                    self.is_draining = False
                group.cancel_scope.cancel()
        if failure is not None:
            try:
                raise failure
            finally:
                del failure  # its traceback holds this frame, and with it all that the app has left open

    @property
    def is_running(self) -> bool:
        """Whether the task runs in this very event loop."""
        return self._loop is not None and self._loop == anyio.lowlevel.current_token()

    def hold(self, watch: Watch, answer: Answer) -> None:
        """Look after a call from now on."""
        self._held[watch] = answer
        if self._busy is not None:
            self._busy.set()
            self._busy = None

    def release(self, watch: Watch) -> None:
        """The call has ended."""
        del self._held[watch]
        watch.end()
        self._note_idle()

    @contextmanager
    def guest(self) -> Iterator[None]:
        """Let a stop wait for a request that is not ours."""
        self._guests += 1
        try:
            yield
        finally:
            self._guests -= 1
            self._note_idle()

    async def drain(self) -> None:
        """Wait for the calls that are held, and end those that take too long; not while another server runs the app."""
        if self._running > 1:
            return
        self.is_draining = True
        self._cut_short(only_unbegun=True)
        await self._wait(self._grace)
        self._cut_short(only_unbegun=False)
        await self._wait(_LAST_WORDS)

    async def _look_on(self, group: TaskGroup) -> None:
        while True:
            if not self._held:  # an idle server does not wake up
                self._busy = self._busy or anyio.Event()
                await self._busy.wait()
            await anyio.sleep(self._tick)
            for watch in list(self._held):
                watch.look(group.start_soon, self._tick)

    def _cut_short(self, *, only_unbegun: bool) -> None:
        for watch, answer in list(self._held.items()):
            if not (only_unbegun and answer.begun):
                watch.cut_short(OverloadedError("The server is stopping."))

    def _note_idle(self) -> None:
        if self._idle is not None and not (self._held or self._guests):
            self._idle.set()

    async def _wait(self, seconds: float) -> None:
        if self._held or self._guests:
            self._idle = anyio.Event()
            with anyio.move_on_after(seconds):
                await self._idle.wait()


def _tick(limits: Limits) -> float:
    """Often enough for the shortest wait, and for a client that leaves to be noticed well within a second."""
    waits = (limits.keepalive, limits.idle_timeout, limits.progress_timeout, limits.error_body_timeout)
    shortest = min(wait for wait in waits if wait is not None)
    return min(_LONGEST_TICK, max(_SHORTEST_TICK, shortest / 8))
