"""D. Resources: every buffer has a bound, a slow client slows the upstream, and what ends leaves nothing behind."""

from __future__ import annotations

import asyncio
import functools
import gc
import gzip
import json
import os
import random
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import request
from fronts import ON_ONE_LOOP, bridge_of, stopped_growing, until
from misbehaving import (
    JSON,
    SSE,
    STALL,
    Answer,
    Asked,
    Flood,
    by_model,
    chunk,
    ending,
    frame,
    says,
    streamed,
    whole,
)
from wire import PATIENCE, calling, fetch, http_request

from responses_middleware.engine.watch import Watch

if TYPE_CHECKING:
    from fronts import Bridge

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024
SAID = says("Hel", "lo")
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def memory() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# -- D1: the request
SMALL = {"max_request_bytes": 2000, "max_tools": 3, "max_input_items": 4, "max_depth": 10}


def tools(count: int) -> list[dict[str, Any]]:
    return [{"type": "function", "name": f"f{n}", "parameters": {}} for n in range(count)]


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return [{"type": "function", "name": "f", "parameters": value}]


LIMITED = {
    "body": (lambda n: request(instructions="x" * n), 1500, 2500, 413),
    "body of many bytes in few characters": (lambda n: request(instructions="é" * n), 800, 1100, 413),
    "tools": (lambda n: request(tools=tools(n)), 3, 4, 400),
    "input items": (lambda n: request(input=[{"role": "user", "content": "x"}] * n), 4, 5, 400),
    "nesting": (lambda n: request(tools=nested(n)), 5, 9, 400),
}


@pytest.mark.parametrize("name", LIMITED)
async def test_d1_a_request_within_a_limit_is_served_and_one_beyond_is_refused(form: str, name: str) -> None:
    make, good, bad, status = LIMITED[name]
    async with bridge_of(form, limits=SMALL) as bridge:
        replies = [
            await fetch(bridge.responses, json.dumps(make(size), ensure_ascii=False).encode()) for size in (good, bad)
        ]

    assert [reply.status for reply in replies] == [200, status]
    assert replies[1].error["type"] == "invalid_request_error"
    assert len(bridge.asked) == 1


async def test_d1_a_length_beyond_the_limit_is_refused_before_a_byte_of_the_body(form: str) -> None:
    head = http_request(bridge_path(), length=2001)
    async with bridge_of(form, limits=SMALL) as bridge, calling(bridge.url, head) as caller:
        with anyio.fail_after(PATIENCE):
            reply = await caller.head()

    assert reply.status == 413


async def test_d1_a_chunked_body_is_counted_too(form: str) -> None:
    head = http_request(bridge_path(), length=-1, headers=[("Transfer-Encoding", "chunked")])
    async with bridge_of(form, limits=SMALL) as bridge, calling(bridge.url, head) as caller:
        for _ in range(3):
            await caller.send(b"%x\r\n%b\r\n" % (1000, b" " * 1000))
        with anyio.fail_after(PATIENCE):
            reply = await caller.head()

    assert reply.status == 413
    assert bridge.asked == []


def bridge_path() -> str:
    return "http://127.0.0.1/v1/responses"


async def test_d1_decoded_bytes_of_a_request_count(form: str, subtests: Any) -> None:
    async with bridge_of(form, limits=SMALL) as bridge:
        for name, encode in (("gzip", gzip.compress), ("deflate", zlib.compress)):
            with subtests.test(name):
                body = encode(json.dumps(request(instructions="x" * 500_000)).encode())
                assert len(body) < 2000

                reply = await fetch(bridge.responses, body, headers=[("Content-Encoding", name)])

                assert reply.status == 413
        assert bridge.asked == []


# -- D1: the answer
def long_line() -> Flood:
    yield b'data: {"choices":[{"index":0,"delta":{"content":"'
    while True:
        yield b"x" * 1000


def long_frame() -> Flood:
    while True:
        yield b'data: "' + b"x" * 500 + b'"\n'


def long_text() -> Flood:
    while True:
        yield frame(chunk({"content": "x" * 500}))


def long_thought() -> Flood:
    while True:
        yield frame(chunk({"reasoning_content": "x" * 500}))


def long_arguments() -> Flood:
    yield frame(
        chunk({"tool_calls": [{"index": 0, "id": "call_123456", "function": {"name": "run", "arguments": ""}}]})
    )
    while True:
        yield frame(chunk({"tool_calls": [{"index": 0, "function": {"arguments": "x" * 500}}]}))


def long_document() -> Flood:
    yield b'{"choices":[{"message":{"content":"'
    while True:
        yield b"x" * 1000


ENDLESS: dict[str, Callable[[], Flood]] = {
    "max_frame_bytes, one line": long_line,
    "max_frame_bytes, many lines": long_frame,
    "max_output_bytes, text": long_text,
    "max_output_bytes, thinking": long_thought,
    "max_output_bytes, arguments": long_arguments,
    "max_answer_bytes": long_document,
}
LIMITS = {"max_frame_bytes": 20_000, "max_output_bytes": 30_000, "max_answer_bytes": 40_000, "max_error_bytes": 3000}


@pytest.mark.parametrize("stream", [True, False])
async def test_d1_an_endless_answer_ends_as_a_failure_at_its_limit(form: str, stream: bool, subtests: Any) -> None:
    table = {name: Answer([*([] if "answer" in name else SAID), make()]) for name, make in ENDLESS.items()}
    async with bridge_of(form, by_model(table), limits=LIMITS) as bridge:
        for count, name in enumerate(table, 1):
            with subtests.test(name):
                reply = await bridge.ask(model=name, stream=stream)
                asked = await bridge.upstream.wait_asked(count)
                with anyio.fail_after(PATIENCE):
                    await asked.left.wait()

                assert reply.outcome == "failed" or reply.status == 502
                if reply.outcome == "failed":
                    assert reply.text.startswith("Hello")
                    assert len(reply.body) < 8 * 40_000


async def test_d1_text_within_the_output_limit_is_whole(form: str) -> None:
    async with bridge_of(form, streamed(*["x" * 1000] * 29), limits=LIMITS) as bridge:
        reply = await bridge.ask()

    assert (reply.outcome, len(reply.text)) == ("completed", 29_000)


async def test_d1_an_error_body_is_read_up_to_its_limit_and_no_further(form: str) -> None:
    def endless() -> Flood:
        yield b'{"error": {"message": "'
        while True:
            yield b"x" * 1000

    async with bridge_of(form, Answer([endless()], status=429, headers=[JSON]), limits=LIMITS) as bridge:
        reply = await bridge.ask()
        with anyio.fail_after(PATIENCE):
            await bridge.asked[0].left.wait()

    assert reply.status == 429
    assert len(reply.body) < 3500


@functools.cache
def bomb_of(head: bytes) -> bytes:
    """200 MB in 200 KB."""
    machine = zlib.compressobj(wbits=31)
    return machine.compress(head) + b"".join(machine.compress(b"x" * MIB) for _ in range(200)) + machine.flush()


@linux
async def test_d1_decoded_bytes_of_an_answer_count(form: str, subtests: Any) -> None:
    bomb = bomb_of(b"".join(SAID) + b'data: {"choices":[{"index":0,"delta":{"content":"')  # type: ignore[arg-type]
    document = bomb_of(b'{"choices":[{"message":{"content":"')
    encoding = (b"content-encoding", b"gzip")
    table = {
        "a line": Answer([bomb], headers=[SSE, encoding]),
        "a document": whole(document, headers=[JSON, encoding]),
        "an error": whole(document, status=500, headers=[JSON, encoding]),
    }
    async with bridge_of(form, by_model(table), limits=LIMITS) as bridge:
        for name in table:
            with subtests.test(name):
                before = memory()

                reply = await bridge.ask(model=name)

                assert reply.outcome == "failed" or reply.status >= 500
                assert memory() - before < 40 * MIB


async def test_d1_nesting_of_an_answer_is_bounded(form: str, subtests: Any) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    table = {
        "frame": Answer([*SAID, b'data: {"choices":[],"x":' + deep + b"}\n\n", *ending()]),
        "document": whole(b'{"choices":[{"message":{"content":"a","x":' + deep + b"}}]}"),
        "error": whole(b'{"error":' + deep + b"}", status=500),
    }
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    assert reply.outcome == "failed" or reply.status >= 500


# -- D2
def flood() -> Flood:
    piece = frame(chunk({"content": "F" * 1000})) * 30
    while True:
        yield piece


@linux
async def test_d2_a_client_that_stops_reading_stops_the_upstream(form: str) -> None:
    async with bridge_of(form, Answer([flood()])) as bridge, bridge.asking() as caller:
        await caller.until(b'"delta":"F')
        before = memory()
        asked = bridge.asked[0]
        with anyio.fail_after(PATIENCE):
            await stopped_growing(lambda: asked.taken)

        assert asked.taken < 64 * MIB
        assert memory() - before < 64 * MIB


@pytest.mark.parametrize(("form", "anyio_backend"), ON_ONE_LOOP)
async def test_d2_a_client_that_reads_on_gets_all_of_it_in_order_and_no_heap_of_comments(
    form: str, anyio_backend: str
) -> None:
    texts = [f"[{n:05}]{'F' * 1000}" for n in range(3000)]
    pieces = [b"".join(frame(chunk({"content": text})) for text in texts[at : at + 40]) for at in range(0, 3000, 40)]
    answer = Answer([iter(pieces), *ending()])
    async with bridge_of(form, answer, limits={"keepalive": 0.05}) as bridge, bridge.asking() as caller:
        await caller.head()
        asked = bridge.asked[0]
        with anyio.fail_after(PATIENCE):
            await stopped_growing(lambda: asked.taken)  # more than ten comments are due meanwhile
        reply = (await caller.rest()).check_stream()

    assert reply.outcome == "completed"
    assert reply.text == "".join(texts)
    assert reply.body.count(b"\n\n:") < 5


# -- D3
def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - of a directory that is none


def tasks() -> int:
    import sniffio

    if sniffio.current_async_library() == "asyncio":
        return len(asyncio.all_tasks())
    import trio

    return trio.lowlevel.current_statistics().tasks_living


def watches() -> int:
    gc.collect()
    return sum(type(thing) is Watch for thing in gc.get_objects())


ABORTED: dict[str, Callable[[], Answer]] = {
    "before the status": lambda: Answer([], before=[STALL]),
    "before the first token": lambda: Answer([STALL]),
    "between tokens": lambda: Answer([*SAID, STALL]),
    "in JSON": lambda: Answer([b'{"choices":', STALL], headers=[JSON]),
    "while it flows": lambda: Answer([step for _ in range(200) for step in (SAID[1], 0.002)]),  # type: ignore[misc]
    "at its end": lambda: streamed("Hel", "lo"),
    "refused": lambda: whole({"error": "no"}, status=503),
}


async def abort(bridge: Bridge, number: int, chance: random.Random) -> None:
    name = list(ABORTED)[number % len(ABORTED)]
    async with bridge.asking(model=name, stream=number % 3 > 0) as caller:
        asked = anyio.move_on_after(chance.random() * 0.1)
        with asked:
            await caller.rest()
        await caller.leave(by_reset=chance.random() < 0.5)


async def settled(fact: Callable[[], object]) -> None:
    """Wait for a fact; what it says in the end is for the test to see."""
    for _ in range(2):
        with suppress(TimeoutError), anyio.fail_after(PATIENCE / 3):
            await until(fact)
            return
        gc.collect()  # what only a cycle keeps


@linux
async def test_d3_hundreds_of_aborted_requests_leave_nothing_behind(
    form: str, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(7)
    async with bridge_of(form, by_model({name: make() for name, make in ABORTED.items()})) as bridge:
        await wave(bridge, 0, chance)  # what is made once: clients, threads, caches
        await settled(lambda: not bridge.upstream.live and not bridge.runtime.under_way)
        before, watched = (descriptors(), tasks()), watches()
        for number in range(1, 6):
            await wave(bridge, number, chance)
        await settled(lambda: not bridge.upstream.live and descriptors() <= before[0] and tasks() <= before[1])

        assert bridge.runtime.under_way == 0
        assert watches() <= watched + 3  # the last one of a connection may be held by its server
        assert bridge.upstream.live == 0
        assert descriptors() <= before[0]
        assert tasks() <= before[1]
        assert (await bridge.ask(model="at its end")).text == "Hello"
    gc.collect()

    assert len(bridge.asked) > 30
    for lost in ("never retrieved", "was destroyed", "never awaited"):
        assert lost not in caplog.text


async def wave(bridge: Bridge, number: int, chance: random.Random) -> None:
    async with anyio.create_task_group() as group:
        for place in range(50):
            group.start_soon(abort, bridge, number * 50 + place, chance)


@linux
async def test_d3_broken_upstreams_leave_nothing_behind(form: str) -> None:
    from test_a_outcome import BROKEN, NO_ANSWER

    table = {name: answer for name, answer in (BROKEN | NO_ANSWER).items() if "silent" not in name}
    async with bridge_of(form, by_model(table)) as bridge:
        await asked_all(bridge, table)
        before = descriptors(), tasks()
        for _ in range(3):
            await asked_all(bridge, table)
        await settled(lambda: descriptors() <= before[0] and tasks() <= before[1])

        assert (descriptors(), tasks()) <= before
        assert bridge.runtime.under_way == 0


async def asked_all(bridge: Bridge, names: Any) -> None:
    async def one(name: str) -> None:
        async with bridge.asking(model=name) as caller:
            await caller.rest()

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(one, name)
    await settled(lambda: not bridge.upstream.live)


# -- D4
MANY = 200


@pytest.mark.parametrize(("form", "anyio_backend"), ON_ONE_LOOP)
async def test_d4_two_hundred_requests_are_at_the_upstream_at_the_same_time(form: str, anyio_backend: str) -> None:
    all_there = anyio.Event()
    count = 0

    def answer(asked: Asked) -> Answer:
        nonlocal count
        count += 1
        if count == MANY:
            all_there.set()
        own = asked.payload["messages"][0]["content"]
        return Answer([*says(f"{own}:1"), all_there, *says(f"{own}:2"), *ending()])

    texts: dict[int, str] = {}
    async with bridge_of(form, answer) as bridge:

        async def one(number: int) -> None:
            texts[number] = (await bridge.ask(input=f"[{number}]")).text

        async with anyio.create_task_group() as group:
            for number in range(MANY):
                group.start_soon(one, number)

    assert texts == {number: f"[{number}]:1[{number}]:2" for number in range(MANY)}


async def test_d4_the_one_too_many_gets_503_with_retry_after_at_once(form: str) -> None:
    go_on = anyio.Event()
    answer = Answer([*SAID, go_on, *ending()])
    async with bridge_of(form, answer, limits={"max_concurrent": 2}) as bridge:
        async with bridge.asking() as first, bridge.asking() as second:
            await first.until(b'"delta":"lo"')
            await second.until(b'"delta":"lo"')
            refused = [await bridge.ask(stream=stream) for stream in (True, False)]
            go_on.set()
            served = [await first.rest(), await second.rest()]
        await until(lambda: not bridge.runtime.under_way)
        after = await bridge.ask()

    assert [(reply.status, reply.header("retry-after")) for reply in refused] == [(503, ["1"])] * 2
    assert [reply.outcome for reply in served] == ["completed"] * 2
    assert after.outcome == "completed"
    assert len(bridge.asked) == 3
