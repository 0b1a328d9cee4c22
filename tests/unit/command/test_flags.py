from __future__ import annotations

from typing import Any

import pytest

from responses_middleware import ConfigurationError, Limits, ResponsesProxy
from responses_middleware.command.flags import build_parser, model_names, proxy_options

URL = "http://localhost:8000/v1"


def options(*flags: str, **environment: str) -> dict[str, Any]:
    return proxy_options(build_parser().parse_args([URL, *flags]), environment)


def test_without_flags_the_proxy_gets_its_own_defaults() -> None:
    assert options() == {
        "api_key": None,
        "dialect": "auto",
        "done_sentinel": False,
        "limits": Limits(),
        "model": None,
        "prefix": "/v1",
        "reasoning": "summary",
        "secret": None,
        "store": "memory",
        "unsupported": "warn",
    }


def test_the_proxy_takes_the_options_of_the_command() -> None:
    ResponsesProxy(URL, **options())  # an option that it has not, or refuses, raises


@pytest.mark.parametrize(
    ("flags", "name", "value"),
    [
        (["--api-key", "k"], "api_key", "k"),
        (["--dialect", "vllm"], "dialect", "vllm"),
        (["--done-sentinel"], "done_sentinel", True),
        (["--model", "big"], "model", "big"),
        (["--model", "a=b", "--model", "c=d=e"], "model", {"a": "b", "c": "d=e"}),
        (["--prefix", "/api/v1"], "prefix", "/api/v1"),
        (["--reasoning", "text"], "reasoning", "text"),
        (["--secret", "s"], "secret", "s"),
        (["--store", "memory"], "store", "memory"),
        (["--store", "none"], "store", None),
        (["--unsupported", "error"], "unsupported", "error"),
        (["--idle-timeout", "5"], "limits", Limits(idle_timeout=5)),
        (["--keepalive", "none"], "limits", Limits(keepalive=None)),
        (["--grace", "2.5"], "limits", Limits(grace=2.5)),
        (["--limit", "max_tools=3", "--limit", "store_ttl=None"], "limits", Limits(max_tools=3, store_ttl=None)),
        (["--limit", "max-depth=9"], "limits", Limits(max_depth=9)),
        (["--grace", "1", "--limit", "grace=2"], "limits", Limits(grace=2)),
        (["--limit", "grace=2", "--grace", "1"], "limits", Limits(grace=1)),
    ],
)
def test_a_flag_reaches_the_options(flags: list[str], name: str, value: object) -> None:
    assert options(*flags)[name] == value


@pytest.mark.parametrize("name", ["api_key", "secret"])
def test_a_secret_comes_from_the_environment(name: str) -> None:
    assert options(**{f"RESPONSES_MIDDLEWARE_{name.upper()}": "x"})[name] == "x"


def test_a_flag_wins_over_the_environment() -> None:
    assert options("--api-key", "flag", RESPONSES_MIDDLEWARE_API_KEY="environment")["api_key"] == "flag"


def test_an_empty_variable_is_no_key() -> None:
    assert options(RESPONSES_MIDDLEWARE_API_KEY="")["api_key"] is None


@pytest.mark.parametrize("flags", [["a", "b"], ["a", "b=c"], ["=b"], ["a="], [""]])
def test_model_flags_that_contradict_or_are_empty_are_refused(flags: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="--model"):
        model_names(flags)
