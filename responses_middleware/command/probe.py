"""A look at the upstream before serving: is it there, does it want a key, what does it call its model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from ..upstream.url import BaseUrl

PROBE_TIMEOUT = 2.0  # seconds; the probe only helps, so it may not keep anyone waiting


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeResult:
    """What one look at the upstream showed."""

    warning: str | None = None
    model: str | None = None
    wants_key: bool = False


def probe(base: BaseUrl, api_key: str | None) -> ProbeResult:
    """Look once whether a chat server answers; takes a few seconds at most, and only a URL that is none is an error."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        with httpx.Client(trust_env=False, timeout=PROBE_TIMEOUT, headers=headers) as client:
            answer = client.get(base.join("/models"))
            # A chat server need not list models; at the path that it does serve, it says 405 to a GET.
            if answer.status_code == 404 and client.get(base.join("/chat/completions")).status_code == 404:
                return ProbeResult(warning=f"{shown(base)} answers 404 for everything: is the /v1 missing, or wrong?")
    except httpx.TimeoutException:
        return ProbeResult(
            warning=f"{shown(base)} did not answer within {PROBE_TIMEOUT:g} seconds; serving all the same"
        )
    except httpx.HTTPError as error:
        return ProbeResult(
            warning=f"{shown(base)} cannot be reached ({_plain(error)}); is it running? Serving all the same"
        )
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ConfigurationError(f"The upstream URL cannot be used: {error}") from error
    return ProbeResult(model=_first_model(answer), wants_key=answer.status_code in (401, 403))


def _plain(error: Exception) -> str:
    """Its words without numbers that only a programmer knows."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def _first_model(answer: httpx.Response) -> str | None:
    try:
        name = answer.json()["data"][0]["id"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return name if isinstance(name, str) and answer.is_success else None


def shown(base: BaseUrl) -> str:
    """The URL for people to read: no query, which may hold a key."""
    return base.origin + base.path
