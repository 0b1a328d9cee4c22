"""C. Time, money, cancellation: nothing hangs, nobody pays for an answer that nobody reads."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fronts import BUSY, ON_ONE_LOOP, bridge_of, stopped_growing, until, within
from misbehaving import (
    CUT,
    JSON,
    RESET,
    SECRET,
    SSE,
    STALL,
    Answer,
    Flood,
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
from wire import PATIENCE, calling, http_request

from responses_middleware import ResponsesProxy

pytestmark = pytest.mark.anyio

ONE_LOOP = pytest.mark.parametrize(("form", "anyio_backend"), ON_ONE_LOOP)
SAID = says("Hel", "lo")
HALF = json.dumps(completion("Hello")).encode()[:60]


# -- C1
STALLS: dict[str, tuple[Answer, str]] = {
    "before the status": (Answer([], before=[STALL]), "http 504"),
    "before the first frame": (Answer([STALL]), "http 504"),
    "after the first frames": (Answer([*SAID, STALL]), "failed"),
    "inside a frame": (Answer([*SAID, frame(chunk({"content": "x"}))[:30], STALL]), "failed"),
    "behind the finish reason": (Answer([*SAID, frame(chunk(finish="stop")), STALL]), "failed"),
}


async def test_c1_a_stalled_stream_ends_within_the_idle_timeout(form: str, subtests: Any) -> None:
    table = {name: answer for name, (answer, _) in STALLS.items()}
    async with bridge_of(form, by_model(table), limits={"idle_timeout": 0.2}) as bridge:
        async with within(1.2):
            replies = await bridge.ask_all(table)
        for name, (_, outcome) in STALLS.items():
            with subtests.test(name):
                reply = replies[name]

                assert reply.outcome in (outcome, "completed" if "finish reason" in name else outcome)
                if reply.outcome == "failed":
                    assert reply.events[-2]["error"]["code"] == "timeout"


async def test_c1_a_stalled_json_answer_is_504_within_the_idle_timeout(form: str, subtests: Any) -> None:
    table = {
        "before the status": Answer([], before=[STALL]),
        "inside the body": Answer([HALF, STALL], headers=[JSON]),
        "a stream": Answer([*SAID, STALL]),
    }
    async with bridge_of(form, by_model(table), limits={"idle_timeout": 0.2}) as bridge:
        async with within(1.2):
            replies = await bridge.ask_all(table, stream=False)
        for name, reply in replies.items():
            with subtests.test(name):
                assert reply.status == 504
                assert reply.error["code"] == "timeout"


@ONE_LOOP
async def test_c1_the_idle_timeout_is_for_each_gap_not_for_the_answer(form: str, anyio_backend: str) -> None:
    slow = [step for word in "abcdefgh" for step in (frame(chunk({"content": word})), 0.15)]
    async with bridge_of(form, Answer([*slow, *ending()]), limits={"idle_timeout": 0.8}) as bridge:
        reply = await bridge.ask()

    assert (reply.outcome, reply.text) == ("completed", "abcdefgh")


async def test_c1_comments_alone_are_no_progress_for_ever(form: str) -> None:
    pings = [step for _ in range(300) for step in (b": ping\n\n", 0.05)]
    limits = {"idle_timeout": 10.0, "progress_timeout": 0.4}
    async with bridge_of(form, Answer([*SAID, *pings, *ending()]), limits=limits) as bridge, within(1.4):
        reply = await bridge.ask()

    assert reply.outcome == "failed"
    assert reply.events[-2]["error"]["code"] == "timeout"
    assert reply.text == "Hello"


async def test_c1_an_error_body_that_never_ends_costs_the_error_body_timeout_only(form: str) -> None:
    answer = Answer([b'{"error": ', STALL], status=429, headers=[JSON])
    async with bridge_of(form, answer, limits={"error_body_timeout": 0.3}) as bridge, within(1.3):
        reply = await bridge.ask()

    assert reply.status == 429


@ONE_LOOP
async def test_c1_a_client_that_does_not_send_its_body_gets_408(form: str, anyio_backend: str, subtests: Any) -> None:
    async with bridge_of(form, limits={"body_timeout": 0.3}) as bridge:
        for sent in (b"", b'{"model": "m", '):
            with subtests.test(sent):
                async with within(1.3), calling(bridge.url, http_request(bridge.responses, sent, length=500)) as caller:
                    reply = await caller.rest()

                assert reply.status == 408
                assert reply.error["type"] == "invalid_request_error"
        assert bridge.asked == []


@pytest.mark.skipif(sys.platform != "linux", reason="a full queue of connections is silent on Linux alone")
@pytest.mark.parametrize(("form", "anyio_backend"), [("httpx", "asyncio"), ("httpx", "trio"), ("aiohttp", "asyncio")])
async def test_c1_an_upstream_that_does_not_take_connections_is_504_within_the_connect_timeout(
    form: str, anyio_backend: str
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        async with bridge_of(form, limits={"connect_timeout": 0.4}) as bridge:
            proxy = ResponsesProxy(f"http://127.0.0.1:{full.getsockname()[1]}/v1")
            bridge.runtime.upstream._chat_url = proxy._app._runtime.upstream._chat_url
            async with within(1.4):
                reply = await bridge.ask()
        for client in waiting:
            client.close()

    assert reply.status == 504
    assert reply.error["code"] == "timeout"


# -- C2
def flood() -> Flood:
    piece = frame(chunk({"content": "F" * 1000})) * 30
    while True:
        yield piece


MOMENTS: dict[str, tuple[bool, Callable[[], Answer]]] = {
    "before the status, stream": (True, lambda: Answer([], before=[STALL])),
    "before the status, JSON": (False, lambda: Answer([], before=[STALL])),
    "before the first token": (True, lambda: Answer([STALL])),
    "between tokens": (True, lambda: Answer([*SAID, STALL])),
    "inside a JSON answer": (False, lambda: Answer([HALF, STALL], headers=[JSON])),
    "a stream that is folded": (False, lambda: Answer([*SAID, STALL])),
    "blocked by back-pressure": (True, lambda: Answer([flood()])),
    "inside an error body": (True, lambda: Answer([b'{"error"', STALL], status=500, headers=[JSON])),
}


@pytest.mark.parametrize("by_reset", [False, True], ids=["FIN", "RST"])
async def test_c2_a_client_that_leaves_closes_the_upstream_within_a_second(
    form: str, by_reset: bool, subtests: Any
) -> None:
    # who closes with bytes unread sends RST, whatever it meant to
    moments = {name: each for name, each in MOMENTS.items() if by_reset or "back-pressure" not in name}
    async with bridge_of(form, by_model({name: make() for name, (_, make) in moments.items()})) as bridge:
        took: dict[str, float] = {}

        async def leave(name: str, stream: bool) -> None:
            async with bridge.asking(model=name, stream=stream) as caller:
                asked = await bridge.upstream.wait_asked_for(name)
                await asked.playing.wait()
                if "back-pressure" in name:
                    await stopped_growing(lambda: asked.taken)
                elif name == "between tokens":
                    await caller.until(b'"delta":"lo"')
                left = time.monotonic()
                await caller.leave(by_reset=by_reset)
            await asked.left.wait()
            took[name] = asked.left_at - left

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                for name, (stream, _) in moments.items():
                    group.start_soon(leave, name, stream)
            await until(lambda: not bridge.runtime.under_way)
        for name in moments:
            with subtests.test(name):
                assert took[name] < 1 + BUSY


async def test_c2_the_wrapped_app_is_told_and_then_cancelled(anyio_backend: str) -> None:
    told, cancelled = anyio.Event(), anyio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [SSE]})
        await send({"type": "http.response.body", "body": SAID[0], "more_body": True})
        assert (await receive())["type"] == "http.disconnect"
        told.set()
        try:
            await anyio.sleep_forever()  # deaf to what it was told
        except anyio.get_cancelled_exc_class():
            cancelled.set()
            raise

    async with bridge_of("app") as bridge:
        bridge.runtime.upstream._app = app
        async with bridge.asking() as caller:
            await caller.until(b"response.in_progress")
        async with within(1):
            await told.wait()
            await cancelled.wait()


async def test_c2_nothing_is_completed_or_stored_in_the_name_of_a_client_that_left(form: str) -> None:
    async with bridge_of(form, Answer([*SAID, STALL]), streamed("next")) as bridge:
        async with bridge.asking() as caller:
            await caller.until(b'"delta":"lo"')
            response_id = json.loads(caller.reply.body.split(b"data: ")[1].split(b"\n")[0])["response"]["id"]
        with anyio.fail_after(PATIENCE):
            await bridge.asked[0].left.wait()
            await until(lambda: not bridge.runtime.under_way)

        assert (await bridge.get(f"/{response_id}")).status == 404
        assert (await bridge.ask()).text == "next"


# -- C3
ONCE = {
    "reset before the status": Answer([], before=[RESET]),
    "hangs up before the status": Answer([], before=[CUT]),
    "hangs up behind the status": Answer([CUT]),
    "resets behind the status": Answer([RESET]),
    "hangs up in the middle": Answer([*SAID, CUT]),
    "an empty body": Answer([]),
    "not JSON": Answer([b"data: {\n\n"]),
    "raises": Answer([], before=[RuntimeError(SECRET)]),
    **{f"status {status}": refused(status, "no") for status in (400, 401, 404, 408, 409, 429, 500, 502, 503, 504)},
    "retry-after 0": refused(503, "no", headers=[(b"retry-after", b"0"), (b"x-should-retry", b"true")]),
    **{
        f"redirect {status}": Answer([], status=status, headers=[(b"location", b"/v1/chat/completions")])
        for status in (301, 302, 303, 307, 308)
    },
}


async def test_c3_one_request_is_one_upstream_request(form: str, subtests: Any) -> None:
    async with bridge_of(form, by_model(ONCE)) as bridge:
        for name in ONCE:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    before = len(bridge.asked)

                    reply = await bridge.ask(model=name, stream=stream)

                    assert len(bridge.asked) == before + 1
                    assert reply.outcome != "completed"


async def test_c3_the_one_exception_is_a_refusal_that_names_what_can_be_said_otherwise(form: str) -> None:
    def answer(asked: Any) -> Answer:
        return (
            refused(400, "Unknown parameter: stream_options") if "stream_options" in asked.payload else streamed("Hi")
        )

    async with bridge_of(form, answer) as bridge:
        outcomes = [(await bridge.ask()).outcome for _ in range(2)]

    assert outcomes == ["completed", "completed"]
    assert ["stream_options" in asked.payload for asked in bridge.asked] == [True, False, False]


async def test_c3_no_second_question_once_something_was_said(form: str) -> None:
    refusal = frame({"error": {"message": "Unknown parameter: stream_options", "code": 400}})
    async with bridge_of(form, Answer([*SAID, refusal])) as bridge:
        reply = await bridge.ask()

    assert reply.outcome == "failed"
    assert len(bridge.asked) == 1


# -- C4
async def test_c4_comments_bridge_the_silence_and_stand_only_between_events(form: str) -> None:
    go_on = anyio.Event()
    answer = Answer(
        [*SAID, frame(chunk({"content": " and"}))[:40], go_on, frame(chunk({"content": " and"}))[40:], *ending()]
    )
    async with bridge_of(form, answer, limits={"keepalive": 0.05}) as bridge, bridge.asking() as caller:
        await caller.until(b"\n\n:")
        first = len(caller.reply.body)
        with anyio.fail_after(PATIENCE):
            while caller.reply.body[first:].count(b"\n\n:") < 3:
                await caller.piece()
        go_on.set()
        reply = (await caller.rest()).check_stream()

    assert (reply.outcome, reply.text) == ("completed", "Hello and")


async def test_c4_a_comment_begins_a_stream_whose_status_is_known(form: str) -> None:
    go_on = anyio.Event()
    answer = Answer([go_on, *SAID, *ending()])
    async with bridge_of(form, answer, limits={"keepalive": 0.05}) as bridge, bridge.asking() as caller:
        await caller.until(b"\n\n:")
        go_on.set()
        reply = (await caller.rest()).check_stream()

    assert reply.text == "Hello"


@ONE_LOOP
async def test_c4_a_comment_never_begins_a_stream_whose_status_is_unknown(form: str, anyio_backend: str) -> None:
    late = refused(429, "slow down")
    late.before = [0.4]
    async with bridge_of(form, late, limits={"keepalive": 0.05}) as bridge:
        reply = await bridge.ask()

    assert (reply.status, reply.error["message"]) == (429, "slow down")


@ONE_LOOP
async def test_c4_a_json_answer_gets_no_comments(form: str, anyio_backend: str) -> None:
    late = whole(completion("Hello"))
    late.steps = [0.3, *late.steps]
    late.headers.append((b"content-length", b"%d" % len(json.dumps(completion("Hello")))))
    async with bridge_of(form, late, limits={"keepalive": 0.05}) as bridge:
        reply = await bridge.ask(stream=False)

    assert reply.body.startswith(b"{")
    assert reply.text == "Hello"


@ONE_LOOP
async def test_c4_comments_to_the_client_do_not_put_off_the_idle_timeout(form: str, anyio_backend: str) -> None:
    limits = {"keepalive": 0.1, "idle_timeout": 0.5}
    async with bridge_of(form, Answer([*SAID, STALL]), limits=limits) as bridge, within(1.5):
        reply = await bridge.ask()

    assert reply.outcome == "failed"
    assert b"\n\n:" in reply.body
