"""How the command's server stops: the app hears of it first."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

import anyio
import uvicorn

from .greeting import say

if TYPE_CHECKING:
    from collections.abc import Callable

CLOSING = 1.5  # seconds beyond `grace` for terminal events to go out and connections to close


class Server(uvicorn.Server):
    """A uvicorn server that says when it listens, and tells the app of a stop while its answers are still running.

    uvicorn sends `lifespan.shutdown` only after the last answer has ended or was cut (Server.shutdown, 0.54). Told
    first, the app can let answers end within `grace` seconds and close the others with a terminal event.
    """

    def __init__(
        self, config: uvicorn.Config, *, grace: float, on_listening: Callable[[Callable[[], None]], None]
    ) -> None:
        super().__init__(config)
        self._grace = grace
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_listening(self.stop)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for accepting in self.servers:
            accepting.close()
        logging.getLogger("uvicorn.error").addFilter(_without(anyio.get_cancelled_exc_class()))
        if self.server_state.tasks:
            say(f"stopping: running answers have up to {self._grace:g} seconds to end (Ctrl-C ends them now)")
        begun = anyio.current_time()
        await self._tell_app()
        left = self._grace + 1 - (anyio.current_time() - begun)
        self.config.timeout_graceful_shutdown = max(1, round(left))
        await super().shutdown(sockets=sockets)

    async def _tell_app(self) -> None:
        """Let the app end its answers, within the time that they have and until a second Ctrl-C."""
        with anyio.move_on_after(self._grace + CLOSING) as waiting:
            async with anyio.create_task_group() as group:
                group.start_soon(self._cancel_when_forced, waiting)
                await self.lifespan.shutdown()
                group.cancel_scope.cancel()
        self.force_exit = self.force_exit or waiting.cancelled_caught

    async def _cancel_when_forced(self, waiting: anyio.CancelScope) -> None:
        while not self.force_exit:  # noqa: ASYNC110 - uvicorn sets it from a signal handler
            await anyio.sleep(0.1)
        waiting.cancel()

    def stop(self) -> None:
        self.should_exit = True


def _without(cancelled: type[BaseException]) -> Callable[[logging.LogRecord], bool]:
    """A log filter: what a stop cuts short is no fault, and uvicorn would write a traceback for each of it."""
    return lambda record: not (record.exc_info and isinstance(record.exc_info[1], cancelled))
