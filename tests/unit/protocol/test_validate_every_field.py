"""Whatever stands in the tables: good values are taken, a wrong type anywhere is answered with its exact place."""

from __future__ import annotations

import typing
from typing import Any

import openai.types.responses as sdk
import pytest
from openai.types.responses import response_create_params, response_input_item_param, tool_param
from shape_samples import example, missing_fields, tagged_example, wrong_types
from validating import refused

from responses_middleware.protocol import validate
from responses_middleware.protocol.create import PARAMETERS
from responses_middleware.protocol.faults import write_path
from responses_middleware.protocol.items import INPUT_ITEMS, ITEMS
from responses_middleware.protocol.tools import CHOICES, TOOL_TYPES, TOOLS

# What the rules between parameters want beside it.
COMPANIONS: dict[str, dict[str, Any]] = {
    "stream_options": {"stream": True},
    "tool_choice": {"previous_response_id": "resp_1"},
}


def assert_exact(body: dict[str, Any], param: str, code: str | None = None) -> None:
    error = refused(body)
    assert error.param == param, f"{body}: {error.message}"
    assert code in (None, error.code), f"{body}: {error.message}"


def with_item(item: Any) -> dict[str, Any]:
    return {"model": "m", "input": [{"role": "user", "content": "x"}, item]}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_good_value_of_a_parameter_is_accepted(name: str) -> None:
    validate({"model": "m", "input": "x", **COMPANIONS.get(name, {}), name: example(PARAMETERS[name])})


@pytest.mark.parametrize("name", sorted(PARAMETERS.keys() - {"model"}))
def test_null_means_that_a_parameter_is_absent(name: str) -> None:
    validate({"model": "m", "input": "x", "previous_response_id": "resp_1", name: None})


@pytest.mark.parametrize("name", sorted(PARAMETERS.keys() - {"input", "tools"}))
def test_a_wrong_type_in_a_parameter_is_named_exactly(name: str) -> None:
    for places, bad in wrong_types(PARAMETERS[name]):
        if bad is not None:
            assert_exact(
                {"model": "m", "input": "x", **COMPANIONS.get(name, {}), name: bad}, write_path((name, *places))
            )


@pytest.mark.parametrize("name", ["input", "tools"])
def test_a_parameter_that_is_no_list_is_named(name: str) -> None:
    assert_exact({"model": "m", "input": "x", name: 5}, name, "invalid_type")


@pytest.mark.parametrize("kind", ITEMS)
def test_a_good_item_is_accepted(kind: str) -> None:
    validate(with_item(tagged_example(INPUT_ITEMS.element, kind)))


@pytest.mark.parametrize("kind", ITEMS)
def test_an_item_is_accepted_with_keys_that_nobody_knows(kind: str) -> None:
    validate(with_item(tagged_example(INPUT_ITEMS.element, kind) | {"created_by": "x", "vendor": {"a": [1]}}))


@pytest.mark.parametrize("kind", ITEMS)
def test_a_wrong_type_in_an_item_is_named_exactly(kind: str) -> None:
    good = tagged_example(INPUT_ITEMS.element, kind)
    for places, bad in wrong_types(ITEMS[kind]):
        if places:
            assert_exact(with_item(good | bad), write_path(("input", 1, *places)))


@pytest.mark.parametrize("kind", sorted(ITEMS.keys() - {"message"}))
def test_a_missing_field_of_an_item_is_named_exactly(kind: str) -> None:
    for name, bad in missing_fields(ITEMS[kind]):
        assert_exact(with_item({"type": kind, **bad}), f"input[1].{name}", "missing_required_parameter")


@pytest.mark.parametrize("kind", TOOL_TYPES)
def test_a_good_tool_is_accepted(kind: str) -> None:
    validate({"model": "m", "input": "x", "tools": [tagged_example(TOOLS, kind) | {"vendor": 1}]})


@pytest.mark.parametrize("kind", TOOL_TYPES)
def test_a_wrong_type_in_a_tool_is_named_exactly(kind: str) -> None:
    good = tagged_example(TOOLS, kind)
    for places, bad in wrong_types(TOOL_TYPES[kind]):
        if places:
            tools = [{"type": "local_shell"}, good | bad]
            assert_exact({"model": "m", "input": "x", "tools": tools}, write_path(("tools", 1, *places)))


@pytest.mark.parametrize("kind", TOOL_TYPES)
def test_a_missing_field_of_a_tool_is_named_exactly(kind: str) -> None:
    for name, bad in missing_fields(TOOL_TYPES[kind]):
        body = {"model": "m", "input": "x", "tools": [{"type": kind, **bad}]}
        assert_exact(body, f"tools[0].{name}", "missing_required_parameter")


@pytest.mark.parametrize("kind", CHOICES)
def test_a_missing_field_of_a_tool_choice_is_named_exactly(kind: str) -> None:
    for name, bad in missing_fields(CHOICES[kind]):
        body = {"model": "m", "input": "x", "tool_choice": {"type": kind, **bad}}
        assert_exact(body, f"tool_choice.{name}", "missing_required_parameter")


def test_every_parameter_of_the_sdk_has_a_row() -> None:
    known = typing.get_type_hints(response_create_params.ResponseCreateParamsStreaming)

    assert known.keys() - PARAMETERS.keys() == set()


def tags(members: tuple[Any, ...]) -> set[str]:
    hints = [typing.get_type_hints(member)["type"] for member in members]
    return {value for hint in hints for value in literals(hint)}


def literals(hint: Any) -> set[str]:
    inner = [value for argument in typing.get_args(hint) for value in literals(argument)]
    return {hint} if isinstance(hint, str) else set(inner)


def test_every_input_item_of_the_sdk_has_a_row() -> None:
    assert tags(typing.get_args(response_input_item_param.ResponseInputItemParam)) == ITEMS.keys()


def test_every_tool_of_the_sdk_has_a_row() -> None:
    assert tags(typing.get_args(tool_param.ToolParam)) == TOOL_TYPES.keys()


def test_every_tool_choice_of_the_sdk_has_a_row() -> None:
    forms = tuple(form for form in typing.get_args(response_create_params.ToolChoice) if isinstance(form, type))

    assert tags(forms) - CHOICES.keys() == set()


def test_every_includable_of_the_sdk_is_accepted() -> None:
    validate({"model": "m", "input": "x", "include": list(typing.get_args(sdk.ResponseIncludable))})
