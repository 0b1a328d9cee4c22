"""C6. What is heavy delays the others by less than two seconds, and its cost is linear."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from fronts import bridge_of
from misbehaving import Answer, by_model, chunk, completion, ending, frame, says, whole
from replay import call, stream_of, text, transcoder_of
from wire import fetch

from responses_middleware.dialects import Dialect
from responses_middleware.translate.left_out import LeftOut
from responses_middleware.translate.request import to_chat

pytestmark = pytest.mark.anyio


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
