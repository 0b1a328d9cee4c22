"""Names of tools that come with marks of the model's own format around them, of gpt-oss above all (vLLM issue
32587)."""

from __future__ import annotations

from typing import Any

import pytest
from replay import call, names_of, output_of, stop

from responses_middleware.translate.tool_names import ToolBinding, ToolNames

MARKED = [
    "ls<|channel|>commentary",
    "ls<|channel|>json",
    "ls<|constrain|>json",
    "ls <|channel|>commentary",
    "ls<|channel|>commentary to=functions.ls",
    "functions.ls",
    "functions.ls<|channel|>commentary",
    "functions.ls:0",
    " ls ",
    "\nls\n",
]
OFFERED = {"ls": "function", "get_time": "function", "sql": "custom", "local_shell": "local_shell"}


def names_in(*chunks: Any, offered: dict[str, Any] = OFFERED) -> list[str]:
    """The names of the calls; each ends in a call of its own."""
    return [item["name"] for item in output_of(*chunks, stop("tool_calls"), names=names_of(**offered))]


@pytest.mark.parametrize("marked", MARKED)
def test_marks_around_a_name_are_no_part_of_it(marked: str) -> None:
    assert names_in(call(0, "call_abcdef", marked, '{"a":1}')) == ["ls"]


@pytest.mark.parametrize("marked", MARKED)
def test_marks_and_name_may_come_in_pieces(marked: str) -> None:
    for place in range(1, len(marked)):
        chunks = [
            call(0, "call_abcdef", marked[:place], ""),
            call(0, None, marked[place:]),
            call(0, None, None, '{"a":1}'),
        ]
        assert names_in(*chunks) == ["ls"]
    assert names_in(*[call(0, None, letter) for letter in marked], call(0, arguments='{"a":1}')) == ["ls"]


@pytest.mark.parametrize("marked", MARKED)
def test_the_name_may_be_repeated_with_and_without_marks(marked: str) -> None:
    chunks = [call(0, "call_abcdef", marked, '{"a"'), call(0, None, "ls", ":1"), call(0, None, marked, "}")]

    assert names_in(*chunks) == ["ls"]


@pytest.mark.parametrize("marked", MARKED)
def test_a_name_may_grow_as_a_whole_into_its_marks(marked: str) -> None:
    chunks = [call(0, "call_abcdef", "l"), call(0, None, "ls"), call(0, None, marked), call(0, arguments='{"a":1}')]

    assert names_in(*chunks) == ["ls"]


def test_another_function_behind_a_marked_name_is_another_call() -> None:
    chunks = [call(0, None, "ls<|channel|>commentary"), call(0, None, "get_time"), call(0, arguments="{}")]

    assert names_in(*chunks) == ["ls", "get_time"]


@pytest.mark.parametrize(
    "name", ["rm<|channel|>commentary", "functions.rm", "assistant<|channel|>analysis", "functions.", "<|channel|>ls"]
)
def test_a_name_that_is_no_tool_without_its_marks_either_is_kept(name: str) -> None:
    assert names_in(call(0, "call_abcdef", name, "{}")) == [name]


def test_nothing_is_taken_from_a_name_where_no_tool_is_offered() -> None:
    assert names_in(call(0, "call_abcdef", "functions.ls", "{}"), offered={}) == ["functions.ls"]


def test_a_marked_name_of_another_kind_of_tool_is_that_tool() -> None:
    names = names_of(**OFFERED)
    chunks = [
        call(0, "call_aaaaaa", "functions.sql<|channel|>commentary", '{"input":"x"}'),
        call(1, "call_bbbbbb", "local_shell<|channel|>commentary", '{"command":["ls"]}'),
    ]

    output = output_of(*chunks, stop("tool_calls"), names=names)

    assert [item["type"] for item in output] == ["custom_tool_call", "local_shell_call"]


def test_a_marked_name_of_a_namespace_is_that_tool() -> None:
    names = ToolNames()
    names.name(ToolBinding("function", "lookup", "crm"))

    (item,) = output_of(call(0, "call_abcdef", "functions.crm__lookup", "{}"), stop("tool_calls"), names=names)

    assert (item["namespace"], item["name"]) == ("crm", "lookup")


def test_long_blanks_in_a_name_are_read_in_linear_time() -> None:
    assert ToolNames().meant("ls" + " " * 200_000 + "x").startswith("ls")
