"""Every request that is not ours, passed on to the upstream's server and back, bytes untouched."""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import anyio

from ..errors import InvalidRequestError, MethodNotAllowedError, NotFoundError, ResponsesError
from ..replies import deny_websocket, send_error
from .headers import relayed_answer_headers
from .transport import close, read

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from .http import HttpUpstream

REFUSED_METHODS = frozenset({"CONNECT", "TRACE"})
"""TRACE would show the client what we add to its request: the upstream's key."""

_ALLOWED = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

MAX_URL = 60_000
"""Characters; httpx refuses URLs above 64 KiB."""

_PATH_SAFE = "/%:@!$&'()*+,;=~"
_QUERY_SAFE = "/%:@!$&'()*+,;=~?[]"
_slash = re.compile(r"[/\\]")


class PassThrough:
    """An ASGI app: `{prefix}/x` is `{base}/x` of the upstream, other paths lie beside its base.

    Args:
        upstream: whose client, base URL and key are used; closed at the end of the lifespan.
        prefix: "/v1"; "" puts every path below the base.
    """

    def __init__(self, upstream: HttpUpstream, prefix: str) -> None:
        self._upstream = upstream
        self._prefix = prefix.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._http(scope, receive, send)
            case "websocket":
                await deny_websocket(scope, receive, send, NotFoundError("No WebSocket is served here."))
            case "lifespan":
                await self._lifespan(receive, send)
            case other:
                raise ValueError(f"cannot serve the ASGI scope {other!r}")

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            url = self._route(scope)
        except ResponsesError as error:
            await send_error(send, error)
            return
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            body = _ClientBody(receive, group.cancel_scope)
            group.start_soon(body.watch)
            try:
                await self._relay(scope, url, body, send)
            except (OSError, ResponsesError) as error:  # raised outside the group, which would wrap it
                failure = error
            group.cancel_scope.cancel()
        if failure is not None and not body.is_gone:
            raise failure

    async def _relay(self, scope: Scope, url: str, body: _ClientBody, send: Send) -> None:
        try:
            content = await body.content()
            is_api = self._is_api(_path(scope))
            response = await self._upstream.relay(
                scope["method"], url, list(scope["headers"]), content, with_key=is_api
            )
        except ResponsesError as error:
            if not body.is_gone:
                body.answered = True
                await send_error(send, error)
            return
        try:
            headers = relayed_answer_headers(response.headers.raw)
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            # Raises when the answer is cut: the server then cuts the client's, too.
            async with aclosing(read(response)) as pieces:
                async for data in pieces:
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            body.answered = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await close(response)

    def _route(self, scope: Scope) -> str:
        method, path = scope["method"], _path(scope)
        if method in REFUSED_METHODS:
            raise MethodNotAllowedError(method, scope["path"], allowed=_ALLOWED)
        query = quote(scope.get("query_string", b"").decode("latin-1"), safe=_QUERY_SAFE)
        url = self._url(path, query)
        # No way out of the base. Servers hand on what clients write where the path belongs ("@other.host/x"); after
        # the origin that would be another host, which would get the key.
        if url is None or not path.startswith("/") or {".", ".."} & set(_slash.split(unquote(path))):
            raise NotFoundError(f"Invalid URL ({method} {scope['path']})")
        if len(url) > MAX_URL:
            raise InvalidRequestError("The URL of the request is too long.")
        return url

    def _is_api(self, path: str) -> bool:
        return path == self._prefix or path.startswith(self._prefix + "/")

    def _url(self, path: str, query: str) -> str | None:
        base, prefix = self._upstream.base, self._prefix
        if self._is_api(path):
            return base.join(path.removeprefix(prefix), query)
        return base.beside(prefix, path, query)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self._upstream.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return


class _ClientBody:
    """The body of the client's request, and after it the wait for the client to leave. The two never read at once."""

    def __init__(self, receive: Receive, request: anyio.CancelScope) -> None:
        self._receive = receive
        self._request = request
        self._whole = anyio.Event()
        self._first: bytes | None = None
        self.is_gone = False
        self.answered = False

    async def content(self) -> bytes | _ClientBody | None:
        """The body: None if there is none, bytes if it came at once, else this object, to be iterated."""
        self._first = await self._next()
        if not self._whole.is_set():
            return self
        return self._first or None

    def __aiter__(self) -> _ClientBody:
        return self

    async def __anext__(self) -> bytes:
        data, self._first = self._first, None
        while not data:
            if self._whole.is_set():
                raise StopAsyncIteration
            data = await self._next()
        return data

    async def watch(self) -> None:
        """Cancel the request when the client leaves."""
        await self._whole.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._leave()

    async def _next(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._leave()
            # Half a body must never look whole to the upstream.
            raise ConnectionAbortedError("the client left in the middle of its request")
        if not message.get("more_body", False):
            self._whole.set()
        data: bytes = message.get("body", b"")
        return data

    def _leave(self) -> None:
        if self.answered:  # hypercorn says so in the middle of our last send, which it could not finish
            return
        self.is_gone = True
        self._request.cancel()


def _path(scope: Scope) -> str:
    """The percent-encoded path below root_path, as the client wrote it where the server tells."""
    root, path = scope.get("root_path", "").rstrip("/"), scope["path"]
    if not root or not (path == root or path.startswith(root + "/")):
        root = ""
    raw = scope.get("raw_path", b"") or b""
    written = raw.decode("latin-1").partition("?")[0]
    encoded_root = quote(root, safe=_PATH_SAFE)
    if written.startswith(encoded_root) and unquote(written) == path:  # keeps the %2F of `/models/org%2Fname`
        return quote(written.removeprefix(encoded_root), safe=_PATH_SAFE)
    return quote(path.removeprefix(root), safe=_PATH_SAFE.replace("%", ""))
