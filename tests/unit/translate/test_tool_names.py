"""Chat names of tools: legal, unique, and restored."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responses_middleware.translate.tool_names import ToolBinding, ToolNames

BINDINGS = st.builds(
    ToolBinding,
    st.sampled_from(["function", "custom", "shell", "apply_patch"]),
    st.text(max_size=80),
    st.none() | st.text(max_size=80),
)


def test_a_legal_name_stays() -> None:
    assert ToolNames().name(ToolBinding("function", "get_weather-2")) == "get_weather-2"


def test_a_namespace_stands_in_front() -> None:
    assert ToolNames().name(ToolBinding("function", "lookup", "crm")) == "crm__lookup"


def test_the_same_tool_has_the_same_name() -> None:
    names = ToolNames()

    assert names.name(ToolBinding("function", "f")) == names.name(ToolBinding("function", "f"))


def test_two_kinds_of_one_name_are_told_apart() -> None:
    names = ToolNames()

    assert names.name(ToolBinding("function", "shell")) != names.name(ToolBinding("shell", "shell"))


def test_a_flat_name_that_is_taken_is_made_another() -> None:
    names = ToolNames()

    assert names.name(ToolBinding("function", "a__b")) != names.name(ToolBinding("function", "b", "a"))


@pytest.mark.parametrize("name", ["a.b", "naïve", "", " ", "\ud800", "x" * 65])
def test_an_odd_name_is_made_legal(name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", ToolNames().name(ToolBinding("function", name)))


def test_a_made_name_is_the_same_in_every_request() -> None:
    assert ToolNames().name(ToolBinding("function", "a.b")) == ToolNames().name(ToolBinding("function", "a.b"))


def test_a_name_that_nobody_was_told_is_a_functions() -> None:
    assert ToolNames().binding("invented") == ToolBinding("function", "invented")


@given(st.lists(BINDINGS, max_size=8, unique=True))
def test_any_tools_have_legal_and_unique_names_that_are_restored(bindings: list[ToolBinding]) -> None:
    names = ToolNames()

    made = [names.name(binding) for binding in bindings]

    assert len(set(made)) == len(bindings)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in made)
    assert [names.binding(name) for name in made] == bindings
