"""One request through the middleware in process: what the app is asked and what the client gets."""

from __future__ import annotations

import contextvars
import gzip
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import PATIENCE, Exchange, ask, request
from chat_app import DONE, HELLO, SSE, ChatApp, Reply, completion, frame, frames, read_body, streamed, whole
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from responses_middleware import ResponsesMiddleware, RunInfo

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from responses_middleware import Event

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("stream", [True, False])
async def test_the_text_of_the_app_comes_as_a_completed_response(stream: bool) -> None:
    app = ChatApp(HELLO if stream else whole(completion("Hello")))

    exchange = await ask(ResponsesMiddleware(app), stream=stream)

    assert (exchange.status, exchange.response["status"], exchange.text) == (200, "completed", "Hello")


async def test_a_stream_is_sent_as_server_sent_events() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp()), stream=True)

    assert exchange.header(b"content-type") == [b"text/event-stream; charset=utf-8"]
    assert exchange.header(b"cache-control") == [b"no-cache"]
    assert exchange.header(b"content-length") == []
    assert exchange.kinds[0] == "response.created"
    assert exchange.kinds[-1] == "response.completed"
    assert DONE not in exchange.body


async def test_the_deltas_are_the_texts_of_the_frames() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp()), stream=True)

    assert [event["delta"] for event in exchange.events if "delta" in event] == ["Hel", "lo"]


async def test_a_whole_answer_has_its_length() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(whole(completion()))))

    assert exchange.header(b"content-type") == [b"application/json"]
    assert exchange.header(b"content-length") == [b"%d" % len(exchange.body)]
    assert len(exchange.messages) == 2


async def test_json_where_a_stream_was_asked_for_is_streamed() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(whole(completion("Hello")))), stream=True)

    assert exchange.kinds.count("response.output_text.delta") == 1
    assert exchange.text == "Hello"


@pytest.mark.parametrize("content_type", [b"application/x-ndjson", b"application/json", b"text/event-stream"])
@pytest.mark.parametrize("end", [b"", b"\n"])
async def test_one_line_where_a_stream_was_asked_for_is_streamed(content_type: bytes, end: bytes) -> None:
    line = frame("Hello", finish="stop").removeprefix(b"data: ").strip() + end
    app = ChatApp(Reply([line], headers=[(b"content-type", content_type)]))

    exchange = await ask(ResponsesMiddleware(app), stream=True)

    assert exchange.kinds.count("response.output_text.delta") == 1
    assert (exchange.kinds[-1], exchange.text) == ("response.completed", "Hello")


async def test_a_stream_where_json_was_asked_for_is_folded() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(HELLO)))

    assert exchange.header(b"content-type") == [b"application/json"]
    assert exchange.text == "Hello"


async def test_events_arrive_while_the_app_is_still_sending() -> None:
    gate = anyio.Event()
    app = ResponsesMiddleware(ChatApp(streamed(frame("Hel"), gate, *frames("lo"))))

    async with Exchange(app, request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        seen = exchange.kinds
        gate.set()

    assert seen[-1] == "response.output_text.delta"
    assert exchange.text == "Hello"


async def test_the_finish_reason_does_not_wait_for_the_end_of_the_app() -> None:
    gate = anyio.Event()
    app = ResponsesMiddleware(ChatApp(streamed(*frames("Hello"), gate)))

    async with Exchange(app, request(stream=True)).running() as exchange:
        await exchange.until(b"response.completed")
        ended = exchange.ended
        gate.set()

    assert ended


async def test_one_piece_of_the_app_is_one_send() -> None:
    pieces = [frame("a") + frame("b") + frame("c"), frame("d"), frame("e") + frame("f")]
    app = ResponsesMiddleware(ChatApp(streamed(*pieces, frame(finish="stop") + DONE)))

    exchange = await ask(app, stream=True)

    deltas = [send.count(b"event: response.output_text.delta") for send in exchange.sends]
    assert deltas == [3, 1, 2, 0]


async def test_half_a_frame_sends_nothing() -> None:
    whole_frame = frame("Hello")
    app = ResponsesMiddleware(ChatApp(streamed(whole_frame[:9], whole_frame[9:], *frames())))

    exchange = await ask(app, stream=True)

    assert all(exchange.sends)
    assert exchange.text == "Hello"


async def test_the_app_is_asked_at_its_chat_path_with_our_body() -> None:
    app = ChatApp()

    await ask(ResponsesMiddleware(app), stream=True, instructions="Be brief", max_output_tokens=7)

    assert (app.scopes[0]["method"], app.scopes[0]["path"]) == ("POST", "/v1/chat/completions")
    assert app.payloads[0] == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "hi"}],
        "max_tokens": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_the_headers_of_the_client_reach_the_app() -> None:
    app = ChatApp()
    given = [(b"authorization", b"Bearer k"), (b"traceparent", b"00-1-2-01"), (b"x-tenant", b"t"), (b"cookie", b"a=1")]

    await ask(ResponsesMiddleware(app), exchange={"headers": given})

    assert [header for header in app.headers if header in given] == given


async def test_the_headers_of_the_clients_body_do_not_reach_the_app() -> None:
    app = ChatApp()
    given = [(b"accept-encoding", b"gzip"), (b"content-type", b"text/json"), (b"content-length", b"30")]

    await ask(ResponsesMiddleware(app), exchange={"headers": given})

    assert dict(app.headers) == {
        b"host": b"testserver",
        b"content-type": b"application/json",
        b"content-length": b"%d" % len(app.bodies[0]),
    }


OF_THE_APP = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"X-Request-Id", b"r1"), (b"x-ratelimit-limit", b"9")]
OF_ITS_BODY = [
    (b"etag", b'"1"'),
    (b"content-md5", b"x"),
    (b"Content-Length", b"3"),
    (b"digest", b"y"),
    (b"last-modified", b"z"),
    (b"cache-control", b"public"),
]


@pytest.mark.parametrize("stream", [True, False])
async def test_the_headers_of_the_app_stay_and_those_of_its_body_go(stream: bool) -> None:
    app = ChatApp(Reply(HELLO.pieces, headers=[SSE, *OF_THE_APP, *OF_ITS_BODY]))

    exchange = await ask(ResponsesMiddleware(app), stream=stream)

    assert exchange.messages[0]["headers"][:4] == [(name.lower(), value) for name, value in OF_THE_APP]
    for gone in (b"etag", b"content-md5", b"digest", b"last-modified"):
        assert exchange.header(gone) == []
    assert exchange.header(b"content-length") == ([] if stream else [b"%d" % len(exchange.body)])
    assert b"public" not in exchange.header(b"cache-control")


@pytest.mark.parametrize("stream", [True, False])
async def test_an_encoding_of_the_app_is_undone(stream: bool) -> None:
    encoded = gzip.compress(b"".join(frames("Hello")))
    app = ChatApp(streamed(encoded[:20], encoded[20:], headers=[(b"content-encoding", b"gzip")]))

    exchange = await ask(ResponsesMiddleware(app), stream=stream)

    assert exchange.header(b"content-encoding") == []
    assert exchange.text == "Hello"


async def test_background_work_of_the_app_runs_and_does_not_delay_the_answer() -> None:
    gate, done = anyio.Event(), anyio.Event()

    async def work() -> None:
        await gate.wait()
        done.set()

    async def pieces() -> Any:
        for piece in frames("Hello"):
            yield piece

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        response = StreamingResponse(pieces(), media_type="text/event-stream", background=BackgroundTask(work))
        await response(scope, receive, send)

    async with Exchange(ResponsesMiddleware(app), request(stream=True)).running() as exchange:
        await exchange.until(b"response.completed")
        ended_before = exchange.ended and not done.is_set()
        gate.set()

    assert ended_before
    assert done.is_set()


async def test_background_work_goes_on_when_the_client_leaves_behind_its_answer() -> None:
    gate, done = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await ChatApp()(scope, receive, send)
        await gate.wait()
        done.set()

    async with Exchange(ResponsesMiddleware(app), request(stream=True)).running() as exchange:
        await exchange.until(b"response.completed")
        exchange.leave()
        await anyio.wait_all_tasks_blocked()
        gate.set()

    assert done.is_set()


async def test_context_variables_are_those_of_the_request() -> None:
    variable = contextvars.ContextVar("variable", default="none")
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(variable.get())
        variable.set("of the app")
        await ChatApp()(scope, receive, send)

    variable.set("of the request")
    await ask(ResponsesMiddleware(app), stream=True)

    assert seen == ["of the request"]
    assert variable.get() == "of the app"


async def test_the_app_reads_nothing_behind_its_body_until_the_client_leaves() -> None:
    received: list[str] = []
    gate = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as group:

            async def listen() -> None:
                received.append((await receive())["type"])

            await read_body(receive)
            group.start_soon(listen)
            await send({"type": "http.response.start", "status": 200, "headers": [SSE]})
            await send({"type": "http.response.body", "body": frame("Hel"), "more_body": True})
            await gate.wait()
            group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b"".join(frames("lo")), "more_body": False})

    async with Exchange(ResponsesMiddleware(app), request(stream=True)).running() as exchange:
        await exchange.until(b'"delta":"Hel"')
        await anyio.wait_all_tasks_blocked()
        seen = list(received)
        gate.set()

    assert seen == []
    assert exchange.text == "Hello"


async def test_a_client_that_does_not_read_stops_the_app() -> None:
    reading = anyio.Event()
    sent = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal sent
        await send({"type": "http.response.start", "status": 200, "headers": [SSE]})
        for _ in range(100):
            await send({"type": "http.response.body", "body": frame("a"), "more_body": True})
            sent += 1
        await send({"type": "http.response.body", "body": b"".join(frames("!")), "more_body": False})

    async with Exchange(ResponsesMiddleware(app), request(stream=True), blocked=reading).running() as exchange:
        await anyio.wait_all_tasks_blocked()
        before = sent
        reading.set()

    assert before == 0
    assert exchange.text == "a" * 100 + "!"


async def test_on_event_sees_every_event_and_which_run_it_is() -> None:
    seen: list[tuple[Event, RunInfo]] = []
    app = ResponsesMiddleware(ChatApp(), on_event=lambda event, run: seen.append((event, run)))

    exchange = await ask(app, stream=True)

    assert [event["type"] for event, _ in seen] == exchange.kinds
    assert seen[0][1] == RunInfo(response_id=exchange.response["id"], model="m", stream=True)


async def test_on_event_sees_the_events_of_a_whole_answer() -> None:
    seen: list[str] = []
    app = ResponsesMiddleware(ChatApp(whole(completion())), on_event=lambda event, run: seen.append(event["type"]))

    await ask(app)

    assert (seen[0], seen[-1]) == ("response.created", "response.completed")


async def test_an_observer_that_raises_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    def observe(event: Event, run: RunInfo) -> None:
        raise RuntimeError("of the observer")

    exchange = await ask(ResponsesMiddleware(ChatApp(), on_event=observe), stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.completed", "Hello")
    assert "on_event raised for response.created" in caplog.text


async def test_the_stream_ends_with_done_if_it_is_asked_for() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(), done_sentinel=True), stream=True)

    assert exchange.body.endswith(b"\n\ndata: [DONE]\n\n")
    assert exchange.kinds[-1] == "response.completed"


async def test_what_is_left_out_is_named() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp()), tools=[{"type": "web_search"}], stream=True)

    assert exchange.header(b"x-responses-unsupported") == [b"web_search"]


async def test_what_is_left_out_is_refused_if_so_configured() -> None:
    app = ChatApp()

    exchange = await ask(ResponsesMiddleware(app, unsupported="error"), tools=[{"type": "web_search"}])

    assert (exchange.status, exchange.error["param"]) == (400, "tools[0]")
    assert app.scopes == []


async def test_what_is_left_out_is_not_named_if_so_configured() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(), unsupported="ignore"), tools=[{"type": "web_search"}])

    assert exchange.header(b"x-responses-unsupported") == []


async def test_many_requests_at_once_get_their_own_answers() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        chat = ChatApp(streamed(*frames(*scope["query_string"].decode())))
        await chat(scope, receive, send)

    middleware = ResponsesMiddleware(app)
    exchanges = [Exchange(middleware, request(stream=True), query_string=b"answer %d" % number) for number in range(20)]
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            for exchange in exchanges:
                group.start_soon(exchange.run)

    assert [exchange.text for exchange in exchanges] == [f"answer {number}" for number in range(20)]
    assert len({exchange.response["id"] for exchange in exchanges}) == 20
