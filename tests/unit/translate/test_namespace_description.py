"""What a namespace says of itself is told in the descriptions of its tools."""

from __future__ import annotations

from typing import Any

import pytest
from translating import CUSTOM, SEARCH, USER, refused, translate

LONG = "The CRM of the shop. " * 30  # more than each tool repeats
ENDLESS = "The CRM of the shop. " * 300  # more than a description may have
LOOKUP = {"type": "function", "name": "lookup", "description": "Finds a customer."}
NOTE = {"type": "custom", "name": "note", "description": "Writes a note."}
GRAMMAR = {"type": "grammar", "syntax": "regex", "definition": "[a-z]+"}


def namespace(description: str, *tools: dict[str, Any], name: str = "crm") -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": description, "tools": list(tools)}


def descriptions(*tools: dict[str, Any], dialect: Any = "auto", **parameters: Any) -> dict[str, str | None]:
    offered = translate(dialect, tools=list(tools), **parameters).payload["tools"]
    members = [tool[tool["type"]] for tool in offered]
    return {member["name"]: member.get("description") for member in members}


def test_each_tool_tells_what_its_namespace_is() -> None:
    assert descriptions(namespace("Customers. Ask before you write.", LOOKUP, NOTE)) == {
        "crm__lookup": "Finds a customer.\n\nAbout the crm tools: Customers. Ask before you write.",
        "crm__note": "Writes a note.\n\nAbout the crm tools: Customers. Ask before you write.",
    }


def test_a_tool_without_description_has_that_of_its_namespace() -> None:
    assert descriptions(namespace("Customers.", {"type": "function", "name": "lookup"})) == {
        "crm__lookup": "About the crm tools: Customers."
    }


def test_a_grammar_stands_behind_it() -> None:
    (description,) = descriptions(namespace("Customers.", {**NOTE, "format": GRAMMAR})).values()

    assert description is not None
    assert description.startswith("Writes a note.\n\nAbout the crm tools: Customers.\n\nThe input must match")


def test_a_native_freeform_tool_tells_it_too() -> None:
    assert descriptions(namespace("Customers.", NOTE), dialect="openai") == {
        "crm__note": "Writes a note.\n\nAbout the crm tools: Customers."
    }


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_namespace_that_says_nothing_adds_nothing(blank: str) -> None:
    assert descriptions(namespace(blank, LOOKUP)) == {"crm__lookup": "Finds a customer."}


def test_a_long_description_is_told_whole_once_and_in_short_elsewhere() -> None:
    first, second = descriptions(namespace(LONG, LOOKUP, NOTE)).values()

    assert first == f"Finds a customer.\n\nAbout the crm tools: {LONG.strip()}"
    assert second is not None
    assert second.endswith("…")
    assert len(second) < 300


def test_the_first_tool_that_is_offered_tells_it_whole() -> None:
    deferred = {**LOOKUP, "defer_loading": True}

    assert descriptions(SEARCH, namespace(LONG, deferred, NOTE))["crm__note"] == (
        f"Writes a note.\n\nAbout the crm tools: {LONG.strip()}"
    )


def test_a_tool_that_a_choice_allows_alone_still_tells_what_its_namespace_is() -> None:
    only = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "note", "namespace": "crm"}]}

    assert descriptions(namespace("Customers.", LOOKUP, NOTE), tool_choice=only) == {
        "crm__note": "Writes a note.\n\nAbout the crm tools: Customers."
    }


def test_it_makes_no_description_longer_than_servers_take() -> None:
    made = [text or "" for text in descriptions(namespace(ENDLESS, LOOKUP, NOTE)).values()]

    assert [len(text) <= 1024 for text in made] == [True, True]
    assert made[0].endswith("…")


def test_a_description_that_is_full_stays_as_it_is() -> None:
    full = "x" * 1000

    assert descriptions(namespace("Customers.", {**LOOKUP, "description": full})) == {"crm__lookup": full}


def test_a_description_that_is_told_is_not_left_out() -> None:
    assert translate(policy="warn", tools=[namespace(LONG, LOOKUP, NOTE)]).left_out == []


def test_a_description_that_is_nowhere_told_whole_is_named() -> None:
    assert translate(policy="warn", tools=[namespace(ENDLESS, LOOKUP)]).left_out == ["namespace.description"]


def test_the_place_of_a_description_that_is_too_long_is_named() -> None:
    error = refused(policy="error", tools=[CUSTOM, namespace(ENDLESS, LOOKUP)], input=[USER])

    assert (error.status, error.param) == (400, "tools[1].description")


def test_a_description_where_none_belongs_is_not_read() -> None:
    assert translate(tools=[{"type": "computer", "description": ["x"]}]).left_out == []
