"""Whole messages in chunks: they say what is new, once."""

from __future__ import annotations

import json
from typing import Any

from replay import events_of, output_of, stop, text, texts


def whole(content: str, **members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content, **members}}]}


def test_a_whole_message_is_one_delta() -> None:
    assert texts(output_of(whole("Hi"), stop())) == [("message", "Hi")]


def test_messages_so_far_say_what_is_new() -> None:
    events = events_of(whole("He"), whole("Hello"), whole("Hello"), whole("Hell"), whole("Hello!"), stop())

    assert [event["delta"] for event in events if "delta" in event] == ["He", "llo", "!"]


def test_parts_of_messages_so_far_are_compared_one_by_one() -> None:
    first = {"choices": [{"message": {"content": ["The", "The end"]}}]}
    second = {"choices": [{"message": {"content": ["The", "The end."]}}]}

    assert texts(output_of(first, second, stop())) == [("message", "TheThe end.")]


def test_a_whole_message_behind_deltas_says_only_what_they_did_not() -> None:
    note = {"type": "url_citation", "url": "u", "title": "", "start_index": 0, "end_index": 0}
    closing = whole("Hi", reasoning="hm", annotations=[note])

    output = output_of(text("Hi"), closing, stop())

    assert texts(output) == [("message", "Hi"), ("reasoning", "hm")]


def test_calls_of_a_message_that_comes_again_count_once() -> None:
    calls = [
        {"id": "call_a", "function": {"name": "f", "arguments": '{"a":1}'}},
        {"function": {"name": "f", "arguments": '{"b":1}'}},
    ]

    output = output_of(whole("", tool_calls=calls), whole("", tool_calls=calls), stop())

    assert [item["arguments"] for item in output] == ['{"a":1}', '{"b":1}']


def test_opaque_data_of_a_message_that_comes_again_counts_once() -> None:
    message = whole("a", reasoning_details=[{"data": "x"}], thinking_blocks=[{"signature": "s"}])

    output = output_of(message, message, stop(), seal=json.dumps)

    assert json.loads(output[-1]["encrypted_content"])["opaque"] == {
        "reasoning_details": [{"data": "x"}], "thinking_blocks": [{"signature": "s"}],
    }  # fmt: skip
