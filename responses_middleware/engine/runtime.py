"""What all requests of one middleware share, made once and closed with the app's lifespan."""

from __future__ import annotations

import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..dialects import Dialect
from ..dialects.lessons import learn
from ..errors import OverloadedError, ResponsesError, UpstreamError
from ..options import Limits, ReasoningForm, Unsupported
from ..translate.left_out import LeftOut
from .supervisor import Supervisor

if TYPE_CHECKING:
    from starlette.types import Scope

    from ..state import Sealer, Store
    from ..stream import Event
    from ..upstream.base import Upstream

logger = logging.getLogger("responses_middleware")

_MODELS_REMEMBERED = 1000
_TEACHING_STATUSES = frozenset({400, 422, 500})  # llama-cpp-python answers 500 to what it does not take


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Which run an event belongs to: the response's id, the model that the client asked for, whether it asked for a
    stream."""

    response_id: str
    model: str
    stream: bool


Observer = Callable[["Event", RunInfo], None]
ModelNames = str | Mapping[str, str] | Callable[[str], str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The checked options of one middleware, as the engine needs them."""

    prefix: str
    dialect: Dialect
    model: ModelNames
    owner: Callable[[Scope], str]
    unsupported: Unsupported
    reasoning: ReasoningForm
    done_sentinel: bool
    on_event: Observer | None
    limits: Limits
    same_origin: bool  # whether the upstream is the wrapped app itself
    origin: str  # names the upstream in what is sealed


class Runtime:
    """Options, upstream, store, and what was learned of the upstream."""

    def __init__(self, options: Options, *, upstream: Upstream, store: Store | None, sealer: Sealer) -> None:
        self.options = options
        self.upstream = upstream
        self.store = store
        self._sealer = sealer
        self._dialects: OrderedDict[str, Dialect] = OrderedDict()  # what was learned, by upstream model
        self._sends_finish = options.dialect.finish_reason
        self.under_way = 0  # requests, for max_concurrent
        self.supervisor = Supervisor(options.limits)
        self.seal = self._seal if sealer.available else None

    # -- ids, time
    @staticmethod
    def new_id(prefix: str) -> str:
        """192 random bits: no counter and no time in it."""
        return prefix + secrets.token_hex(24)

    @staticmethod
    def now() -> float:
        return time.time()

    # -- the upstream
    def upstream_model(self, requested: str) -> str:
        """The upstream's name for the model that the client asks for."""
        match self.options.model:
            case None:
                return requested
            case str(name):
                return name
            case Mapping() as names:
                return str(names.get(requested, requested))
            case rename:
                return _of_operator("model", lambda: rename(requested))

    def owner(self, scope: Scope) -> str:
        """Whose stored responses a request may see."""
        return _of_operator("owner", lambda: self.options.owner(scope))

    def dialect(self, model: str) -> Dialect:
        """How this model is asked, lessons included."""
        return self._dialects.get(model, self.options.dialect)

    def learn(self, dialect: Dialect, error: UpstreamError, payload: Mapping[str, Any]) -> Dialect | None:
        """How the same can be asked otherwise, by what a refusal teaches. Only "auto" learns: a named dialect is the
        operator's word.

        Nothing is kept yet: what one client is refused may be its own fault.
        """
        if self.options.dialect.name != "auto" or error.status not in _TEACHING_STATUSES:
            return None
        return learn(error.words, payload, dialect)

    def keep_lesson(self, model: str, tried: Mapping[str, Any]) -> None:
        """Ask this model so from now on: asked so, it has answered what it had refused.

        Args:
            tried: the fields of the dialect that were changed.
        """
        before = self.dialect(model)
        after = replace(before, **tried)
        if after == before:
            return
        logger.warning(
            "the upstream refuses what 'auto' sends: from now on with %s",
            ", ".join(f"{name}={value!r}" for name, value in tried.items()),
        )
        self._dialects[model] = after
        self._dialects.move_to_end(model)
        if len(self._dialects) > _MODELS_REMEMBERED:
            self._dialects.popitem(last=False)

    def note_lost(self, request: Mapping[str, Any], dialect: Dialect, left_out: LeftOut) -> None:
        """Name the form of the answer where a lesson has taken it: it is asked for in weaker words, or in words alone.
        What the operator's own dialect can't say is the operator's to know."""
        form, known = ((request.get("text") or {}).get("format") or {}).get("type"), dialect.response_format
        is_lost = form == "json_schema" or (form == "json_object" and known == "none")
        if is_lost and known != self.options.dialect.response_format:
            left_out.hint("text.format", at=("text", "format"), why=f"The upstream takes no '{form}' response_format")

    @property
    def expects_finish(self) -> bool | None:
        """Whether the upstream is known to say how each answer ended."""
        return self._sends_finish

    def saw_finish(self) -> None:
        """An answer ended with a finish reason: this server sends them."""
        if self._sends_finish is None:
            self._sends_finish = True

    # -- what goes round by way of the client
    def _seal(self, value: dict[str, Any]) -> str | None:
        return self._sealer.seal({**value, "origin": self.options.origin})

    def unseal(self, token: str) -> dict[str, Any] | None:
        """What a token of ours holds; opaque data of another upstream stays out, since only its own may see it."""
        value = self._sealer.open(token)
        if value is None or value.get("origin") == self.options.origin:
            return value
        return {**value, "opaque": {}}

    # -- the end
    def admit(self) -> None:
        """Count a request, until `dismiss`; OverloadedError if none may begin now."""
        self.refuse_when_stopping()
        limit = self.options.limits.max_concurrent
        if limit is not None and self.under_way >= limit:
            raise OverloadedError(f"{self.under_way} requests are under way; try again later.")
        self.under_way += 1

    def dismiss(self) -> None:
        """A request that was admitted has ended."""
        self.under_way -= 1

    def refuse_when_stopping(self) -> None:
        """Raise OverloadedError once the server stops: nothing is asked any more."""
        if self.supervisor.is_draining:
            raise OverloadedError("The server is stopping; try again later.")

    async def aclose(self, *, store: bool) -> None:
        """Close the upstream's client, and the store if it is ours."""
        await self.upstream.aclose()
        if store and self.store is not None:
            await self.store.aclose()


def _of_operator(name: str, call: Callable[[], str]) -> str:
    """What a function of the operator's says; when it raises, that is a 500 with a log line, not the client's fault."""
    try:
        return call()
    except Exception as error:  # the operator's function may raise anything; the client is told no more than that
        logger.exception("the option %r raised", name)
        raise ResponsesError("The server is not set up rightly.") from error
