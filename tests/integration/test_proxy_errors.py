"""An upstream URL that refuses, breaks or talks nonsense: the client gets the status while there is none yet, later
`response.failed` with all text kept."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
import respx
from asgi_client import Exchange, ask, request
from chat_app import DONE, JSON, ChatApp, chat_server, completion, frame, frames, http, http_stream

from responses_middleware import Limits, ResponsesMiddleware, ResponsesProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio

URL = "http://upstream.test/v1"
CHAT = f"{URL}/chat/completions"
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # making a real one for each client takes longer than all else
BROKEN = ConnectionResetError()  # in a script of the socket server: hang up


@pytest.fixture
async def client(anyio_backend: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=NO_TLS) as client:
        yield client


async def answer_to(client: httpx.AsyncClient, response: httpx.Response, *, stream: bool) -> Exchange:
    """What the client gets when the upstream answers so."""
    with respx.mock() as router:
        route = router.post(CHAT).mock(return_value=response)
        exchange = await ask(ResponsesProxy(URL, client=client), stream=stream)
    assert route.call_count == 1
    return exchange


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529])
async def test_a_refusal_keeps_status_message_and_retry_after(
    client: httpx.AsyncClient, status: int, stream: bool
) -> None:
    error = {"message": "because of something", "type": "some_type", "param": None, "code": "some_code"}
    headers = {"retry-after": "7", "retry-after-ms": "7000", "x-should-retry": "false", "x-request-id": "r1"}

    exchange = await answer_to(client, httpx.Response(status, json={"error": error}, headers=headers), stream=stream)

    assert (exchange.status, exchange.json) == (status, {"error": error})
    for name, value in headers.items():
        assert exchange.header(name.encode()) == [value.encode()]


SHAPES: list[tuple[Any, str]] = [
    ({"error": {"message": "words"}}, "words"),
    ({"error": "words"}, "words"),
    ([{"error": {"message": "words", "code": 400}}], "words"),
    ({"object": "error", "message": "words", "code": 400}, "words"),
    ({"detail": "words"}, "words"),
    ({"detail": [{"loc": ["body", "model"], "msg": "words"}]}, "words"),
    ({"message": "words"}, "words"),
    ({"error": {"error": {"message": "words"}}}, "words"),
]


@pytest.mark.parametrize(("body", "message"), SHAPES)
async def test_the_words_are_found_in_every_shape(client: httpx.AsyncClient, body: Any, message: str) -> None:
    exchange = await answer_to(client, httpx.Response(400, json=body), stream=True)

    assert (exchange.status, exchange.error["message"]) == (400, message)
    assert list(exchange.error) == ["message", "type", "param", "code"]
    assert exchange.error["type"] == "invalid_request_error"


GARBAGE = {
    "HTML": b"<html><head><title>502</title></head><body>nginx/1.2 at 10.0.0.1</body></html>",
    "nothing": b"",
    "blank": b" \n",
    "a traceback": b'Traceback (most recent call last):\n  File "/srv/x.py", line 1\nKeyError: nginx',
    "cut JSON": b'{"error": {"message": "nginx',
    "bytes": b"\xff\xfe\x00nginx",
    "null": b"null",
    "a number": b"5",
    "an empty list": b"[]",
    "an empty object": b"{}",
    "an error that is null": b'{"error": null}',
    "a page in JSON": b'{"detail": "<html>nginx</html>"}',
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("status", [401, 429, 502])
@pytest.mark.parametrize("name", GARBAGE)
async def test_an_error_body_that_is_none_is_replaced(
    client: httpx.AsyncClient, name: str, status: int, stream: bool
) -> None:
    exchange = await answer_to(client, httpx.Response(status, content=GARBAGE[name]), stream=stream)

    assert exchange.status == status
    assert exchange.header(b"content-type") == [b"application/json"]
    assert all(exchange.error[name] for name in ("message", "type"))
    for hidden in (b"<html", b"/srv", b"10.0.0.1"):
        assert hidden not in exchange.body


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed_and_not_passed_on(client: httpx.AsyncClient, status: int) -> None:
    response = httpx.Response(status, headers={"location": "http://internal.test/v2/chat/completions"})

    exchange = await answer_to(client, response, stream=True)

    assert exchange.status == 502
    assert b"internal.test" not in exchange.body + repr(exchange.messages[0]["headers"]).encode()


async def test_what_the_upstream_says_of_its_own_origin_stays_there(client: httpx.AsyncClient) -> None:
    headers = [("set-cookie", "a=1"), ("server", "nginx"), ("strict-transport-security", "x"), ("alt-svc", "h3")]
    response = httpx.Response(200, json=completion(), headers=headers)

    exchange = await answer_to(client, response, stream=False)

    assert exchange.status == 200
    for name, _ in headers:
        assert exchange.header(name.encode()) == []


# -- connections
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize("stream", [True, False])
async def test_a_refused_connection_is_a_502(stream: bool) -> None:
    port = closed_port()

    exchange = await ask(ResponsesProxy(f"http://127.0.0.1:{port}/v1"), stream=stream)

    assert (exchange.status, exchange.error["type"]) == (502, "server_error")
    assert str(port) not in exchange.error["message"]
    assert "127.0.0.1" not in exchange.error["message"]


@pytest.mark.parametrize("stream", [True, False])
async def test_an_upstream_that_hangs_up_before_its_answer_is_a_502(stream: bool) -> None:
    async with chat_server([BROKEN]) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=stream)

    assert exchange.status == 502
    assert len(server.requests) == 1


async def test_a_broken_stream_fails_the_response_with_all_text_kept() -> None:
    async with chat_server(http_stream(frame("Hel"), frame("lo"), BROKEN)) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True)

    assert exchange.kinds[-2:] == ["error", "response.failed"]
    assert exchange.text == "Hello"
    assert exchange.response["output"][0]["status"] == "incomplete"
    assert len(server.requests) == 1


async def test_a_stream_that_ends_cleanly_without_a_finish_reason_fails() -> None:
    async with chat_server(http_stream(frame("Hel"))) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")


async def test_a_stream_that_breaks_in_front_of_its_first_frame_is_a_502() -> None:
    async with chat_server(http_stream(b": hello\n\n", BROKEN)) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True)

    assert exchange.status == 502


async def test_a_broken_stream_behind_its_done_is_completed() -> None:
    async with chat_server(http_stream(*frames("Hello"), BROKEN)) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True)

    assert exchange.kinds[-1] == "response.completed"


async def test_the_answer_ends_with_its_done_whatever_the_upstream_still_does() -> None:
    never = anyio.Event()
    async with chat_server(http_stream(*frames("Hello"), never)) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True)

        assert exchange.kinds[-1] == "response.completed"


async def test_broken_json_is_a_502() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n"
    async with chat_server([head + b'{"choices": [', BROKEN]) as server:
        exchange = await ask(ResponsesProxy(server.url))

    assert exchange.status == 502


async def test_a_silent_upstream_is_a_504() -> None:
    async with chat_server([anyio.Event()]) as server:
        exchange = await ask(ResponsesProxy(server.url, limits=Limits(idle_timeout=0.2)), stream=True)
        with anyio.fail_after(2):
            await server.left.wait()

    assert (exchange.status, exchange.error["code"]) == (504, "timeout")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("begun", [True, False])
async def test_a_client_that_leaves_ends_the_request_to_the_upstream(stream: bool, begun: bool) -> None:
    never = anyio.Event()
    async with (
        chat_server(http_stream(frame("Hel"), never) if begun else [never]) as server,
        Exchange(ResponsesProxy(server.url), request(stream=stream)).running() as exchange,
    ):
        if stream and begun:
            await exchange.until(b'"delta":"Hel"')
        else:
            await server.asked.wait()
        exchange.leave()
        with anyio.fail_after(2):
            await server.left.wait()

    assert b"response.completed" not in exchange.body


async def test_events_arrive_while_the_upstream_is_still_sending() -> None:
    gate = anyio.Event()
    async with (
        chat_server(http_stream(frame("Hel"), gate, *frames("lo"))) as server,
        Exchange(ResponsesProxy(server.url), request(stream=True)).running() as exchange,
    ):
        await exchange.until(b'"delta":"Hel"')
        ended = exchange.ended
        gate.set()

    assert not ended
    assert exchange.text == "Hello"


async def test_the_errors_of_a_middleware_with_an_upstream_url_are_the_same() -> None:
    async with chat_server(
        http({"error": {"message": "slow down"}}, status=429, headers=[JSON, (b"retry-after", b"7")])
    ) as server:
        exchange = await ask(ResponsesMiddleware(ChatApp(), upstream=server.url), stream=True)

    assert (exchange.status, exchange.error["message"], exchange.header(b"retry-after")) == (429, "slow down", [b"7"])


async def test_what_the_upstream_says_behind_its_answer_is_not_the_answer_to_the_next_request() -> None:
    extra = http(completion("stolen"))
    async with chat_server([*http(completion("first")), *extra], http(completion("second"))) as server:
        proxy = ResponsesProxy(server.url)
        first = await ask(proxy)
        second = await ask(proxy)

    assert second.text == "second"
    assert b"stolen" not in first.body + second.body


async def test_a_done_alone_is_no_answer() -> None:
    async with chat_server(http_stream(DONE)) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True)

    assert exchange.kinds[-2:] == ["error", "response.failed"]
    assert exchange.response["output"] == []
