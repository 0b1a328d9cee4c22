"""What the command says: everything goes to standard error."""

from __future__ import annotations

import ipaddress
import json
import shlex
import sys
from typing import TYPE_CHECKING

from .. import __version__
from .flags import PROGRAM
from .probe import shown

if TYPE_CHECKING:
    import argparse

    from ..upstream.url import BaseUrl
    from .probe import ProbeResult
    from .serving import Place


def say(line: str) -> None:
    """Print one line on standard error at once."""
    print(line, file=sys.stderr, flush=True)


def start_lines(
    place: Place, base: BaseUrl, given: argparse.Namespace, found: ProbeResult, *, has_key: bool = False
) -> list[str]:
    """What stands on the terminal before it listens: what is served, for which upstream, and how to use it."""
    aliases = [flag.partition("=")[0] for flag in given.model]
    key = "the one given here is sent upstream" if has_key else "the client's own is passed on"
    warnings = [found.warning] if found.warning else []
    if has_key and not _is_this_machine(given.host):
        warnings.append(f"whoever can reach {place.base} uses the upstream with the key given here")
    return [
        f"{PROGRAM} {__version__}: the Responses API at {place.base} for the chat completions of {shown(base)}",
        f"  dialect {given.dialect}; store {given.store}; key: {key}",
        *(f"{PROGRAM}: warning: {warning}" for warning in warnings),
        *usage_lines(place, aliases[0] if aliases else found.model or "default", wants_key=found.wants_key),
    ]


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def usage_lines(place: Place, model: str, *, wants_key: bool = False) -> list[str]:
    """A streamed question to paste into a shell, and the setting that points OpenAI clients here."""
    # The name may come from the upstream: as quoted ASCII nothing in it can reach the shell or the terminal.
    body = shlex.quote(json.dumps({"model": model, "input": "Say hello.", "stream": True}))
    key = ' -H "Authorization: Bearer $OPENAI_API_KEY"' if wants_key else ""
    return [
        "  try it:",
        f"    curl -N {place.local}/responses -H 'Content-Type: application/json'{key} -d {body}",
        "  point OpenAI clients here:",
        f"    OPENAI_BASE_URL={place.local}",
    ]
