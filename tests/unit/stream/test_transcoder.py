"""From the bytes of a chat server to the bytes of a Responses stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
import replay
from replay import chunk, cut, sse, stop, stream_of, text, transcoder_of
from sse_events import events_in

from responses_middleware.errors import UpstreamConnectionError, UpstreamError, UpstreamProtocolError

ERROR = {"error": {"message": "No", "code": 429}}
ANSWER = sse(text("a"), text("b"), stop())


def kinds(out: bytes) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events_in(out)]


# -- before the first event
@pytest.mark.parametrize(
    "body", [sse(ERROR), sse(ERROR, text("a")), json.dumps(ERROR).encode(), json.dumps([ERROR]).encode() + b"\n"]
)
def test_an_error_in_front_is_raised_with_its_status(body: bytes) -> None:
    transcoder = transcoder_of(stream_of())

    with pytest.raises(UpstreamError, match="No") as raised:
        transcoder.feed(body) + transcoder.finish()

    assert raised.value.status == 429
    assert not transcoder.begun


@pytest.mark.parametrize("body", [b"data: not JSON\n\n", b"{}", b"[]", b'{"result": 1}\n', b'{"choices": ['])
def test_what_is_no_answer_is_raised(body: bytes) -> None:
    transcoder = transcoder_of(stream_of())

    with pytest.raises(UpstreamProtocolError):
        transcoder.feed(body) + transcoder.finish()


def test_a_broken_connection_in_front_is_raised() -> None:
    error = UpstreamConnectionError("gone")

    with pytest.raises(UpstreamConnectionError):
        transcoder_of(stream_of()).finish(error)


def test_a_quiet_stream_may_begin_early() -> None:
    transcoder = transcoder_of(stream_of())

    assert kinds(transcoder.begin()) == ["created", "in_progress"]
    assert transcoder.begin() == b""
    assert kinds(transcoder.feed(sse(text("a"), done=False)))[0] == "output_item.added"


@pytest.mark.parametrize("body", [sse(ERROR), b"data: not JSON\n\n", b"[]"])
def test_an_error_behind_the_beginning_fails_the_response(body: bytes) -> None:
    transcoder = transcoder_of(stream_of())
    transcoder.begin()

    out = transcoder.feed(body) + transcoder.finish() + transcoder.last_frames()

    assert kinds(out) == ["error", "failed"]


IN_BAND = {
    "in a choice": sse({"choices": [{"index": 0, "delta": {"content": ""}, "error": {"message": "No"}}]}),
    "without success": sse({"success": False, "message": "No"}),
    "as error_code": sse({"error_code": 18, "error_msg": "No"}),
    "by name": b'event: error\ndata: {"code": "x", "message": "No", "usage": {}}\n\ndata: [DONE]\n\n',
    "by name, words alone": b'event: error\ndata: "No"\n\ndata: [DONE]\n\n',
}


@pytest.mark.parametrize("body", IN_BAND.values(), ids=IN_BAND)
def test_an_error_behind_some_text_fails_the_response_and_keeps_it(body: bytes) -> None:
    events = replay.transcoded([sse(text("a"), text("b"), done=False) + body])

    assert [event["type"] for event in events[-2:]] == ["error", "response.failed"]
    assert events[-1]["response"]["error"]["message"] == "No"
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "ab"


@pytest.mark.parametrize("body", IN_BAND.values(), ids=IN_BAND)
def test_an_error_in_front_is_raised_in_every_shape(body: bytes) -> None:
    with pytest.raises(UpstreamError, match=r"\ANo\Z"):
        replay.transcoded([body])


# -- the end
def test_the_terminal_event_is_written_apart() -> None:
    transcoder = transcoder_of(stream_of())

    out = transcoder.feed(ANSWER)

    assert transcoder.ended
    assert kinds(out)[-1] == "output_item.done"
    assert kinds(transcoder.last_frames()) == ["completed"]


def test_what_was_changed_in_the_terminal_event_is_written() -> None:
    transcoder = transcoder_of(stream_of())
    transcoder.feed(ANSWER)
    assert transcoder.terminal is not None
    transcoder.terminal["response"]["store"] = False

    assert events_in(transcoder.last_frames())[0]["response"]["store"] is False


def test_an_end_mark_of_ours_is_an_option() -> None:
    transcoder = transcoder_of(stream_of(), done_sentinel=True)
    transcoder.feed(ANSWER)

    assert transcoder.last_frames().endswith(b"}\n\ndata: [DONE]\n\n")


@pytest.mark.parametrize("late", [sse(text("late")), sse(ERROR), b"garbage", ANSWER])
def test_nothing_counts_behind_the_servers_end_mark(late: bytes) -> None:
    transcoder = transcoder_of(stream_of())

    out = transcoder.feed(ANSWER + late) + transcoder.feed(late) + transcoder.finish()

    assert "late" not in out.decode()
    assert kinds(transcoder.last_frames()) == ["completed"]


@pytest.mark.parametrize("mark", [b"data: [DONE]\n\n", b"data:[DONE]\n\n", b"data: [DONE] \n\n", b"data: [DONE]"])
def test_the_end_mark_comes_in_any_form(mark: bytes) -> None:
    events = replay.transcoded([sse(text("a"), done=False) + mark])

    assert events[-1]["type"] == "response.completed"


@pytest.mark.parametrize("rest", [b"data: {", b'data: {"choices":[{"delta":{"content":"b', b"data: [DON"])
def test_a_cut_frame_fails_the_response(rest: bytes) -> None:
    events = replay.transcoded([sse(text("a"), done=False) + rest])

    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "a"


# -- between
def test_comments_are_no_progress() -> None:
    transcoder = transcoder_of(stream_of())

    transcoder.feed(b": ping\n\ndata: : ping\n\n" + sse(text("a"), done=False))

    assert transcoder.frames_read == 1


def test_comments_sent_as_data_say_nothing() -> None:
    events = replay.transcoded([b"data: : OPENROUTER PROCESSING\n\n" + ANSWER])

    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "ab"


@pytest.mark.parametrize(
    ("limits", "body"),
    [({"max_frame": 20}, ANSWER), ({"max_document": 20}, json.dumps({"choices": [] * 9, "x": "y" * 20}).encode())],
)
def test_what_is_too_large_is_refused(limits: dict[str, int], body: bytes) -> None:
    with pytest.raises(UpstreamProtocolError, match="20 bytes"):
        replay.transcoded([body], limits=limits)


def test_a_frame_that_is_too_large_later_fails_the_response() -> None:
    events = replay.transcoded([sse(text("a"), text("x" * 1000))], limits={"max_frame": 500})

    assert events[-1]["type"] == "response.failed"
    assert "500 bytes" in events[-1]["response"]["error"]["message"]


def test_the_observer_sees_every_event_once() -> None:
    seen: list[dict[str, Any]] = []

    events = replay.transcoded(cut(ANSWER, 50), limits={"observe": seen.append})

    assert seen == events


def test_a_silent_transcoder_writes_nothing_and_knows_the_response() -> None:
    assert replay.folded(ANSWER)["output"][0]["content"][0]["text"] == "ab"


WHOLE = {"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("document", [WHOLE, chunk({"content": "a"}, finish="stop")])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_one_document_is_a_whole_answer(document: Any, end: str) -> None:
    events = replay.transcoded([json.dumps(document).encode() + end.encode()])

    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "a"


@pytest.mark.parametrize("end", ["", "\n"])
def test_one_chunk_without_a_finish_reason_is_an_answer_that_was_cut(end: str) -> None:
    events = replay.transcoded([json.dumps(text("a")).encode() + end.encode()])

    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "a"


# -- the fast path
def test_reads_that_only_add_text_are_copied() -> None:
    transcoder = transcoder_of(stream_of())
    for words in ("a", "b"):
        transcoder.feed(sse(text(words), done=False))

    copied = transcoder.copy(sse(text('"é\n'), done=False))

    assert copied is not None
    assert events_in(copied)[0]["delta"] == '"é\n'


@pytest.mark.parametrize(
    "data",
    [
        sse(text(""), done=False),
        sse(stop(), done=False),
        sse(text("c"), text("d"), done=False),
        sse(text("c"), done=False)[:-1],
        b": ping\n\n",
        sse(text("\ud83d"), done=False),
        sse(text("é"), done=False).replace("é".encode(), b"\xc3"),
        b"",
    ],
)
def test_any_other_read_is_not_copied(data: bytes) -> None:
    transcoder = transcoder_of(stream_of())
    for words in ("a", "b"):
        transcoder.feed(sse(text(words), done=False))

    assert transcoder.copy(data) is None


def counting(words: str, count: str) -> bytes:
    frame = json.dumps(text(words, usage={"prompt_tokens": 3, "completion_tokens": 777}))
    return b"data: %b\n\n" % frame.replace("777", count).encode()


def scored(token: str, number: float = -0.5, **more: Any) -> dict[str, Any]:
    """A chunk as OpenAI sends it when logprobs are asked for."""
    entry = {"token": token, "logprob": number, "bytes": [*token.encode("utf-8", "replace")]}
    logprobs = {"content": [{**entry, "top_logprobs": [entry]}], "refusal": None}
    return {"choices": [{"index": 0, "delta": {"content": token}, "logprobs": logprobs, "finish_reason": None}], **more}


def test_logprobs_are_copied_with_their_text() -> None:
    transcoder = transcoder_of(stream_of(logprobs=True))
    for words in ("a", "b"):
        transcoder.feed(sse(scored(words), done=False))

    copied = transcoder.copy(sse(scored("c", -1e-05), done=False))

    assert copied is not None
    assert events_in(copied)[0]["logprobs"] == scored("c", -1e-05)["choices"][0]["logprobs"]["content"]


@pytest.mark.parametrize(
    "odd",
    [
        sse(scored("\ud83d"), done=False),
        sse(scored("é"), done=False).replace(b'"token": "\xc3\xa9"', b'"token": "\xc3"'),
        sse(scored("c", -9999), done=False),
        sse(scored("c", 12345.5), done=False),
        sse(scored("c"), done=False).replace(b"[99]", b"[999]"),
        sse(scored("c"), done=False).replace(b"[99]", b"null"),
        sse(scored("c"), done=False).replace(b'"top_logprobs"', b'"id": 5, "top_logprobs"'),
        sse(text("c"), done=False),
    ],
)
@pytest.mark.parametrize("wanted", [True, False])
def test_logprobs_of_any_form_are_read_as_without_the_fast_path(odd: bytes, wanted: bool) -> None:
    run = [*(sse(scored(token), done=False) for token in ("a", "b", "cd")), odd, sse(scored("e"), stop())]

    fast, slow = (replay.transcoded(run, fast=fast, logprobs=wanted) for fast in (True, False))

    assert fast == slow
    assert fast[-1]["type"] == "response.completed"


@pytest.mark.parametrize("count", ["03", "-1", "1e3", "4.5", "9" * 18, "9" * 19, "9" * 5000])
@pytest.mark.parametrize("pieces", [1, 4])
def test_counts_of_any_form_are_read_as_without_the_fast_path(count: str, pieces: int) -> None:
    run = [counting("a", "1"), counting("b", "2"), counting("c", count), counting("d", "4")]
    body = run if pieces == 4 else [b"".join(run)]

    fast, slow = (replay.transcoded([*body, sse(stop())], fast=fast) for fast in (True, False))

    assert fast == slow
    assert fast[-1]["type"] in ("response.completed", "response.failed")
    assert fast[-1]["response"]["output"][0]["content"][0]["text"].startswith("ab")


def test_a_number_that_json_does_not_know_fails_the_response_with_the_text_so_far() -> None:
    run = b"".join([counting("a", "1"), counting("b", "2"), counting("c", "03")])

    response = replay.transcoded([run, sse(stop())])[-1]["response"]

    assert (response["status"], response["output"][0]["content"][0]["text"]) == ("failed", "ab")
