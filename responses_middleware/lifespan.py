"""The lifespan scope passes through us to the app; our own clients are closed when the app has shut down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from .engine.supervisor import Supervisor

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Lifespan:
    """Pass the lifespan on; drain before the app shuts down, close after it.

    An app that knows no lifespan raises or returns before it answers (as the ASGI specification lets it): the protocol
    is then spoken for it, so that our own clients are closed all the same.
    """

    def __init__(self, app: ASGIApp, supervisor: Supervisor, *, aclose: Callable[[], Awaitable[None]]) -> None:
        self._app = app
        self._supervisor = supervisor
        self._aclose = aclose

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._supervisor.running():
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        answered = False
        asked: list[Message] = []

        async def inner_receive() -> Message:
            message = await receive()
            asked.append(message)
            if message["type"] == "lifespan.shutdown":
                await self._supervisor.drain()
            return message

        async def inner_send(message: Message) -> None:
            nonlocal answered
            answered = True
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                await self._aclose()
            await send(message)

        try:
            await self._app(scope, inner_receive, inner_send)
        except Exception:  # "no lifespan" may be any exception; one after the first answer is a real fault
            if answered:
                await self._aclose()
                raise
        if not answered:
            await self._speak(bool(asked), receive, send)

    async def _speak(self, begun: bool, receive: Receive, send: Send) -> None:
        if not begun:
            await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._supervisor.drain()
        await self._aclose()
        await send({"type": "lifespan.shutdown.complete"})
