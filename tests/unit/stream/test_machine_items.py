"""What becomes of the statements of chunks: items, parts and events, in order."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from replay import call, chunk, events_of, names_of, output_of, response_of, stop, stream_of, text, texts

from responses_middleware.translate.tool_names import ToolBinding, ToolNames

USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def think(words: str) -> dict[str, Any]:
    return chunk({"reasoning_content": words})


# -- the frame of a stream
def test_a_text_answer_has_the_events_of_openai() -> None:
    assert kinds(events_of(text("Hi"), text(" you"), stop(), USAGE)) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]


def test_nothing_opens_before_there_is_something_to_say() -> None:
    stream = stream_of()
    stream.start()

    assert stream.feed(chunk({"role": "assistant", "content": ""})) == []
    assert stream.response["output"] == []


def test_each_piece_of_text_is_told_at_once() -> None:
    stream = stream_of()
    stream.start()
    stream.feed(text("a"))

    assert [event["delta"] for event in stream.feed(text("b"))] == ["b"]


def test_a_call_alone_has_no_message() -> None:
    assert [item["type"] for item in output_of(call(0, "call_a", "f", "{}"), stop())] == ["function_call"]


def test_an_empty_answer_is_a_message_with_an_empty_text() -> None:
    assert texts(output_of(stop())) == [("message", "")]


def test_items_come_in_the_order_of_their_first_words() -> None:
    chunks = [think("hm"), text("a"), call(0, "call_a", "f", "{}"), text("b"), think("hm again"), text("c"), stop()]

    assert texts(output_of(*chunks)) == [
        ("reasoning", "hm"),
        ("message", "a"),
        ("message", "b"),
        ("reasoning", "hm again"),
        ("message", "c"),
        ("function_call", ""),
    ] or [item["type"] for item in output_of(*chunks)] == [
        *["reasoning", "message", "function_call", "message", "reasoning", "message"]
    ]


def test_thinking_that_comes_back_is_a_new_item() -> None:
    assert texts(output_of(think("a"), text("b"), think("c"), text("d"), stop())) == [
        ("reasoning", "a"),
        ("message", "b"),
        ("reasoning", "c"),
        ("message", "d"),
    ]


def test_what_comes_behind_an_incomplete_call_waits_for_it() -> None:
    stream = stream_of()
    stream.start()
    stream.feed(call(0, "call_a", "f", '{"a":'))

    waiting = stream.feed(text("later")) + stream.feed(think("hm"))
    told = kinds(stream.feed(call(0, arguments="1}")))

    assert waiting == []
    assert told[:3] == ["function_call_arguments.delta", "function_call_arguments.done", "output_item.done"]
    assert "output_text.delta" in told
    assert "reasoning_summary_text.delta" in told


def test_what_waits_for_a_call_without_arguments_is_told_at_the_end() -> None:
    output = output_of(call(0, "call_a", "f"), text("later"), stop())

    assert [(item["type"], item["status"]) for item in output] == [
        ("function_call", "completed"),
        ("message", "completed"),
    ]


def test_waiting_text_keeps_its_pieces() -> None:
    events = events_of(call(0, "call_a", "f", "{"), text("a"), text("b"), call(0, arguments="}"), stop())

    assert [event["delta"] for event in events if event["type"] == "response.output_text.delta"] == ["a", "b"]


# -- parts
def test_a_refusal_is_a_part_of_its_own() -> None:
    assert output_of(chunk({"content": "", "refusal": "No"}), stop())[0]["content"] == [
        {"type": "refusal", "refusal": "No"}
    ]


def test_text_and_refusal_are_parts_of_one_message() -> None:
    content = output_of(text("a"), chunk({"refusal": "No"}), chunk({"refusal": "!"}), text("b"), stop())[0]["content"]

    assert [part.get("text", part.get("refusal")) for part in content] == ["a", "No!", "b"]


# -- thinking
def test_thinking_is_told_as_a_summary_and_kept_in_both_members() -> None:
    events = events_of(think("hm"), stop())
    item = events[-1]["response"]["output"][0]

    assert "reasoning_summary_text.delta" in kinds(events)
    assert (item["summary"], item["content"]) == (
        [{"type": "summary_text", "text": "hm"}],
        [{"type": "reasoning_text", "text": "hm"}],
    )


def test_thinking_may_be_told_as_text() -> None:
    events = events_of(think("hm"), stop(), reasoning="text")
    item = events[-1]["response"]["output"][0]

    assert "reasoning_text.delta" in kinds(events)
    assert (item["summary"], item["content"]) == ([], [{"type": "reasoning_text", "text": "hm"}])


def test_thinking_may_be_left_out() -> None:
    assert texts(output_of(think("hm"), text("a"), stop(), reasoning="none")) == [("message", "a")]


def test_thinking_that_is_left_out_is_sealed() -> None:
    output = output_of(think("hm"), text("a"), think("m"), stop(), reasoning="none", seal=json.dumps)

    assert texts(output) == [("message", "a"), ("reasoning", "")]
    assert json.loads(output[1]["encrypted_content"]) == {"text": "hmm", "opaque": {}}


def test_think_tags_are_taken_out() -> None:
    chunks = [text(piece) for piece in "<think>hm</think>\n\nYes"]

    assert texts(output_of(*chunks, stop(), think_tags="extract")) == [("reasoning", "hm"), ("message", "Yes")]


def test_without_the_option_tags_are_text() -> None:
    assert texts(output_of(text("<think>hm</think>Yes"), stop())) == [("message", "<think>hm</think>Yes")]


@pytest.mark.parametrize("think_tags", ["extract", "extract_implicit_open"])
def test_text_that_might_be_thinking_comes_before_the_call_behind_it(think_tags: str) -> None:
    chunks = [text("<thi"), call(0, "call_a", "f", "{}"), stop()]

    assert [item["type"] for item in output_of(*chunks, think_tags=think_tags)] == ["message", "function_call"]


def test_thinking_goes_on_behind_a_call() -> None:
    chunks = [text("<think>a"), call(0, "call_a", "f", "{}"), text("b</think>Yes"), stop()]

    output = output_of(*chunks, think_tags="extract")

    assert texts(output) == [("reasoning", "a"), ("function_call", ""), ("reasoning", "b"), ("message", "Yes")]


# -- calls under other item types
def test_a_freeform_tools_input_is_decoded() -> None:
    chunks = [call(0, "call_a", "patch", '{"input":"a\\'), call(0, arguments='nb"}'), stop()]

    events = events_of(*chunks, names=names_of(patch="custom"))

    assert [event["delta"] for event in events if "delta" in event] == ["a", "\nb"]
    item = events[-1]["response"]["output"][0]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "patch", "a\nb")


@pytest.mark.parametrize("pieces", [["ls -l"], ["f() { x }\n", "g() }"], ["[1]", "\n[2]"], ["}", "{"]])
def test_a_freeform_tools_input_may_be_raw(pieces: list[str]) -> None:
    chunks = [call(0, "call_a", "run", pieces[0]), *(call(0, arguments=piece) for piece in pieces[1:])]

    item = output_of(*chunks, stop(), names=names_of(run="custom"))[0]

    assert item["input"] == "".join(pieces)


def test_a_client_tools_call_is_told_when_it_is_whole() -> None:
    chunks = [call(0, "call_a", "sh", '{"command":'), call(0, arguments='["ls"]}'), text("a"), stop()]

    events = events_of(*chunks, names=names_of(sh="local_shell"))

    added, done = (event["item"] for event in events if event.get("item", {}).get("type") == "local_shell_call")
    assert added["action"]["command"] == done["action"]["command"] == ["ls"]
    assert done["call_id"] == "call_a"


def test_a_client_tools_call_with_other_arguments_is_a_plain_one() -> None:
    item = output_of(call(0, "call_a", "sh", '{"x":1}'), stop(), names=names_of(sh="local_shell"))[0]

    assert (item["type"], item["name"], item["arguments"]) == ("function_call", "sh", '{"x":1}')


@pytest.mark.parametrize(
    "kind", ["function", "custom", "local_shell", "shell", "apply_patch", "computer", "tool_search"]
)
@pytest.mark.parametrize(
    "arguments", ['{"a":' + "[" * 50_000, '{"timeout_ms":1e999,"command":["ls"]}', '{"a":"\\ud83d"}', "5", '"x"']
)
def test_odd_arguments_make_a_legal_call(kind: str, arguments: str) -> None:
    events_of(call(0, "call_a", "f", arguments), stop("length"), names=names_of(f=kind))


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_call_of_a_tool_in_a_namespace_says_so(kind: Literal["function", "custom"]) -> None:
    names = ToolNames()
    chat_name = names.name(ToolBinding(kind, "f", "files"))

    item = output_of(call(0, "call_a", chat_name, "{}"), stop(), names=names)[0]

    assert (item["name"], item["namespace"]) == ("f", "files")


def test_arguments_as_an_object_nested_too_deeply_fail_the_response() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    stream = stream_of()
    stream.start()

    events = stream.feed(call(0, "call_a", "f", {"a": deep}))

    assert "nested too deeply" in events[-1]["response"]["error"]["message"]


# -- characters
def test_a_character_in_two_chunks_comes_out_whole() -> None:
    events = events_of(text("a\ud83d"), text("\ude00b"), stop())

    assert [event["delta"] for event in events if "delta" in event] == ["a", "😀b"]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["a\ud83d"], "a\ufffd"),
        (["a\ud83d", "b"], "a\ufffdb"),
        (["\ude00b"], "\ufffdb"),
        (["\ud83d", "\ud83d", "\ude00"], "\ufffd😀"),
        (["\ud83d"], "\ufffd"),
    ],
)
@pytest.mark.parametrize("member", ["content", "reasoning_content", "refusal"])
def test_half_a_character_comes_out_as_a_replacement(member: str, pieces: list[str], expected: str) -> None:
    item = output_of(*[chunk({member: piece}) for piece in pieces], stop())[0]

    assert item["content"][0].get("text", item["content"][0].get("refusal")) == expected


def test_half_a_character_in_arguments_comes_out_as_a_replacement() -> None:
    item = output_of(call(0, "call_a", "f", '{"a":"\ud83d'), call(0, arguments='"}'), stop())[0]

    assert item["arguments"] == '{"a":"\ufffd"}'


# -- obfuscation
@pytest.mark.parametrize("words", ["a", "x" * 15, "x" * 16, "x" * 17])
def test_padding_makes_deltas_a_multiple_of_16_characters(words: str) -> None:
    events = events_of(text(words), think(words), call(0, "call_a", "f", words), stop(), obfuscate=True)

    lengths = [len(event["delta"]) + len(event["obfuscation"]) for event in events if "delta" in event]
    assert len(lengths) == 3
    assert all(length % 16 == 0 for length in lengths)


def test_padding_is_left_out_unless_asked_for() -> None:
    assert not any("obfuscation" in event for event in events_of(text("a"), stop()))


# -- opaque data
def test_opaque_data_goes_into_the_token_of_the_thinking() -> None:
    details = (
        [{"type": "reasoning.text", "index": 0, "text": "h"}],
        [{"type": "reasoning.text", "index": 0, "text": "m", "signature": "s"}],
    )
    chunks = [chunk({"reasoning": text, "reasoning_details": each}) for text, each in zip("hm", details, strict=True)]

    item = output_of(*chunks, text("a"), stop(), seal=json.dumps)[0]

    assert json.loads(item["encrypted_content"]) == {
        "text": "hm",
        "opaque": {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "hm", "signature": "s"}]},
    }


def test_opaque_data_without_thinking_gets_an_item_before_the_call() -> None:
    output = output_of(chunk({"reasoning_opaque": "x"}), call(0, "call_a", "f", "{}"), stop(), seal=json.dumps)

    assert [item["type"] for item in output] == ["reasoning", "function_call"]
    assert json.loads(output[0]["encrypted_content"]) == {"text": "", "opaque": {"reasoning_opaque": "x"}}


def test_a_calls_signature_is_kept_under_its_id() -> None:
    signed = {"id": "call_a", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"google": {"s": 1}}}

    output = output_of(chunk({"tool_calls": [signed]}), stop(), seal=json.dumps)

    sealed = next(json.loads(item["encrypted_content"]) for item in output if item["type"] == "reasoning")
    assert sealed["opaque"] == {"calls": {"call_a": {"extra_content": {"google": {"s": 1}}}}}


def test_a_signature_behind_the_arguments_is_kept_too() -> None:
    chunks = [call(0, "call_a", "f", '{"a":1}'), chunk({"tool_calls": [{"extra_content": {"s": 1}}]})]

    output = output_of(*chunks, stop(), seal=json.dumps)

    assert json.loads(output[-1]["encrypted_content"])["opaque"] == {"calls": {"call_a": {"extra_content": {"s": 1}}}}


def test_without_a_seal_opaque_data_is_dropped() -> None:
    assert [item["type"] for item in output_of(chunk({"content": "a", "reasoning_opaque": "x"}), stop())] == ["message"]


# -- the snapshot
def test_the_service_tier_is_the_upstreams() -> None:
    assert response_of(text("a"), {"service_tier": "flex"}, stop())["service_tier"] == "flex"
    assert response_of(text("a"), {"service_tier": "on_demand"}, stop())["service_tier"] == "default"


def test_the_last_usage_counts() -> None:
    early = {"choices": [{"delta": {"content": "a"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}

    assert response_of(early, stop(), USAGE, {"choices": [], "usage": None})["usage"]["output_tokens"] == 5


def test_the_snapshot_holds_finished_items_only() -> None:
    stream = stream_of()
    stream.feed(think("hm"))
    stream.feed(text("a"))

    assert texts(stream.response["output"]) == [("reasoning", "hm")]
    assert stream.response["status"] == "in_progress"
