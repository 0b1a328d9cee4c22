"""Tools and tool choices."""

from __future__ import annotations

from typing import Any

import pytest
from validating import accept_with, refused_with

from responses_middleware.errors import MissingParameterError

FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object"}}
CUSTOM = {"type": "custom", "name": "c"}
NAMESPACE = {"type": "namespace", "name": "n", "description": "d", "tools": [{"type": "function", "name": "inner"}]}
ADDITIONAL = {"type": "additional_tools", "role": "developer", "tools": [FUNCTION]}


@pytest.mark.parametrize("name", ["a", "A-b_9", "a" * 64])
def test_a_plain_name_is_accepted(name: str) -> None:
    accept_with(tools=[FUNCTION | {"name": name}])


@pytest.mark.parametrize("name", ["", "a b", "a.b", "a" * 65, "a\n", "é"])
def test_an_odd_name_is_refused(name: str) -> None:
    error = refused_with(tools=[CUSTOM, FUNCTION | {"name": name}])

    assert (error.param, error.code) == ("tools[1].name", "invalid_value")


def test_everything_but_the_name_of_a_function_may_be_null() -> None:
    accept_with(tools=[{"type": "function", "name": "f", "parameters": None, "strict": None, "description": None}])


@pytest.mark.parametrize(
    "form",
    [None, {"type": "text"}, {"type": "grammar", "syntax": "lark", "definition": "start: /a/"}],
)
def test_a_custom_tool_may_have_a_format(form: Any) -> None:
    accept_with(tools=[CUSTOM | {"format": form}])


@pytest.mark.parametrize(
    ("form", "param"),
    [
        ({"type": "grammar", "definition": ""}, "tools[0].format.syntax"),
        ({"type": "grammar", "syntax": "bnf", "definition": ""}, "tools[0].format.syntax"),
        ({"type": "grammar", "syntax": "lark"}, "tools[0].format.definition"),
        ({"type": "wat"}, "tools[0].format.type"),
    ],
)
def test_a_wrong_format_of_a_custom_tool_is_refused(form: Any, param: str) -> None:
    assert refused_with(tools=[CUSTOM | {"format": form}]).param == param


def test_an_unknown_tool_is_refused() -> None:
    error = refused_with(tools=[FUNCTION, {"type": "wat"}])

    assert (error.param, error.code) == ("tools[1].type", "invalid_value")


def test_a_namespace_holds_functions_and_custom_tools_only() -> None:
    error = refused_with(tools=[NAMESPACE | {"tools": [FUNCTION, NAMESPACE]}])

    assert error.param == "tools[0].tools[1].type"


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_tool_wrapped_as_in_chat_is_told_so(kind: str) -> None:
    error = refused_with(tools=[{"type": kind, kind: {"name": "f", "parameters": {}}}])

    assert (type(error), error.param) == (MissingParameterError, "tools[0].name")
    assert "not wrapped in the Responses API" in error.message
    assert str(error) == error.message


def test_two_tools_with_one_name_are_refused() -> None:
    error = refused_with(tools=[FUNCTION, CUSTOM | {"name": "f"}])

    assert (error.param, error.code) == ("tools[1].name", "invalid_value")


def test_two_tools_of_a_namespace_with_one_name_are_refused() -> None:
    error = refused_with(tools=[NAMESPACE | {"tools": [FUNCTION, FUNCTION]}])

    assert error.param == "tools[0].tools[1].name"


def test_one_name_in_two_namespaces_is_fine() -> None:
    accept_with(tools=[FUNCTION | {"name": "inner"}, NAMESPACE, NAMESPACE | {"name": "other"}])


@pytest.mark.parametrize("choice", ["none", "auto", "required", None])
def test_a_choice_may_be_a_word(choice: str | None) -> None:
    accept_with(tools=[FUNCTION], tool_choice=choice)


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "name": "f"},
        {"type": "function", "name": "inner"},
        {"type": "custom", "name": "c"},
        {"type": "mcp", "server_label": "s"},
        {"type": "mcp", "server_label": "s", "name": "t"},
        {"type": "shell"},
        {"type": "apply_patch"},
        {"type": "web_search"},
        {"type": "web_search_preview"},
        {"type": "computer_use"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}, {"type": "shell"}]},
    ],
)
def test_a_choice_may_be_an_object(choice: Any) -> None:
    accept_with(tools=[FUNCTION, CUSTOM, NAMESPACE], tool_choice=choice)


@pytest.mark.parametrize(
    ("choice", "param"),
    [
        ({}, "tool_choice.type"),
        ({"type": "function"}, "tool_choice.name"),
        ({"type": "function", "function": {"name": "f"}}, "tool_choice.name"),
        ({"type": "mcp"}, "tool_choice.server_label"),
        ({"type": "allowed_tools", "mode": "some", "tools": []}, "tool_choice.mode"),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function"}]}, "tool_choice.tools[0].name"),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "wat"}]}, "tool_choice.tools[0].type"),
    ],
)
def test_a_wrong_choice_is_named_exactly(choice: Any, param: str) -> None:
    assert refused_with(tools=[FUNCTION], tool_choice=choice).param == param


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "name": "nope"},
        {"type": "custom", "name": "nope"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "nope"}]},
    ],
)
@pytest.mark.parametrize("tools", [[FUNCTION], [], None])
def test_a_forced_tool_must_be_offered(choice: Any, tools: Any) -> None:
    error = refused_with(tools=tools, tool_choice=choice)

    assert error.message == "Tool choice 'nope' not found in 'tools' parameter."
    assert error.param == "tool_choice"


@pytest.mark.parametrize("tools", [[], None])
def test_a_required_choice_needs_tools(tools: Any) -> None:
    assert refused_with(tools=tools, tool_choice="required").param == "tool_choice"


@pytest.mark.parametrize("choice", [{"type": "function", "name": "f"}, "required"])
@pytest.mark.parametrize(
    "context",
    [
        {"input": [ADDITIONAL]},
        {"input": [{"type": "tool_search_output", "tools": [FUNCTION]}]},
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
    ],
)
def test_a_forced_tool_may_come_with_earlier_items(choice: Any, context: dict[str, Any]) -> None:
    accept_with(tool_choice=choice, **context)
