"""What the client is told when the app, or its answer, goes wrong: before the first byte a status, after it
`response.failed` with all text kept; never `completed`, and never words that were not meant for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from asgi_client import Exchange, ask, request
from chat_app import DONE, SSE, ChatApp, Reply, call_frame, completion, frame, frames, read_body, streamed, whole
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import StreamingResponse
from starlette.routing import Route

from responses_middleware import ResponsesMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

pytestmark = pytest.mark.anyio

SECRET = "postgres://user:hunter2@db"
FAULTS = [RuntimeError(SECRET), KeyError(SECRET), ConnectionRefusedError(SECRET), TimeoutError(SECRET)]


async def failing(exchange: Exchange, fault: Exception) -> Exchange:
    """Run to the end; the exception of the app must have come out on the server's side, as it was."""
    with pytest.raises(type(fault)) as caught:
        await exchange.run()
    assert caught.value is fault
    return exchange


def raising(fault: Exception) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise fault

    return app


def raising_behind(reply: Reply, fault: Exception) -> ASGIApp:
    """An app whose background work fails."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await ChatApp(reply)(scope, receive, send)
        raise fault

    return app


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_an_app_that_raises_before_its_answer_is_a_500_and_raised_on(fault: Exception, stream: bool) -> None:
    exchange = await failing(Exchange(ResponsesMiddleware(raising(fault)), request(stream=stream)), fault)

    assert (exchange.status, exchange.error["type"]) == (500, "server_error")
    assert sorted(exchange.error) == ["code", "message", "param", "type"]
    assert b"hunter2" not in exchange.body


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_an_app_that_raises_in_its_stream_fails_the_response_and_is_raised_on(fault: Exception) -> None:
    app = ResponsesMiddleware(ChatApp(streamed(frame("Hel"), fault)))

    exchange = await failing(Exchange(app, request(stream=True)), fault)

    assert exchange.kinds[-2:] == ["error", "response.failed"]
    assert exchange.ended
    assert exchange.text == "Hel"
    assert b"hunter2" not in exchange.body


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_an_app_that_raises_in_its_json_is_a_500_and_raised_on(fault: Exception) -> None:
    app = ResponsesMiddleware(ChatApp(Reply([b'{"choices": [', fault])))

    exchange = await failing(Exchange(app, request()), fault)

    assert exchange.status == 500
    assert b"hunter2" not in exchange.body


@pytest.mark.parametrize("stream", [True, False])
async def test_an_app_that_raises_after_its_status_but_before_its_body_is_a_500(stream: bool) -> None:
    fault = RuntimeError(SECRET)
    app = ResponsesMiddleware(ChatApp(streamed(fault)))

    exchange = await failing(Exchange(app, request(stream=stream)), fault)

    assert exchange.status == 500
    assert b"hunter2" not in exchange.body


async def test_an_app_that_raises_behind_its_whole_answer_changes_nothing() -> None:
    fault = RuntimeError(SECRET)
    app = ResponsesMiddleware(ChatApp(streamed(*frames("Hello"), fault)))

    exchange = await failing(Exchange(app, request(stream=True)), fault)

    assert exchange.kinds[-1] == "response.completed"


async def test_an_app_that_raises_while_it_answers_an_error_keeps_its_status() -> None:
    fault = RuntimeError(SECRET)
    app = ResponsesMiddleware(ChatApp(Reply([b'{"error": {"message": "slow down"}}', fault], 429)))

    exchange = await failing(Exchange(app, request(stream=True)), fault)

    assert exchange.status == 429


@pytest.mark.parametrize("stream", [True, False])
async def test_added_to_starlette_the_client_gets_our_error_and_the_server_the_exception(stream: bool) -> None:
    fault = RuntimeError(SECRET)

    async def complete(request: Any) -> None:
        raise fault

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    app.add_middleware(ResponsesMiddleware)

    exchange = await failing(Exchange(app, request(stream=stream)), fault)

    assert (exchange.status, exchange.error["type"]) == (500, "server_error")
    assert b"hunter2" not in exchange.body


@pytest.mark.parametrize("spec_version", ["2.3", "2.4"])
async def test_a_generator_that_raises_fails_the_response(spec_version: str) -> None:
    fault = RuntimeError(SECRET)

    async def pieces() -> Any:
        yield frame("Hel")
        raise fault

    async def complete(request: Any) -> StreamingResponse:
        return StreamingResponse(pieces(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    app.add_middleware(ResponsesMiddleware)

    exchange = await failing(Exchange(app, request(stream=True), spec_version=spec_version), fault)

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")


async def test_a_generator_that_raises_below_a_base_http_middleware_fails_the_response() -> None:
    fault = RuntimeError(SECRET)

    async def dispatch(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    inner = BaseHTTPMiddleware(ChatApp(streamed(frame("Hel"), fault)), dispatch=dispatch)
    exchange = Exchange(ResponsesMiddleware(inner), request(stream=True))

    with pytest.raises((RuntimeError, ExceptionGroup)):
        await exchange.run()

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")
    assert b"hunter2" not in exchange.body


async def test_an_exception_group_of_the_app_fails_the_response() -> None:
    fault = ExceptionGroup("of a task group", [OSError(SECRET)])
    app = ResponsesMiddleware(ChatApp(streamed(frame("Hel"), fault)))

    exchange = await failing(Exchange(app, request(stream=True)), fault)

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")


# -- answers that end too early, or are none
async def test_a_missing_last_body_message_fails_the_response() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(frame("Hel"), ends=False))), stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")


async def test_a_missing_last_body_message_behind_the_done_is_no_failure() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(*frames("Hello"), ends=False))), stream=True)

    assert exchange.kinds[-1] == "response.completed"


async def test_json_without_a_last_body_message_is_an_error() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(Reply([b'{"choices": '], ends=False))))

    assert (exchange.status, exchange.error["type"]) == (502, "server_error")


@pytest.mark.parametrize("stream", [True, False])
async def test_an_app_that_does_not_answer_is_an_error(stream: bool) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)

    exchange = await ask(ResponsesMiddleware(app), stream=stream)

    assert (exchange.status, exchange.error["type"]) == (502, "server_error")


async def test_a_stream_that_ends_without_a_finish_reason_or_done_fails_with_all_its_text() -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(frame("Hel"), frame("lo")))), stream=True)

    assert exchange.kinds[-2:] == ["error", "response.failed"]
    assert exchange.text == "Hello"
    assert exchange.response["output"][0]["status"] == "incomplete"


async def test_a_call_that_was_cut_is_never_completed() -> None:
    cut = frame(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": '{"path": "/et'}}])
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]

    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(cut))), stream=True, tools=tools)

    assert exchange.kinds[-1] == "response.failed"
    assert [item["status"] for item in exchange.response["output"]] == ["incomplete"]
    assert "response.output_item.done" not in exchange.kinds


async def test_a_call_that_a_done_cuts_without_a_finish_reason_is_never_completed() -> None:
    cut = frame(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": '{"path": "/et'}}])
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]

    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(cut, DONE))), stream=True, tools=tools)

    assert exchange.kinds[-1] == "response.failed"
    assert [item["status"] for item in exchange.response["output"]] == ["incomplete"]
    assert "response.output_item.done" not in exchange.kinds


async def test_a_whole_call_is_completed() -> None:
    tools = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
    app = ChatApp(streamed(call_frame("f", {"a": 1}), frame(finish="tool_calls"), DONE))

    exchange = await ask(ResponsesMiddleware(app), stream=True, tools=tools)

    assert exchange.kinds[-1] == "response.completed"
    assert exchange.response["output"][0]["arguments"] == '{"a": 1}'


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "body", [b"", b"   ", b"null", b"[]", b"{}", b"<html>nginx</html>", b"data: \n\n", b"\xff\xfe"]
)
async def test_a_200_that_is_no_completion_is_an_error(body: bytes, stream: bool) -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(Reply([body]))), stream=stream)

    assert (exchange.status, exchange.error["type"]) == (502, "server_error")
    assert b"nginx" not in exchange.body


@pytest.mark.parametrize("stream", [True, False])
async def test_a_first_frame_with_an_error_is_a_status(stream: bool) -> None:
    error = b'data: {"error": {"message": "model is loading", "code": 503}}\n\n'

    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(error))), stream=stream)

    assert (exchange.status, exchange.error["message"]) == (503, "model is loading")


async def test_a_later_frame_with_an_error_fails_the_response() -> None:
    error = b'data: {"error": {"message": "out of memory", "code": "oom"}}\n\n'

    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(frame("Hel"), error, DONE))), stream=True)

    told, failed = exchange.events[-2:]
    assert (told["type"], told["error"]["message"], told["error"]["code"]) == ("error", "out of memory", "oom")
    assert failed["response"]["error"] == {"code": "server_error", "message": "out of memory"}
    assert exchange.text == "Hel"


IN_BAND = {
    "in a choice": b'data: {"choices": [{"index": 0, "delta": {}, "error": {"message": "out of memory"}}]}\n\n',
    "without success": b'data: {"success": false, "message": "out of memory"}\n\n',
    "as error_code": b'data: {"error_code": 18, "error_msg": "out of memory"}\n\n',
    "by name": b'event: error\ndata: "out of memory"\n\n',
}


@pytest.mark.parametrize("error", IN_BAND.values(), ids=IN_BAND)
async def test_an_error_in_any_later_frame_fails_the_response(error: bytes) -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(frame("Hel"), error, DONE))), stream=True)

    assert exchange.kinds[-2:] == ["error", "response.failed"]
    assert (exchange.text, exchange.response["error"]["message"]) == ("Hel", "out of memory")


@pytest.mark.parametrize("error", IN_BAND.values(), ids=IN_BAND)
@pytest.mark.parametrize("stream", [True, False])
async def test_an_error_in_any_first_frame_is_a_status(error: bytes, stream: bool) -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(error, DONE))), stream=stream)

    assert (exchange.status, exchange.error["message"]) == (502, "out of memory")


async def test_a_frame_that_is_not_json_fails_the_response() -> None:
    exchange = await ask(
        ResponsesMiddleware(ChatApp(streamed(frame("Hel"), b"data: {oops\n\n", *frames("lo")))), stream=True
    )

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")


async def test_what_comes_behind_the_done_counts_no_more() -> None:
    app = ChatApp(streamed(*frames("Hello"), frame(" again"), b"data: {oops\n\n", DONE))

    exchange = await ask(ResponsesMiddleware(app), stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.completed", "Hello")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_refusal_is_told_once_when_the_app_raises_behind_it(stream: bool) -> None:
    fault = RuntimeError(SECRET)
    app = ResponsesMiddleware(raising_behind(whole({"error": {"message": "bad"}}, status=400), fault))

    exchange = await failing(Exchange(app, request(stream=stream)), fault)

    assert (exchange.status, exchange.error["message"]) == (400, "bad")


# -- nothing is stored of what failed on the way
async def test_a_failed_response_can_be_told_from_a_stored_one() -> None:
    app = ResponsesMiddleware(ChatApp(streamed(frame("Hel"), ends=False), whole(completion())))
    failed = await ask(app, stream=True)

    stored = await Exchange(app, b"", method="GET", path=f"/v1/responses/{failed.response['id']}").run()

    assert (stored.status, stored.response["status"], stored.text) == (200, "failed", "Hel")


async def test_a_last_frame_without_its_blank_line_counts() -> None:
    app = ChatApp(Reply([frame("Hello"), frame(finish="stop").rstrip()], headers=[SSE]))

    exchange = await ask(ResponsesMiddleware(app), stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.completed", "Hello")
