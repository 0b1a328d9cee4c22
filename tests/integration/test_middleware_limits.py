"""Every wait and every buffer has its limit: the upstream's silence, the client's body, and what keeps a stream alive.

Where a limit must be reached, the app or the client is silent for ever; where it must not, the limit is a second and
the pace a twentieth of it.
"""

from __future__ import annotations

import gzip
import json
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import zstandard
from asgi_client import PATIENCE, Exchange, ask, request, started
from chat_app import DONE, JSON, SSE, ChatApp, Reply, completion, frame, frames, streamed, whole

from responses_middleware import Limits, ResponsesMiddleware

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.anyio

SHORT = 0.2  # seconds
KEEPALIVE = b": keepalive\n\n"


def limited(app: Any, **limits: Any) -> ResponsesMiddleware:
    return ResponsesMiddleware(app, limits=Limits(**limits))


LIFESPANS = pytest.mark.parametrize("lifespan", [True, False])


# -- keep-alive comments
@LIFESPANS
async def test_silence_in_a_stream_is_bridged_with_comments(lifespan: bool) -> None:
    gate = anyio.Event()
    app = limited(ChatApp(streamed(frame("Hel"), gate, *frames("lo"))), keepalive=0.05)

    async with started(app, really=lifespan), Exchange(app, request(stream=True)).running() as exchange:
        await exchange.until(KEEPALIVE * 3)
        gate.set()

    assert exchange.text == "Hello"
    assert exchange.kinds.count("response.output_text.delta") == 2


async def test_a_comment_never_stands_inside_an_event() -> None:
    gate, half = anyio.Event(), frame("lo")
    app = limited(ChatApp(streamed(frame("Hel"), half[:20], gate, half[20:], *frames())), keepalive=0.05)

    async with Exchange(app, request(stream=True)).running() as exchange:
        await exchange.until(KEEPALIVE)
        gate.set()

    assert exchange.text == "Hello"


async def test_a_server_that_is_silent_behind_its_headers_gets_the_stream_begun() -> None:
    gate = anyio.Event()
    app = limited(ChatApp(streamed(gate, *frames("Hello"))), keepalive=0.05)

    async with Exchange(app, request(stream=True)).running() as exchange:
        await exchange.until(b"response.in_progress")
        await exchange.until(KEEPALIVE)
        gate.set()

    assert exchange.text == "Hello"


async def test_a_stream_is_never_begun_before_the_status_of_the_upstream() -> None:
    gate = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        with anyio.move_on_after(0.3):  # several times keepalive
            await gate.wait()
        await ChatApp(whole({"error": {"message": "slow down"}}, status=429))(scope, receive, send)

    exchange = await ask(limited(app, keepalive=0.05), stream=True)

    assert exchange.status == 429


async def test_a_whole_answer_gets_no_comments() -> None:
    gate = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [JSON]})
        with anyio.move_on_after(0.3):
            await gate.wait()
        await send({"type": "http.response.body", "body": json.dumps(completion("Hello")).encode()})

    exchange = await ask(limited(app, keepalive=0.05))

    assert exchange.text == "Hello"


async def test_no_comment_overlaps_a_send_that_the_client_holds_up() -> None:
    reading = anyio.Event()
    app = limited(ChatApp(), keepalive=0.05)

    async with Exchange(app, request(stream=True), blocked=reading).running() as exchange:
        with anyio.move_on_after(0.3):  # several times keepalive; Exchange says if two sends overlap
            await reading.wait()
        reading.set()

    assert exchange.text == "Hello"


async def test_without_keepalive_there_are_no_comments() -> None:
    gate = anyio.Event()
    app = limited(ChatApp(streamed(frame("Hel"), gate, *frames("lo"))), keepalive=None)

    async with Exchange(app, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        await anyio.wait_all_tasks_blocked()
        gate.set()

    assert b": " + b"keepalive" not in exchange.body


# -- a silent upstream
@pytest.mark.parametrize("stream", [True, False])
async def test_an_upstream_that_does_not_answer_in_time_is_a_504(stream: bool) -> None:
    cancelled = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    exchange = await ask(limited(app, idle_timeout=SHORT), stream=stream)

    assert (exchange.status, exchange.error["code"]) == (504, "timeout")
    assert cancelled.is_set()


@LIFESPANS
async def test_an_upstream_that_falls_silent_fails_the_response_with_all_its_text(lifespan: bool) -> None:
    app = limited(ChatApp(streamed(frame("Hel"), anyio.Event())), idle_timeout=SHORT)

    async with started(app, really=lifespan):
        exchange = await ask(app, stream=True)

    assert exchange.kinds[-2:] == ["error", "response.failed"]
    assert exchange.events[-2]["error"]["code"] == "timeout"
    assert exchange.text == "Hel"


async def test_json_that_falls_silent_is_a_504() -> None:
    app = limited(ChatApp(Reply([b'{"choices": [', anyio.Event()])), idle_timeout=SHORT)

    assert (await ask(app)).status == 504


async def test_a_stream_that_falls_silent_behind_its_headers_is_a_504() -> None:
    app = limited(ChatApp(streamed(anyio.Event())), idle_timeout=SHORT)

    assert (await ask(app, stream=True)).status == 504


async def test_comments_of_ours_do_not_keep_a_silent_upstream_alive() -> None:
    app = limited(ChatApp(streamed(frame("Hel"), anyio.Event())), idle_timeout=4 * SHORT, keepalive=SHORT / 4)

    exchange = await ask(app, stream=True)

    assert KEEPALIVE in exchange.body
    assert exchange.kinds[-1] == "response.failed"


async def test_the_idle_limit_is_for_each_gap_and_not_for_the_whole_answer() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [SSE]})
        for _ in range(24):
            await anyio.sleep(0.05)  # the pace of a model
            await send({"type": "http.response.body", "body": frame("a"), "more_body": True})
        await send({"type": "http.response.body", "body": frame(finish="stop") + DONE})

    exchange = await ask(limited(app, idle_timeout=1.0, progress_timeout=1.0), stream=True)

    assert exchange.text == "a" * 24


async def test_comments_of_the_upstream_alone_are_no_progress() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [SSE]})
        await send({"type": "http.response.body", "body": frame("Hel"), "more_body": True})
        while True:
            await anyio.sleep(0.02)
            await send({"type": "http.response.body", "body": b": processing\n\n", "more_body": True})

    exchange = await ask(limited(app, idle_timeout=5.0, progress_timeout=2 * SHORT), stream=True)

    assert exchange.kinds[-1] == "response.failed"
    assert exchange.events[-2]["error"]["code"] == "timeout"
    assert exchange.text == "Hel"


@LIFESPANS
@pytest.mark.parametrize("stream", [True, False])
async def test_a_slow_error_body_is_not_waited_for(stream: bool, lifespan: bool) -> None:
    app = limited(
        ChatApp(Reply([b'{"error": ', anyio.Event()], 429, [(b"retry-after", b"7")])), error_body_timeout=SHORT
    )

    async with started(app, really=lifespan):
        exchange = await ask(app, stream=stream)

    assert (exchange.status, exchange.error["code"]) == (429, "rate_limit_exceeded")
    assert exchange.header(b"retry-after") == [b"7"]


async def test_a_long_error_body_is_cut() -> None:
    app = ChatApp(Reply([b'{"error": {"message": "', b"x" * 100_000], 429))

    exchange = await ask(limited(app, max_error_bytes=1000), stream=True)

    assert exchange.status == 429
    assert len(exchange.body) < 3000


# -- too much
async def test_a_frame_that_is_too_long_fails_the_response() -> None:
    app = limited(ChatApp(streamed(frame("Hel"), b"data: " + b"x" * 2000)), max_frame_bytes=1000)

    exchange = await ask(app, stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")


async def test_json_that_is_too_long_is_a_502() -> None:
    app = limited(ChatApp(whole(completion("x" * 2000))), max_answer_bytes=1000)

    assert (await ask(app)).status == 502


async def test_an_answer_with_too_much_text_fails_with_what_was_said() -> None:
    app = limited(ChatApp(streamed(*frames(*(["x" * 100] * 20)))), max_output_bytes=1000)

    exchange = await ask(app, stream=True)

    assert exchange.kinds[-1] == "response.failed"
    assert exchange.text in ["x" * 800, "x" * 900, "x" * 1000]  # quotes may count, too


@pytest.mark.parametrize("stream", [True, False])
async def test_an_app_that_goes_on_behind_too_much_text_is_stopped(stream: bool) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [SSE]})
        while True:
            await send({"type": "http.response.body", "body": frame("x" * 100), "more_body": True})
            await anyio.sleep(0.001)

    with anyio.fail_after(5):
        exchange = await ask(limited(app, max_output_bytes=1000), stream=stream)

    assert exchange.ended
    assert b"response.completed" not in exchange.body


# -- the client's body
@pytest.mark.parametrize("pieces", [[b""], [b'{"model": '], [b'{"model": ', b'"m", ']])
async def test_a_body_that_does_not_go_on_is_a_408(pieces: list[bytes]) -> None:
    app = ChatApp()

    exchange = await Exchange(limited(app, body_timeout=SHORT), pieces, whole=False).run()

    assert (exchange.status, exchange.error["type"]) == (408, "invalid_request_error")
    assert app.scopes == []


async def test_a_length_that_is_too_large_is_a_413_before_anything_is_read() -> None:
    app = ChatApp()
    headers = [(b"content-length", b"1001")]
    exchange = Exchange(limited(app, max_request_bytes=1000), [b""], headers=headers, whole=False)

    await exchange.run()

    assert (exchange.status, exchange.error["type"]) == (413, "invalid_request_error")
    assert len(exchange._pieces) == 1
    assert app.scopes == []


async def test_a_body_in_chunks_that_is_too_large_is_a_413_before_its_end() -> None:
    app = ChatApp()
    exchange = Exchange(limited(app, max_request_bytes=1000), [b"x" * 400] * 100, whole=False)

    await exchange.run()

    assert exchange.status == 413
    assert len(exchange._pieces) == 97
    assert app.scopes == []


async def test_a_body_of_just_the_limit_is_served() -> None:
    body = json.dumps(request()).encode()

    exchange = await Exchange(limited(ChatApp(), max_request_bytes=len(body)), body).run()

    assert exchange.status == 200


ENCODERS = {"gzip": gzip.compress, "x-gzip": gzip.compress, "GZIP": gzip.compress, "zstd": zstandard.compress}


@pytest.mark.parametrize("encoding", ENCODERS)
async def test_an_encoded_body_is_decoded(encoding: str) -> None:
    app = ChatApp()
    body = ENCODERS[encoding](json.dumps(request(stream=True)).encode())
    headers = [(b"content-encoding", encoding.encode())]

    exchange = await Exchange(ResponsesMiddleware(app), [body[:9], body[9:]], headers=headers).run()

    assert exchange.text == "Hello"
    assert b"content-encoding" not in dict(app.headers)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_decoded_bytes_count(encoding: str) -> None:
    body = ENCODERS[encoding](json.dumps(request(input="x" * 5_000_000)).encode())
    headers = [(b"content-encoding", encoding.encode())]

    exchange = await Exchange(limited(ChatApp(), max_request_bytes=1_000_000), body, headers=headers).run()

    assert len(body) < 10_000
    assert exchange.status == 413


@pytest.mark.parametrize("encoding", [b"br", b"gzip, gzip", b"nonsense", b"\xff\x00", b"gzip, identity, zstd"])
async def test_another_encoding_is_a_415(encoding: bytes) -> None:
    app = ChatApp()

    exchange = await Exchange(ResponsesMiddleware(app), request(), headers=[(b"content-encoding", encoding)]).run()

    assert (exchange.status, exchange.error["type"]) == (415, "invalid_request_error")
    assert app.scopes == []


@pytest.mark.parametrize("encoding", [b"identity", b""])
async def test_no_encoding_is_no_encoding(encoding: bytes) -> None:
    exchange = await Exchange(
        ResponsesMiddleware(ChatApp()), request(), headers=[(b"content-encoding", encoding)]
    ).run()

    assert exchange.status == 200


@pytest.mark.parametrize("damaged", [b"not gzip", gzip.compress(b'{"model": "m"}', mtime=0)[:-9]])
async def test_a_damaged_encoding_is_a_400(damaged: bytes) -> None:
    app = ChatApp()

    exchange = await Exchange(ResponsesMiddleware(app), damaged, headers=[(b"content-encoding", b"gzip")]).run()

    assert (exchange.status, exchange.error["type"]) == (400, "invalid_request_error")
    assert app.scopes == []


# -- too many
async def test_the_request_too_many_is_a_503_with_retry_after_at_once() -> None:
    gate = anyio.Event()
    middleware = limited(ChatApp(streamed(frame("Hel"), gate, *frames("lo"))), max_concurrent=1)

    async with Exchange(middleware, request(stream=True)).running() as first:
        await first.until(b'"delta":"Hel"')
        refused = await ask(middleware, stream=True)
        gate.set()
    after = await ask(middleware, stream=True)

    assert (refused.status, refused.header(b"retry-after")) == (503, [b"1"])
    assert refused.error["code"] == "server_is_overloaded"
    assert (first.text, after.text) == ("Hello", "Hello")


async def test_a_bad_request_frees_its_place() -> None:
    middleware = limited(ChatApp(), max_concurrent=1)

    for _ in range(3):
        assert (await Exchange(middleware, b"[]").run()).status == 400


async def test_one_request_does_not_hold_up_another() -> None:
    gate = anyio.Event()
    middleware = ResponsesMiddleware(ChatApp(streamed(frame("Hel"), gate, *frames("lo")), whole(completion("quick"))))

    async with Exchange(middleware, request(stream=True)).running() as first:
        await first.until(b'"delta":"Hel"')
        began = time.monotonic()
        quick = await ask(middleware)
        took = time.monotonic() - began
        gate.set()

    assert quick.text == "quick"
    assert took < PATIENCE / 5
