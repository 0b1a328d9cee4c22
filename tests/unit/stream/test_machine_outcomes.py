"""How a response ends: completed, incomplete or failed, and what it keeps."""

from __future__ import annotations

from typing import Any

import pytest
from replay import NOW, call, chunk, events_of, names_of, output_of, response_of, stop, stream_of, text

from responses_middleware.errors import UpstreamConnectionError, UpstreamError, UpstreamTimeoutError

ERROR = {"error": {"message": "No", "type": "overloaded", "code": "bad", "param": None}}


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def statuses(output: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(item["type"], item.get("status")) for item in output]


# -- completed
@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("reason", ["stop", "tool_calls", "eos"])
def test_a_finish_reason_completes(reason: str, done: bool) -> None:
    response = response_of(text("a"), stop(reason), done=done)

    assert (response["status"], response["completed_at"], response["error"]) == ("completed", NOW + 1, None)


def test_a_finish_reason_with_content_completes() -> None:
    assert response_of(chunk({"content": "a"}, finish="stop"), done=False)["status"] == "completed"


def test_usage_behind_the_finish_reason_counts() -> None:
    response = response_of(text("a"), stop(), {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}})

    assert response["usage"]["total_tokens"] == 3


def test_usage_that_nobody_counted_is_zeros() -> None:
    assert response_of(text("a"), stop())["usage"]["total_tokens"] == 0


def test_done_without_a_finish_reason_completes() -> None:
    assert response_of(text("a"), done=True)["status"] == "completed"


def test_calls_complete_whatever_the_finish_reason_says() -> None:
    assert statuses(output_of(call(0, "call_a", "f", "{}"), stop("stop"))) == [("function_call", "completed")]


def test_text_behind_the_finish_reason_still_counts() -> None:
    assert output_of(text("a"), stop(), text("b"))[0]["content"][0]["text"] == "ab"


# -- incomplete
@pytest.mark.parametrize(("reason", "why"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_a_limit_or_filter_makes_it_incomplete(reason: str, why: str) -> None:
    events = events_of(chunk({"reasoning_content": "hm"}), text("a"), stop(reason))
    response = events[-1]["response"]

    assert (events[-1]["type"], response["incomplete_details"]) == ("response.incomplete", {"reason": why})
    assert statuses(response["output"]) == [("reasoning", None), ("message", "incomplete")]


def test_an_incomplete_item_is_done_before_the_end() -> None:
    events = events_of(text("a"), stop("length"))

    assert kinds(events)[-2:] == ["response.output_item.done", "response.incomplete"]
    assert events[-2]["item"]["status"] == "incomplete"


def test_thinking_that_was_cut_is_incomplete() -> None:
    assert statuses(output_of(chunk({"reasoning_content": "hm"}), stop("length"))) == [("reasoning", "incomplete")]


def test_a_cut_call_is_incomplete_and_keeps_its_arguments() -> None:
    output = output_of(call(0, "call_a", "f", '{"a":'), stop("length"))

    assert [(item["status"], item["arguments"]) for item in output] == [("incomplete", '{"a":')]


@pytest.mark.parametrize("arguments", [None, '{"a":', '{"a": "b', '{"a": 1', "{"])
def test_a_call_that_done_cuts_without_a_finish_reason_is_not_completed(arguments: str) -> None:
    response = response_of(call(0, "call_a", "f", arguments), done=True)

    assert response["status"] == "failed"
    assert statuses(response["output"]) == [("function_call", "incomplete")]


def test_a_whole_call_before_a_done_without_a_finish_reason_is_completed() -> None:
    response = response_of(call(0, "call_a", "f", '{"a": 1}'), done=True)

    assert (response["status"], statuses(response["output"])) == ("completed", [("function_call", "completed")])


@pytest.mark.parametrize("second", ["stop", "tool_calls", "end_turn"])
@pytest.mark.parametrize(("first", "why"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_a_second_finish_reason_takes_back_no_cut(first: str, why: str, second: str) -> None:
    response = response_of(text("a"), stop(first), stop(second))

    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": why})


def test_a_cut_behind_a_regular_finish_reason_counts() -> None:
    assert response_of(text("a"), stop(), stop("length"))["status"] == "incomplete"


def test_done_alone_is_no_answer() -> None:
    response = response_of(done=True)

    assert (response["status"], response["output"]) == ("failed", [])


def test_of_two_open_calls_the_cut_one_is_incomplete() -> None:
    chunks = [call(0, "call_a", "f", '{"a":'), call(1, "call_b", "f", '{"b":1}'), stop("length")]

    assert [item["status"] for item in output_of(*chunks)] == ["incomplete", "incomplete"]


def test_a_call_without_arguments_in_front_of_a_cut_one_is_complete() -> None:
    chunks = [call(0, "call_a", "f", "{}"), call(1, "call_b", "f", '{"b":'), stop("length")]

    assert [item["status"] for item in output_of(*chunks)] == ["completed", "incomplete"]


def test_a_cut_call_without_a_name_is_left_out_of_an_incomplete_response() -> None:
    events = events_of(text("a"), call(0, "call_a", None, '{"a":'), stop("length"))

    assert events[-1]["type"] == "response.incomplete"
    assert [item["type"] for item in events[-1]["response"]["output"]] == ["message"]


def test_a_limit_before_the_first_word_leaves_no_item() -> None:
    assert output_of(stop("length")) == []


@pytest.mark.parametrize("arguments", ["{}", {}])
def test_empty_arguments_that_came_are_kept(arguments: Any) -> None:
    assert output_of(call(0, "call_a", "f", arguments), stop("length"))[0]["arguments"] == "{}"


def test_arguments_that_never_came_stay_empty_in_an_incomplete_response() -> None:
    assert output_of(call(0, "call_a", "f", ""), stop("length"))[0]["arguments"] == ""


# -- failed
def failed(*chunks: Any, **options: Any) -> dict[str, Any]:
    """The response, after the nested error event and nothing between."""
    events = events_of(*chunks, **options)
    assert kinds(events)[-2:] == ["error", "response.failed"]
    response: dict[str, Any] = events[-1]["response"]
    return response


def test_an_end_without_finish_reason_and_done_fails() -> None:
    assert failed(text("a"), done=False)["error"]["code"] == "server_error"


def test_an_end_before_anything_fails() -> None:
    assert failed(done=False)["output"] == []


def test_done_without_a_finish_reason_fails_where_one_is_always_sent() -> None:
    assert "finish reason" in failed(text("a"), done=True, expects_finish=True)["error"]["message"]


def test_a_finish_reason_is_enough_where_one_is_always_sent() -> None:
    assert response_of(text("a"), stop(), done=False, expects_finish=True)["status"] == "completed"


@pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource", "abort"])
def test_a_finish_reason_that_is_an_accident_fails(reason: str) -> None:
    assert reason in failed(text("a"), stop(reason))["error"]["message"]


def test_an_error_in_a_frame_fails_with_its_words() -> None:
    events = events_of(text("a"), ERROR)

    assert events[-2]["error"] == {"type": "overloaded", "code": "bad", "message": "No", "param": None}
    assert events[-1]["response"]["error"] == {"code": "server_error", "message": "No"}


def test_text_beside_an_error_is_kept() -> None:
    response = failed(text("a"), {**text("b"), **ERROR})

    assert response["output"][0]["content"][0]["text"] == "ab"


def test_nothing_comes_behind_an_error() -> None:
    stream = stream_of()
    stream.start()
    stream.feed(ERROR)

    assert stream.feed(text("a")) == stream.finish(done=True) == []
    assert stream.ended


@pytest.mark.parametrize("frame", ["text", 5, [1], True])
def test_a_frame_that_is_no_object_fails(frame: object) -> None:
    assert "no JSON object" in failed(text("a"), frame)["error"]["message"]


@pytest.mark.parametrize(
    "error", [UpstreamConnectionError("gone"), UpstreamTimeoutError("late"), UpstreamError("x", status=429)]
)
def test_what_broke_the_answer_is_told(error: UpstreamError) -> None:
    assert failed(text("a"), stop(), error=error)["error"]["message"] == error.message


def test_the_text_so_far_is_kept_incomplete_and_not_done() -> None:
    events = events_of(text("a"), text("b"), done=False)
    output = events[-1]["response"]["output"]

    assert [(item["status"], item["content"][0]["text"]) for item in output] == [("incomplete", "ab")]
    assert "response.output_item.done" not in kinds(events)


def test_items_that_were_done_stay_so() -> None:
    response = failed(text("a"), call(0, "call_a", "f", "{"), done=False)

    assert statuses(response["output"]) == [("message", "completed"), ("function_call", "incomplete")]


def test_what_waited_behind_a_cut_call_is_kept() -> None:
    response = failed(call(0, "call_a", "f", '{"a":'), text("later"), call(1, "call_b", "f", "{}"), done=False)

    assert statuses(response["output"]) == [
        ("function_call", "incomplete"),
        ("message", "incomplete"),
        ("function_call", "incomplete"),
    ]
    assert response["output"][1]["content"][0]["text"] == "later"


def test_what_a_possible_tag_held_back_is_kept() -> None:
    response = failed(text("<thi"), done=False, think_tags="extract")

    assert response["output"][0]["content"][0]["text"] == "<thi"


def test_a_call_that_was_cut_inside_its_arguments_fails_a_regular_end() -> None:
    response = failed(call(0, "call_a", "f", '{"a":'), stop("tool_calls"))

    assert [(item["status"], item["arguments"]) for item in response["output"]] == [("incomplete", '{"a":')]


def test_a_call_without_a_name_fails_a_regular_end() -> None:
    response = failed(text("a"), call(0, "call_a", None, "{}"), stop())

    assert "without a name" in response["error"]["message"]
    assert [item["type"] for item in response["output"]] == ["message"]


def test_arguments_that_are_no_object_are_passed_on() -> None:
    assert output_of(call(0, "call_a", "f", "5"), stop())[0]["arguments"] == "5"


def test_too_much_output_fails_and_keeps_what_there_was() -> None:
    response = failed(text("12345"), text("678"), text("never"), stop(), max_output=7)

    assert "exceeds Limits.max_output_bytes" in response["error"]["message"]
    assert response["output"][0]["content"][0]["text"] == "12345"


@pytest.mark.parametrize("member", ["content", "reasoning_content", "refusal"])
@pytest.mark.parametrize("reasoning", ["summary", "text"])
def test_too_much_at_once_fails(member: str, reasoning: str) -> None:
    response = failed(chunk({member: "123"}), max_output=2, reasoning=reasoning)

    assert "exceeds Limits.max_output_bytes" in response["error"]["message"]


def test_too_much_that_waits_fails() -> None:
    response = failed(call(0, "call_a", "f", "{"), text("123"), text("456"), text("789"), max_output=215)

    assert response["output"][1]["content"][0]["text"] == "123456"


def test_an_empty_call_at_the_limit_still_completes() -> None:
    assert output_of(text("12345"), call(0, "", "f", ""), stop(), max_output=6)[1]["arguments"] == "{}"


@pytest.mark.parametrize("kind", ["function", "custom", "local_shell"])
@pytest.mark.parametrize("arguments", ['{"other":[1,2,3]}', '{"input":"abc"}', "raw"])
def test_a_call_at_the_limit_still_completes(kind: str, arguments: str) -> None:
    output = output_of(call(0, "", "f", arguments), stop(), names=names_of(f=kind), max_output=len(arguments) + 1)

    assert len(output) == 1


def test_usage_of_a_failed_response_is_null_unless_known() -> None:
    assert failed(text("a"), done=False)["usage"] is None
    assert failed({**text("a"), "usage": {"prompt_tokens": 1}}, done=False)["usage"]["input_tokens"] == 1


def test_a_failed_response_is_not_completed_at_any_time() -> None:
    assert failed(text("a"), done=False)["completed_at"] is None


def test_finishing_twice_says_nothing_more() -> None:
    stream = stream_of()
    stream.start()
    stream.feed(stop())
    stream.finish(done=True)

    assert stream.finish(UpstreamError("late")) == []
    assert stream.failure is None


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk({"content": "123\ud83d"}), chunk({"reasoning_content": "hm"})],
        [chunk({"reasoning_content": "123\ud83d"}), chunk({"content": "a"})],
        [call(0, "", "p", '{"other":1e5}'), chunk({"content": "abc"})],
        [call(0, "", "sh", '{"other":1}'), chunk({"content": "abc"})],
    ],
    ids=["half a character", "half a character of thinking", "undecoded input", "held arguments"],
)
def test_an_item_that_closes_at_the_limit_is_kept(chunks: list[dict[str, Any]]) -> None:
    for limit in range(30):
        names = names_of(p="custom", sh="local_shell")

        output = output_of(*chunks, stop(), names=names, max_output=limit)

        assert len(output) in (1, 2)
