"""The parameters of POST /responses: bounds, values, and names of other APIs."""

from __future__ import annotations

from typing import Any

import pytest
from validating import refused, refused_with

from responses_middleware.errors import (
    MissingParameterError,
    UnknownParameterError,
    UnsupportedParameterError,
)
from responses_middleware.protocol import validate


def test_the_same_values_come_back_uncopied() -> None:
    body = {"model": "m", "input": [{"role": "user", "content": "x"}]}

    checked = validate(body)

    assert checked == body
    assert checked["input"] is body["input"]


@pytest.mark.parametrize("body", [None, [], "x", 5, True])
def test_a_body_that_is_no_object_is_refused(body: object) -> None:
    error = refused(body)

    assert (error.status, error.param, error.code) == (400, None, None)


@pytest.mark.parametrize("body", [{"input": "x"}, {"model": None, "input": "x"}, {"model": "", "input": "x"}])
def test_the_model_is_required(body: dict[str, Any]) -> None:
    error = refused(body)

    assert (type(error), error.param) == (MissingParameterError, "model")


def test_the_model_is_a_string() -> None:
    error = refused({"model": 5, "input": "x"})

    assert (error.param, error.code) == ("model", "invalid_type")


@pytest.mark.parametrize("body", [{"model": "m"}, {"model": "m", "input": None}])
def test_the_input_is_required(body: dict[str, Any]) -> None:
    error = refused(body)

    assert (type(error), error.param) == (MissingParameterError, "input")


def test_an_empty_input_is_refused() -> None:
    error = refused({"model": "m", "input": []})

    assert (error.param, error.code) == ("input", "empty_array")


@pytest.mark.parametrize(
    "context", [{"prompt": {"id": "p"}}, {"previous_response_id": "resp_1"}, {"conversation": "c"}]
)
@pytest.mark.parametrize("given", [{}, {"input": None}, {"input": []}])
def test_no_input_is_needed_where_there_is_a_context(context: dict[str, Any], given: dict[str, Any]) -> None:
    validate({"model": "m", **context, **given})


def test_an_input_of_a_wrong_type_is_told_in_openais_words() -> None:
    error = refused({"model": "m", "input": 5})

    assert error.message == (
        "Invalid type for 'input': expected one of a string or an array of input items, but got an integer instead."
    )


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("temperature", -1, "decimal_below_min_value"),
        ("temperature", 2.01, "decimal_above_max_value"),
        ("temperature", float("inf"), "decimal_above_max_value"),
        ("top_p", -0.1, "decimal_below_min_value"),
        ("top_p", 1.5, "decimal_above_max_value"),
        ("top_logprobs", -1, "integer_below_min_value"),
        ("top_logprobs", 21, "integer_above_max_value"),
        ("max_output_tokens", 0, "integer_below_min_value"),
        ("max_tool_calls", 0, "integer_below_min_value"),
    ],
)
def test_a_number_out_of_range_is_refused(name: str, value: float, code: str) -> None:
    error = refused_with(**{name: value})

    assert (error.param, error.code) == (name, code)


def test_a_number_with_more_digits_than_python_writes_is_refused() -> None:
    assert refused_with(top_logprobs=10**5000).code == "integer_above_max_value"


@pytest.mark.parametrize(
    ("name", "value"),
    [("temperature", 0), ("temperature", 2), ("top_p", 1), ("top_logprobs", 0), ("top_logprobs", 20)],
)
def test_the_bounds_themselves_are_accepted(name: str, value: float) -> None:
    validate({"model": "m", "input": "x", name: value})


def test_a_number_below_its_range_is_told_in_openais_words() -> None:
    error = refused_with(temperature=-1)

    assert error.message == (
        "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead."
    )


@pytest.mark.parametrize("name", ["max_output_tokens", "temperature"])
def test_a_boolean_is_no_number(name: str) -> None:
    assert refused_with(**{name: True}).code == "invalid_type"


def test_a_decimal_is_no_integer() -> None:
    assert refused_with(max_output_tokens=50.0).code == "invalid_type"


@pytest.mark.parametrize(
    ("parameters", "param"),
    [
        ({"truncation": "x"}, "truncation"),
        ({"service_tier": "x"}, "service_tier"),
        ({"reasoning": {"effort": "x"}}, "reasoning.effort"),
        ({"reasoning": {"summary": "x"}}, "reasoning.summary"),
        ({"text": {"verbosity": "x"}}, "text.verbosity"),
        ({"text": {"format": {"type": "x"}}}, "text.format.type"),
        ({"include": ["reasoning.encrypted_content", "x"]}, "include[1]"),
        ({"prompt_cache_retention": "x"}, "prompt_cache_retention"),
        ({"prompt_cache_options": {"ttl": "x"}}, "prompt_cache_options.ttl"),
        ({"context_management": [{"type": "x"}]}, "context_management[0].type"),
        ({"background_options": {"completion_window": "x"}}, "background_options.completion_window"),
        ({"image": {"context_compression": "x"}}, "image.context_compression"),
        ({"access_programs": {"cyber": "x"}}, "access_programs.cyber"),
        ({"tool_choice": "x"}, "tool_choice"),
        ({"tool_choice": {"type": "x"}}, "tool_choice.type"),
    ],
)
def test_a_value_that_is_not_supported_is_refused(parameters: dict[str, Any], param: str) -> None:
    error = refused_with(**parameters)

    assert (error.param, error.code) == (param, "invalid_value")
    assert error.message.startswith("Invalid value: 'x'. Supported values are: '")


def test_the_supported_values_are_told() -> None:
    error = refused_with(truncation="none")

    assert error.message == "Invalid value: 'none'. Supported values are: 'auto' and 'disabled'."


@pytest.mark.parametrize("effort", ["none", "minimal", "low", "medium", "high", "xhigh", "max", None])
def test_every_effort_is_accepted(effort: str | None) -> None:
    validate({"model": "m", "input": "x", "reasoning": {"effort": effort}})


def test_a_json_schema_needs_its_schema() -> None:
    error = refused_with(text={"format": {"type": "json_schema", "name": "a"}})

    assert (error.param, error.code) == ("text.format.schema", "missing_required_parameter")


def test_a_json_schema_wrapped_as_in_chat_is_told_so() -> None:
    error = refused_with(text={"format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}})

    assert error.param == "text.format.name"
    assert "'json_schema' are not wrapped" in error.message


@pytest.mark.parametrize("name", ["", "a b", "a" * 65])
def test_a_format_has_a_plain_name(name: str) -> None:
    error = refused_with(text={"format": {"type": "json_schema", "name": name, "schema": {}}})

    assert (error.param, error.code) == ("text.format.name", "invalid_value")


@pytest.mark.parametrize(
    ("metadata", "param", "code"),
    [
        ({str(n): "x" for n in range(17)}, "metadata", "object_above_max_properties"),
        ({"k" * 65: "x"}, "metadata", "property_name_above_max_length"),
        ({"k": "v" * 513}, "metadata.k", "string_above_max_length"),
        ({"k": 1}, "metadata.k", "invalid_type"),
        ([1], "metadata", "invalid_type"),
    ],
)
def test_metadata_has_bounds(metadata: object, param: str, code: str) -> None:
    error = refused_with(metadata=metadata)

    assert (error.param, error.code) == (param, code)


def test_metadata_at_its_bounds_is_accepted() -> None:
    metadata = {f"{n:064}": "v" * 512 for n in range(16)}

    assert validate({"model": "m", "input": "x", "metadata": metadata})["metadata"] is metadata


def test_a_safety_identifier_has_at_most_128_characters() -> None:
    validate({"model": "m", "input": "x", "safety_identifier": "a" * 128})

    assert refused_with(safety_identifier="a" * 129).code == "string_above_max_length"


@pytest.mark.parametrize("response_id", ["../../etc/passwd", "resp 1", "", "resp_1\n", "résp"])
def test_an_id_with_odd_characters_is_refused(response_id: str) -> None:
    error = refused_with(previous_response_id=response_id)

    assert (error.param, error.code) == ("previous_response_id", "invalid_value")
    assert error.message.startswith(f"Invalid 'previous_response_id': '{response_id}'. Expected an ID that contains")


def test_a_very_long_id_is_refused_without_being_repeated() -> None:
    error = refused_with(previous_response_id="a" * 100_000)

    assert error.code == "string_above_max_length"
    assert len(error.message) < 400


@pytest.mark.parametrize(
    ("conversation", "param"), [("a/b", "conversation"), ({"id": "a/b"}, "conversation.id"), ({}, "conversation.id")]
)
def test_a_conversation_is_an_id_or_an_object_with_one(conversation: object, param: str) -> None:
    assert refused_with(conversation=conversation).param == param


def test_an_unknown_parameter_is_refused() -> None:
    error = refused_with(foo=1)

    assert (type(error), error.param, error.message) == (UnknownParameterError, "foo", "Unknown parameter: 'foo'.")


@pytest.mark.parametrize(
    ("name", "moved"),
    [
        ("messages", "input"),
        ("max_tokens", "max_output_tokens"),
        ("max_completion_tokens", "max_output_tokens"),
        ("response_format", "text.format"),
        ("functions", "tools"),
        ("reasoning_effort", "reasoning.effort"),
    ],
)
def test_a_chat_parameter_is_told_where_it_has_gone(name: str, moved: str) -> None:
    error = refused_with(**{name: 1})

    assert (type(error), error.param) == (UnknownParameterError, name)
    assert f"'{name}' is a chat completions parameter; in the Responses API use '{moved}'" in error.message


@pytest.mark.parametrize("name", ["n", "stop", "seed", "logit_bias", "frequency_penalty", "presence_penalty"])
def test_a_chat_parameter_without_a_counterpart_is_unsupported(name: str) -> None:
    error = refused_with(**{name: 1})

    assert (type(error), error.param) == (UnsupportedParameterError, name)


def test_an_unknown_parameter_with_a_very_long_name_is_shortened() -> None:
    error = refused_with(**{"a" * 100_000: 1})

    assert len(error.message) < 400


def test_codex_may_send_its_own_metadata() -> None:
    validate({"model": "m", "input": "x", "client_metadata": {"turn_id": "1"}})
