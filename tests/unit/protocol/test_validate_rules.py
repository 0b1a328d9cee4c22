"""What parameters say about each other, and the limits of a request."""

from __future__ import annotations

from typing import Any

import pytest
from validating import PLAIN, refused

from responses_middleware.protocol import validate


@pytest.mark.parametrize("stream", [{}, {"stream": False}, {"stream": None}])
def test_stream_options_need_a_stream(stream: dict[str, Any]) -> None:
    error = refused(PLAIN | {"stream_options": {"include_obfuscation": True}} | stream)

    assert error.param == "stream_options"


@pytest.mark.parametrize("options", [{}, {"include_obfuscation": False}, {"include_obfuscation": None}])
def test_stream_options_that_ask_for_nothing_are_harmless(options: dict[str, Any]) -> None:
    validate({"model": "m", "input": "x", "stream_options": options})


def test_a_previous_response_and_a_conversation_exclude_each_other() -> None:
    error = refused(PLAIN | {"previous_response_id": "resp_1", "conversation": "conv_1"})

    assert error.message == (
        "Mutually exclusive parameters: Ensure you are only providing one of: 'previous_response_id' or 'conversation'."
    )


def test_a_background_response_must_be_stored() -> None:
    assert refused(PLAIN | {"background": True, "store": False}).param == "store"


@pytest.mark.parametrize("others", [{}, {"background": False}, {"background": True, "stream": True}])
def test_a_slow_window_is_for_the_background_alone(others: dict[str, Any]) -> None:
    error = refused(PLAIN | {"background_options": {"completion_window": "8h"}} | others)

    assert error.param == "background_options.completion_window"


def test_too_many_items_are_refused() -> None:
    items = [{"role": "user", "content": "x"}] * 4

    error = refused(PLAIN | {"input": items}, max_items=3)

    assert (error.param, error.code) == ("input", "array_above_max_length")
    assert "maximum length 3, but got an array with length 4" in error.message


def test_as_many_items_as_the_limit_are_accepted() -> None:
    validate({"model": "m", "input": [{"role": "user", "content": "x"}] * 3}, max_items=3)


def test_too_many_tools_are_refused() -> None:
    tools = [{"type": "function", "name": f"f{n}"} for n in range(4)]

    error = refused(PLAIN | {"tools": tools}, max_tools=3)

    assert (error.param, error.code) == ("tools", "array_above_max_length")


def test_too_many_tools_of_a_namespace_are_refused() -> None:
    tools = [{"type": "function", "name": f"f{n}"} for n in range(4)]

    error = refused(
        PLAIN | {"tools": [{"type": "namespace", "name": "n", "description": "", "tools": tools}]}, max_tools=3
    )

    assert (error.param, error.code) == ("tools[0].tools", "array_above_max_length")


def nested(depth: int) -> Any:
    value: Any = {}
    for level in range(depth - 1):
        value = {"a": value} if level % 2 == depth % 2 else [value]
    return value


def test_a_body_as_deep_as_the_limit_is_accepted() -> None:
    validate({"model": "m", "input": "x", "client_metadata": nested(9)}, max_depth=10)


def test_a_body_deeper_than_the_limit_is_refused() -> None:
    error = refused(PLAIN | {"client_metadata": nested(10)}, max_depth=10)

    assert (error.param, error.code) == (None, None)
    assert "nested too deeply (limit 10)" in error.message


def test_a_very_deep_body_is_refused_without_recursion() -> None:
    assert "nested too deeply (limit 128)" in refused(PLAIN | {"metadata": nested(100_000)}).message
