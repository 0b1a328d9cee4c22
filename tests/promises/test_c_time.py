"""C. Time, money, cancellation: nothing hangs, nobody pays for an answer that nobody reads."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import request
from fronts import ON_ONE_LOOP, bridge_of, stopped_growing, until
from misbehaving import (
    CUT,
    JSON,
    RESET,
    SECRET,
    SSE,
    STALL,
    Answer,
    Flood,
    SocketUpstream,
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
from replay import call, stream_of, text, transcoder_of
from wire import PATIENCE, Caller, calling, fetch, http_request

from responses_middleware import ResponsesProxy
from responses_middleware.dialects import Dialect
from responses_middleware.translate.left_out import LeftOut
from responses_middleware.translate.request import to_chat

if TYPE_CHECKING:
    from anyio.abc import Process

pytestmark = pytest.mark.anyio

ONE_LOOP = pytest.mark.parametrize(("form", "anyio_backend"), ON_ONE_LOOP)
BUSY = 5.0  # what a busy machine may add to a promised second
SAID = says("Hel", "lo")
HALF = json.dumps(completion("Hello")).encode()[:60]


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    with anyio.fail_after(seconds + BUSY):
        yield


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
PING = b": keepalive\n\n"


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


# -- C5
@dataclass
class Command:
    """The command as a process."""

    process: Process
    responses: str
    log: list[bytes]

    @asynccontextmanager
    async def asking(self, **parameters: Any) -> AsyncIterator[Caller]:
        data = http_request(self.responses, json.dumps(request(**parameters)).encode())
        async with calling(self.responses, data) as caller:
            yield caller


@asynccontextmanager
async def command(upstream: str, *flags: str) -> AsyncIterator[Command]:
    words = [sys.executable, "-m", "responses_middleware", upstream, "--port", "0", *flags]
    async with await anyio.open_process(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        log: list[bytes] = []
        try:
            with anyio.fail_after(PATIENCE):
                while b"listening on " not in b"".join(log):
                    log.append(await process.stderr.receive())
            url = b"".join(log).decode().split("listening on ")[1].split()[0]
            async with anyio.create_task_group() as group:
                group.start_soon(_collect, process, log)
                yield Command(process, f"{url}/responses", log)
                group.cancel_scope.cancel()
        finally:
            if process.returncode is None:
                process.kill()


async def _collect(process: Process, log: list[bytes]) -> None:
    assert process.stderr is not None
    async for data in process.stderr:
        log.append(data)  # noqa: PERF401 - others read it meanwhile


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c5_sigterm_completes_what_ends_in_time_and_cuts_the_rest_with_a_terminal_event(
    anyio_backend: str,
) -> None:
    go_on = anyio.Event()
    table = {
        "ends in time": Answer([*SAID, go_on, *says(" world"), *ending()]),
        "takes too long": Answer([*SAID, STALL]),
        "has no first byte": Answer([], before=[STALL]),
    }
    grace = 2.0
    async with (
        SocketUpstream(by_model(table)).listening() as upstream,
        command(upstream.url, "--grace", f"{grace:g}") as running,
        running.asking(model="ends in time", stream=True) as short,
        running.asking(model="takes too long", stream=True) as long,
        running.asking(model="has no first byte", stream=True) as waiting,
        running.asking(model="has no first byte", stream=False) as waiting_for_json,
    ):
        await short.until(b'"delta":"lo"')
        await long.until(b'"delta":"lo"')
        with anyio.fail_after(PATIENCE):
            await upstream.wait_asked(4)
        stopped = time.monotonic()
        running.process.send_signal(signal.SIGTERM)
        refusals = [await caller.rest() for caller in (waiting, waiting_for_json)]
        go_on.set()
        completed = (await short.rest()).check_stream()
        cut = (await long.rest()).check_stream()
        with anyio.fail_after(grace + 3 + BUSY):
            await running.process.wait()
        took = time.monotonic() - stopped

    assert [(reply.status, reply.header("retry-after")) for reply in refusals] == [(503, ["1"])] * 2
    assert (completed.outcome, completed.text) == ("completed", "Hello world")
    assert (cut.outcome, cut.text) == ("failed", "Hello")
    assert grace * 0.9 < took < grace + 3 + BUSY
    assert running.process.returncode in (0, -signal.SIGTERM)
    assert b"Traceback" not in b"".join(running.log)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c5_a_request_whose_body_is_still_coming_at_sigterm_is_not_begun(anyio_backend: str) -> None:
    body = json.dumps(request(stream=True)).encode()
    async with (
        SocketUpstream(by_model({"long": Answer([*SAID, STALL]), "m": streamed("late")})).listening() as upstream,
        command(upstream.url, "--grace", "1.5") as running,
        running.asking(model="long", stream=True) as long,
        calling(running.responses, http_request(running.responses, body[:9], length=len(body))) as late,
    ):
        await long.until(b'"delta":"lo"')
        running.process.send_signal(signal.SIGTERM)
        await until(lambda: b"stopping" in b"".join(running.log))
        await late.send(body[9:])
        reply = await late.rest()
        with anyio.fail_after(PATIENCE):
            await running.process.wait()

    assert reply.status == 503
    assert len(upstream.asked) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c5_without_requests_the_process_ends_at_once(anyio_backend: str) -> None:
    async with SocketUpstream().listening() as upstream, command(upstream.url, "--grace", "60") as running:
        running.process.send_signal(signal.SIGTERM)
        async with within(3):
            await running.process.wait()

    assert running.process.returncode in (0, -signal.SIGTERM)


# -- C6
@asynccontextmanager
async def longest_pause() -> AsyncIterator[Callable[[], float]]:
    """How long the event loop did not run others, in seconds of the processor: a busy machine adds none."""
    pauses = [0.0]

    async def tick() -> None:
        last = time.thread_time()
        while True:
            await anyio.sleep(0.005)
            now = time.thread_time()
            pauses.append(now - last)
            last = now

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        yield lambda: max(pauses)
        group.cancel_scope.cancel()


MIB = 1024 * 1024


def heavy_bodies() -> Iterator[tuple[str, bytes]]:
    head = b'{"model":"m","input":"hi","stream":true,'
    yield "12 MB of empty lists", head + b'"metadata":{"a":[' + b"[]," * (4 * MIB) + b"[]]}}"
    yield "8 MB of numbers", head + b'"metadata":[' + b"1," * (4 * MIB) + b"1]}"
    yield "8 MB of keys", head + b",".join(b'"k%d":0' % n for n in range(700_000)) + b"}"
    yield "16 MB of text", head[:-1].replace(b'"hi"', b'"' + b"x" * (16 * MIB) + b'"') + b"}"
    yield "16 MB of escapes", head[:-1].replace(b'"hi"', b'"' + b"\\u0041" * (16 * MIB // 6) + b'"') + b"}"
    items = b",".join(b'{"role":"user","content":[{"type":"input_text","text":"%d"}]}' % n for n in range(9_000))
    yield "9000 items", head[:-1].replace(b'"hi"', b"[" + items + b"]") + b"}"
    yield "digits", head + b'"top_p":' + b"9" * 4_000_000 + b"}"
    yield "an unfinished string", head + b'"instructions":"' + b"\\" * (8 * MIB)
    yield (
        "one image",
        head[:-1].replace(
            b'"hi"',
            b'[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,'
            + b"A" * (16 * MIB)
            + b'"}]}]',
        )
        + b"}",
    )


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c6_a_heavy_request_delays_others_by_less_than_two_seconds(anyio_backend: str, subtests: Any) -> None:
    async with bridge_of("app") as bridge:
        for name, body in heavy_bodies():
            with subtests.test(name):
                async with longest_pause() as longest:
                    reply = await fetch(bridge.responses, body)

                assert reply.status in (200, 400, 413)
                assert longest() < 2


def whole_call(number: int, arguments: str = "{}") -> Any:
    return call(number, f"call_{number:06}", "run", arguments)


def side_by_side(number: int) -> Any:
    return call(number % 50, f"call_{number % 50:06}", *(("run", "{") if number < 50 else (None, " ")))


def thought(said: str) -> Any:
    return chunk({"reasoning_content": said})


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c6_a_heavy_answer_delays_others_by_less_than_two_seconds(anyio_backend: str, subtests: Any) -> None:
    table = {
        "20000 small frames": Answer([b"".join([frame(chunk({"content": "a"})) * 20_000, *ending()])]),  # type: ignore[list-item]
        "a frame of 7 MB": Answer([frame(chunk({"content": "a" * 7 * MIB})), *ending()]),
        "a document of 12 MB": whole(completion("a" * 12 * MIB)),
        "a frame of lists": Answer([b'data: {"x":[' + b"[]," * 2 * MIB + b"[]]}\n\n", *says("a"), *ending()]),
        "a document of lists": whole(b'{"choices":[],"x":[' + b"[]," * 5 * MIB + b"[]]}"),
        "3000 calls": Answer([*(frame(whole_call(n)) for n in range(3000)), *ending("tool_calls")]),
        "one call in 20000 pieces": Answer([frame(call(0, "call_000000", "run", '{"a": "')),
                                            frame(call(0, arguments="x")) * 20_000,
                                            frame(call(0, arguments='"}')), *ending("tool_calls")]),
    }  # fmt: skip
    async with bridge_of("app", by_model(table)) as bridge:
        for name in table:
            with subtests.test(name):
                async with longest_pause() as longest, bridge.asking(model=name) as caller:
                    await caller.rest()

                assert caller.reply.status in (200, 502)
                assert longest() < 2


def cost(work: Callable[[], object]) -> float:
    """Seconds of the processor, the least of some tries."""
    took = []
    for _ in range(3):
        begun = time.process_time()
        work()
        took.append(time.process_time() - begun)
    return min(took)


def transcode(pieces: list[bytes]) -> None:
    transcoder = transcoder_of(stream_of(max_output=1 << 30), max_frame=1 << 30, max_document=1 << 30)
    for piece in pieces:
        transcoder.feed(piece)
    transcoder.finish()


def in_pieces(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


LINEAR: dict[str, Callable[[int], list[bytes]]] = {
    "frames": lambda n: [frame(text(f"{i}")) for i in range(n)],
    "frames of different shape": lambda n: [frame(text(f"{i}", **{f"x{i % 7}": 1})) for i in range(n)],
    "a frame in small pieces": lambda n: in_pieces(frame(text("x" * n * 30)), 20),
    "a frame of data lines": lambda n: [b"data: \n"] * n + [b"\n"],
    "a document in small pieces": lambda n: in_pieces(json.dumps(completion("x\n" * n * 5)).encode(), 20),
    "a document of lines": lambda n: in_pieces(json.dumps(completion("x"), indent=0).encode() + b"\n" * n * 10, 20),
    "calls": lambda n: [frame(call(i, f"call_{i:06}", "run", '{"a": 1}')) for i in range(n // 4)],
    "calls side by side": lambda n: [frame(side_by_side(i)) for i in range(n)],
    "calls without a name": lambda n: [frame(call(i, arguments="x")) for i in range(n // 2)],
    "a call's arguments": lambda n: [frame(whole_call(0, '{"a": "'))] + [frame(call(0, arguments="]"))] * n,
    "half tags": lambda n: [frame(text("<think" if i % 2 else ">")) for i in range(n)],
    "thinking and text by turns": lambda n: [frame(text("a") if i % 2 else thought("b")) for i in range(n)],
    "blank lines": lambda n: [b"\n\n" * 500] * (n // 100),
    "comments": lambda n: [b": x\n\n"] * n,
}  # fmt: skip


@pytest.mark.parametrize("name", LINEAR)
def test_c6_the_cost_of_an_answer_grows_linearly(name: str) -> None:
    small, large = LINEAR[name](1000), LINEAR[name](8000)

    assert cost(lambda: transcode(large)) < 8 * 3 * max(cost(lambda: transcode(small)), 0.002)


def test_c6_the_cost_of_a_request_grows_linearly() -> None:
    def translate(items: int) -> None:
        calls = [
            item
            for n in range(items)
            for item in (
                {"type": "message", "role": "user", "content": "x"},
                {"type": "function_call", "call_id": f"call_{n}", "name": "run", "arguments": "{}"},
                {"type": "function_call_output", "call_id": f"call_{n}", "output": "y"},
            )
        ]
        to_chat(
            {"model": "m", "input": calls},
            [],
            model="m",
            dialect=Dialect.named("auto"),
            unsupported=LeftOut("warn"),
            unseal=lambda token: None,
        )

    assert cost(lambda: translate(3200)) < 8 * 3 * max(cost(lambda: translate(400)), 0.002)
