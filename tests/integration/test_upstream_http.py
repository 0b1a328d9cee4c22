"""The URL upstream on real sockets, with each HTTP client that it may use, on asyncio and trio."""

from __future__ import annotations

import gc
import gzip
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import anyio
import httpx
import httpx2
import pytest
import respx
import zstandard
from raw_server import Record, ask, call, saying, saying_and_hanging_up, serving, upstream_of

from responses_middleware.errors import UpstreamConnectionError, UpstreamProtocolError, UpstreamTimeoutError
from responses_middleware.options import Limits
from responses_middleware.upstream.http import HttpUpstream

if TYPE_CHECKING:
    from anyio.abc import SocketStream

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024
SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def with_length(head: bytes, body: bytes) -> bytes:
    return b"%bcontent-length: %d\r\n\r\n%b" % (head, len(body), body)


def lines_of(request: bytes) -> dict[bytes, bytes]:
    lines = request.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    pairs = [line.split(b": ", 1) for line in lines]
    assert len({name.lower() for name, _ in pairs}) == len(pairs), "a header is doubled"
    return {name.lower(): value for name, value in pairs}


async def test_the_answer_is_pushed_with_lower_case_headers_and_duplicates(kind: str) -> None:
    head = SSE + b"X-Request-ID: r1\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\ntransfer-encoding: chunked\r\n\r\n"
    sink = Record()

    async with serving(saying(head, chunk(b"data: 1\n\n"), chunk(b"data: 2\n\n"), b"0\r\n\r\n")) as server:
        await ask(kind, server.url, sink)

    assert (sink.status, sink.text, sink.ended) == (200, b"data: 1\n\ndata: 2\n\n", True)
    assert sink.headers[:4] == [
        (b"content-type", b"text/event-stream"),
        (b"x-request-id", b"r1"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
    ]


async def test_the_request_is_the_chat_request_with_the_credential_of_the_client(kind: str) -> None:
    async with serving(saying(OK)) as server:
        await ask(
            kind,
            server.url + "?api-version=1",
            Record(),
            (b"authorization", b"Bearer client"),
            (b"cookie", b"session=1"),
            (b"origin", b"http://page"),
            (b"content-length", b"999"),
            (b"accept-encoding", b"gzip"),
            (b"connection", b"x-hop"),
            (b"x-hop", b"1"),
            (b"traceparent", b"00-1"),
        )

    request = server.requests[0]
    headers = lines_of(request)
    assert request.startswith(b"POST /v1/chat/completions?api-version=1 HTTP/1.1\r\n")
    assert request.endswith(b'\r\n\r\n{"a":1}')
    assert headers[b"authorization"] == b"Bearer client"
    assert headers[b"content-length"] == b"7"
    assert headers[b"content-type"] == b"application/json"
    assert headers[b"accept-encoding"] == b"identity"
    assert headers[b"traceparent"] == b"00-1"
    assert headers[b"host"] == server.url[7:-3].encode()
    assert not {b"cookie", b"origin", b"x-hop", b"transfer-encoding"} & set(headers)
    assert headers.get(b"connection") != b"close"  # a server that refuses a body unread would reset the connection
    if kind in ("fast", "plain"):  # not a client of the caller's
        assert not {b"accept", b"user-agent"} & set(headers)


async def test_a_switch_of_protocols_is_no_answer(kind: str) -> None:
    switch = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n"
    async with serving(saying(switch)) as server:
        with pytest.raises((UpstreamConnectionError, UpstreamProtocolError)) as caught:
            await ask(kind, server.url, Record())

    assert caught.value.status == 502


async def test_the_key_takes_the_place_of_the_credential(kind: str) -> None:
    async with serving(saying(OK)) as server:
        await ask(kind, server.url, Record(), (b"authorization", b"Bearer client"), (b"api-key", b"c"), api_key="ours")

    headers = lines_of(server.requests[0])
    assert headers[b"authorization"] == b"Bearer ours"
    assert b"api-key" not in headers


async def test_cookies_of_an_answer_are_not_sent_with_the_next_request(kind: str) -> None:
    async with (
        serving(saying(with_length(SSE + b"set-cookie: a=1; path=/\r\n", b"ok"))) as server,
        upstream_of(kind, server.url) as upstream,
    ):
        await upstream.send(call(), Record())
        await upstream.send(call(), Record())

    assert len(server.requests) == 2
    assert b"cookie" not in lines_of(server.requests[1])


@pytest.mark.parametrize("status", [b"302 Found", b"307 Temporary Redirect"])
async def test_a_redirect_is_an_answer(kind: str, status: bytes) -> None:
    sink = Record()

    async with serving(saying(b"HTTP/1.1 %b\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n" % status)) as server:
        await ask(kind, server.url, sink)

    assert sink.status == int(status[:3])
    assert len(server.requests) == 1


async def test_200_requests_do_not_wait_for_each_other(kind: str) -> None:
    together = anyio.Event()
    waiting = 0

    async def answer(stream: SocketStream) -> None:
        nonlocal waiting
        waiting += 1
        if waiting == 200:
            together.set()
        await together.wait()
        await stream.send(OK)

    sinks = [Record() for _ in range(200)]
    async with serving(answer) as server, upstream_of(kind, server.url) as upstream, anyio.create_task_group() as group:
        for sink in sinks:
            group.start_soon(upstream.send, call(), sink)

    assert all(sink.ended for sink in sinks)


@pytest.mark.parametrize("kind", ["fast", "plain"], indirect=True)
async def test_bytes_behind_an_answer_never_reach_the_next_request(kind: str) -> None:
    sinks = [Record() for _ in range(3)]

    async with (
        serving(saying(OK + b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nEVIL")) as server,
        upstream_of(kind, server.url) as upstream,
    ):
        for sink in sinks:
            await upstream.send(call(), sink)

    assert [sink.text for sink in sinks] == [b"ok"] * 3


@pytest.mark.parametrize("kind", ["fast", "plain"], indirect=True)
async def test_a_connection_is_closed_behind_its_answer(kind: str) -> None:
    async with serving(saying(OK)) as server, upstream_of(kind, server.url) as upstream:
        await upstream.send(call(), Record())

        await server.left.wait()


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        (b"gzip", gzip.compress(b"data: 1\n\n", mtime=0)),
        (b"deflate", zlib.compress(b"data: 1\n\n")),
        (b"zstd", zstandard.ZstdCompressor().compress(b"data: 1\n\n")),
    ],
)
async def test_encodings_are_undone(kind: str, encoding: bytes, encoded: bytes) -> None:
    sink = Record()

    async with serving(saying(with_length(SSE + b"content-encoding: %b\r\n" % encoding, encoded))) as server:
        await ask(kind, server.url, sink)

    assert (sink.text, sink.ended) == (b"data: 1\n\n", True)


async def test_a_truncated_encoding_is_damage(kind: str) -> None:
    sink = Record()

    async with serving(saying(with_length(SSE + b"content-encoding: gzip\r\n", gzip.compress(b"x")[:-4]))) as server:
        with pytest.raises(UpstreamProtocolError, match="damaged"):
            await ask(kind, server.url, sink)

    assert not sink.ended


async def test_a_bomb_comes_in_pieces_until_the_sink_has_enough(kind: str) -> None:
    bomb = gzip.compress(bytes(64 * MIB))
    sink = Record(stop_at=MIB)

    async with serving(saying(with_length(SSE + b"content-encoding: gzip\r\n", bomb))) as server:
        await ask(kind, server.url, sink)

    assert len(sink.text) == MIB
    assert not sink.ended


async def test_a_finished_sink_closes_the_connection(kind: str) -> None:
    async def answer(stream: SocketStream) -> None:
        await stream.send(SSE + b"transfer-encoding: chunked\r\n\r\n" + chunk(b"[DONE]"))

    sink = Record(stop_at=6)
    async with serving(answer) as server, upstream_of(kind, server.url) as upstream:
        await upstream.send(call(), sink)

        await server.left.wait()

    assert (sink.text, sink.ended) == (b"[DONE]", False)


@pytest.mark.parametrize("begun", [False, True])
async def test_cancellation_closes_the_connection(kind: str, begun: bool) -> None:
    waiting = anyio.Event()
    sink = Record()

    async def answer(stream: SocketStream) -> None:
        if begun:
            await stream.send(SSE + b"transfer-encoding: chunked\r\n\r\n" + chunk(b"data: 1\n\n"))
        waiting.set()

    async with serving(answer) as server, upstream_of(kind, server.url) as upstream:
        async with anyio.create_task_group() as group:
            group.start_soon(upstream.send, call(), sink)
            await (sink.began if begun else waiting).wait()
            group.cancel_scope.cancel()
        await server.left.wait()

    assert not sink.ended


async def test_an_error_of_the_sink_is_no_error_of_the_transport(kind: str) -> None:
    failure = OSError("client gone")

    async with (
        serving(saying(SSE + b"transfer-encoding: chunked\r\n\r\n" + chunk(b"data"))) as server,
        upstream_of(kind, server.url) as upstream,
    ):
        with pytest.raises(OSError, match="client gone") as caught:
            await upstream.send(call(), Record(fail=failure))
        await server.left.wait()

    assert caught.value is failure


async def test_nobody_listening_is_a_connection_error_without_names(kind: str) -> None:
    async with serving(saying(OK)) as server:
        pass

    with pytest.raises(UpstreamConnectionError) as caught:
        await ask(kind, server.url, Record())

    assert caught.value.message == "could not connect to the upstream"


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\ncontent-", b"220 smtp ready\r\n\r\n"])
async def test_no_answer_is_a_broken_connection(kind: str, said: bytes) -> None:
    async with serving(saying_and_hanging_up(said)) as server:
        with pytest.raises(UpstreamConnectionError) as caught:
            await ask(kind, server.url, Record())

    assert caught.value.message == "the connection to the upstream broke"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "said",
    [SSE + b"content-length: 99\r\n\r\ndata", SSE + b"transfer-encoding: chunked\r\n\r\n" + chunk(b"data")],
)
async def test_half_an_answer_is_a_broken_connection(kind: str, said: bytes) -> None:
    sink = Record()

    async with serving(saying_and_hanging_up(said)) as server:
        with pytest.raises(UpstreamConnectionError, match="broke"):
            await ask(kind, server.url, sink)

    assert (sink.text, sink.ended) == (b"data", False)


async def test_an_answer_may_end_with_its_connection(kind: str) -> None:
    sink = Record()

    async with serving(saying_and_hanging_up(SSE + b"\r\ndata")) as server:
        await ask(kind, server.url, sink)

    assert (sink.text, sink.ended) == (b"data", True)


@pytest.mark.parametrize("error", [httpx.ConnectTimeout, httpx.PoolTimeout, httpx2.ConnectTimeout])
async def test_no_connection_in_time_is_a_timeout(error: type[Exception]) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise error("10.0.0.1")

    async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
        with pytest.raises(UpstreamTimeoutError) as caught:
            await HttpUpstream("http://h/v1", client=client, limits=Limits()).send(call(), Record())

    assert (caught.value.message, caught.value.status) == ("could not connect to the upstream in time", 504)


async def test_the_clients_own_read_timeout_does_not_cut_a_model_that_thinks() -> None:
    async def handler(request: httpx.Request) -> httpx.Response:
        timeouts.update(request.extensions["timeout"])
        return httpx.Response(200)

    timeouts: dict[str, float | None] = {}
    async with httpx.AsyncClient(transport=httpx.MockTransport(handler), timeout=5) as client:
        await HttpUpstream("http://h/v1", client=client, limits=Limits(connect_timeout=3.0)).send(call(), Record())

    assert timeouts == {"connect": 3.0, "read": None, "write": None, "pool": 3.0}


async def test_a_client_of_the_caller_stays_open_and_keeps_its_headers() -> None:
    async with serving(saying(OK)) as server, httpx.AsyncClient(headers={"x-mine": "1", "cookie": "c=1"}) as client:
        upstream = HttpUpstream(server.url, client=client, limits=Limits())
        await upstream.send(call(), Record())
        await upstream.aclose()

        assert not client.is_closed

    headers = lines_of(server.requests[0])
    assert (headers[b"x-mine"], headers[b"cookie"]) == (b"1", b"c=1")


async def test_after_aclose_a_new_client_is_made(kind: str) -> None:
    sink = Record()

    async with serving(saying(OK)) as server, upstream_of(kind, server.url) as upstream:
        await upstream.send(call(), Record())
        await upstream.aclose()
        await upstream.send(call(), sink)

    assert sink.text == b"ok"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("kind", ["fast", "plain"], indirect=True)
def test_each_loop_has_a_client_that_is_closed_with_it(kind: str, backend: str) -> None:
    sink = Record.__new__(Record)
    upstreams: list[HttpUpstream] = []

    async def once() -> None:
        Record.__init__(sink)
        async with serving(saying(OK)) as server:
            if not upstreams:
                upstreams.append(HttpUpstream(server.url, limits=Limits()))
            try:
                await upstreams[0].send(call(), sink)
            except UpstreamConnectionError:  # another port the second time: a client was made, and asked
                sink.pieces.append(b"asked")

    anyio.run(once, backend=backend)
    first = sink.text
    anyio.run(once, backend=backend)
    gc.collect()  # an open session would warn here, and warnings are errors

    assert (first, sink.text) == (b"ok", b"asked")


async def test_a_mocked_httpx_client_is_enough_for_tests() -> None:
    sink = Record()

    with respx.mock(base_url="http://host/v1") as router:
        route = router.post("/chat/completions").respond(429, json={"error": {}}, headers={"retry-after": "3"})
        async with httpx.AsyncClient() as client:
            await HttpUpstream("http://host/v1", client=client, limits=Limits()).send(call(), sink)

    assert route.call_count == 1
    assert (sink.status, sink.text) == (429, b'{"error":{}}')
    assert (b"retry-after", b"3") in sink.headers


def test_no_http_client_is_imported_before_the_first_request() -> None:
    code = (
        "import sys; from responses_middleware.options import Limits; import responses_middleware.upstream.app;"
        "from responses_middleware.upstream.http import HttpUpstream; HttpUpstream('http://h/v1', limits=Limits());"
        "import responses_middleware.upstream.passthrough;"
        "print(sorted({'httpx', 'aiohttp', 'httpx_aiohttp', 'zstandard'} & set(sys.modules)))"
    )

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert finished.stdout == "[]\n"
