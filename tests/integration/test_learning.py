"""Lessons of "auto": tried for the request that was refused, kept for later ones only when the server then answered,
and never taught by what a client said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgi_client import Exchange, ask
from chat_app import HELLO, ChatApp, Reply, completion, frame, streamed, whole

from responses_middleware import ResponsesMiddleware

pytestmark = pytest.mark.anyio

TEXT = "Tell me of stream_options, parallel_tool_calls, tool_choice and json_schema, please"
TOOL = {"type": "function", "name": "ls", "parameters": {"type": "object"}}
CHOICE = {"tools": [TOOL], "tool_choice": {"type": "function", "name": "ls"}}
FORM = {"type": "json_schema", "name": "out", "schema": {"type": "object"}, "strict": True}
RICH: dict[str, Any] = {
    "stream": True,
    "tools": [TOOL],
    "tool_choice": "required",
    "parallel_tool_calls": True,
    "text": {"format": FORM},
    "reasoning": {"effort": "low"},
}
ANSWER = whole(completion())


def refusing(message: object, *, status: int = 400, **members: Any) -> Reply:
    return whole({"error": {"message": message, **members}}, status=status)


def unsupported(exchange: Exchange) -> list[bytes]:
    return exchange.header(b"x-responses-unsupported")


FAULT = {"type": "string_type", "loc": ["body", "messages", 0, "content"], "msg": "Input should be a valid string"}
ECHOES = {
    "FastAPI": whole({"detail": [{**FAULT, "input": TEXT}]}, status=422),
    "vLLM": refusing(str([{**FAULT, "input": TEXT}])),
    "a policy": refusing(f'Prompt rejected by policy: "{TEXT}" is not allowed'),
    "plain text": Reply([b"not supported: " + TEXT.encode()], 400),
    "a first frame": streamed(
        b"data: " + json.dumps({"error": {"message": f"No: {TEXT}", "code": 400}}).encode() + b"\n\n"
    ),
    "a bad schema": refusing(
        "Invalid schema for response_format 'out': 'additionalProperties' is required to be false"
    ),
    "a bad choice": refusing("Invalid value for tool_choice: function 'ls' not in tools"),
}


@pytest.mark.parametrize("refusal", ECHOES.values(), ids=ECHOES)
async def test_the_fault_of_one_client_changes_nothing_for_the_next(refusal: Reply) -> None:
    app = ChatApp(HELLO, refusal, HELLO)
    middleware = ResponsesMiddleware(app)

    before = await ask(middleware, **RICH)
    alice = await ask(middleware, **RICH | {"input": TEXT})
    after = await ask(middleware, **RICH)

    assert (before.text, after.text) == ("Hello", "Hello")
    assert alice.status in (400, 422)
    assert len(app.payloads) == 3
    assert app.payloads[0] == app.payloads[2]


async def test_a_lesson_is_not_kept_when_the_second_question_is_refused_too() -> None:
    app = ChatApp(refusing("stream_options bad"), refusing("context too long"), HELLO)
    middleware = ResponsesMiddleware(app)

    refused = await ask(middleware, stream=True)
    await ask(middleware, stream=True)

    assert (refused.status, refused.error["message"]) == (400, "context too long")
    assert ["stream_options" in payload for payload in app.payloads] == [True, False, True]


async def test_a_lesson_is_kept_when_the_second_question_is_answered() -> None:
    app = ChatApp(refusing("unknown parameter: stream_options"), HELLO)
    middleware = ResponsesMiddleware(app)

    for _ in range(2):
        await ask(middleware, stream=True)

    assert ["stream_options" in payload for payload in app.payloads] == [True, False, False]


@pytest.mark.parametrize(
    "second",
    [
        streamed(frame("Hel")),
        streamed(frame("Hel"), b'data: {"error": {"message": "No"}}\n\n'),
        streamed(b'data: {"error": {"message": "No"}}\n\n'),
        refusing("slow down", status=429),
    ],
    ids=["an end too early", "an error in the band", "an error instead", "a status"],
)
async def test_a_lesson_is_not_kept_when_the_second_answer_fails(second: Reply) -> None:
    app = ChatApp(refusing("unknown parameter: stream_options"), second, HELLO)
    middleware = ResponsesMiddleware(app)

    for _ in range(2):
        await ask(middleware, stream=True)

    assert ["stream_options" in payload for payload in app.payloads] == [True, False, True]


@pytest.mark.parametrize("stream", [True, False])
async def test_what_only_we_have_tried_is_not_what_the_client_is_told(stream: bool) -> None:
    first = "This model does not support response_format json_schema"
    app = ChatApp(refusing(first), refusing("response_format json_object is not supported"))

    exchange = await ask(ResponsesMiddleware(app), stream=stream, text={"format": FORM})

    assert (exchange.status, exchange.error["message"], len(app.payloads)) == (400, first, 2)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_schema_that_a_lesson_has_taken_is_named(stream: bool) -> None:
    app = ChatApp(refusing("This model does not support response_format json_schema"), HELLO if stream else ANSWER)
    middleware = ResponsesMiddleware(app)

    first, second = [await ask(middleware, stream=stream, text={"format": FORM}) for _ in range(2)]
    without = await ask(middleware, stream=stream)

    assert [payload.get("response_format", {}).get("type") for payload in app.payloads] == [
        "json_schema",
        "json_object",
        "json_object",
        None,
    ]
    assert [unsupported(exchange) for exchange in (first, second, without)] == [[b"text.format"], [b"text.format"], []]


async def test_a_choice_that_a_lesson_has_taken_is_named() -> None:
    app = ChatApp(refusing("Thinking mode does not support this tool_choice"), ANSWER)

    exchange = await ask(ResponsesMiddleware(app), tools=[TOOL], tool_choice="required")

    assert ["tool_choice" in payload for payload in app.payloads] == [True, False]
    assert unsupported(exchange) == [b"tool_choice"]


async def test_a_choice_that_is_said_otherwise_is_no_loss() -> None:
    app = ChatApp(refusing("Invalid tool_choice type: 'object'. Supported string values: none, auto, required"), ANSWER)

    exchange = await ask(ResponsesMiddleware(app), **CHOICE)

    assert [payload["tool_choice"] for payload in app.payloads][1] == "required"
    assert unsupported(exchange) == []


async def test_what_may_not_be_left_out_is_refused_and_never_kept() -> None:
    app = ChatApp(refusing("This model does not support response_format json_schema"), ANSWER)
    middleware = ResponsesMiddleware(app, unsupported="error")

    exchange = await ask(middleware, text={"format": FORM})

    assert (exchange.status, exchange.error["param"], len(app.payloads)) == (400, "text.format", 1)


async def test_a_lesson_is_added_to_those_before() -> None:
    app = ChatApp(refusing("unknown parameter: stream_options"), HELLO, refusing("unknown: reasoning_effort"), HELLO)
    middleware = ResponsesMiddleware(app)

    for _ in range(3):
        await ask(middleware, stream=True, reasoning={"effort": "low"})

    assert len(app.payloads) == 5
    assert not {"stream_options", "reasoning_effort"} & app.payloads[-1].keys()
