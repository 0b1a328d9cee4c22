"""Calls that an answer was cut in: nobody has run them, and the conversation goes on without them."""

from __future__ import annotations

from typing import Any

import pytest
from translating import ASKED, USER, call, chat_call, messages, output, payload, refused, result, says, translate, turn

NEXT = {"role": "user", "content": "Go on"}
CUT: dict[str, dict[str, Any]] = {
    "function_call": call(arguments='{"city": "Pa', status="incomplete"),
    "custom_tool_call": {
        "type": "custom_tool_call",
        "call_id": "call_1",
        "name": "patch",
        "input": "*** Beg",
        "status": "incomplete",
    },
    "shell_call": {
        "type": "shell_call",
        "call_id": "call_1",
        "action": {"commands": ["ls"]},
        "status": "incomplete",
    },
    "tool_search_call": {"type": "tool_search_call", "arguments": {"query": "x"}, "status": "incomplete"},
}
every_cut_call = pytest.mark.parametrize("kind", CUT)


@every_cut_call
def test_a_cut_call_without_output_is_left_out(kind: str) -> None:
    assert messages(USER, CUT[kind], NEXT) == [ASKED, NEXT]


@every_cut_call
def test_a_cut_call_of_an_earlier_turn_is_left_out(kind: str) -> None:
    written = payload(history=[USER, CUT[kind]], input=[NEXT], previous_response_id="resp_1")["messages"]

    assert written == [ASKED, NEXT]


@every_cut_call
def test_a_cut_call_that_is_left_out_is_named(kind: str) -> None:
    assert translate(policy="warn", input=[USER, CUT[kind], NEXT]).left_out == [kind]


@every_cut_call
def test_a_cut_call_is_refused_where_nothing_may_be_left_out(kind: str) -> None:
    error = refused(policy="error", input=[USER, CUT[kind], NEXT])

    assert (error.status, error.param) == (400, "input")
    assert error.message.startswith("No tool output found for ")


def test_what_stands_beside_a_cut_call_stays() -> None:
    whole = call("call_0", arguments='{"city": "Rome"}')

    written = messages(USER, says("Looking."), whole, CUT["function_call"], output("call_0"), NEXT)

    calls = turn(chat_call("call_0", arguments='{"city": "Rome"}'), content="Looking.")
    assert written == [ASKED, calls, result("call_0"), NEXT]


def test_a_cut_call_with_an_output_stays() -> None:
    made = translate(policy="warn", input=[USER, CUT["function_call"], output(text="It was cut."), NEXT])

    written = made.payload["messages"]
    assert [message["role"] for message in written] == ["user", "assistant", "tool", "user"]
    assert written[2] == result(content="It was cut.")
    assert made.left_out == []


def test_a_whole_call_without_output_is_refused_beside_a_cut_one() -> None:
    error = refused(policy="warn", input=[USER, call("call_0", status="completed"), CUT["function_call"], NEXT])

    assert error.message == "No tool output found for function call call_0."
