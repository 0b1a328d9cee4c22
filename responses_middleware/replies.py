"""Answers of ours that are no Response: one JSON value, an OpenAI error object, a WebSocket denied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _json
from .errors import MethodNotAllowedError, OverloadedError, ResponsesError, UpstreamError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def send_json(
    send: Send, value: Any, *, status: int = 200, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    """Answer with one JSON value."""
    body = _json.dumps(value)
    all_headers = [*(headers or []), (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def send_error(send: Send, error: ResponsesError) -> None:
    """Answer with an OpenAI error object, and with the headers that clients act on."""
    headers: list[tuple[bytes, bytes]] = []
    if isinstance(error, UpstreamError):
        headers = error.headers
    elif isinstance(error, MethodNotAllowedError):
        headers = [(b"allow", error.allowed.encode())]
    elif isinstance(error, OverloadedError):
        headers = [(b"retry-after", b"%d" % error.retry_after)]
    await send_json(send, error.body(), status=error.status, headers=headers)


async def deny_websocket(scope: Scope, receive: Receive, send: Send, error: ResponsesError) -> None:
    """Deny a handshake with an OpenAI error object; without the denial extension of ASGI the server answers 403."""
    await receive()  # websocket.connect
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1000})
        return
    body = _json.dumps(error.body())
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body, "more_body": False})
