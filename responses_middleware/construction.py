"""What an operator passes in, checked, and the collaborators made of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from .dialects import Dialect
from .errors import ConfigurationError
from .options import Limits, ReasoningForm, Unsupported
from .state import MemoryStore
from .upstream.app import AppUpstream
from .upstream.http import HttpUpstream

if TYPE_CHECKING:
    import httpx
    from starlette.types import ASGIApp

    from .state import Store
    from .upstream.base import Upstream

Check = Callable[[Any], bool]


def _has(*methods: str) -> Check:
    return lambda value: all(callable(getattr(value, name, None)) for name in methods)


def _is_one_of(names: tuple[str, ...]) -> Check:
    return lambda value: isinstance(value, str) and value in names


def _wanted(names: tuple[str, ...]) -> str:
    return "one of " + ", ".join(map(repr, names))


_is_prefix = re.compile(r"(/[^\s?#]*)?").fullmatch
_UNSUPPORTED, _REASONING = get_args(Unsupported), get_args(ReasoningForm)

# of each option: whether a value is one, and what is wanted
_OPTIONS: dict[str, tuple[Check, str]] = {
    "upstream": (
        lambda value: value is None or isinstance(value, str) or _has("send", "aclose")(value),
        "None, a base URL, or an object with the methods of Upstream",
    ),
    "prefix": (
        lambda value: isinstance(value, str) and _is_prefix(value) is not None,
        "empty or a path that begins with a slash, '/v1' for instance",
    ),
    "dialect": (lambda value: isinstance(value, str | Dialect), "the name of a dialect or a Dialect"),
    "model": (
        lambda value: value is None or isinstance(value, str | Mapping) or callable(value),
        "None, a name, a mapping of names, or a function of the name",
    ),
    "api_key": (lambda value: value is None or isinstance(value, str), "None or text"),
    "store": (
        lambda value: value in (None, "memory") or _has("put", "get", "delete", "find_item", "aclose")(value),
        "'memory', None, or an object with the methods of Store (no other name is served yet)",
    ),
    "tools": (
        lambda value: isinstance(value, list | tuple) and not value,
        "empty (tools that run here are not served yet)",
    ),
    "owner": (callable, "a function of the scope"),
    "unsupported": (_is_one_of(_UNSUPPORTED), _wanted(_UNSUPPORTED)),
    "reasoning": (_is_one_of(_REASONING), _wanted(_REASONING)),
    "native": (_is_one_of(("never",)), "'never' (stepping aside is not served yet)"),
    "done_sentinel": (lambda value: isinstance(value, bool), "True or False"),
    "secret": (lambda value: value is None or isinstance(value, str | bytes), "None, text or bytes"),
    "client": (
        lambda value: value is None or _has("build_request", "send")(value),
        "None or an httpx.AsyncClient",
    ),
    "on_event": (lambda value: value is None or callable(value), "None or a function of an event and its RunInfo"),
    "limits": (lambda value: value is None or isinstance(value, Limits), "None or a Limits"),
}
_SECRET = frozenset({"api_key", "secret"})  # never shown


def check_options(options: Mapping[str, Any]) -> None:
    """Raise ConfigurationError for an option of ResponsesMiddleware that is none."""
    for name, value in options.items():
        is_one, wanted = _OPTIONS[name]
        if not is_one(value):
            shown = f"a {type(value).__name__}" if name in _SECRET else repr(value)
            raise ConfigurationError(f"{name} must be {wanted}, not {shown}", param=name)
    is_url = isinstance(options["upstream"], str)
    if not is_url and (options["api_key"] is not None or options["client"] is not None):
        raise ConfigurationError(
            "api_key and client are for an upstream URL; give upstream=URL or leave them out", param="upstream"
        )


def make_upstream(
    app: ASGIApp,
    upstream: str | Upstream | None,
    *,
    api_key: str | None,
    client: httpx.AsyncClient | None,
    limits: Limits,
) -> Upstream:
    """The wrapped app, what answers behind a URL, or what was passed in."""
    if upstream is None:
        return AppUpstream(app)
    if isinstance(upstream, str):
        return HttpUpstream(upstream, api_key=api_key, client=client, limits=limits)
    return upstream


def origin_of(upstream: str | Upstream | None) -> str:
    """A name for the upstream, in sealed tokens only: the base URL, without its query, which may hold a key."""
    if isinstance(upstream, HttpUpstream):
        return f"{upstream.base.origin}{upstream.base.path}"
    return upstream.partition("?")[0].rstrip("/") if isinstance(upstream, str) else type(upstream).__name__


def make_store(store: str | Store | None, limits: Limits) -> Store | None:
    """The memory store, the one passed in, or none."""
    if isinstance(store, str):
        return MemoryStore(max_bytes=limits.store_bytes, max_rows=limits.store_rows, ttl=limits.store_ttl)
    return store
