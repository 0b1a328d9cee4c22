"""The bridge under test on a real socket, in the test's own event loop: all forms of upstream, both loops.

On asyncio the HTTP side is uvicorn's (both of its parsers), on trio hypercorn's.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import anyio
import sniffio
from asgi_client import request, started
from misbehaving import Answer, AppUpstream, Asked, Misbehaving, Script, SocketUpstream
from wire import PATIENCE, Caller, Reply, calling, fetch, http_request

from responses_middleware import Limits, ResponsesMiddleware, ResponsesProxy

if TYPE_CHECKING:
    from starlette.types import ASGIApp

FORMS = ("app", "httpx", "aiohttp")
"""The wrapped app in process; a URL with plain httpx; a URL with httpx-aiohttp, which needs asyncio."""

PLACES = [(form, loop) for form in FORMS for loop in ("asyncio", "trio") if (form, loop) != ("aiohttp", "trio")]
ON_ONE_LOOP = [("app", "asyncio"), ("httpx", "trio"), ("aiohttp", "asyncio")]
BUSY = 5.0  # what a busy machine may add to a promised second


async def until(fact: Callable[[], object]) -> None:
    """Wait for what nobody tells of."""
    with anyio.fail_after(PATIENCE):
        while not fact():  # noqa: ASYNC110
            await anyio.sleep(0.01)


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    with anyio.fail_after(seconds + BUSY):
        yield


async def stopped_growing(size: Callable[[], int]) -> int:
    """Wait until a size is the same for a while; the size."""
    last = -1
    while last != size() or not last:
        last = size()
        await anyio.sleep(0.3)
    return last


@dataclass
class Bridge:
    """A bridge under way."""

    url: str  # http://127.0.0.1:PORT
    upstream: Misbehaving
    middleware: ResponsesMiddleware
    form: str

    @property
    def responses(self) -> str:
        return f"{self.url}/v1/responses"

    @property
    def asked(self) -> list[Asked]:
        return self.upstream.asked

    @property
    def runtime(self) -> Any:
        return self.middleware._runtime

    async def ask(
        self, *, stream: bool = True, headers: Iterable[tuple[str, str]] = (), path: str = "", **parameters: Any
    ) -> Reply:
        """Ask for a response and wait for its end; streams are checked."""
        body = json.dumps(request(stream=stream, **parameters)).encode()
        reply = await fetch(self.responses + path, body, headers=[("Content-Type", "application/json"), *headers])
        return reply.check_stream() if reply.status == 200 and stream else reply

    async def ask_all(self, models: Iterable[str], **options: Any) -> dict[str, Reply]:
        """Ask each model, all at once."""
        replies: dict[str, Reply] = {}

        async def one(model: str) -> None:
            replies[model] = await self.ask(model=model, **options)

        async with anyio.create_task_group() as group:
            for model in models:
                group.start_soon(one, model)
        return replies

    async def get(self, path: str = "", *, method: str = "GET", **options: Any) -> Reply:
        return await fetch(self.responses + path, method=method, **options)

    @asynccontextmanager
    async def asking(
        self,
        *,
        stream: bool = True,
        headers: Iterable[tuple[str, str]] = (),
        **parameters: Any,
    ) -> AsyncIterator[Caller]:
        """The same, with the connection in hand."""
        body = json.dumps(request(stream=stream, **parameters)).encode()
        lines = [("Content-Type", "application/json"), *headers]
        data = http_request(self.responses, body, headers=lines)
        async with calling(self.responses, data) as caller:
            yield caller


@asynccontextmanager
async def bridge_of(
    form: str, *answers: Answer | Script, limits: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[Bridge]:
    """A bridge in front of these answers; `limits` are those of Limits."""
    options["limits"] = Limits(**(limits or {}))
    async with AsyncExitStack() as stack:
        stack.enter_context(anyio.fail_after(PATIENCE * 2))
        if form == "app":
            upstream: Misbehaving = AppUpstream(*answers)
            middleware = app = ResponsesMiddleware(upstream, **options)  # type: ignore[arg-type]
        else:
            if form == "httpx":  # as where the extra `fast` is not installed
                stack.enter_context(patch.dict(sys.modules, {"httpx_aiohttp": None}))
            upstream = await stack.enter_async_context(SocketUpstream(*answers).listening())
            app = ResponsesProxy(upstream.url, **options)  # type: ignore[attr-defined,assignment]
            middleware = app._app  # type: ignore[attr-defined]
        url = await stack.enter_async_context(serving(app, parser="h11" if form == "httpx" else "httptools"))
        yield Bridge(url, upstream, middleware, form)


@asynccontextmanager
async def serving(app: ASGIApp, *, parser: str = "httptools") -> AsyncIterator[str]:
    """Serve an app in this event loop; its base URL."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    served = _on_uvicorn(app, listener, parser) if sniffio.current_async_library() == "asyncio" else None
    async with served or _on_hypercorn(app, listener):
        yield url


@asynccontextmanager
async def _on_uvicorn(app: ASGIApp, listener: socket.socket, parser: str) -> AsyncIterator[None]:
    """uvicorn's protocols without its `Server`, whose stop takes 0.1 s; the command's test has that."""
    import uvicorn
    from uvicorn.server import ServerState

    config = uvicorn.Config(app, http=parser, log_config=None, log_level="warning", server_header=False)
    config.load()
    state = ServerState()
    make = partial(config.http_protocol_class, config=config, server_state=state, app_state={})
    server = await asyncio.get_running_loop().create_server(make, sock=listener)  # type: ignore[arg-type]
    async with started(app):
        try:
            yield
        finally:
            server.close()
            for connection in list(state.connections):
                connection.transport.abort()
            with anyio.move_on_after(PATIENCE, shield=True):
                while state.tasks:
                    await asyncio.wait(list(state.tasks))


@asynccontextmanager
async def _on_hypercorn(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    from hypercorn.config import Config
    from hypercorn.trio import serve

    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = 0.2
    config.errorlog = logging.getLogger("hypercorn.error")
    config.include_server_header = False
    stop = anyio.Event()
    async with anyio.create_task_group() as group:
        await group.start(_serve_hypercorn, serve, app, config, stop)
        try:
            yield
        finally:
            stop.set()


async def _serve_hypercorn(serve: Any, app: Any, config: Any, stop: anyio.Event, *, task_status: Any) -> None:
    await serve(app, config, shutdown_trigger=stop.wait, mode="asgi", task_status=task_status)
