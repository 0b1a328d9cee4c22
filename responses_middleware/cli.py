"""The command `responses-middleware URL`: the Responses API on a port, in front of a chat completions URL.

Everything that it says goes to standard error; it listens once `listening on http://HOST:PORT/v1` stands there.
Exit status: 0 (or the signal's) after a stop by a signal, 1 could not listen, 2 wrong usage or configuration.
"""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
import json
import os
import re
import shlex
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import httpx

from . import ResponsesProxy, __version__
from .errors import ConfigurationError
from .options import Limits, ReasoningForm, Unsupported
from .serving import LOG_LEVELS, Place, listen, require_uvicorn, say, serve
from .upstream.url import parse_base_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .upstream.url import BaseUrl

PROGRAM = "responses-middleware"
PROBE_TIMEOUT = 2.0  # seconds; the probe only helps, so it may not keep anyone waiting


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (default: those of the process) and return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words[:1] == ["demo"]:
            from .demo import run_demo  # only the demo needs what it imports

            return run_demo(words[1:])
        return run_proxy(words)
    except ConfigurationError as error:
        say(f"{PROGRAM}: error: {error.message}")
        return 2
    except KeyboardInterrupt:
        return 0  # stopped by the user, who needs no traceback to know it


def run_proxy(words: Sequence[str]) -> int:
    """Serve the upstream named in `words` until a signal; returns the exit status, raises ConfigurationError."""
    given = build_parser().parse_args(words)
    base = read_url(given.url)
    options = proxy_options(given, os.environ)
    app = ResponsesProxy(given.url, **options)
    require_uvicorn()
    try:
        listener = listen(given.host, given.port)
    except OSError as error:
        say(f"{PROGRAM}: error: could not listen on {given.host}:{given.port}: {error.strerror or error}")
        return 1
    with listener:
        place = Place.of(listener, given.host, given.prefix)
        found = probe(base, options["api_key"])
        for line in start_lines(place, base, given, found, has_key=options["api_key"] is not None):
            say(line)
        limits = options["limits"]
        return serve(app, listener, limits, given.log_level, lambda _: say(f"listening on {place.base}"))


# --- what the user typed -------------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """argparse with errors of one line, and no abbreviated flags (they would break with the next flag)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of `responses-middleware URL …`."""
    parser = Parser(
        prog=PROGRAM,
        description="Serve the OpenAI Responses API in front of a server that speaks only chat completions.",
        epilog=f"`{PROGRAM} demo` shows it all with a small real model on this machine; see `{PROGRAM} demo --help`.",
    )
    parser.add_argument("url", metavar="URL", help="the chat server with its /v1, as in http://localhost:8000/v1")
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    _add_place(parser.add_argument_group("where to listen"))
    _add_upstream(parser.add_argument_group("the upstream"))
    _add_answers(parser.add_argument_group("the answers"))
    _add_limits(parser.add_argument_group("limits (seconds, bytes, counts; `none` for no limit where that is allowed)"))
    return parser


def _add_place(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--host", default="127.0.0.1", help="address (default: %(default)s, this machine only)")
    group.add_argument("--port", type=port_number, default=9000, help="port; 0 takes a free one (default: %(default)s)")
    group.add_argument("--prefix", default="/v1", help="the API stands below this path (default: %(default)s)")


def _add_upstream(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--api-key",
        metavar="KEY",
        help="the key sent upstream; better set as RESPONSES_MIDDLEWARE_API_KEY, since others can read a command line "
        "(default: the client's own Authorization is passed on)",
    )
    group.add_argument("--dialect", metavar="NAME", default="auto", help="the kind of server (default: %(default)s)")
    group.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="ALIAS=MODEL",
        help="ask the upstream for MODEL where a client asks for ALIAS; repeatable; "
        "a name without `=` is used for every request",
    )


def _add_answers(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--store",
        default="memory",
        help="where responses are kept: memory (gone when the command ends) or none (default: %(default)s)",
    )
    group.add_argument(
        "--unsupported",
        choices=get_args(Unsupported),
        default="warn",
        help="what a chat completion cannot carry: refuse the request, serve it without and say so, or serve it "
        "without a word (default: %(default)s)",
    )
    group.add_argument(
        "--reasoning",
        choices=get_args(ReasoningForm),
        default="summary",
        help="how a model's thinking is shown (default: %(default)s)",
    )
    group.add_argument("--done-sentinel", action="store_true", help="end streams with `data: [DONE]`")
    group.add_argument(
        "--secret",
        help="seals encrypted_content, so that it can be read after a restart; better set as "
        "RESPONSES_MIDDLEWARE_SECRET (default: a new one per start)",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    for name, meaning in (
        ("idle_timeout", "the longest silence of the upstream"),
        ("keepalive", "a comment keeps a silent stream open this often"),
        ("grace", "time that running answers have to end after a stop"),
    ):
        group.add_argument(
            f"--{name.replace('_', '-')}",
            dest="limit",
            action="append",
            default=[],
            type=partial(_limit_value, name),
            metavar="SECONDS",
            help=f"{meaning} (default: {getattr(Limits(), name):g})",
        )
    group.add_argument(
        "--limit",
        action="append",
        default=[],
        type=limit,
        metavar="NAME=VALUE",
        help=f"any limit, repeatable: {', '.join(_limit_kinds())}",
    )
    group.add_argument("--log-level", choices=LOG_LEVELS, default="info", help="(default: %(default)s)")


def port_number(text: str) -> int:
    """A TCP port, 0 for any free one."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port number (0 to 65535)")
    return int(text)


def limit(text: str) -> tuple[str, float | int | None]:
    """`NAME=VALUE` as the name of a field of Limits and its value."""
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    if name not in _limit_kinds():
        raise argparse.ArgumentTypeError(f"there is no limit {name!r}; there are {', '.join(_limit_kinds())}")
    return _limit_value(name, value)


def _limit_value(name: str, text: str) -> tuple[str, float | int | None]:
    if text.strip().lower() == "none":
        return name, None
    whole = _limit_kinds()[name].startswith("int")
    try:
        return name, int(text) if whole else float(text)
    except ValueError:
        wanted = "a whole number" if whole else "a number of seconds"
        raise argparse.ArgumentTypeError(f"{name} must be {wanted}, not {text!r}") from None


def _limit_kinds() -> dict[str, str]:
    return {field.name: str(field.type) for field in dataclasses.fields(Limits)}


def read_url(text: str) -> BaseUrl:
    """The upstream URL as typed; ConfigurationError never repeats a password or a key in it, since it may be logged."""
    authority = (text.partition("://")[2] or text).partition("/")[0]
    if "@" in authority:
        raise ConfigurationError(
            "The upstream URL must not hold a user name or password: give the key as --api-key, or better as "
            "RESPONSES_MIDDLEWARE_API_KEY"
        )
    try:
        return parse_base_url(text)
    except ConfigurationError as error:
        if "@" in text or "?" in text:
            raise ConfigurationError(error.message.partition(": try ")[0]) from None
        raise


def proxy_options(given: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, Any]:
    """The keyword arguments of ResponsesProxy; a flag wins over its environment variable, the last flag over others."""
    return {
        "api_key": given.api_key or environment.get("RESPONSES_MIDDLEWARE_API_KEY") or None,
        "dialect": given.dialect,
        "done_sentinel": given.done_sentinel,
        "limits": Limits(**dict(given.limit)),
        "model": model_names(given.model),
        "prefix": given.prefix,
        "reasoning": given.reasoning,
        "secret": given.secret or environment.get("RESPONSES_MIDDLEWARE_SECRET") or None,
        "store": store_name(given.store),
        "unsupported": given.unsupported,
    }


def model_names(flags: Sequence[str]) -> str | dict[str, str] | None:
    """`--model` flags as one name for every request, or as a mapping from alias to upstream model."""
    aliases = dict(flag.split("=", 1) for flag in flags if "=" in flag)
    names = [flag for flag in flags if "=" not in flag]
    if names and len(flags) > 1:
        raise ConfigurationError("--model without `=` is meant for every request: give it once, and no ALIAS=MODEL")
    if not all([*names, *aliases, *aliases.values()]) or "" in flags:
        raise ConfigurationError("--model must be ALIAS=MODEL or MODEL, with no empty name")
    return names[0] if names else aliases or None


def store_name(flag: str) -> str | None:
    """`--store` as ResponsesProxy takes it."""
    if flag in ("memory", "none"):
        return None if flag == "none" else flag
    kind = flag.partition(":")[0]
    if kind in ("sqlite", "redis", "rediss", "postgres", "postgresql"):
        raise ConfigurationError(f"--store {kind}: this store is not available yet; there are memory and none")
    raise ConfigurationError(f"--store {kind}: no such store; there are memory and none")


# --- what the command says -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What one look at the upstream showed."""

    warning: str | None = None
    model: str | None = None
    wants_key: bool = False


def probe(base: BaseUrl, api_key: str | None) -> Found:
    """Look once whether a chat server answers; takes a few seconds at most, and only a URL that is none is an error."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        with httpx.Client(trust_env=False, timeout=PROBE_TIMEOUT, headers=headers) as client:
            answer = client.get(base.join("/models"))
            # A chat server need not list models; at the path that it does serve, it says 405 to a GET.
            if answer.status_code == 404 and client.get(base.join("/chat/completions")).status_code == 404:
                return Found(warning=f"{shown(base)} answers 404 for everything: is the /v1 missing, or wrong?")
    except httpx.TimeoutException:
        return Found(warning=f"{shown(base)} did not answer within {PROBE_TIMEOUT:g} seconds; serving all the same")
    except httpx.HTTPError as error:
        return Found(warning=f"{shown(base)} cannot be reached ({_plain(error)}); is it running? Serving all the same")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ConfigurationError(f"The upstream URL cannot be used: {error}") from error
    return Found(model=_first_model(answer), wants_key=answer.status_code in (401, 403))


def _plain(error: Exception) -> str:
    """Its words without numbers that only a programmer knows."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def _first_model(answer: httpx.Response) -> str | None:
    try:
        name = answer.json()["data"][0]["id"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return name if isinstance(name, str) and answer.is_success else None


def start_lines(
    place: Place, base: BaseUrl, given: argparse.Namespace, found: Found, *, has_key: bool = False
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


def shown(base: BaseUrl) -> str:
    """The URL for people to read: no query, which may hold a key."""
    return base.origin + base.path
