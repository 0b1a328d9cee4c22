"""The base URL of an upstream: checked once, when the middleware is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_ENDPOINTS = ("/chat/completions", "/completions", "/responses")
_has_blank = re.compile(r"[\s\x00-\x1f\x7f]").search


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """`http://host:8000/v1` with an optional query that every request carries (Azure: `?api-version=…`).

    Args:
        origin: scheme, host and port.
        path: the path without a slash at its end; "" for the root.
        query: without its question mark; "" for none.
    """

    origin: str
    path: str
    query: str

    def join(self, path: str, query: str = "") -> str:
        """The URL of a percent-encoded path below the base; the base's query comes first."""
        return self._with(self.path + path, query)

    def beside(self, prefix: str, path: str, query: str = "") -> str | None:
        """The URL of a percent-encoded path next to the base: what stands where the base has `prefix`.

        None if the base does not end with the prefix, since nothing is known of what lies outside it.
        """
        if not self.path.endswith(prefix):
            return None
        return self._with(self.path.removesuffix(prefix) + path, query)

    def _with(self, path: str, query: str) -> str:
        whole = "&".join(part for part in (self.query, query) if part)
        return f"{self.origin}{path}{'?' if whole else ''}{whole}"


def parse_base_url(url: str) -> BaseUrl:
    """Read and check an upstream's base URL.

    Raises:
        ConfigurationError: it is none, or not the base; the message says how to write it.
    """
    try:
        parts = urlsplit(url)
        valid_port = parts.port != 0
    except ValueError as error:
        raise _wrong("has a host or port that cannot be read") from error
    if _has_blank(url) or not valid_port:
        raise _wrong("has a blank or a port 0 in it")
    _check_scheme(url, parts)
    _check_rest(parts)
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            base = f"{parts.scheme}://{parts.netloc}{path.removesuffix(endpoint)}"
            raise _wrong(f"must be the base URL, without {endpoint}: try {base!r}")
    return BaseUrl(f"{parts.scheme}://{parts.netloc}", path, parts.query)


def _check_scheme(url: str, parts: SplitResult) -> None:
    if parts.scheme in ("http", "https") and "://" in url:
        return
    rest = (url.partition("://")[2] or url.lstrip("/")).partition("?")[0]
    host = rest.rpartition("@")[2]  # neither a password nor a key of a query is said again
    raise _wrong(f"must begin with http:// or https://: try {'http://' + host!r}")


def _check_rest(parts: SplitResult) -> None:
    if not parts.hostname:
        raise _wrong("has no host: write it as 'http://localhost:8000/v1'")
    if parts.username is not None or parts.password is not None:  # would stand in logs and tracebacks
        raise _wrong("must not hold a user name or password: pass api_key, or a client with auth")
    if parts.fragment:
        raise _wrong("has a fragment, which no server gets: leave out the '#' and what follows")


def _wrong(what: str) -> ConfigurationError:
    return ConfigurationError(f"The upstream URL {what}", param="upstream")
