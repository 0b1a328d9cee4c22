"""Which fragments are one call; the rules stand in toolcalls.py, and each server's way of saying it here."""

from __future__ import annotations

from typing import Any

import pytest
from replay import call, chunk, output_of, stop

Call = tuple[str, str, str]
NEW = "call_made0", "call_made1", "call_made2"


def calls_of(
    *chunks: Any, known: tuple[str, ...] = ("get_weather", "get_time", "get_weather_now"), **options: Any
) -> list[Call]:
    """Id, name and arguments of each call."""
    from replay import names_of

    output = output_of(*chunks, stop("tool_calls"), names=names_of(**dict.fromkeys(known, "function")), **options)
    return [(item["call_id"], item["name"], item["arguments"]) for item in output]


def fragments(*fragments: dict[str, Any]) -> dict[str, Any]:
    """All in one chunk."""
    return chunk({"tool_calls": [*fragments]})


def bare(index: Any = None, **members: Any) -> dict[str, Any]:
    """A fragment in a chunk of its own, as given."""
    return fragments({**members, **({} if index is None else {"index": index})})


def test_fragments_of_one_index_are_one_call() -> None:
    assert calls_of(call(0, "call_a", "get_time", ""), call(0, arguments='{"a"'), call(0, arguments=":1}")) == [
        ("call_a", "get_time", '{"a":1}')
    ]


def test_calls_one_after_the_other() -> None:
    first = call(0, "call_a", "get_time", "{"), call(0, arguments='"a":1}')
    second = call(1, "call_b", "get_weather", "{"), call(1, arguments='"b":2}')

    assert calls_of(*first, *second) == [("call_a", "get_time", '{"a":1}'), ("call_b", "get_weather", '{"b":2}')]


def test_calls_that_are_interleaved() -> None:
    chunks = [
        call(0, "call_a", "get_time", '{"a":'),
        call(1, "call_b", "get_weather", '{"b":'),
        call(0, arguments="1}"),
        call(1, arguments="2}"),
    ]

    assert calls_of(*chunks) == [("call_a", "get_time", '{"a":1}'), ("call_b", "get_weather", '{"b":2}')]


def test_calls_whole_in_one_chunk_each() -> None:
    assert calls_of(call(0, "call_a", "get_time", '{"a":1}'), call(1, "call_b", "get_time", '{"b":2}')) == [
        ("call_a", "get_time", '{"a":1}'),
        ("call_b", "get_time", '{"b":2}'),
    ]


def test_calls_whole_in_one_chunk_together() -> None:
    both = fragments(
        {"id": "call_a", "function": {"name": "get_time", "arguments": '{"a":1}'}},
        {"id": "call_b", "function": {"name": "get_time", "arguments": '{"b":2}'}},
    )

    assert calls_of(both) == [("call_a", "get_time", '{"a":1}'), ("call_b", "get_time", '{"b":2}')]


@pytest.mark.parametrize("index", [1, -1, 7, "0"])
def test_the_index_may_begin_anywhere(index: Any) -> None:
    assert calls_of(call(index, "call_a", "get_time", "{"), call(index, arguments="}")) == [
        ("call_a", "get_time", "{}")
    ]


# -- ids
def test_the_id_may_come_late() -> None:
    assert calls_of(call(0, None, "get_time"), call(0, "call_a", arguments='{"a":1}')) == [
        ("call_a", "get_time", '{"a":1}')
    ]


def test_the_id_may_be_repeated() -> None:
    assert calls_of(call(0, "call_a", "get_time", "{"), call(0, "call_a", arguments='"a":1}')) == [
        ("call_a", "get_time", '{"a":1}')
    ]


def test_an_id_without_index_says_which_call() -> None:
    chunks = [
        call(None, "call_a", "get_time", '{"a":'),
        call(None, "call_b", "get_weather", '{"b":'),
        call(None, "call_a", arguments="1}"),
        call(None, "call_b", arguments="2}"),
    ]

    assert calls_of(*chunks) == [("call_a", "get_time", '{"a":1}'), ("call_b", "get_weather", '{"b":2}')]


@pytest.mark.parametrize("identity", ["", "0", "12345", None])
def test_an_id_that_names_no_call_alone_is_replaced(identity: str | None) -> None:
    assert calls_of(call(0, identity, "get_time", "{}")) == [(NEW[0], "get_time", "{}")]


def test_all_calls_may_have_the_same_id() -> None:
    chunks = [
        call(0, "0", "get_time", '{"a":'),
        call(0, "0", arguments="1}"),
        call(1, "0", "get_weather", '{"b":'),
        call(1, "0", arguments="2}"),
        call(0, "0", arguments=" "),
    ]

    assert calls_of(*chunks) == [(NEW[0], "get_time", '{"a":1}'), (NEW[1], "get_weather", '{"b":2}')]


def test_an_id_of_the_history_is_replaced() -> None:
    assert calls_of(call(0, "call_a", "get_time", "{}"), taken_call_ids=["call_a"]) == [(NEW[0], "get_time", "{}")]


def test_an_id_used_twice_in_the_answer_is_replaced() -> None:
    first, second = call(0, "call_a", "get_time", '{"a":1}'), call(1, "call_a", "get_time", '{"b":2}')

    assert calls_of(first, second) == [("call_a", "get_time", '{"a":1}'), (NEW[0], "get_time", '{"b":2}')]


def test_each_fragment_may_have_an_id_of_its_own() -> None:
    chunks = [
        call(0, "call_a", "get_time", '{"a"'),
        call(0, "call_b", arguments=":"),
        call(0, "call_c", arguments="1}"),
    ]

    assert calls_of(*chunks) == [("call_a", "get_time", '{"a":1}')]


def test_an_index_may_be_used_again_with_another_id() -> None:
    assert calls_of(call(0, "call_a", "get_time", '{"a":1}'), call(0, "call_b", "get_time", '{"b":2}')) == [
        ("call_a", "get_time", '{"a":1}'),
        ("call_b", "get_time", '{"b":2}'),
    ]


def test_an_index_used_again_with_another_id_needs_no_name_when_the_call_was_whole() -> None:
    chunks = [
        call(0, "call_a", "get_time", '{"a":1}'),
        call(0, "call_b", arguments='{"b":2}'),
        call(0, None, "get_weather"),
    ]

    assert calls_of(*chunks) == [("call_a", "get_time", '{"a":1}'), ("call_b", "get_weather", '{"b":2}')]


def test_an_id_is_valid_text() -> None:
    assert calls_of(call(0, "call_\ud83d", "get_time", "{}")) == [("call_\ufffd", "get_time", "{}")]


# -- neither id nor index
def test_without_index_and_id_a_name_begins_a_call() -> None:
    chunks = [
        call(None, None, "get_time", '{"a":'),
        call(None, arguments="1}"),
        call(None, None, "get_weather", '{"b":2}'),
        call(None, None, "get_weather", '{"c":3}'),
    ]

    assert calls_of(*chunks) == [
        (NEW[0], "get_time", '{"a":1}'),
        (NEW[1], "get_weather", '{"b":2}'),
        (NEW[2], "get_weather", '{"c":3}'),
    ]


def test_two_unnumbered_calls_in_one_chunk_are_two() -> None:
    both = fragments(
        {"function": {"name": "get_time", "arguments": "{}"}}, {"function": {"name": "get_time", "arguments": "{}"}}
    )

    assert calls_of(both) == [(NEW[0], "get_time", "{}"), (NEW[1], "get_time", "{}")]


# -- another function at a known index
def test_an_index_may_be_used_again_for_another_function() -> None:
    assert calls_of(call(0, None, "get_time", '{"a":1}'), call(0, None, "get_weather", '{"b":2}')) == [
        (NEW[0], "get_time", '{"a":1}'),
        (NEW[1], "get_weather", '{"b":2}'),
    ]


def test_an_index_may_be_used_again_for_the_same_function_with_other_arguments() -> None:
    assert calls_of(call(0, None, "get_time", '{"a":1}'), call(0, None, "get_time", '{"a":2}')) == [
        (NEW[0], "get_time", '{"a":1}'),
        (NEW[1], "get_time", '{"a":2}'),
    ]


def test_a_call_that_is_sent_again_is_one() -> None:
    whole = call(0, "call_a", "get_time", '{"a":1}')

    assert calls_of(whole, whole) == [("call_a", "get_time", '{"a":1}')]


def test_arguments_that_are_sent_again_whole_count_once() -> None:
    chunks = [call(0, "call_a", "get_time", '{"a"'), call(0, arguments=":1}"), call(0, arguments='{"a":1}')]

    assert calls_of(*chunks) == [("call_a", "get_time", '{"a":1}')]


def test_a_call_that_streamed_and_is_sent_again_whole_is_one() -> None:
    chunks = [call(0, "call_a", "get_time", '{"a"'), call(0, arguments=":1}"), call(0, "call_a", "get_time", '{"a":1}')]

    assert calls_of(*chunks) == [("call_a", "get_time", '{"a":1}')]


# -- names
def test_the_name_may_come_behind_the_arguments() -> None:
    assert calls_of(call(0, "call_a", None, '{"a"'), call(0, arguments=":1}"), call(0, None, "get_time")) == [
        ("call_a", "get_time", '{"a":1}')
    ]


def test_the_name_may_be_repeated_with_each_fragment() -> None:
    chunks = [call(0, "call_a", "get_time", '{"a"'), call(0, "call_a", "get_time", ":1}")]

    assert calls_of(*chunks) == [("call_a", "get_time", '{"a":1}')]


def test_the_name_may_be_split() -> None:
    assert calls_of(call(0, "call_a", "get_"), call(0, None, "weather"), call(0, arguments="{}")) == [
        ("call_a", "get_weather", "{}")
    ]


def test_a_split_name_ends_where_a_known_one_ends() -> None:
    assert calls_of(call(0, "call_a", "get_weather"), call(0, None, "_now"), call(0, arguments="{}")) == [
        ("call_a", "get_weather_now", "{}")
    ]


def test_a_name_may_grow_as_a_whole() -> None:
    assert calls_of(call(0, "call_a", "get_"), call(0, None, "get_weather", "{}")) == [("call_a", "get_weather", "{}")]


def test_a_split_name_needs_no_index() -> None:
    assert calls_of(call(None, None, "get_"), call(None, None, "weather", '{"a":1}')) == [
        (NEW[0], "get_weather", '{"a":1}')
    ]


def test_a_name_that_no_tool_has_is_kept() -> None:
    assert calls_of(call(0, "call_a", "made_up", "{}")) == [("call_a", "made_up", "{}")]


# -- forms of a fragment
@pytest.mark.parametrize("arguments", [{"a": [1, None, "é"]}, '{"a":[1,null,"é"]}'])
def test_arguments_may_be_an_object(arguments: Any) -> None:
    assert calls_of(call(0, "call_a", "get_time", arguments)) == [("call_a", "get_time", '{"a":[1,null,"é"]}')]


@pytest.mark.parametrize("arguments", [None, "", "{}", " {} ", {}])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    fragment = {"id": "call_a", "function": {"name": "get_time", "arguments": arguments}}

    assert calls_of(fragments(fragment)) == [("call_a", "get_time", "{}")]


def test_arguments_may_follow_an_empty_object() -> None:
    assert calls_of(call(0, "call_a", "get_time", {}), call(0, arguments='{"a":1}')) == [
        ("call_a", "get_time", '{"a":1}')
    ]


def test_left_overs_of_a_template_behind_the_arguments_are_dropped() -> None:
    assert calls_of(call(0, "call_a", "get_time", '{"a":1}\n</tool_call>')) == [("call_a", "get_time", '{"a":1}')]


@pytest.mark.parametrize(
    "fragment",
    [
        {"id": "call_a", "type": "function", "name": "get_time", "arguments": {"a": 1}},
        {"id": "call_a", "custom": {"name": "get_time", "input": '{"a":1}'}},
        {"id": "call_a", "function": None, "name": "get_time", "arguments": '{"a":1}'},
    ],
    ids=["Cloudflare", "custom", "function null"],
)
def test_name_and_arguments_may_stand_elsewhere(fragment: dict[str, Any]) -> None:
    assert calls_of(fragments(fragment)) == [("call_a", "get_time", '{"a":1}')]


def test_the_legacy_form_is_one_call() -> None:
    chunks = [
        chunk({"function_call": {"name": "get_time", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"a":1}'}}),
    ]

    assert calls_of(*chunks) == [(NEW[0], "get_time", '{"a":1}')]


@pytest.mark.parametrize(
    "members", [{}, {"extra_content": {"s": 1}}, {"id": "call_a"}, {"function": {}}, {"function": 5}, {"id": 7}]
)
def test_a_fragment_that_says_nothing_begins_no_call(members: dict[str, Any]) -> None:
    assert calls_of(bare(0, **members), call(0, "call_b", "get_time", '{"a":1}')) == [("call_b", "get_time", '{"a":1}')]


@pytest.mark.parametrize("index", [True, 1.5, [], {}, "x" * 1000])
def test_an_index_that_is_none_says_nothing(index: Any) -> None:
    assert calls_of(bare(index, id="call_a", name="get_time", arguments='{"a":'), bare(index, arguments="1}")) == [
        ("call_a", "get_time", '{"a":1}')
    ]
