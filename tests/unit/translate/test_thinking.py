"""Reasoning items: whose turn they belong to, and how they go back."""

from __future__ import annotations

from typing import Any

import pytest
from translating import (
    USER,
    call,
    chat_call,
    messages,
    output,
    payload,
    refused,
    result,
    says,
    such,
    thinks,
    translate,
    turn,
)

NEXT = {"role": "user", "content": "And now?"}
KEEPS = such(replay_reasoning="reasoning_content")


def opened(token: str) -> dict[str, Any] | None:
    """Opens tokens of ours."""
    return {
        "ours": {"text": "sealed thought", "opaque": {}},
        "signed": {"text": "", "opaque": {"calls": {"call_1": {"extra_content": {"google": {"sig": "S"}}}}}},
        "details": {"text": "Hm", "opaque": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "D"}]}},
        "more": {"text": "", "opaque": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "E"}]}},
    }.get(token)


def sealed(token: str, **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], "encrypted_content": token, **more}


def test_thinking_is_not_sent_unless_the_dialect_says_so() -> None:
    assert messages(USER, thinks("Hm"), says("Hello"), NEXT)[1] == {"role": "assistant", "content": "Hello"}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_goes_back_under_the_name_that_the_server_reads(field: Any) -> None:
    written = messages(USER, thinks("Hm"), says("Hello"), NEXT, dialect=such(replay_reasoning=field))

    assert written[1] == {"role": "assistant", "content": "Hello", field: "Hm"}


def test_thinking_goes_back_as_details() -> None:
    written = messages(USER, thinks("Hm"), says("Hello"), NEXT, dialect=such(replay_reasoning="reasoning_details"))

    assert written[1]["reasoning_details"] == [{"type": "reasoning.text", "text": "Hm"}]


def test_thinking_goes_back_in_tags() -> None:
    written = messages(USER, thinks("Hm"), says("Hello"), NEXT, dialect=such(replay_reasoning="think"))

    assert written[1] == {"role": "assistant", "content": "<think>Hm</think>\n\nHello"}


def test_thinking_in_tags_needs_no_content() -> None:
    dialect = such(replay_reasoning="think", tool_call_content=None)

    assert messages(USER, thinks("Hm"), call(), output(), dialect=dialect)[1]["content"] == "<think>Hm</think>\n\n"


def test_thinking_belongs_to_the_turn_that_follows() -> None:
    written = messages(
        USER,
        thinks("A"),
        call("call_1"),
        output("call_1"),
        thinks("B"),
        call("call_2"),
        output("call_2"),
        dialect=KEEPS,
    )

    assert [message["reasoning_content"] for message in written if message["role"] == "assistant"] == ["A", "B"]


def test_thinking_between_parallel_calls_is_of_their_turn() -> None:
    items = [thinks("A"), call("call_1"), thinks("B"), call("call_2"), output("call_1"), output("call_2")]

    assert messages(USER, *items, dialect=KEEPS)[1]["reasoning_content"] == "A\nB"


def test_thinking_behind_text_is_of_its_turn() -> None:
    assert messages(USER, says("Hello"), thinks("A"), NEXT, dialect=KEEPS)[1]["reasoning_content"] == "A"


def test_thinking_that_no_turn_follows_is_dropped() -> None:
    written = messages(USER, thinks("lost"), NEXT, says("Hello"), {"role": "user", "content": "?"}, dialect=KEEPS)

    assert written[2] == {"role": "assistant", "content": "Hello"}


def test_lost_thinking_of_a_turn_with_calls_is_a_blank() -> None:
    written = messages(USER, call(), output(), dialect=KEEPS)

    assert written[1:] == [turn(chat_call(), reasoning_content=" "), result()]


def test_lost_thinking_of_a_turn_without_calls_is_nothing() -> None:
    assert messages(USER, says("Hello"), NEXT, dialect=KEEPS)[1] == {"role": "assistant", "content": "Hello"}


def test_content_counts_before_the_summary() -> None:
    item = thinks("all of it") | {"summary": [{"type": "summary_text", "text": "in short"}]}

    assert messages(USER, item, says("Hello"), NEXT, dialect=KEEPS)[1]["reasoning_content"] == "all of it"


def test_a_summary_stands_for_lost_content() -> None:
    item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "in short"}], "content": None}

    assert messages(USER, item, says("Hello"), NEXT, dialect=KEEPS)[1]["reasoning_content"] == "in short"


def test_thinking_of_earlier_turns_stays_away_where_only_this_turn_counts() -> None:
    items = [USER, thinks("old"), says("Hello"), NEXT, thinks("new"), call(), output()]

    written = payload(KEEPS, input=items, reasoning={"context": "current_turn"})["messages"]

    assert [message.get("reasoning_content") for message in written] == [None, None, None, "new", None]


def test_thinking_of_all_turns_goes_back_by_default() -> None:
    written = messages(USER, thinks("old"), says("Hello"), NEXT, dialect=KEEPS)

    assert written[1]["reasoning_content"] == "old"


def test_a_token_of_ours_is_opened() -> None:
    written = payload(KEEPS, unseal=opened, input=[USER, sealed("ours"), says("Hello"), NEXT])["messages"]

    assert written[1]["reasoning_content"] == "sealed thought"


def test_a_signature_goes_back_on_its_call_whatever_the_dialect() -> None:
    items = [USER, sealed("signed"), call("call_1"), call("call_2"), output("call_1"), output("call_2")]

    first, second = payload(unseal=opened, input=items)["messages"][1]["tool_calls"]

    assert first["extra_content"] == {"google": {"sig": "S"}}
    assert "extra_content" not in second


def test_opaque_data_goes_back_whatever_the_dialect() -> None:
    written = payload(unseal=opened, input=[USER, sealed("details"), says("Hello"), NEXT])["messages"]

    assert written[1]["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "D"}]


def test_opaque_data_of_one_turn_is_put_together() -> None:
    items = [USER, sealed("details"), says("Hello"), sealed("more"), NEXT]

    details = payload("openrouter", unseal=opened, input=items)["messages"][1]["reasoning_details"]

    assert [detail["data"] for detail in details] == ["D", "E"]


def test_opaque_data_goes_back_where_thinking_does_not() -> None:
    items = [USER, sealed("details"), says("Hello"), NEXT]

    written = payload(KEEPS, unseal=opened, input=items, reasoning={"context": "current_turn"})["messages"][1]

    assert "reasoning_content" not in written
    assert "reasoning_details" in written


def test_a_foreign_token_is_left_out_and_named() -> None:
    call_made = translate(KEEPS, input=[USER, sealed("gAAAA"), says("Hello"), NEXT])

    assert call_made.left_out == ["reasoning.encrypted_content"]
    assert call_made.payload["messages"][1] == {"role": "assistant", "content": "Hello"}


def test_what_a_foreign_token_stands_beside_still_counts() -> None:
    item = sealed("gAAAA", content=[{"type": "reasoning_text", "text": "shown"}])

    assert messages(USER, item, says("Hello"), NEXT, dialect=KEEPS)[1]["reasoning_content"] == "shown"


def test_a_foreign_token_is_refused_where_nothing_may_be_lost() -> None:
    error = refused(input=[USER, sealed("gAAAA"), says("Hello"), NEXT])

    assert (error.status, error.code) == (400, "invalid_encrypted_content")
    assert error.param == "input[1].encrypted_content"


def test_a_foreign_token_is_left_out_in_silence_where_all_is_ignored() -> None:
    assert translate(policy="ignore", input=[USER, sealed("gAAAA"), says("Hello"), NEXT]).left_out == []
