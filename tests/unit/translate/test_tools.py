"""Tools as the upstream is offered them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from translating import (
    CUSTOM,
    FUNCTION,
    HOSTED,
    INNER,
    LARK,
    NAMESPACE,
    SEARCH,
    USER,
    call,
    messages,
    output,
    payload,
    refused,
    such,
    translate,
)


def offered(*tools: dict[str, Any], dialect: Any = "auto", **parameters: Any) -> list[dict[str, Any]]:
    chat: list[dict[str, Any]] = payload(dialect, tools=list(tools), **parameters).get("tools", [])
    return chat


def names(*tools: dict[str, Any], **parameters: Any) -> list[str]:
    return [tool["function"]["name"] for tool in offered(*tools, **parameters)]


def function(*tools: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    found: dict[str, Any] = offered(*tools, **parameters)[0]["function"]
    return found


def test_a_function_is_wrapped_as_chat_wants_it() -> None:
    tool = {**FUNCTION, "description": "Does it"}

    wanted = {"name": "f", "description": "Does it", "parameters": FUNCTION["parameters"]}
    assert offered(tool) == [{"type": "function", "function": wanted}]


@pytest.mark.parametrize("parameters", [None, {}])
def test_no_parameters_are_an_empty_object(parameters: Any) -> None:
    assert function({"type": "function", "name": "f", "parameters": parameters}) == {
        "name": "f",
        "parameters": {"type": "object", "properties": {}},
    }


def test_strict_stays_away_by_default() -> None:
    assert "strict" not in function({**FUNCTION, "strict": True})


@pytest.mark.parametrize(("strict", "sent"), [(True, {"strict": True}), (False, {"strict": False}), (None, {})])
def test_strict_goes_up_where_the_server_knows_it_and_the_client_said_it(strict: Any, sent: dict[str, bool]) -> None:
    made = function({**FUNCTION, "strict": strict}, dialect=such(strict_tools=True))

    assert {name: value for name, value in made.items() if name == "strict"} == sent


def test_members_that_chat_does_not_know_stay_away() -> None:
    extra = {"output_schema": {}, "defer_loading": False, "allowed_callers": ["direct"], "async": True}

    assert function({**FUNCTION, **extra}) == function(FUNCTION)


def test_a_freeform_tool_is_a_function_with_one_text() -> None:
    made = function({**CUSTOM, "description": "Edits"})

    assert (made["description"], list(made["parameters"]["properties"]), made["parameters"]["required"]) == (
        "Edits",
        ["input"],
        ["input"],
    )


def test_a_freeform_tool_without_description_has_none() -> None:
    assert "description" not in function(CUSTOM)


@pytest.mark.parametrize("syntax", ["lark", "regex"])
def test_a_grammar_is_told_in_the_description(syntax: str) -> None:
    form = {"type": "grammar", "syntax": syntax, "definition": "[a-z]+"}

    description = function({**CUSTOM, "description": "Edits", "format": form})["description"]

    assert description == f"Edits\n\nThe input must match this {syntax} grammar:\n[a-z]+"


@pytest.mark.parametrize(
    ("form", "sent"),
    [
        (None, {"type": "text"}),
        ({"type": "text"}, {"type": "text"}),
        (LARK, {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}}),
    ],
)
def test_a_freeform_tool_is_itself_where_the_server_knows_them(form: Any, sent: dict[str, Any]) -> None:
    made = offered({**CUSTOM, "description": "Edits", "format": form}, dialect="openai")

    assert made == [{"type": "custom", "custom": {"name": "c", "description": "Edits", "format": sent}}]


def test_a_namespace_is_flat_functions() -> None:
    assert names(NAMESPACE) == ["crm__lookup", "crm__note"]


def test_a_call_of_a_namespace_is_sent_back_under_its_flat_name() -> None:
    written = messages(USER, call(name="lookup", namespace="crm"), output(), tools=[NAMESPACE])

    assert written[1]["tool_calls"][0]["function"]["name"] == "crm__lookup"


@pytest.mark.parametrize(
    ("tool", "name", "parameters"),
    [
        ({"type": "local_shell"}, "local_shell", ["command", "working_directory", "env", "timeout_ms", "user"]),
        ({"type": "shell"}, "shell", ["commands", "timeout_ms", "max_output_length"]),
        ({"type": "shell", "environment": {"type": "local"}}, "shell", ["commands", "timeout_ms", "max_output_length"]),
        ({"type": "apply_patch"}, "apply_patch", ["type", "path", "diff"]),
        ({"type": "computer"}, "computer", ["actions"]),
        (
            {"type": "computer_use_preview", "display_height": 600, "display_width": 800, "environment": "linux"},
            "computer",
            ["actions"],
        ),
        (SEARCH, "tool_search", ["query"]),
    ],
)
def test_a_tool_that_the_client_runs_is_a_function(tool: dict[str, Any], name: str, parameters: list[str]) -> None:
    made = function(tool)

    assert (made["name"], list(made["parameters"]["properties"])) == (name, parameters)
    assert made["description"]


def test_the_size_of_the_screen_is_told() -> None:
    tool = {"type": "computer_use_preview", "display_height": 600, "display_width": 800, "environment": "linux"}

    assert "800 x 600 pixels" in function(tool)["description"]


def test_the_skills_of_a_local_shell_are_told() -> None:
    skills = [{"name": "pdf", "description": "Read PDFs", "path": "skills/pdf"}]

    assert (
        "- pdf (skills/pdf): Read PDFs"
        in function({"type": "shell", "environment": {"type": "local", "skills": skills}})["description"]
    )


@pytest.mark.parametrize("skills", [5, [5], {}, None])
def test_odd_skills_do_no_harm(skills: Any) -> None:
    assert function({"type": "shell", "environment": {"type": "local", "skills": skills}})["name"] == "shell"


def test_a_search_by_the_client_has_its_own_description_and_parameters() -> None:
    parameters = {"type": "object", "properties": {"goal": {"type": "string"}}}

    made = function({**SEARCH, "description": "Find tools", "parameters": parameters})

    assert made == {"name": "tool_search", "description": "Find tools", "parameters": parameters}


@pytest.mark.parametrize("tool", HOSTED, ids=lambda tool: json.dumps(tool)[9:40])
def test_a_hosted_tool_is_left_out_and_named(tool: dict[str, Any]) -> None:
    made = translate(tools=[FUNCTION, tool])

    assert [each["function"]["name"] for each in made.payload["tools"]] == ["f"]
    assert made.left_out == [tool["type"]]


@pytest.mark.parametrize("tool", HOSTED, ids=lambda tool: json.dumps(tool)[9:40])
def test_a_hosted_tool_is_refused_where_nothing_may_be_lost(tool: dict[str, Any]) -> None:
    error = refused(tools=[FUNCTION, tool])

    assert (error.status, error.code, error.param) == (400, "unsupported_value", "tools[1]")
    assert error.message.startswith(f"Hosted tool '{tool['type']}' is not supported")


def test_a_hosted_tool_is_left_out_in_silence_where_all_is_ignored() -> None:
    assert translate(policy="ignore", tools=[FUNCTION, HOSTED[0]]).left_out == []


def test_only_hosted_tools_are_no_tools() -> None:
    made = payload(tools=HOSTED[:2], tool_choice="auto", parallel_tool_calls=True)

    assert made.keys() & {"tools", "tool_choice", "parallel_tool_calls"} == set()


# -- tools that are found later
def test_a_deferred_tool_waits_for_the_clients_search() -> None:
    assert names(SEARCH, {**FUNCTION, "defer_loading": True}) == ["tool_search"]


def test_a_deferred_tool_is_offered_where_nobody_searches() -> None:
    assert names({"type": "tool_search"}, {**FUNCTION, "defer_loading": True}) == ["f"]


def test_a_search_by_the_server_loses_nothing() -> None:
    assert translate("auto", tools=[{"type": "tool_search"}, FUNCTION]).left_out == []


@pytest.mark.parametrize("brought", [{**FUNCTION, "defer_loading": True}, FUNCTION])
def test_a_tool_that_was_found_can_be_called_from_then_on(brought: dict[str, Any]) -> None:
    found = [
        {"type": "tool_search_call", "call_id": "call_1", "execution": "client", "arguments": {"query": "f"}},
        {"type": "tool_search_output", "call_id": "call_1", "execution": "client", "tools": [brought]},
    ]

    assert names(SEARCH, {**FUNCTION, "defer_loading": True}, input=[USER, *found]) == ["tool_search", "f"]


def test_a_deferred_tool_of_a_namespace_can_be_found() -> None:
    deferred = {**NAMESPACE, "tools": [{**INNER, "defer_loading": True}]}
    found = [
        {"type": "tool_search_call", "call_id": "call_1", "execution": "client", "arguments": {}},
        {"type": "tool_search_output", "call_id": "call_1", "execution": "client", "tools": [deferred]},
    ]

    assert names(SEARCH, deferred, input=[USER, *found]) == ["tool_search", "crm__lookup"]


def test_a_search_is_answered_with_the_names_that_the_model_can_call() -> None:
    long = {"type": "function", "name": "x" * 60}
    tools = [FUNCTION, {"type": "shell"}, {**NAMESPACE, "tools": [long]}]
    found = [
        {"type": "tool_search_call", "call_id": "call_1", "execution": "client", "arguments": {}},
        {"type": "tool_search_output", "call_id": "call_1", "execution": "client", "tools": tools},
    ]

    made = payload(tools=[SEARCH], input=[USER, *found])

    told = json.loads(made["messages"][-1]["content"])
    assert sorted(told) == sorted(tool["function"]["name"] for tool in made["tools"][1:])


def test_additional_tools_can_be_called() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [CUSTOM]}

    assert names(FUNCTION, input=[USER, added]) == ["f", "c"]


def test_additional_tools_are_no_message() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [CUSTOM]}

    assert messages(USER, added) == messages(USER)


def test_tools_of_an_earlier_turn_can_be_called() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [CUSTOM]}

    assert names(FUNCTION, history=[added], previous_response_id="resp_1") == ["f", "c"]


def test_of_two_definitions_of_a_tool_the_later_counts() -> None:
    newer = {"type": "additional_tools", "role": "developer", "tools": [{**FUNCTION, "description": "newer"}]}

    made = offered(FUNCTION, input=[USER, newer])

    assert [tool["function"].get("description") for tool in made] == ["newer"]


def test_a_hosted_tool_that_an_item_brought_is_refused_by_its_place() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [FUNCTION, {"type": "web_search"}]}

    assert refused(input=[USER, added]).param == "input[1].tools[1]"


# -- parallel calls
@pytest.mark.parametrize(
    ("known", "wanted", "sent"),
    [
        (True, True, True),
        (True, False, False),
        (True, None, None),
        ("only_false", True, None),
        ("only_false", False, False),
        (False, True, None),
        (False, False, None),
    ],
)
def test_parallel_calls_are_asked_for_as_the_server_takes_it(known: Any, wanted: Any, sent: Any) -> None:
    made = payload(such(parallel_tool_calls=known), tools=[FUNCTION], parallel_tool_calls=wanted)

    assert made.get("parallel_tool_calls") is sent


def test_one_call_at_a_time_that_can_not_be_asked_for_is_named() -> None:
    dialect = such(parallel_tool_calls=False)

    assert translate(dialect, tools=[FUNCTION], parallel_tool_calls=False).left_out == ["parallel_tool_calls"]
    assert refused(dialect, tools=[FUNCTION], parallel_tool_calls=False).param == "parallel_tool_calls"


def test_nothing_is_said_of_calls_without_tools() -> None:
    assert "parallel_tool_calls" not in payload(parallel_tool_calls=False)
