"""WebSocket {prefix}/responses: refused with 426 until it is served. Codex then goes on over HTTP at once; any other
status costs it its retries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _json
from ..errors import UpgradeRequiredError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Deny the handshake; without the denial extension of ASGI the server answers 403."""
    await receive()  # websocket.connect
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1000})
        return
    error = UpgradeRequiredError("Responses over a WebSocket are not served here; send POST requests over HTTP.")
    body = _json.dumps(error.body())
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body, "more_body": False})
