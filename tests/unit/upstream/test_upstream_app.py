from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from responses_middleware.errors import UpstreamProtocolError
from responses_middleware.upstream.app import AppUpstream
from responses_middleware.upstream.base import Headers, UpstreamCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio

START = {"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", b"text/plain"), (b"a", b"b")]}


class Record:
    """A sink that writes down what it gets; `stop` says when it has enough, `fail` what it raises at a body."""

    def __init__(self, *, stop: Callable[[bytes], bool] | None = None, fail: Exception | None = None) -> None:
        self.calls: list[Any] = []
        self.finished = False
        self.abandoned = False
        self._stop = stop
        self._fail = fail

    async def start(self, status: int, headers: Headers) -> None:
        self.calls.append((status, headers))

    async def body(self, data: bytes) -> None:
        if self._fail is not None:
            raise self._fail
        self.calls.append(data)
        self.finished = self._stop is not None and self._stop(data)

    async def end(self) -> None:
        self.calls.append("end")


async def gone() -> Message:
    return {"type": "http.disconnect"}


def call(**scope: Any) -> UpstreamCall:
    whole = {"type": "http", "method": "POST", "path": "/v1/responses", "headers": [], **scope}
    return UpstreamCall(body=b'{"a":1}', stream=True, scope=whole, receive=gone, path="/v1/chat/completions")


def body(data: bytes, *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


def saying(*messages: Message) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages:
            await send(message)

    return app


async def scope_of(outer: UpstreamCall) -> Scope:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await send(START)
        await send(body(b""))

    await AppUpstream(app).send(outer, Record())
    return seen[0]


async def test_status_headers_body_and_end_are_pushed() -> None:
    sink = Record()

    await AppUpstream(saying(START, body(b"a", more=True), body(b"b"))).send(call(), sink)

    assert sink.calls == [(200, [(b"content-type", b"text/plain"), (b"a", b"b")]), b"a", b"b", "end"]


async def test_an_empty_body_is_not_pushed() -> None:
    sink = Record()

    await AppUpstream(saying(START, body(b"", more=True), {"type": "http.response.body"})).send(call(), sink)

    assert sink.calls[1:] == ["end"]


async def test_the_inner_scope_is_a_chat_request() -> None:
    scope = await scope_of(call(method="GET", path="/x", raw_path=b"/x", headers=[(b"content-length", b"99")]))

    assert (scope["type"], scope["method"], scope["path"]) == ("http", "POST", "/v1/chat/completions")
    assert scope["headers"] == [(b"content-type", b"application/json"), (b"content-length", b"7")]
    assert scope["responses_middleware"] is True


async def test_the_raw_path_is_percent_encoded() -> None:
    outer = UpstreamCall(body=b"", stream=False, scope=call().scope, receive=gone, path="/é x/v1/chat/completions")

    assert (await scope_of(outer))["raw_path"] == b"/%C3%A9%20x/v1/chat/completions"


async def test_a_websocket_scope_becomes_http() -> None:
    scope = await scope_of(call(type="websocket", scheme="wss"))

    assert (scope["type"], scope["scheme"]) == ("http", "https")


async def test_the_state_is_the_same_object() -> None:
    state: dict[str, Any] = {}

    assert (await scope_of(call(state=state)))["state"] is state


async def test_the_scope_of_the_client_is_not_changed() -> None:
    outer = call(extensions={"http.response.pathsend": {}, "tls": {}}, headers=[(b"content-length", b"9")])
    before = {**outer.scope}

    inner = await scope_of(outer)

    assert outer.scope == before
    assert inner["extensions"] == {"tls": {}}


async def test_the_app_reads_the_body_once_and_then_waits_for_the_client() -> None:
    messages: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        messages.extend([await receive(), await receive()])
        await send(START)
        await send(body(b""))

    await AppUpstream(app).send(call(), Record())

    assert messages == [
        {"type": "http.request", "body": b'{"a":1}', "more_body": False},
        {"type": "http.disconnect"},
    ]


async def test_after_its_answer_the_app_is_told_that_the_request_ended() -> None:
    received: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send(START)
        await send(body(b"all"))
        received.append(await receive())

    outer = call()
    blocked = UpstreamCall(body=b"", stream=True, scope=outer.scope, receive=anyio.sleep_forever, path="/")  # type: ignore[arg-type]
    with anyio.fail_after(5):
        await AppUpstream(app).send(blocked, Record())

    assert received == [{"type": "http.disconnect"}]


async def test_background_work_runs_after_the_end_was_pushed() -> None:
    sink = Record()
    done: list[list[Any]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await saying(START, body(b"all"))(scope, receive, send)
        done.append(list(sink.calls))
        await send(body(b"too late"))

    await AppUpstream(app).send(call(), sink)

    assert done[0][-1] == "end"
    assert sink.calls == done[0]


async def test_a_finished_sink_gets_nothing_more() -> None:
    sink = Record(stop=lambda data: data == b"[DONE]")

    await AppUpstream(saying(START, body(b"[DONE]", more=True), body(b"more"))).send(call(), sink)

    assert sink.calls[1:] == [b"[DONE]"]


async def test_a_finished_sink_does_not_need_a_last_body() -> None:
    sink = Record(stop=lambda data: True)

    await AppUpstream(saying(START, body(b"x", more=True))).send(call(), sink)

    assert sink.calls[1:] == [b"x"]


async def test_an_app_without_an_answer_is_an_error() -> None:
    with pytest.raises(UpstreamProtocolError, match="the wrapped app did not answer"):
        await AppUpstream(saying()).send(call(), Record())


async def test_an_app_without_a_last_body_is_an_error() -> None:
    sink = Record()

    with pytest.raises(UpstreamProtocolError, match="ended its answer in the middle"):
        await AppUpstream(saying(START, body(b"a", more=True))).send(call(), sink)

    assert "end" not in sink.calls


@pytest.mark.parametrize("messages", [[body(b"a")], [START, START]])
async def test_messages_out_of_order_are_an_error(messages: list[Message]) -> None:
    with pytest.raises(UpstreamProtocolError, match="the wrapped app"):
        await AppUpstream(saying(*messages)).send(call(), Record())


async def test_other_messages_are_ignored() -> None:
    sink = Record()

    await AppUpstream(saying({"type": "http.response.debug"}, START, body(b"a"))).send(call(), sink)

    assert sink.calls[1:] == [b"a", "end"]


async def test_an_exception_of_the_app_is_raised_as_it_is() -> None:
    failure = KeyError("model")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise failure

    with pytest.raises(KeyError) as caught:
        await AppUpstream(app).send(call(), Record())

    assert caught.value is failure


async def test_an_exception_of_the_sink_is_raised_although_the_app_replaces_it() -> None:
    failure = OSError("client gone")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await saying(START, body(b"a"))(scope, receive, send)
        except OSError as error:
            raise RuntimeError("ClientDisconnect") from error

    with pytest.raises(OSError, match="client gone") as caught:
        await AppUpstream(app).send(call(), Record(fail=failure))

    assert caught.value is failure


async def test_an_exception_of_the_sink_is_raised_although_the_app_swallows_it() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for message in (START, body(b"a", more=True), body(b"b")):
            try:
                await send(message)
            except OSError:
                continue

    with pytest.raises(OSError, match="client gone"):
        await AppUpstream(app).send(call(), Record(fail=OSError("client gone")))


async def test_cancellation_goes_through() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await anyio.sleep_forever()

    with anyio.move_on_after(0) as scope:
        await AppUpstream(app).send(call(), Record())

    assert scope.cancelled_caught


async def test_an_encoded_body_is_decoded() -> None:
    encoded = gzip.compress(b"data: 1\n\n")
    start = {**START, "headers": [(b"Content-Encoding", b"gzip")]}
    sink = Record()

    await AppUpstream(saying(start, body(encoded[:7], more=True), body(encoded[7:]))).send(call(), sink)

    assert b"".join(sink.calls[1:-1]) == b"data: 1\n\n"
    assert sink.calls[-1] == "end"


async def test_a_truncated_encoding_has_no_end() -> None:
    start = {**START, "headers": [(b"Content-Encoding", b"gzip")]}
    sink = Record()

    with pytest.raises(UpstreamProtocolError, match="damaged"):
        await AppUpstream(saying(start, body(gzip.compress(b"data")[:-3]))).send(call(), sink)

    assert "end" not in sink.calls


async def test_the_status_of_an_error_counts_though_its_body_cannot_be_decoded() -> None:
    start = {"type": "http.response.start", "status": 429, "headers": [(b"content-encoding", b"br")]}
    sink = Record()

    with pytest.raises(UpstreamProtocolError, match="br"):
        await AppUpstream(saying(start, body(b"x"))).send(call(), sink)

    assert sink.calls[0][0] == 429


async def test_no_answer_is_begun_whose_body_cannot_be_decoded() -> None:
    start = {**START, "headers": [(b"content-encoding", b"br")]}
    sink = Record()

    with pytest.raises(UpstreamProtocolError, match="br"):
        await AppUpstream(saying(start, body(b"x"))).send(call(), sink)

    assert sink.calls == []
