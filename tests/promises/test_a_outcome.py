"""A. Truth of the outcome: what the last event says is what happened."""

from __future__ import annotations

import gzip
import json
from typing import Any

import anyio
import pytest
from fronts import bridge_of
from misbehaving import (
    CUT,
    DONE,
    JSON,
    RESET,
    SECRET,
    SSE,
    STALL,
    Answer,
    Step,
    by_model,
    chunk,
    completion,
    ending,
    frame,
    refused,
    says,
    streamed,
    whole,
)

from responses_middleware import UpstreamCall, UpstreamError

pytestmark = pytest.mark.anyio

LIMITS = {"idle_timeout": 0.2}
SAID = says("Hel", "lo")
HALF_JSON = json.dumps(completion("Hello")).encode()[:60]
TEXT = (b"content-type", b"text/html")
GZIP = (b"content-encoding", b"gzip")

BROKEN: dict[str, Answer] = {
    "hangs up": Answer([*SAID, CUT]),
    "resets, or raises": Answer([*SAID, RESET]),
    "raises": Answer([*SAID, RuntimeError(SECRET)]),
    "falls silent": Answer([*SAID, STALL]),
    "ends without a finish reason": Answer([*SAID]),
    "ends in the middle of a frame": Answer([*SAID, frame(chunk({"content": "!"}))[:-20]]),
    "a frame that is not JSON": Answer([*SAID, b'data: {"choices": [\n\n', *ending()]),
    "a frame of another kind": Answer([*SAID, frame([1, 2]), *ending()]),
    "NUL bytes": Answer([*SAID, b"data: \0\0\0\n\n", *ending()]),
    "only thinking, then hangs up": Answer([frame(chunk({"reasoning_content": "Hello"})), CUT]),
    "an error": Answer([*SAID, frame({"error": {"message": "no", "type": "t", "code": "c"}})]),
    "damaged gzip": Answer([gzip.compress(b"".join([*SAID, *ending()]))[:-12] + b"damage" * 2], headers=[SSE, GZIP]),  # type: ignore[list-item]
    "truncated gzip": Answer([gzip.compress(b"".join(SAID))[:-9]], headers=[SSE, GZIP]),  # type: ignore[arg-type]
    "an encoding nobody knows": Answer([b"\x01\x02"], headers=[SSE, (b"content-encoding", b"zzz")]),
}
"""Whatever form the upstream has; those that can be told before the first event are an HTTP status."""

ON_THE_WIRE: dict[str, Answer] = {
    "a chunk that is shorter than its length": Answer(
        [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
         b"%x\r\n%b" % (5000, b"".join(SAID))],  # type: ignore[arg-type]
        framing="raw",
    ),
    "a chunk length that is none": Answer(
        [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
         0.05, b"%x\r\n%b\r\nzz\r\n" % (len(b"".join(SAID)), b"".join(SAID))],  # type: ignore[arg-type]
        framing="raw",
    ),
    "a length that is longer than the body": Answer(
        [*SAID, CUT], headers=[SSE, (b"content-length", b"5000")], framing="length"
    ),
    "no length, and an end that may be a cut": Answer([*SAID], framing="close"),
}  # fmt: skip
NO_ANSWER: dict[str, Answer] = {
    "hangs up before the status": Answer([], before=[CUT]),
    "resets before the status": Answer([], before=[RESET]),
    "silent before the status": Answer([], before=[STALL]),
    "an empty body": Answer([]),
    "HTML": Answer([b"<html><body>Traceback (most recent call last)</body></html>"], headers=[TEXT]),
    "JSON that is no completion": whole({"hello": "world"}),
    "a list": whole([1]),
    "half a JSON document": whole(HALF_JSON),
    "a document that is cut": Answer([HALF_JSON, CUT], headers=[JSON]),
    "raises before the status": Answer([], before=[RuntimeError(SECRET)]),
}  # fmt: skip


def tables(form: str) -> dict[str, Answer]:
    return BROKEN if form == "app" else BROKEN | ON_THE_WIRE


# -- A1
async def test_a1_every_stream_ends_with_one_terminal_event_and_clean_framing(form: str, subtests: Any) -> None:
    table = tables(form)
    async with bridge_of(form, by_model(table), limits=LIMITS) as bridge:
        for name in table:
            with subtests.test(name):
                reply = await bridge.ask(model=name)

                assert reply.clean
                assert reply.outcome == "failed" or reply.status >= 500
                if reply.status == 200:
                    reply.check_stream()
                else:
                    assert reply.error["type"] == "server_error"


async def test_a1_the_terminal_event_of_a_good_stream_is_the_last_thing_too(form: str) -> None:
    async with bridge_of(form, streamed("Hel", "lo")) as bridge:
        reply = await bridge.ask()

    assert reply.events[-1]["type"] == "response.completed"
    assert reply.body.endswith(b"\n\n")
    assert b"[DONE]" not in reply.body


async def test_a1_done_comes_when_it_is_asked_for_after_good_and_bad_ends(form: str) -> None:
    answers = {"good": streamed("Hello"), "bad": Answer([*SAID, CUT])}
    async with bridge_of(form, by_model(answers), done_sentinel=True) as bridge:
        bodies = []
        for name in answers:
            async with bridge.asking(model=name) as caller:
                bodies.append((await caller.rest()).body)

    assert [body.endswith(b"\n\ndata: [DONE]\n\n") for body in bodies] == [True, True]
    assert [body.count(b"[DONE]") for body in bodies] == [1, 1]


# -- A2
async def test_a2_what_broke_is_never_completed(form: str, subtests: Any) -> None:
    table = tables(form) | NO_ANSWER
    async with bridge_of(form, by_model(table), limits=LIMITS) as bridge:
        for stream in (True, False):
            for name, reply in (await bridge.ask_all(table, stream=stream)).items():
                with subtests.test(f"{name}, {stream=}"):
                    assert reply.outcome == "failed" or reply.status >= 500


async def test_a2_a_finish_reason_or_done_is_enough_to_be_complete(form: str, subtests: Any) -> None:
    table = {
        "finish reason alone": Answer([*SAID, *ending(done=False)]),
        "finish reason without usage": Answer([*SAID, frame(chunk(finish="stop"))]),
        "done alone": Answer([*SAID, DONE]),
        "a last frame without its blank line": Answer([*SAID, frame(chunk(finish="stop")).rstrip()]),
    }
    for name, answer in table.items():
        with subtests.test(name):
            async with bridge_of(form, answer) as bridge:
                reply = await bridge.ask()

            assert reply.outcome == "completed"
            assert reply.text == "Hello"


async def test_a2_done_without_a_finish_reason_is_a_failure_where_finish_reasons_are_the_custom(form: str) -> None:
    async with bridge_of(form, streamed("Hello"), Answer([*SAID, DONE])) as bridge:
        outcomes = [(await bridge.ask()).outcome for _ in range(2)]

    assert outcomes == ["completed", "failed"]


# -- A3
IN_BAND: dict[str, Step] = {
    "openai": frame({"error": {"message": "the words", "type": "server_error", "code": "the_code", "param": None}}),
    "text": frame({"error": "the words"}),
    "gemini": frame([{"error": {"code": 503, "message": "the words", "status": "UNAVAILABLE"}}]),
    "vllm": frame({"object": "error", "message": "the words", "type": "BadRequestError", "code": 400}),
    "fastapi": frame({"detail": "the words"}),
    "event: error": b"event: error\n" + frame({"error": {"message": "the words"}}),
    "anthropic": frame({"type": "error", "error": {"type": "overloaded_error", "message": "the words"}}),
    "wrapped": frame({"error": {"error": {"message": "the words", "code": "the_code"}}}),
}


async def test_a3_an_error_behind_some_text_is_failed_with_the_upstreams_words(form: str, subtests: Any) -> None:
    table = {name: Answer([*SAID, error, DONE]) for name, error in IN_BAND.items()}
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            with subtests.test(name):
                reply = await bridge.ask(model=name)

                assert reply.outcome == "failed"
                assert reply.response["error"]["message"] == "the words"
                assert reply.events[-2]["error"]["message"] == "the words"


async def test_a3_an_error_in_the_first_frame_is_an_http_status(form: str, subtests: Any) -> None:
    table = {name: Answer([error, DONE]) for name, error in IN_BAND.items()}
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    assert reply.status >= 400
                    assert reply.error["message"] == "the words"


async def test_a3_an_error_in_a_json_body_of_status_200_is_an_error(form: str, subtests: Any) -> None:
    error = {"message": "the words", "type": "rate_limit_error", "code": "the_code", "param": None}
    async with bridge_of(form, whole({"error": error})) as bridge:
        for stream in (True, False):
            with subtests.test(f"{stream=}"):
                reply = await bridge.ask(stream=stream)

                assert reply.status >= 400
                assert (reply.error["message"], reply.error["code"]) == ("the words", "the_code")


# -- A4
async def test_a4_text_before_the_accident_is_streamed_and_stands_in_an_incomplete_item(
    form: str, subtests: Any
) -> None:
    table = {
        name: answer
        for name, answer in tables(form).items()
        if not (dict(answer.headers).get(b"content-encoding") or "thinking" in name)
    }
    async with bridge_of(form, by_model(table), limits=LIMITS) as bridge:
        for name in table:
            with subtests.test(name):
                reply = await bridge.ask(model=name)

                assert reply.deltas == "Hello"
                assert reply.text == "Hello"
                assert [item["status"] for item in reply.response["output"]] == ["incomplete"]


class SlowSink:
    """Takes an answer as a client takes it that is slower than its upstream."""

    finished = False

    def __init__(self) -> None:
        self.data = b""

    async def start(self, status: int, headers: Any) -> None: ...
    async def end(self) -> None: ...

    async def body(self, data: bytes) -> None:
        self.data += data
        await anyio.sleep(0.05)


@pytest.mark.parametrize(("form", "anyio_backend"), [("httpx", "asyncio"), ("httpx", "trio"), ("aiohttp", "asyncio")])
async def test_a4_what_came_before_the_accident_is_not_lost_behind_a_slow_client(form: str, anyio_backend: str) -> None:
    said = b"".join(says(*["x" * 1000] * 40))  # type: ignore[arg-type]
    sink = SlowSink()
    async with bridge_of(form, Answer([said, CUT])) as bridge:
        call = UpstreamCall(body=b"{}", stream=True, scope={"headers": []}, receive=anyio.sleep_forever, path="")
        with pytest.raises(UpstreamError):
            await bridge.runtime.upstream.send(call, sink)

    assert sink.data == said


async def test_a4_thinking_before_the_accident_is_kept(form: str) -> None:
    async with bridge_of(form, BROKEN["only thinking, then hangs up"]) as bridge:
        reply = await bridge.ask()

    [item] = reply.response["output"]
    assert item["type"] == "reasoning"
    assert item["summary"][0]["text"] == "Hello"
    assert item["status"] == "incomplete"


def fragment(arguments: str, **more: Any) -> bytes:
    return frame(chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}, **more}]}))


CALL = frame(
    chunk({"tool_calls": [{"index": 0, "id": "call_1234567", "type": "function",
                           "function": {"name": "run", "arguments": ""}}]})
)  # fmt: skip


@pytest.mark.parametrize(
    "rest",
    [
        [fragment('{"path": "/tmp'), CUT],
        [fragment('{"path": "/tmp'), RESET],
        [fragment('{"path": "/tmp'), frame({"error": "no"})],
        [fragment('{"path": "/tmp'), *ending("tool_calls")],
        [fragment('{"path": "/tmp'), DONE],
        [fragment('{"path": "/tmp"}'), CUT],
    ],
    ids=["hangs up", "reset", "error", "finished inside", "done inside", "whole but not finished"],
)
async def test_a4_a_cut_function_call_is_never_completed(form: str, rest: list[Step]) -> None:
    tools = [{"type": "function", "name": "run", "parameters": {"type": "object"}}]
    async with bridge_of(form, Answer([CALL, *rest])) as bridge:
        reply = await bridge.ask(tools=tools)

    assert reply.outcome == "failed"
    assert [item["status"] for item in reply.response["output"]] == ["incomplete"]
    assert not [
        e for e in reply.events if e["type"] == "response.output_item.done" and e["item"]["status"] == "completed"
    ]


# -- A5
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("reason", "told"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
async def test_a5_finish_reasons_become_incomplete_with_their_reason(
    form: str, reason: str, told: str, stream: bool
) -> None:
    async with bridge_of(form, Answer([*SAID, *ending(reason)])) as bridge:
        reply = await bridge.ask(stream=stream)

    assert reply.outcome == "incomplete"
    assert reply.response["incomplete_details"] == {"reason": told}
    assert reply.text == "Hello"


# -- A6
BEHIND_DONE: dict[str, list[Step]] = {
    "more text": [frame(chunk({"content": " and more"}))],
    "an error": [frame({"error": {"message": "too late"}})],
    "done again": [DONE, DONE],
    "garbage": [b"\xff\xfe\0 data: {{{\n\n"],
    "a reset": [RESET],
    "an exception": [RuntimeError(SECRET)],
    "silence": [STALL],
    "hanging up": [CUT],
}


async def test_a6_what_comes_behind_done_changes_nothing(form: str, subtests: Any) -> None:
    table = {name: Answer([*SAID, *ending(), *steps]) for name, steps in BEHIND_DONE.items()}
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    assert reply.outcome == "completed"
                    assert reply.text == "Hello"


async def test_a6_the_answer_ends_at_done_though_the_upstream_stays(form: str) -> None:
    async with bridge_of(form, Answer([*SAID, *ending(), STALL])) as bridge:  # the idle timeout is ten minutes
        reply = await bridge.ask()
        with anyio.fail_after(10):
            await bridge.asked[0].left.wait()

    assert reply.outcome == "completed"


# -- A7
STATUSES = [400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 529]


async def test_a7_a_refusal_keeps_its_status_message_and_retry_after(form: str, subtests: Any) -> None:
    retry = (b"retry-after", b"7")
    table = {str(status): refused(status, f"chaos {status}", headers=[retry]) for status in STATUSES}
    async with bridge_of(form, by_model(table)) as bridge:
        for status in STATUSES:
            for stream in (True, False):
                with subtests.test(f"{status}, {stream=}"):
                    reply = await bridge.ask(model=str(status), stream=stream)

                    assert reply.status == status
                    assert reply.error["message"] == f"chaos {status}"
                    assert reply.header("retry-after") == ["7"]
                    assert reply.header("content-type") == ["application/json"]


@pytest.mark.parametrize(
    "body",
    [
        b"<html><head><title>502</title></head><body>nginx/1.2.3 at 10.0.0.5</body></html>",
        b'Traceback (most recent call last):\n  File "/srv/app/secret.py", line 3, in x\nKeyError: hunter2',
        b'{"detail": "Traceback (most recent call last):\\n  File \\"/srv/secret.py\\", line 3"}',
        b"\xff\xfe\x00\x01" * 30,
        b"",
    ],
    ids=["html", "traceback", "traceback in JSON", "binary", "empty"],
)
async def test_a7_an_error_body_that_is_no_error_object_is_replaced(form: str, body: bytes) -> None:
    async with bridge_of(form, whole(body, status=500, headers=[TEXT])) as bridge:
        reply = await bridge.ask()

    assert reply.status == 500
    assert reply.error["type"] == "server_error"
    for secret in (b"nginx", b"10.0.0.5", b"secret", b"hunter2", b"Traceback", b"<"):
        assert secret not in reply.body


async def test_a7_a_refusal_that_is_cut_or_never_ends_still_has_its_status(form: str, subtests: Any) -> None:
    table = {
        "cut": Answer([b'{"error": {"mess', CUT], status=429, headers=[JSON, (b"retry-after", b"7")]),
        "silent": Answer([b'{"error": {"mess', STALL], status=429, headers=[JSON, (b"retry-after", b"7")]),
    }
    async with bridge_of(form, by_model(table), limits={"error_body_timeout": 0.3, "keepalive": 0.2}) as bridge:
        for name in table:
            with subtests.test(name):
                reply = await bridge.ask(model=name)

                assert reply.status == 429
                assert reply.error["message"]
                assert reply.header("retry-after") == ["7"]
