"""Every form of tool_choice, in every way in which a server can be told."""

from __future__ import annotations

from typing import Any

import pytest
from translating import CUSTOM, FUNCTION, payload, refused, such, translate

G = {"type": "function", "name": "g"}
SHELL = {"type": "shell"}
NAMESPACE = {"type": "namespace", "name": "crm", "description": "", "tools": [{"type": "function", "name": "look"}]}
OTHER = {"type": "namespace", "name": "erp", "description": "", "tools": [{"type": "function", "name": "look"}]}
TOOLS = [FUNCTION, G, CUSTOM, SHELL, NAMESPACE]
ALL = ["f", "g", "c", "shell", "crm__look"]
HOSTED = {"type": "web_search"}
WORDS = "Answer with a call of one of the tools, not with text."


def allowed(*tools: dict[str, Any], mode: str = "auto") -> dict[str, Any]:
    return {"type": "allowed_tools", "mode": mode, "tools": list(tools)}


def chosen(choice: Any, *, tools: Any = None, dialect: Any = "auto", **options: Any) -> tuple[list[str], Any]:
    """The names of the tools that are offered, and what is sent of the choice."""
    made = payload(dialect, tools=tools or TOOLS, tool_choice=choice, **options)
    return [tool[tool["type"]]["name"] for tool in made.get("tools", [])], made.get("tool_choice")


def way(tool_choice: Any) -> Any:
    return such(tool_choice=tool_choice)


def test_without_a_choice_none_is_sent() -> None:
    assert chosen(None) == (ALL, None)


@pytest.mark.parametrize("mode", ["auto", "none", "required"])
def test_a_word_is_sent_as_it_is(mode: str) -> None:
    assert chosen(mode) == (ALL, mode)


def test_required_is_any_where_the_server_says_so() -> None:
    assert chosen("required", dialect=way("any")) == (ALL, "any")


@pytest.mark.parametrize("mode", ["auto", "none"])
def test_other_words_are_the_same_where_required_is_any(mode: str) -> None:
    assert chosen(mode, dialect=way("any"))[1] == mode


def test_auto_is_not_sent_where_there_is_no_choice() -> None:
    assert chosen("auto", dialect=way("auto")) == (ALL, None)


def test_none_offers_no_tools_where_there_is_no_choice() -> None:
    assert chosen("none", dialect=way("auto")) == ([], None)


def test_required_is_told_in_words_where_there_is_no_choice() -> None:
    made = translate(way("auto"), tools=TOOLS, tool_choice="required", instructions="Be brief")

    assert made.payload["messages"][0]["content"] == f"Be brief\n\n{WORDS}"
    assert "tool_choice" not in made.payload
    assert made.left_out == ["tool_choice"]


def test_required_is_refused_where_there_is_no_choice_and_nothing_may_be_lost() -> None:
    assert refused(way("auto"), tools=TOOLS, tool_choice="required").param == "tool_choice"


def test_a_function_is_named() -> None:
    assert chosen({"type": "function", "name": "g"}) == (ALL, {"type": "function", "function": {"name": "g"}})


def test_a_freeform_tool_is_named_as_the_function_that_it_is() -> None:
    assert chosen({"type": "custom", "name": "c"})[1] == {"type": "function", "function": {"name": "c"}}


def test_a_freeform_tool_is_named_as_itself_where_it_is_one() -> None:
    choice = chosen({"type": "custom", "name": "c"}, dialect="openai")[1]

    assert choice == {"type": "custom", "custom": {"name": "c"}}


@pytest.mark.parametrize(
    ("tool", "choice"),
    [
        ({"type": "shell"}, "shell"),
        ({"type": "local_shell"}, "local_shell"),
        ({"type": "apply_patch"}, "apply_patch"),
        ({"type": "computer"}, "computer"),
        ({"type": "computer"}, "computer_use"),
        ({"type": "computer"}, "computer_use_preview"),
        ({"type": "tool_search", "execution": "client"}, "tool_search"),
    ],
)
def test_a_tool_of_the_client_is_forced_by_its_type(tool: dict[str, Any], choice: str) -> None:
    offered, sent = chosen({"type": choice}, tools=[FUNCTION, tool])

    assert sent == {"type": "function", "function": {"name": offered[1]}}


def test_a_function_of_a_namespace_is_forced_by_its_name() -> None:
    assert chosen({"type": "function", "name": "look"})[1] == {"type": "function", "function": {"name": "crm__look"}}


def test_a_name_in_two_namespaces_means_either() -> None:
    offered, sent = chosen({"type": "function", "name": "look"}, tools=[FUNCTION, NAMESPACE, OTHER])

    assert (offered, sent) == (["crm__look", "erp__look"], "required")


def test_a_name_outside_of_all_namespaces_means_that_alone() -> None:
    plain = {"type": "function", "name": "look"}

    assert chosen(plain, tools=[plain, NAMESPACE])[1] == {"type": "function", "function": {"name": "look"}}


@pytest.mark.parametrize(("known", "sent"), [("required", "required"), ("any", "any"), ("auto", None)])
def test_a_forced_tool_is_offered_alone_where_it_can_not_be_named(known: str, sent: str | None) -> None:
    assert chosen({"type": "function", "name": "g"}, dialect=way(known)) == (["g"], sent)


def test_only_the_allowed_tools_are_offered() -> None:
    assert chosen(allowed({"type": "function", "name": "g"}, {"type": "shell"})) == (["g", "shell"], "auto")


def test_one_of_the_allowed_tools_can_be_required() -> None:
    assert chosen(allowed({"type": "function", "name": "g"}, mode="required")) == (["g"], "required")


@pytest.mark.parametrize(("known", "sent"), [("required", "required"), ("any", "any"), ("auto", None)])
def test_allowed_tools_are_required_as_the_server_says_it(known: str, sent: str | None) -> None:
    choice = allowed({"type": "function", "name": "g"}, mode="required")

    assert chosen(choice, dialect=way(known)) == (["g"], sent)


def test_a_namespace_can_be_allowed() -> None:
    assert chosen(allowed({"type": "namespace", "name": "crm"}))[0] == ["crm__look"]


def test_an_allowed_tool_that_was_left_out_leaves_the_others() -> None:
    choice = allowed({"type": "web_search"}, {"type": "function", "name": "g"})

    assert chosen(choice, tools=[*TOOLS, HOSTED])[0] == ["g"]


def test_no_tool_is_offered_when_all_allowed_ones_were_left_out() -> None:
    assert chosen(allowed({"type": "web_search"}), tools=[*TOOLS, HOSTED]) == ([], None)


def test_no_tool_is_offered_when_none_is_allowed() -> None:
    assert chosen(allowed()) == ([], None)


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "web_search"},
        {"type": "mcp", "server_label": "s"},
        {"type": "computer"},
        {"type": "programmatic_tool_calling"},
        allowed({"type": "web_search"}, mode="required"),
        allowed({"type": "image_generation"}),
        allowed(mode="required"),
    ],
)
@pytest.mark.parametrize("policy", ["warn", "error"])
def test_a_tool_that_can_not_be_offered_can_not_be_forced(choice: Any, policy: Any) -> None:
    tools = TOOLS if policy == "error" else [*TOOLS, HOSTED]

    error = refused(policy=policy, tools=tools, tool_choice=choice)

    assert (error.status, error.code, error.param) == (400, "unsupported_value", "tool_choice")


def test_required_is_refused_when_all_tools_were_left_out() -> None:
    assert refused(policy="warn", tools=[HOSTED], tool_choice="required").param == "tool_choice"


def test_required_is_refused_when_there_are_no_tools_at_all() -> None:
    error = refused(policy="warn", previous_response_id="resp_1", history=[], tool_choice="required")

    assert error.param == "tool_choice"


@pytest.mark.parametrize("choice", [{"type": "web_search"}, "required"])
def test_what_can_not_be_forced_is_dropped_where_all_is_ignored(choice: Any) -> None:
    made = payload(policy="ignore", tools=[HOSTED], tool_choice=choice)

    assert "tool_choice" not in made


def test_a_tool_that_an_item_brought_can_be_forced() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [G]}

    made = payload(input=[{"role": "user", "content": "Hi"}, added], tool_choice={"type": "function", "name": "g"})

    assert made["tool_choice"] == {"type": "function", "function": {"name": "g"}}
