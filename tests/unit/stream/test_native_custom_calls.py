"""Freeform tools that the server knows itself: what stands in `custom.input` is the input, whatever it looks like."""

from __future__ import annotations

from typing import Any

import pytest
from replay import call, chunk, events_of, names_of, output_of, response_of, stop

from responses_middleware.translate.completion import to_chunk

NAMES = names_of(sql="custom", note="custom", ask="function", run="shell")
INPUTS = [
    '{"a":1}\n{"b":2}',
    '{"input":"x","other":1}',
    '{"input":"x"}',
    "{}",
    " {} ",
    "[]",
    '{"a":1} trailing',
    '{ "unfinished',
    '{"unfinished": "',
    '"quoted',
    "[1, 2",
    " ",
    "\n\n",
    "SELECT 1;",
    '{"input":"\\ud83d"}\\',
]


def custom(text: Any = None, *, index: int | None = 0, identity: str | None = None, name: str | None = None) -> Any:
    """A chunk with one fragment of a native freeform call; None is left out."""
    inner = {key: value for key, value in (("name", name), ("input", text)) if value is not None}
    fragment = {"index": index, "id": identity, "type": "custom" if name else None, "custom": inner}
    return chunk({"tool_calls": [{key: value for key, value in fragment.items() if value is not None}]})


def begun(text: str = "", **more: Any) -> Any:
    return custom(text, identity="call_abcdef", name="sql", **more)


def inputs(*chunks: Any, **options: Any) -> list[str]:
    output = output_of(*chunks, names=NAMES, **options)
    assert {item["type"] for item in output} <= {"custom_tool_call"}
    return [item["input"] for item in output]


@pytest.mark.parametrize("text", INPUTS)
def test_the_input_is_what_stands_there(text: str) -> None:
    assert inputs(begun(text), stop("tool_calls")) == [text]


@pytest.mark.parametrize("text", INPUTS)
def test_the_input_may_be_cut_anywhere(text: str) -> None:
    for place in range(len(text) + 1):
        assert inputs(begun(text[:place]), custom(text[place:]), stop("tool_calls")) == [text]
    assert inputs(begun(), *map(custom, text), stop("tool_calls")) == [text]


@pytest.mark.parametrize("text", INPUTS)
def test_the_input_of_a_whole_answer_is_what_stands_there(text: str) -> None:
    fragment = {"id": "call_abcdef", "type": "custom", "custom": {"name": "sql", "input": text}}
    message = {"role": "assistant", "content": None, "tool_calls": [fragment]}

    assert inputs(to_chunk({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})) == [text]


@pytest.mark.parametrize("text", INPUTS)
def test_a_message_that_is_sent_again_and_again_has_one_input(text: str) -> None:
    fragment = {"id": "call_abcdef", "type": "custom", "custom": {"name": "sql", "input": text}}
    snapshot = {"choices": [{"index": 0, "message": {"content": "", "tool_calls": [fragment]}}]}

    assert inputs(snapshot, snapshot, stop("tool_calls")) == [text]


def test_the_input_streams_as_it_comes() -> None:
    events = events_of(begun("{"), custom("}"), custom(" x"), stop("tool_calls"), names=NAMES)

    deltas = [event["delta"] for event in events if event["type"] == "response.custom_tool_call_input.delta"]
    assert deltas == ["{", "}", " x"]


def test_the_name_may_come_behind_the_input() -> None:
    assert inputs(custom("{}", identity="call_abcdef"), custom(name="sql"), stop("tool_calls")) == ["{}"]


def test_no_input_is_an_empty_one() -> None:
    assert inputs(begun(), stop("tool_calls")) == [""]


def test_calls_side_by_side_keep_their_inputs() -> None:
    chunks = [
        begun("{}"),
        custom("[", index=1, identity="call_ghijkl", name="note"),
        custom("{}"),
        custom("]", index=1),
        stop("tool_calls"),
    ]

    assert inputs(*chunks) == ["{}{}", "[]"]


def test_an_answer_that_ends_at_its_limit_has_an_incomplete_call() -> None:
    response = response_of(begun('{"a":1}'), stop("length"), names=NAMES)

    assert [(item["input"], item["status"]) for item in response["output"]] == [('{"a":1}', "incomplete")]


def test_an_end_without_a_finish_reason_tells_nothing_about_the_input() -> None:
    assert response_of(begun('{"a":1}'), names=NAMES)["status"] == "failed"


def test_half_characters_are_joined() -> None:
    assert inputs(begun("a\ud83d"), custom("\ude00"), stop("tool_calls")) == ["a\U0001f600"]


@pytest.mark.parametrize(
    ("name", "text", "item"),
    [
        ("ask", '{"a":1}</tool_call>', {"type": "function_call", "arguments": '{"a":1}'}),
        ("ask", "{}", {"type": "function_call", "arguments": "{}"}),
        ("run", '{"commands":["ls"]}', {"type": "shell_call"}),
    ],
)
def test_what_is_no_freeform_tool_has_arguments_in_any_wrapper(name: str, text: str, item: dict[str, Any]) -> None:
    (made,) = output_of(custom(text, identity="call_abcdef", name=name), stop("tool_calls"), names=NAMES)

    assert {key: made[key] for key in item} == item


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"input":"x"}', "x"), ('{"a":1} trailing', "1"), ("{}", ""), ("plain", "plain")],
)
def test_a_function_that_stands_for_a_freeform_tool_is_still_unwrapped(arguments: str, text: str) -> None:
    assert inputs(call(0, "call_abcdef", "sql", arguments), stop("tool_calls")) == [text]
