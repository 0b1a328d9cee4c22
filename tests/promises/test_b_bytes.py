"""B. Fidelity of bytes: what the upstream said is what the client reads, however the bytes were cut and wrapped."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from pathlib import Path
from typing import Any

import anyio
import pytest
import zstandard
from asgi_client import request
from fronts import bridge_of, serving
from misbehaving import (
    CUT,
    DONE,
    JSON,
    SSE,
    Answer,
    Step,
    by_model,
    chunk,
    completion,
    ending,
    frame,
    says,
    streamed,
    whole,
)
from replay import stream_of, transcoder_of
from wire import fetch

from responses_middleware import ResponsesMiddleware
from responses_middleware.errors import ResponsesError
from responses_middleware.stream.body import AnswerBody

pytestmark = pytest.mark.anyio

UNI = "é漢😀\u00a0ß"
ODD_LINES = "a\u2028b\u2029c\u0085d\u000be\u001cf\u000cg"  # not one of them ends a line of SSE
TEXTS = ["Hel", "lo", f" {UNI}", f" {ODD_LINES}", " ."]
TEXT = "".join(TEXTS)
STREAM = b"".join([*says(*TEXTS), *ending()])  # type: ignore[list-item]

FIXTURES = Path(__file__).parents[1] / "fixtures"
OWN = {
    "own": STREAM,
    "own, CRLF": STREAM.replace(b"\n", b"\r\n"),
    "own, CR": STREAM.replace(b"\n", b"\r"),
    "own, BOM": b"\xef\xbb\xbf" + STREAM,
    "own, no space": STREAM.replace(b"data: ", b"data:"),
    "own, other fields": STREAM.replace(b"data: ", b": ping\nid: 7\nretry: 9\nevent: message\nnocolon\ndata: "),
    "own, two data lines": STREAM.replace(b'"object":', b'\ndata: "object":'),
    "own, JSON": json.dumps(completion(TEXT), ensure_ascii=False, indent=1).encode(),
    "own, JSON lines": b"".join(
        line.removeprefix(b"data: ") + b"\n" for line in STREAM.split(b"\n\n") if line.startswith(b"data: {")
    ),
}


def samples() -> dict[str, bytes]:
    files = sorted(path for path in (FIXTURES / "dialects").glob("**/*") if path.suffix == ".sse")
    return OWN | {path.stem: path.read_bytes() for path in files}


# -- B1
def payloads(pieces: list[bytes]) -> list[bytes]:
    body = AnswerBody(max_frame=1 << 20, max_document=1 << 22)
    return [payload for piece in pieces for payload in body.feed(piece)] + body.finish()


@pytest.mark.parametrize("name", samples())
def test_b1_every_split_point_gives_the_same_payloads(name: str) -> None:
    body = samples()[name]
    expected = payloads([body])

    assert expected
    assert payloads([body[at : at + 1] for at in range(len(body))]) == expected
    for at in range(1, len(body)):
        assert payloads([body[:at], body[at:]]) == expected, at


def written(pieces: list[bytes]) -> object:
    """What the client reads; or the error, if the answer is refused before anything was said."""
    transcoder = transcoder_of(stream_of())
    try:
        out = [transcoder.feed(piece) for piece in pieces]
        out.append(transcoder.finish())
    except ResponsesError as error:
        return error.body()
    return b"".join(out) + transcoder.last_frames()


@pytest.mark.parametrize("name", samples())
def test_b1_the_events_are_the_same_bytes_wherever_the_answer_is_cut(name: str) -> None:
    body = samples()[name]
    expected = written([body])
    places = range(1, len(body), max(1, len(body) // 150))

    for at in places:
        assert written([body[:at], body[at:]]) == expected, at
    for size in (1, 2, 3, 7, 61):
        assert written([body[at : at + size] for at in range(0, len(body), size)]) == expected, size
    edges = [0, *itertools.accumulate((1, 50, 3, 400, 2, 90, 1, 1)), len(body)]
    assert written([body[a:b] for a, b in itertools.pairwise(edges)]) == expected


async def test_b1_every_way_to_write_an_sse_stream_is_read_on_the_wire(form: str, subtests: Any) -> None:
    cut = {name: [body[at : at + 7] for at in range(0, len(body), 7)] for name, body in OWN.items()}
    table = {name: Answer(pieces, headers=[JSON if "JSON" in name else SSE]) for name, pieces in cut.items()}
    table["one write"] = Answer([STREAM])
    table["byte by byte"] = Answer([STREAM[at : at + 1] for at in range(len(STREAM))])
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            with subtests.test(name):
                reply = await bridge.ask(model=name)

                assert reply.outcome == "completed"
                assert reply.deltas == reply.text == TEXT


# -- B2
ODD: dict[str, tuple[list[Step], str]] = {
    "a lone surrogate": ([b'data: {"choices":[{"index":0,"delta":{"content":"a\\ud83d"}}]}\n\n', *says("b")], "a"),
    "a character in two frames": (
        [
            b'data: {"choices":[{"index":0,"delta":{"content":"a\\ud83d"}}]}\n\n',
            b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00b"}}]}\n\n',
        ],
        "a😀b",
    ),
    "bytes that are not UTF-8": ([b'data: {"choices":[{"index":0,"delta":{"content":"a\xff\xfe"}}]}\n\n'], "a"),
    "an escaped NUL": ([b'data: {"choices":[{"index":0,"delta":{"content":"a\\u0000b"}}]}\n\n'], "a\0b"),
    "NaN and Infinity": (
        [
            *says("ab"),
            b'data: {"choices":[],"usage":{"prompt_tokens":NaN,"completion_tokens":Infinity,"total_tokens":1e999}}\n\n',
        ],
        "ab",
    ),
    "an integer past 64 bit": (
        [*says("ab"), b'data: {"choices":[],"usage":{"prompt_tokens":9999999999999999999999}}\n\n'],
        "ab",
    ),
    "a float past 64 bit": (
        [*says("ab"), b'data: {"choices":[],"usage":{"prompt_tokens":1e999,"completion_tokens":1}}\n\n'],
        "ab",
    ),
    "control characters": (
        [b'data: {"choices":[{"index":0,"delta":{"content":"a\\u001b[31m\\u0007b"}}]}\n\n'],
        "a\x1b[31m\x07b",
    ),
}  # fmt: skip


async def test_b2_every_event_is_utf8_and_json_whatever_the_upstream_wrote(form: str, subtests: Any) -> None:
    table = {name: Answer([*steps, frame(chunk(finish="stop")), DONE]) for name, (steps, _) in ODD.items()}
    async with bridge_of(form, by_model(table)) as bridge:
        for name, (_, text) in ODD.items():
            with subtests.test(name):
                reply = await bridge.ask(model=name)  # checks each frame

                assert reply.outcome in ("completed", "failed")
                assert reply.text.startswith(text)


async def test_b2_a_json_answer_is_utf8_and_json_too(form: str, subtests: Any) -> None:
    table = {
        name: whole(b'{"choices":[{"index":0,"message":{"content":"a%b"},"finish_reason":"stop"}]}' % odd)
        for name, odd in {"surrogate": b"\\ud83d", "not UTF-8": b"\xff", "NUL": b"\\u0000"}.items()
    }  # fmt: skip
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            with subtests.test(name):
                reply = await bridge.ask(model=name, stream=False)

                json.dumps(reply.json, ensure_ascii=False).encode()  # no half of a pair
                assert reply.text.startswith("a")


# -- B3
ENCODED = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.compress,
    "gzip, deflate": lambda body: zlib.compress(gzip.compress(body)),
}
WHOLE = json.dumps(completion(TEXT)).encode()


async def test_b3_encodings_of_the_upstream_are_undone(form: str, subtests: Any) -> None:
    for stream, body, kind in ((True, STREAM, SSE), (False, WHOLE, JSON)):
        table = {}
        for name, encode in ENCODED.items():
            data = encode(body)
            pieces: list[Step] = [data[at : at + 9] for at in range(0, len(data), 9)]
            table[name] = Answer(pieces, headers=[kind, (b"content-encoding", name.encode())])
        async with bridge_of(form, by_model(table)) as bridge:
            for name in table:
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    assert reply.outcome == "completed"
                    assert reply.text == TEXT
                    assert reply.header("content-encoding") == []


async def test_b3_gzip_arrives_as_it_is_written_not_at_the_end(form: str) -> None:
    go_on = anyio.Event()
    machine = zlib.compressobj(wbits=31)
    first = machine.compress(b"".join(says("Hel"))) + machine.flush(zlib.Z_SYNC_FLUSH)  # type: ignore[arg-type]
    rest = machine.compress(b"".join([*says("lo"), *ending()])) + machine.flush()  # type: ignore[list-item]
    answer = Answer([first, go_on, rest], headers=[SSE, (b"content-encoding", b"gzip")])
    async with bridge_of(form, answer) as bridge, bridge.asking() as caller:
        await caller.until(b'"delta":"Hel"')
        go_on.set()
        reply = await caller.rest()

    assert reply.text == "Hello"


async def test_b3_validators_and_lengths_of_the_old_body_are_gone(form: str, subtests: Any) -> None:
    stale = [(b"etag", b'"x"'), (b"content-md5", b"xxx"), (b"digest", b"sha-256=xxx"), (b"last-modified", b"then"),
             (b"content-range", b"bytes 0-1/2"), (b"accept-ranges", b"bytes"), (b"repr-digest", b"sha-256=:eA==:"),
             (b"content-disposition", b"attachment"), (b"x-request-id", b"keep-me")]  # fmt: skip
    table = {"sse": Answer([STREAM], headers=[SSE, *stale]), "json": whole(completion(TEXT), headers=[JSON, *stale])}
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    assert reply.clean
                    assert reply.text == TEXT
                    assert reply.header("x-request-id") == ["keep-me"]
                    assert not [key for key, _ in stale[:-1] if reply.header(key.decode())]
                    length = reply.header("content-length")
                    assert length == ([] if stream else [str(len(reply.body))])
                    assert len(reply.header("content-type")) == 1


@pytest.mark.parametrize("length", [b"3", b"999999"])
async def test_b3_a_stale_length_of_the_wrapped_app_reaches_no_client(anyio_backend: str, length: bytes) -> None:
    table = {
        "sse": Answer([STREAM], headers=[SSE, (b"content-length", length)]),
        "json": Answer([WHOLE], headers=[JSON, (b"content-length", length)]),
    }
    async with bridge_of("app", by_model(table)) as bridge:
        replies = [await bridge.ask(model=name, stream=stream) for name in table for stream in (True, False)]

    assert [(reply.clean, reply.text) for reply in replies] == [(True, TEXT)] * 4


# -- B4
HOP = [
    (b"connection", b"x-hop, keep-alive"),
    (b"x-hop", b"1"),
    (b"keep-alive", b"timeout=5"),
    (b"proxy-authenticate", b"Basic"),
    (b"proxy-connection", b"keep-alive"),
    (b"trailer", b"x-t"),
    (b"te", b"trailers"),
    (b"upgrade", b"h2c"),
]
OURS = {"x-hop", "keep-alive", "proxy-authenticate", "proxy-connection", "trailer", "te", "upgrade"}


async def test_b4_hop_by_hop_headers_of_an_answer_stay_out(form: str, subtests: Any) -> None:
    more = [*HOP, (b"server", b"upstream/1"), (b"date", b"then")]
    table = {"ok": streamed("Hel", "lo", headers=more), "no": whole({"error": "x"}, status=400, headers=more)}
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    assert reply.clean
                    assert not OURS & {key for key, _ in reply.headers}
                    assert "upstream/1" not in reply.header("server")
                    assert "then" not in reply.header("date")
                    assert all(len(reply.header(key)) <= 1 for key in ("server", "date", "connection"))


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/embeddings"])
@pytest.mark.parametrize(("form", "anyio_backend"), [("httpx", "asyncio"), ("httpx", "trio"), ("aiohttp", "asyncio")])
async def test_b4_hop_by_hop_headers_of_a_request_stay_out(form: str, anyio_backend: str, path: str) -> None:
    lines = [("TE", "trailers"), ("X-Hop", "1"), ("Keep-Alive", "5"), ("Proxy-Authorization", "Basic eDp5"),
             ("Proxy-Connection", "keep-alive"), ("Connection", "x-hop"), ("X-End-To-End", "kept")]  # fmt: skip
    async with bridge_of(form) as bridge:
        await fetch(bridge.url, json.dumps(request()).encode(), path=path, headers=lines)
        [asked] = bridge.asked

    assert asked.header(b"x-end-to-end") == [b"kept"]
    assert (
        not {b"x-hop", b"keep-alive", b"te", b"proxy-authorization", b"proxy-connection"} & dict(asked.headers).keys()
    )
    assert len(asked.header(b"host")) == len(asked.header(b"content-length")) == 1


# -- B5
BLOB = bytes(range(256)) * 300


def echo(status: int = 207) -> Any:
    return lambda asked: Answer(
        [asked.body[:1000], asked.body[1000:]],
        status=status,
        headers=[(b"content-type", b"application/x-odd"), (b"etag", b'"e"'), (b"x-own", b"1"), (b"x-own", b"2")],
    )


async def test_b5_other_paths_are_untouched_byte_for_byte(form: str, subtests: Any) -> None:
    async with bridge_of(form, echo()) as bridge:
        for path in ("/v1/embeddings", "/v1/chat/completions", "/v1/responsesX", "/v1/audio/x%2Fy?a=%20b&a=c"):
            with subtests.test(path):
                reply = await fetch(bridge.url, BLOB, path=path, headers=[("X-Mine", "1"), ("Content-Type", "x/y")])
                asked = bridge.asked[-1]

                assert (reply.status, reply.body, reply.clean) == (207, BLOB, True)
                assert reply.header("x-own") == ["1", "2"]
                assert (reply.header("etag"), reply.header("content-type")) == (['"e"'], ["application/x-odd"])
                assert (asked.method, asked.body, asked.header(b"x-mine")) == ("POST", BLOB, [b"1"])


async def test_b5_other_methods_and_encoded_bodies_pass_as_they_are(form: str) -> None:
    encoded = Answer([gzip.compress(BLOB)], headers=[(b"content-encoding", b"gzip")])
    async with bridge_of(form, encoded) as bridge:
        reply = await fetch(bridge.url, path="/v1/files/x", method="DELETE", headers=[("Accept-Encoding", "gzip")])

    assert reply.body == gzip.compress(BLOB)
    assert reply.header("content-encoding") == ["gzip"]
    assert bridge.asked[0].method == "DELETE"


@pytest.mark.parametrize(("form", "anyio_backend"), [("httpx", "asyncio"), ("httpx", "trio"), ("aiohttp", "asyncio")])
async def test_b5_an_upstream_that_does_not_answer_another_path_is_an_error_object(
    form: str, anyio_backend: str
) -> None:
    async with bridge_of(form, Answer([], before=[CUT])) as bridge:
        reply = await fetch(bridge.url, path="/v1/files", method="GET")

    assert (reply.status, reply.clean) == (502, True)
    assert reply.error["type"] == "server_error"


async def test_b5_other_scopes_are_the_very_same_objects() -> None:
    seen: list[tuple[Any, ...]] = []

    async def app(*arguments: Any) -> None:
        seen.append(arguments)

    async def receive() -> Any: ...
    async def send(message: Any) -> None: ...

    scopes: list[dict[str, Any]] = [
        {"type": "websocket", "path": "/ws", "headers": []},
        {"type": "http", "method": "GET", "path": "/", "headers": []},
        {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": []},
        {"type": "http", "method": "POST", "path": "/v2/responses", "headers": []},
        {"type": "anything else"},
    ]
    for scope in scopes:
        await ResponsesMiddleware(app)(scope, receive, send)

    assert [(a is b, c is receive, d is send) for (a, c, d), b in zip(seen, scopes, strict=True)] == [(True,) * 3] * 5


async def test_b5_a_websocket_of_the_wrapped_app_works(anyio_backend_name: str) -> None:
    if anyio_backend_name != "asyncio":  # the client is asyncio's; the scope's way is the same
        return
    from websockets.asyncio.client import connect

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            raise NotImplementedError
        await receive()
        await send({"type": "websocket.accept"})
        message = await receive()
        await send({"type": "websocket.send", "text": message["text"] + " " + scope["path"]})
        await send({"type": "websocket.close", "code": 1000})

    async with (
        serving(ResponsesMiddleware(app)) as url,
        connect(url.replace("http", "ws") + "/ws", proxy=None) as websocket,
    ):
        await websocket.send("hello")
        assert await websocket.recv() == "hello /ws"


async def test_b5_the_lifespan_of_the_wrapped_app_runs_with_its_state(anyio_backend: str) -> None:
    from contextlib import asynccontextmanager

    from starlette.applications import Starlette

    steps: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Any) -> Any:
        steps.append("up")
        yield {"shared": 1}
        steps.append("down")

    app = Starlette(lifespan=lifespan)
    app.add_middleware(ResponsesMiddleware)
    async with serving(app):
        assert steps == ["up"]
    assert steps == ["up", "down"]
