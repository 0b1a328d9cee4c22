"""Responses that go on from earlier ones: the upstream is asked the whole history, exactly as it was."""

from __future__ import annotations

from typing import Any

import pytest
from asgi_client import Exchange, ask
from chat_app import DONE, HELLO, ChatApp, call_frame, completion, frame, frames, streamed, whole

from responses_middleware import ResponsesMiddleware

pytestmark = pytest.mark.anyio

TOOLS = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
MINE = {"headers": [(b"authorization", b"Bearer mine")]}
THEIRS = {"headers": [(b"authorization", b"Bearer theirs")]}


def thinking(text: str) -> bytes:
    return frame(reasoning_content=text)


async def follow(middleware: ResponsesMiddleware, previous: Exchange, **parameters: Any) -> Exchange:
    return await ask(middleware, previous_response_id=previous.response["id"], **parameters)


@pytest.mark.parametrize("stream", [True, False])
async def test_the_next_turn_has_the_earlier_input_and_output(stream: bool) -> None:
    app = ChatApp(HELLO)
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, input="Say hello", stream=stream)

    second = await follow(middleware, first, input="Again", stream=stream)

    assert app.payloads[1]["messages"] == [
        {"role": "user", "content": "Say hello"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Again"},
    ]
    assert second.response["previous_response_id"] == first.response["id"]


async def test_a_chain_holds_all_turns() -> None:
    app = ChatApp(*(whole(completion(text)) for text in "abc"))
    middleware = ResponsesMiddleware(app)
    exchange = await ask(middleware, input="1")
    for turn in ("2", "3"):
        exchange = await follow(middleware, exchange, input=turn)

    assert [message["content"] for message in app.payloads[2]["messages"]] == ["1", "a", "2", "b", "3"]


async def test_a_chain_may_branch() -> None:
    app = ChatApp(*(whole(completion(text)) for text in "abc"))
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, input="1")
    await follow(middleware, first, input="2")

    await follow(middleware, first, input="other")

    assert [message["content"] for message in app.payloads[2]["messages"]] == ["1", "a", "other"]


async def test_instructions_are_not_carried_over() -> None:
    app = ChatApp(whole(completion()))
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, instructions="Be brief")

    await follow(middleware, first, instructions="Be long")

    assert [message for message in app.payloads[1]["messages"] if message["role"] == "system"] == [
        {"role": "system", "content": "Be long"}
    ]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_call_of_an_earlier_turn_meets_its_output(stream: bool) -> None:
    app = ChatApp(streamed(call_frame("f", {"a": 1}), frame(finish="tool_calls"), DONE), HELLO)
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, input="Call it", tools=TOOLS, stream=stream)
    output = {"type": "function_call_output", "call_id": "call_123456", "output": "42"}

    second = await follow(middleware, first, input=[output], tools=TOOLS, stream=stream)

    assert second.text == "Hello"
    assert app.payloads[1]["messages"] == [
        {"role": "user", "content": "Call it"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "call_123456", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_123456", "content": "42"},
    ]


async def test_parallel_calls_are_one_message_with_their_outputs_behind_it() -> None:
    calls = [call_frame("f", {"n": number}, call_id=f"call_00000{number}", index=number) for number in (0, 1)]
    app = ChatApp(streamed(*calls, frame(finish="tool_calls"), DONE), HELLO)
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, tools=TOOLS, stream=True)
    outputs = [
        {"type": "function_call_output", "call_id": f"call_00000{number}", "output": str(number)} for number in (1, 0)
    ]

    await follow(middleware, first, input=outputs, tools=TOOLS)

    _, asked, *answered = app.payloads[1]["messages"]
    assert [call["id"] for call in asked["tool_calls"]] == ["call_000000", "call_000001"]
    assert {message["tool_call_id"]: message["content"] for message in answered} == {
        "call_000000": "0",
        "call_000001": "1",
    }


async def test_a_call_without_its_output_is_refused_and_nothing_is_asked() -> None:
    app = ChatApp(streamed(call_frame("f", {}), frame(finish="tool_calls"), DONE))
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, tools=TOOLS, stream=True)

    second = await follow(middleware, first, input="Never mind")

    assert (second.status, second.error["param"]) == (400, "input")
    assert len(app.scopes) == 1


async def test_call_ids_that_a_server_repeats_stay_apart() -> None:
    call = streamed(call_frame("f", {}, call_id="0"), frame(finish="tool_calls"), DONE)
    app = ChatApp(call, call, HELLO)
    middleware = ResponsesMiddleware(app)
    exchange = await ask(middleware, tools=TOOLS, stream=True)
    ids = []
    for _ in range(2):
        ids.append(exchange.response["output"][0]["call_id"])
        output = {"type": "function_call_output", "call_id": ids[-1], "output": "x"}
        exchange = await follow(middleware, exchange, input=[output], tools=TOOLS, stream=True)

    assert len(set(ids)) == 2
    assert exchange.text == "Hello"


@pytest.mark.parametrize("stream", [True, False])
async def test_thinking_goes_back_where_the_server_wants_it(stream: bool) -> None:
    app = ChatApp(streamed(thinking("hm"), *frames("Hello")))
    middleware = ResponsesMiddleware(app, dialect="moonshot")
    first = await ask(middleware, stream=stream)

    await follow(middleware, first, stream=stream)

    assert [item["type"] for item in first.response["output"]] == ["reasoning", "message"]
    assert app.payloads[1]["messages"][1] == {"role": "assistant", "content": "Hello", "reasoning_content": "hm"}


async def test_thinking_does_not_go_back_by_default() -> None:
    app = ChatApp(streamed(thinking("hm"), *frames("Hello")))
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, stream=True)

    await follow(middleware, first)

    assert app.payloads[1]["messages"][1] == {"role": "assistant", "content": "Hello"}


# -- what there is none of
async def test_a_missing_response_is_refused_and_nothing_is_asked() -> None:
    app = ChatApp()

    exchange = await ask(ResponsesMiddleware(app), previous_response_id="resp_missing")

    assert (exchange.status, exchange.error["code"]) == (400, "previous_response_not_found")
    assert exchange.error["param"] == "previous_response_id"
    assert app.scopes == []


async def test_a_strangers_response_is_as_missing_as_one_that_never_was() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    first = await ask(middleware, stream=True, exchange=MINE)
    response_id = first.response["id"]

    theirs = await ask(middleware, previous_response_id=response_id, exchange=THEIRS)
    nobodys = await ask(middleware, previous_response_id=response_id)
    missing = await ask(middleware, previous_response_id="resp_missing", exchange=THEIRS)

    assert theirs.status == nobodys.status == missing.status == 400
    assert theirs.body == nobodys.body == missing.body.replace(b"resp_missing", response_id.encode())


async def test_a_response_that_was_not_stored_can_not_be_continued() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    first = await ask(middleware, stream=True, store=False)

    second = await follow(middleware, first)

    assert first.response["store"] is False
    assert second.error["code"] == "previous_response_not_found"


async def test_without_a_store_nothing_can_be_continued() -> None:
    middleware = ResponsesMiddleware(ChatApp(), store=None)
    first = await ask(middleware, stream=True, store=True)

    second = await follow(middleware, first)

    assert first.response["store"] is False
    assert second.error["code"] == "previous_response_not_found"


async def test_an_unstored_turn_may_go_on_from_a_stored_one() -> None:
    app = ChatApp()
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, stream=True)

    second = await follow(middleware, first, stream=True, store=False)

    assert second.response["store"] is False
    assert len(app.payloads[1]["messages"]) == 3


async def test_a_failed_response_can_not_be_continued() -> None:
    middleware = ResponsesMiddleware(ChatApp(streamed(frame("Hel"), ends=False), HELLO))
    first = await ask(middleware, stream=True)

    second = await follow(middleware, first)

    assert first.response["status"] == "failed"
    assert second.status == 400


async def test_an_incomplete_response_can_be_continued() -> None:
    app = ChatApp(streamed(*frames("Hel", finish="length")), HELLO)
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, stream=True)

    second = await follow(middleware, first, stream=True, input="Go on")

    assert first.response["status"] == "incomplete"
    assert second.text == "Hello"
    assert [message["content"] for message in app.payloads[1]["messages"]] == ["hi", "Hel", "Go on"]


# -- references to items
async def test_a_reference_is_the_item_that_it_names() -> None:
    app = ChatApp(HELLO)
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, stream=True)
    reference = {"type": "item_reference", "id": first.response["output"][0]["id"]}

    await ask(middleware, input=[{"role": "user", "content": "a"}, reference, {"role": "user", "content": "b"}])

    assert [message["content"] for message in app.payloads[1]["messages"]] == ["a", "Hello", "b"]


async def test_a_reference_may_leave_its_type_out() -> None:
    app = ChatApp(HELLO)
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, stream=True)

    await ask(middleware, input=[{"id": first.response["output"][0]["id"]}, {"role": "user", "content": "b"}])

    assert [message["content"] for message in app.payloads[1]["messages"]] == ["Hello", "b"]


@pytest.mark.parametrize("exchange", [THEIRS, {}])
async def test_a_strangers_item_is_not_found(exchange: dict[str, Any]) -> None:
    app = ChatApp(HELLO)
    middleware = ResponsesMiddleware(app)
    first = await ask(middleware, stream=True, exchange=MINE)
    reference = {"type": "item_reference", "id": first.response["output"][0]["id"]}

    refused = await ask(middleware, input=[reference], exchange=exchange)

    assert (refused.status, refused.error["type"]) == (404, "invalid_request_error")
    assert refused.error["param"] == "input[0].id"
    assert len(app.scopes) == 1


async def test_reasoning_and_call_ids_of_the_output_can_be_sent_back_as_they_are() -> None:
    app = ChatApp(streamed(thinking("hm"), call_frame("f", {}), frame(finish="tool_calls"), DONE), HELLO)
    middleware = ResponsesMiddleware(app, store=None)
    first = await ask(middleware, tools=TOOLS, stream=True, include=["reasoning.encrypted_content"])
    output = {"type": "function_call_output", "call_id": "call_123456", "output": "42"}
    history = [{"role": "user", "content": "hi"}, *first.response["output"], output]

    second = await ask(middleware, input=history, tools=TOOLS, stream=True)

    assert second.text == "Hello"
    assert [message["role"] for message in app.payloads[1]["messages"]] == ["user", "assistant", "tool"]
