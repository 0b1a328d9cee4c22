"""The flags of the command, and the options that they mean."""

from __future__ import annotations

import argparse
import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from .. import __version__
from ..errors import ConfigurationError
from ..options import Limits, ReasoningForm, Unsupported
from ..upstream.url import parse_base_url
from .serving import LOG_LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..upstream.url import BaseUrl

PROGRAM = "responses-middleware"


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
