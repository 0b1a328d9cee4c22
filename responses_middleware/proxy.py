"""ResponsesProxy: the middleware without an app, in front of a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ConfigurationError
from .middleware import ResponsesMiddleware
from .options import Limits
from .upstream.http import HttpUpstream
from .upstream.passthrough import PassThrough

if TYPE_CHECKING:
    import httpx
    from starlette.types import Receive, Scope, Send


class ResponsesProxy:
    """A standalone ASGI app: the Responses API in front of a chat completions server, every other path passed through
    to it.

    Args:
        url: the base URL of the server, with its `/v1`.
        options: those of ResponsesMiddleware, `upstream` excepted.

    Raises ConfigurationError.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "/v1",
        api_key: str | None = None,
        client: httpx.AsyncClient | None = None,
        limits: Limits | None = None,
        **options: Any,
    ) -> None:
        if "upstream" in options:
            raise ConfigurationError("ResponsesProxy takes the upstream as its first argument", param="upstream")
        limits = limits or Limits()
        upstream = HttpUpstream(url, api_key=api_key, client=client, limits=limits)
        self._pass_through = PassThrough(upstream, prefix.rstrip("/"))
        self._app = ResponsesMiddleware(self._pass_on, upstream=upstream, prefix=prefix, limits=limits, **options)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._pass_through(scope, receive, send)
            return
        with self._app.guest():  # a stop waits for it
            await self._pass_through(scope, receive, send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "OPTIONS" and self._app.serves(scope):
            headers = [(b"allow", b"GET, POST, DELETE, OPTIONS")]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        await self._app(scope, receive, send)
