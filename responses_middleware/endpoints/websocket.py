"""WebSocket {prefix}/responses: refused with 426 until it is served. Codex then goes on over HTTP at once; any other
status costs it its retries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UpgradeRequiredError
from ..replies import deny_websocket

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Deny the handshake."""
    why = "Responses over a WebSocket are not served here; send POST requests over HTTP."
    await deny_websocket(scope, receive, send, UpgradeRequiredError(why))
