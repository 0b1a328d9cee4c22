"""Options are checked when the middleware is made: a wrong one says what is wrong, and by which name."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from responses_middleware import (
    ConfigurationError,
    Dialect,
    Limits,
    ResponsesMiddleware,
    ResponsesProxy,
    Sink,
    UpstreamCall,
)

DEFAULTS: dict[str, Any] = {
    "connect_timeout": 5.0,
    "idle_timeout": 600.0,
    "progress_timeout": 1800.0,
    "error_body_timeout": 5.0,
    "body_timeout": 60.0,
    "keepalive": 15.0,
    "grace": 8.0,
    "tool_timeout": 60.0,
    "max_request_bytes": 33554432,
    "max_frame_bytes": 8388608,
    "max_answer_bytes": 33554432,
    "max_error_bytes": 65536,
    "max_output_bytes": 67108864,
    "max_tool_output_bytes": 1048576,
    "max_depth": 128,
    "max_input_items": 10000,
    "max_tools": 128,
    "max_turns": 32,
    "max_concurrent": None,
    "max_background": 100,
    "store_ttl": 2592000.0,
    "store_bytes": 268435456,
    "store_rows": 10000,
}
MAY_BE_NONE = {
    "idle_timeout", "progress_timeout", "body_timeout", "keepalive", "tool_timeout",
    "max_concurrent", "max_background", "store_ttl", "store_bytes", "store_rows",
}  # fmt: skip
SECONDS = {name for name, value in DEFAULTS.items() if isinstance(value, float)}
NAMES = sorted(DEFAULTS)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Never called."""


def wrong(make: Any, *arguments: Any, **options: Any) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        make(*arguments, **options)
    return caught.value


# -- Limits
def test_the_defaults_are_those_that_are_promised() -> None:
    assert dataclasses.asdict(Limits()) == DEFAULTS


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, 0.0, -0.5])
def test_a_limit_is_greater_than_zero(name: str, value: Any) -> None:
    error = wrong(Limits, **{name: value})

    assert error.param == name
    assert f"Limits.{name}" in error.message


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["5", True, False, [5], math.nan, math.inf, -math.inf, 5j])
def test_a_limit_is_a_finite_number(name: str, value: Any) -> None:
    assert wrong(Limits, **{name: value}).param == name


@pytest.mark.parametrize("name", sorted(set(NAMES) - SECONDS))
def test_sizes_and_counts_are_whole_numbers(name: str) -> None:
    assert "a whole number" in wrong(Limits, **{name: 1.5}).message


@pytest.mark.parametrize("name", sorted(SECONDS))
def test_seconds_may_be_whole_numbers(name: str) -> None:
    assert getattr(Limits(**{name: 3}), name) == 3


@pytest.mark.parametrize("name", sorted(MAY_BE_NONE))
def test_none_means_no_limit_where_it_may(name: str) -> None:
    assert getattr(Limits(**{name: None}), name) is None


@pytest.mark.parametrize("name", sorted(set(NAMES) - MAY_BE_NONE))
def test_the_other_limits_are_always_there(name: str) -> None:
    assert wrong(Limits, **{name: None}).param == name


def test_limits_are_frozen_and_named() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Limits().grace = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        Limits(5.0)  # type: ignore[misc]


def test_every_limit_is_explained() -> None:
    assert all(f"        {name}: " in (Limits.__doc__ or "") for name in NAMES)


# -- the middleware and the proxy
class OwnUpstream:
    async def send(self, call: UpstreamCall, sink: Sink) -> None: ...

    async def aclose(self) -> None: ...


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"prefix": "v1"}, "prefix"),
        ({"prefix": "/v1?x"}, "prefix"),
        ({"prefix": "/v 1"}, "prefix"),
        ({"prefix": 5}, "prefix"),
        ({"upstream": 5}, "upstream"),
        ({"upstream": OwnUpstream(), "api_key": "k"}, "upstream"),
        ({"dialect": 5}, "dialect"),
        ({"dialect": None}, "dialect"),
        ({"model": 5}, "model"),
        ({"owner": None}, "owner"),
        ({"owner": "x"}, "owner"),
        ({"store": 5}, "store"),
        ({"on_event": 5}, "on_event"),
        ({"upstream": "http://localhost/v1", "client": 5}, "client"),
        ({"upstream": "http://localhost/v1", "api_key": 5}, "api_key"),
        ({"done_sentinel": "yes"}, "done_sentinel"),
        ({"limits": {"grace": 5}}, "limits"),
        ({"secret": 5}, "secret"),
        ({"tools": None}, "tools"),
        ({"unsupported": ["warn"]}, "unsupported"),
        ({"unsupported": "maybe"}, "unsupported"),
        ({"reasoning": "aloud"}, "reasoning"),
        ({"native": "auto"}, "native"),
        ({"tools": [object()]}, "tools"),
        ({"store": "sqlite"}, "store"),
        ({"store": "redis://localhost"}, "store"),
        ({"store": ""}, "store"),
        ({"dialect": "klingon"}, "dialect"),
        ({"api_key": "k"}, "upstream"),
        ({"upstream": "localhost:8000/v1"}, "upstream"),
        ({"upstream": "ftp://localhost/v1"}, "upstream"),
        ({"upstream": "http://localhost/v1/chat/completions"}, "upstream"),
        ({"upstream": ""}, "upstream"),
        ({"upstream": "http://localhost/v1", "api_key": "a\nb"}, "api_key"),
        ({"secret": "short"}, "secret"),
    ],
)
def test_a_wrong_option_of_the_middleware_is_refused(options: dict[str, Any], param: str) -> None:
    assert wrong(ResponsesMiddleware, app, **options).param == param


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"upstream": "http://localhost/v1"}, "upstream"),
        ({"dialect": "klingon"}, "dialect"),
        ({"prefix": "x"}, "prefix"),
    ],
)
def test_a_wrong_option_of_the_proxy_is_refused(options: dict[str, Any], param: str) -> None:
    assert wrong(ResponsesProxy, "http://localhost/v1", **options).param == param


def test_an_unknown_dialect_is_told_those_that_there_are() -> None:
    message = wrong(ResponsesMiddleware, app, dialect="klingon").message

    assert "'klingon'" in message
    assert "vllm" in message


@pytest.mark.parametrize("make", [ResponsesMiddleware, ResponsesProxy])
def test_an_option_that_does_not_exist_is_a_type_error(make: Any) -> None:
    with pytest.raises(TypeError):
        make(app if make is ResponsesMiddleware else "http://localhost/v1", colour="blue")


@pytest.mark.parametrize(
    ("dialect", "name"), [("auto", "auto"), ("vllm", "vllm"), (Dialect.named("deepseek"), "deepseek")]
)
def test_a_dialect_is_a_name_or_an_object(dialect: str | Dialect, name: str) -> None:
    assert ResponsesMiddleware(app, dialect=dialect)._runtime.options.dialect.name == name


def test_a_configuration_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="prefix must be empty or a path that begins with a slash"):
        ResponsesMiddleware(app, prefix="v1")
