"""Errors that come as an answer: a status before any output, and in a stream `response.failed` with a code that agents
act on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgi_client import ask
from chat_app import DONE, ChatApp, Reply, frame, frames, streamed, whole

from responses_middleware import ResponsesMiddleware

pytestmark = pytest.mark.anyio


def data(body: object) -> bytes:
    """A frame that says nothing else."""
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def error_of(**members: Any) -> dict[str, Any]:
    return {"error": {"message": "No", **members}}


SHAPES = {
    "by name, in plain words": b"event: error\ndata: out of memory\n\n",
    "in a list": data({"errors": [{"message": "out of memory"}]}),
    "as code and msg": data({"code": 1305, "msg": "out of memory"}),
    "as status": data({"status": "error", "msg": "out of memory"}),
    "as error_message": data({"error_message": "out of memory"}),
    "as errorMessage": data({"errorMessage": "out of memory"}),
    "as fault": data({"fault": {"faultstring": "out of memory"}}),
    "as exception": data({"type": "exception", "exception": {"message": "out of memory"}}),
    "as a problem": data({"status": 502, "title": "Bad", "detail": "out of memory"}),
    "as detail": data({"detail": "out of memory"}),
}


@pytest.mark.parametrize("error", SHAPES.values(), ids=SHAPES)
async def test_an_error_behind_some_text_fails_the_response(error: bytes) -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(frame("Hel"), error, DONE))), stream=True)

    assert exchange.kinds[-2:] == ["error", "response.failed"]
    assert (exchange.text, exchange.response["error"]["message"]) == ("Hel", "out of memory")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("error", SHAPES.values(), ids=SHAPES)
async def test_an_error_instead_of_an_answer_is_a_status(error: bytes, stream: bool) -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(error, DONE))), stream=stream)

    assert (exchange.status, exchange.error["message"]) == (502, "out of memory")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("framed", [True, False])
@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": "rate_limit_exceeded"}, 429),
        ({"type": "rate_limit_error"}, 429),
        ({"code": "429", "type": "None", "param": "None"}, 429),
        ({"type": "invalid_request_error"}, 400),
        ({"code": "context_length_exceeded"}, 400),
        ({"type": "authentication_error"}, 401),
        ({"type": "permission_error"}, 403),
        ({"type": "not_found_error"}, 404),
        ({"type": "overloaded_error"}, 503),
        ({"code": 529}, 503),
        ({"type": "timeout_error"}, 504),
        ({"code": "oom"}, 502),
    ],
)
async def test_it_has_the_status_that_it_means(error: dict[str, Any], status: int, framed: bool, stream: bool) -> None:
    body = error_of(**error)
    reply: Reply = streamed(data(body), DONE) if framed else whole(body)

    exchange = await ask(ResponsesMiddleware(ChatApp(reply)), stream=stream)

    assert (exchange.status, exchange.error["message"]) == (status, "No")
    assert "None" not in exchange.error.values()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": "context_length_exceeded"}, "context_length_exceeded"),
        ({"code": "insufficient_quota"}, "insufficient_quota"),
        ({"code": "server_is_overloaded"}, "server_is_overloaded"),
        ({"code": "429"}, "rate_limit_exceeded"),
        ({"type": "rate_limit_error"}, "rate_limit_exceeded"),
        ({"code": "oom"}, "server_error"),
    ],
)
async def test_a_response_that_fails_has_the_code_that_agents_act_on(error: dict[str, Any], code: str) -> None:
    app = ChatApp(streamed(frame("Hel"), data(error_of(**error))))

    exchange = await ask(ResponsesMiddleware(app), stream=True)

    assert exchange.response["error"] == {"code": code, "message": "No"}


async def test_a_sign_of_life_with_a_name_is_no_frame_of_the_answer() -> None:
    ping = b"event: ping\ndata: ping\n\n"

    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(ping, frame("Hel"), ping, *frames("lo")))), stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.completed", "Hello")


@pytest.mark.parametrize("body", [{"status": "ok"}, {"type": "ping"}, {"code": 0, "msg": "ok"}], ids=json.dumps)
async def test_a_frame_that_says_nothing_is_ignored(body: dict[str, Any]) -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(streamed(frame("Hel"), data(body), *frames("lo")))), stream=True)

    assert (exchange.kinds[-1], exchange.text) == ("response.completed", "Hello")
