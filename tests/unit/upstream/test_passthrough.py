from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import httpx
import pytest

from responses_middleware.errors import UpstreamConnectionError
from responses_middleware.options import Limits
from responses_middleware.upstream.http import HttpUpstream
from responses_middleware.upstream.passthrough import PassThrough

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from starlette.types import Message, Scope

    Handler = (
        Callable[[httpx.Request], httpx.Response] | Callable[[httpx.Request], Coroutine[None, None, httpx.Response]]
    )

pytestmark = pytest.mark.anyio

BASE = "http://host:8000/api/v1"


class Client:
    """The ASGI side of a client: what it says is given, what it gets is written down; then it waits, or leaves."""

    def __init__(self, *messages: Message, leaves: anyio.Event | None = None) -> None:
        self._messages = list(messages) or [{"type": "http.request", "body": b"", "more_body": False}]
        self._leaves = leaves or anyio.Event()
        self.got: list[Message] = []

    async def receive(self) -> Message:
        if self._messages:
            return self._messages.pop(0)
        await self._leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.got.append(message)

    @property
    def status(self) -> int:
        return int(self.got[0]["status"])

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        return list(self.got[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.got[1:])


class Echo:
    """An upstream that remembers its requests, bodies read."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.requests.append(request)
        return httpx.Response(200, content=b"ok")


def http(method: str, path: str, **scope: Any) -> Scope:
    return {"type": "http", "method": method, "path": path, "query_string": b"", "headers": [], **scope}


async def run(scope: Scope, client: Client, handler: Handler, *, base: str = BASE, **options: Any) -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(handler), trust_env=False) as http_client:
        upstream = HttpUpstream(base, client=http_client, limits=Limits(), **options)
        with anyio.fail_after(10):
            await PassThrough(upstream, "/v1")(scope, client.receive, client.send)


async def url_of(scope: Scope, base: str = BASE) -> str:
    echo = Echo()
    await run(scope, Client(), echo, base=base)
    return str(echo.requests[0].url)


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/v1/models", "http://host:8000/api/v1/models"),
        ("/v1", "http://host:8000/api/v1"),
        ("/v1/", "http://host:8000/api/v1/"),
        ("/health", "http://host:8000/api/health"),
        ("/v10/x", "http://host:8000/api/v10/x"),
        ("/", "http://host:8000/api/"),
        ("//other.host/x", "http://host:8000/api//other.host/x"),
        ("/v1/é x?#", "http://host:8000/api/v1/%C3%A9%20x%3F%23"),
    ],
)
async def test_a_path_goes_below_or_beside_the_base(path: str, url: str) -> None:
    assert await url_of(http("GET", path)) == url


async def test_root_path_is_not_passed_on() -> None:
    assert await url_of(http("GET", "/root/v1/models", root_path="/root")) == f"{BASE}/models"


async def test_the_path_stays_encoded_as_the_client_wrote_it() -> None:
    scope = http("GET", "/v1/models/org/name", raw_path=b"/v1/models/org%2Fname")

    assert await url_of(scope) == f"{BASE}/models/org%2Fname"


async def test_a_raw_path_that_says_something_else_is_not_used() -> None:
    assert await url_of(http("GET", "/v1/models", raw_path=b"/v1/other")) == f"{BASE}/models"


async def test_the_query_of_the_client_comes_behind_that_of_the_base() -> None:
    scope = http("GET", "/v1/models", query_string=b"b=2%20&c=%C3%A9")

    assert await url_of(scope, BASE + "?a=1") == f"{BASE}/models?a=1&b=2%20&c=%C3%A9"


@pytest.mark.parametrize("path", ["/v1/../admin", "/v1/./x", "/..", "/v1/..\\x", "/v1/a/.."])
async def test_no_path_leads_out_of_the_base(path: str) -> None:
    client, echo = Client(), Echo()

    await run(http("GET", path, raw_path=path.replace("..", "%2e%2e").encode()), client, echo)

    assert client.status == 404
    assert echo.requests == []


async def test_beside_a_base_without_the_prefix_there_is_nothing() -> None:
    client = Client()

    await run(http("GET", "/health"), client, Echo(), base="http://host/openai")

    assert client.status == 404
    assert json.loads(client.body)["error"]["message"] == "Invalid URL (GET /health)"


@pytest.mark.parametrize("method", ["TRACE", "CONNECT"])
async def test_methods_that_would_show_the_key_are_refused(method: str) -> None:
    client, echo = Client(), Echo()

    await run(http(method, "/v1/models"), client, echo)

    assert client.status == 405
    assert (b"allow", b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") in client.headers
    assert echo.requests == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PATCH", "PUT"])
async def test_every_other_method_is_passed_on(method: str) -> None:
    echo = Echo()

    await run(http(method, "/v1/models"), Client(), echo)

    assert echo.requests[0].method == method


async def test_headers_of_our_origin_stay_and_the_body_is_described() -> None:
    headers = [
        (b"host", b"ours"),
        (b"cookie", b"a=1"),
        (b"x-forwarded-for", b"10.0.0.1"),
        (b"authorization", b"Bearer client"),
        (b"content-type", b"multipart/form-data; boundary=x"),
        (b"content-length", b"3"),
    ]
    echo = Echo()

    scope = http("POST", "/v1/files", headers=headers)
    await run(scope, Client({"type": "http.request", "body": b"abc"}), echo, api_key="ours")

    request = echo.requests[0]
    assert request.content == b"abc"
    assert request.headers["host"] == "host:8000"
    assert request.headers["authorization"] == "Bearer ours"
    assert request.headers["content-type"] == "multipart/form-data; boundary=x"
    assert request.headers["content-length"] == "3"
    assert request.headers["accept-encoding"] == "identity"
    assert not {"cookie", "x-forwarded-for"} & set(request.headers)


@pytest.mark.parametrize(
    ("path", "sent"),
    [("/v1", "Bearer sk"), ("/v1/models", "Bearer sk"), ("/health", None), ("/v10/models", None), ("/", None)],
)
async def test_the_key_is_sent_below_the_base_alone(path: str, sent: str | None) -> None:
    echo = Echo()

    client = [(b"authorization", b"Bearer client"), (b"x-api-key", b"client")]
    await run(http("GET", path, headers=client), Client(), echo, api_key="sk")

    assert echo.requests[0].headers.get("authorization") == sent
    assert "x-api-key" not in echo.requests[0].headers


async def test_a_body_in_parts_is_streamed_to_the_upstream() -> None:
    parts = [(b"", True), (b"a", True), (b"", True), (b"bc", False)]
    messages = [{"type": "http.request", "body": body, "more_body": more} for body, more in parts]
    echo = Echo()

    await run(http("POST", "/v1/files"), Client(*messages), echo)

    assert echo.requests[0].content == b"abc"
    assert echo.requests[0].headers["transfer-encoding"] == "chunked"


async def test_the_answer_is_passed_on_as_it_is() -> None:
    headers = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
        ("content-length", "7"),
        ("etag", "e"),
        ("x-request-id", "r"),
    ]
    dropped = [("server", "s"), ("date", "d"), ("connection", "x-hop"), ("x-hop", "1"), ("set-cookie", "a=1")]

    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(418, headers=headers + dropped, stream=httpx.ByteStream(b"as it is"[:7]))

    client = Client()
    await run(http("GET", "/v1/models"), client, handler)

    assert client.status == 418
    assert client.headers == [(name.encode(), value.encode()) for name, value in headers]
    assert client.body == b"as it i"
    assert client.got[-1]["more_body"] is False


class Stream(httpx.AsyncByteStream):
    """An answer in pieces; after them it waits for ever, or ends with an error."""

    def __init__(self, *pieces: bytes, error: Exception | None = None, waiting: anyio.Event | None = None) -> None:
        self._pieces = pieces
        self._error = error
        self._waiting = waiting
        self.closed = False
        self.read = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self.read += 1
            yield piece
        if self._waiting is not None:
            self._waiting.set()
            await anyio.sleep_forever()
        if self._error is not None:
            raise self._error

    async def aclose(self) -> None:
        self.closed = True


async def test_a_client_that_leaves_closes_the_answer() -> None:
    leaves = anyio.Event()
    stream = Stream(b"data: 1\n\n", waiting=leaves)
    client = Client(leaves=leaves)

    await run(http("GET", "/v1/stream"), client, lambda request: httpx.Response(200, stream=stream))

    assert stream.closed
    assert client.got[-1] == {"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True}


async def test_a_client_that_leaves_before_the_headers_cancels_the_request() -> None:
    leaves = anyio.Event()
    cancelled = []

    async def handler(request: httpx.Request) -> httpx.Response:
        leaves.set()
        try:
            await anyio.sleep_forever()
        except BaseException:
            cancelled.append(True)
            raise
        raise AssertionError

    client = Client(leaves=leaves)
    await run(http("GET", "/v1/stream"), client, handler)

    assert cancelled == [True]
    assert client.got == []


async def test_half_a_body_is_no_request() -> None:
    leaves = anyio.Event()
    leaves.set()
    client = Client({"type": "http.request", "body": b"half", "more_body": True}, leaves=leaves)
    echo = Echo()

    await run(http("POST", "/v1/files"), client, echo)

    assert echo.requests == []
    assert client.got == []


async def test_the_upstream_is_read_no_faster_than_the_client_takes() -> None:
    stream = Stream(b"1", b"2", b"3")
    ahead: list[int] = []

    class Slow(Client):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if message.get("body"):
                await anyio.lowlevel.checkpoint()
                ahead.append(stream.read - int(message["body"]))

    await run(http("GET", "/v1/stream"), Slow(), lambda request: httpx.Response(200, stream=stream))

    assert ahead == [0, 0, 0]


async def test_no_connection_is_a_502_in_the_form_of_openai() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("host:8000 refused")

    client = Client()
    await run(http("GET", "/v1/models"), client, handler)

    assert client.status == 502
    assert json.loads(client.body)["error"]["message"] == "could not connect to the upstream"


async def test_a_cut_answer_is_never_ended_as_if_it_were_whole() -> None:
    client = Client()
    stream = Stream(b"half", error=httpx.RemoteProtocolError("cut"))

    with pytest.raises(UpstreamConnectionError, match="broke"):
        await run(http("GET", "/v1/models"), client, lambda request: httpx.Response(200, stream=stream))

    assert client.got[-1]["more_body"] is True


async def test_the_error_of_a_client_that_is_gone_is_raised_as_it_is() -> None:
    failure = OSError("gone")

    class Gone(Client):
        async def send(self, message: Message) -> None:
            raise failure

    with pytest.raises(OSError, match="gone") as caught:
        await run(http("GET", "/v1/models"), Gone(), Echo())

    assert caught.value is failure


async def test_waits_are_those_of_the_limits() -> None:
    echo = Echo()

    await run(http("GET", "/v1/models"), Client(), echo)

    assert echo.requests[0].extensions["timeout"] == {"connect": 5.0, "read": 600.0, "write": 600.0, "pool": 5.0}


async def test_a_websocket_gets_404_where_the_server_can_say_it() -> None:
    client = Client({"type": "websocket.connect"})

    await run({"type": "websocket", "path": "/x", "extensions": {"websocket.http.response": {}}}, client, Echo())

    assert [message["type"] for message in client.got] == [
        "websocket.http.response.start",
        "websocket.http.response.body",
    ]
    assert client.status == 404


async def test_a_websocket_is_closed_where_the_server_cannot() -> None:
    client = Client({"type": "websocket.connect"})

    await run({"type": "websocket", "path": "/x"}, client, Echo())

    assert client.got == [{"type": "websocket.close", "code": 1000}]


async def test_the_lifespan_is_answered() -> None:
    client = Client({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})

    await run({"type": "lifespan"}, client, Echo())

    assert [message["type"] for message in client.got] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
