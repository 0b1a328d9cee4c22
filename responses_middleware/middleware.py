"""The door: which requests are ours, and everything else untouched."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from .construction import check_options, make_store, make_upstream, origin_of
from .dialects import Dialect
from .endpoints.cancel import cancel
from .endpoints.create import create
from .endpoints.delete import delete
from .endpoints.input_items import input_items
from .endpoints.request_body import ClientLeftError
from .endpoints.retrieve import retrieve
from .endpoints.websocket import refuse
from .engine.runtime import Options, Runtime
from .engine.turns import Connection
from .errors import MethodNotAllowedError, NotFoundError, ResponsesError, UpstreamError
from .lifespan import Lifespan
from .options import Limits, ReasoningForm, Unsupported
from .replies import send_error
from .state import Sealer, StoreError, owner_from_authorization
from .upstream.app import MARKER

if TYPE_CHECKING:
    import httpx
    from starlette.types import ASGIApp, Receive, Scope, Send

    from .engine.runtime import RunInfo
    from .state import Store
    from .stream import Event
    from .upstream.base import Upstream

logger = logging.getLogger("responses_middleware")


class ResponsesMiddleware:
    """Serve the OpenAI Responses API over the chat completions of the wrapped app, or of a URL.

    Pure ASGI. Requests to `{prefix}/responses` are answered; every other path, WebSocket and the lifespan pass
    untouched.

    Args:
        app: the ASGI app.
        upstream: None calls the wrapped app in process; a base URL ("http://host:8000/v1") is called with httpx.
        prefix: serves `{prefix}/responses`, calls `{prefix}/chat/completions`; the scope's root_path is honoured.
        dialect: what the chat server takes, by name or as a Dialect; "auto" learns from refusals.
        model: the upstream's model: one for all, a mapping of names, or a function of the name.
        api_key: for the upstream URL; None passes the client's own Authorization on.
        store: "memory", a Store, or None to keep nothing.
        tools: tools that run here; none are served yet.
        owner: whose stored responses these are; by default one for each credential.
        unsupported: what can't be carried is refused ("error"), left out and named ("warn"), or left out ("ignore").
        reasoning: how the model's thinking is streamed: as a summary, as text, or not at all.
        native: "never": always answered here.
        done_sentinel: end streams with `data: [DONE]`, as Open Responses wants it.
        secret: seals `encrypted_content`; None makes a random key, which tokens don't survive a restart with.
        client: the httpx client for the upstream URL; never closed here.
        on_event: called with each event and what run it belongs to; takes the fast path's place.
        limits: the bounds of every wait, buffer and count.

    Raises ConfigurationError, which says what is wrong and how to mend it.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        upstream: str | Upstream | None = None,
        prefix: str = "/v1",
        dialect: str | Dialect = "auto",
        model: str | Mapping[str, str] | Callable[[str], str] | None = None,
        api_key: str | None = None,
        store: str | Store | None = "memory",
        tools: Iterable[object] = (),
        owner: Callable[[Scope], str] = owner_from_authorization,
        unsupported: Unsupported = "warn",
        reasoning: ReasoningForm = "summary",
        native: Literal["auto", "never"] = "never",
        done_sentinel: bool = False,
        secret: str | bytes | None = None,
        client: httpx.AsyncClient | None = None,
        on_event: Callable[[Event, RunInfo], None] | None = None,
        limits: Limits | None = None,
    ) -> None:
        check_options({name: value for name, value in locals().items() if name not in ("self", "app")})
        limits = limits or Limits()
        self.app = app
        self._runtime = Runtime(
            Options(
                prefix=prefix.rstrip("/"),
                dialect=Dialect.named(dialect) if isinstance(dialect, str) else dialect,
                model=model,
                owner=owner,
                unsupported=unsupported,
                reasoning=reasoning,
                done_sentinel=done_sentinel,
                on_event=on_event,
                limits=limits,
                same_origin=upstream is None,
                origin=origin_of(upstream),
            ),
            upstream=make_upstream(app, upstream, api_key=api_key, client=client, limits=limits),
            store=make_store(store, limits),
            sealer=Sealer(secret),
        )
        self._lifespan = Lifespan(
            app, self._runtime.supervisor, aclose=lambda: self._runtime.aclose(store=isinstance(store, str))
        )
        self._responses = f"{prefix.rstrip('/')}/responses"
        self._chat = f"{prefix.rstrip('/')}/chat/completions"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        steps = self._claimed(scope)
        if steps is None:
            await (self._lifespan if scope["type"] == "lifespan" else self.app)(scope, receive, send)
            return
        try:
            await self._endpoint(scope, receive, send, steps)
        except ClientLeftError:
            return
        except UpstreamError as error:
            await send_error(send, error)
            if error.exception is not None:
                raise error.exception from None  # once, to the server's log
        except StoreError as error:  # its words are the operator's: they may hold the address and key of a database
            logger.error("the store failed: %s", error.message)
            await send_error(send, ResponsesError("The stored responses can't be reached now; try again later."))
        except ResponsesError as error:  # endpoints raise while nothing was sent: it becomes an HTTP status
            await send_error(send, error)

    def guest(self) -> AbstractContextManager[None]:
        """Let a stop wait for a request that passes through."""
        return self._runtime.supervisor.guest()

    def serves(self, scope: Scope) -> bool:
        """Whether a request's path is one of ours."""
        return self._steps(scope) is not None

    def _claimed(self, scope: Scope) -> Sequence[str] | None:
        """The steps of a request that is answered here; None for all that passes."""
        kind = scope["type"]
        if kind not in ("http", "websocket") or MARKER in scope:
            return None
        steps = self._steps(scope)
        if kind == "websocket":
            return None if steps else steps
        return None if scope["method"] == "OPTIONS" else steps  # an outer or inner CORS layer must see it

    def _steps(self, scope: Scope) -> Sequence[str] | None:
        """What follows `{prefix}/responses` in the path, or None if it is not ours."""
        path = _route_path(scope)
        if not path.startswith(self._responses):
            return None
        if len(path) == len(self._responses):
            return ()
        first, *steps = path[len(self._responses) :].split("/")
        return None if first else steps

    def _endpoint(self, scope: Scope, receive: Receive, send: Send, steps: Sequence[str]) -> Awaitable[None]:
        if scope["type"] == "websocket":
            return refuse(scope, receive, send)
        runtime, method, path = self._runtime, scope["method"], scope["path"]
        root = path.removesuffix(_route_path(scope))
        connection = Connection(scope=scope, receive=receive, send=send, chat_path=root + self._chat)
        match steps:
            case []:
                _allow(method, path, "POST")
                return create(runtime, connection)
            case ["compact" | "input_tokens" as name]:
                _allow(method, path, "POST")
                raise NotFoundError(
                    f"/responses/{name} is not served here (compact and input_tokens need more than a chat server has)."
                )
            case [response_id]:
                _allow(method, path, "GET", "DELETE")
                return (retrieve if method == "GET" else delete)(runtime, connection, response_id)
            case [response_id, "input_items"]:
                _allow(method, path, "GET")
                return input_items(runtime, connection, response_id)
            case [response_id, "cancel"]:
                _allow(method, path, "POST")
                return cancel(runtime, connection, response_id)
            case _:
                raise NotFoundError(f"Invalid URL ({method} {path})")


def _allow(method: str, path: str, *allowed: str) -> None:
    if method not in allowed:
        raise MethodNotAllowedError(method, path, allowed=", ".join(allowed))


def _route_path(scope: Scope) -> str:
    """The path below root_path; `scope["path"]` is the truth, never a URL made of headers (CVE-2026-48710)."""
    path: str = scope["path"]
    root = scope.get("root_path", "").rstrip("/")
    return path.removeprefix(root) if root and path.startswith(root + "/") else path
