"""The openai package against the middleware over a real socket."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest
from chat_app import DONE, HELLO, USAGE, ChatApp, Reply, call_frame, completion, frame, frames, serving, streamed, whole
from openai.types.responses import ResponseCompletedEvent, ResponseTextDeltaEvent
from pydantic import BaseModel

from responses_middleware import ResponsesMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

TOOL: Any = {
    "type": "function",
    "name": "add",
    "description": "Adds",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
    "strict": False,
}


class Switch:
    """The app of the one server of these tests: what the running test puts into it."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        await self.app(scope, receive, send)


SWITCH = Switch()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(SWITCH) as url:
        yield f"{url}/v1"


Chat = Callable[..., tuple[openai.OpenAI, ChatApp]]


@pytest.fixture
def chat(url: str) -> Iterator[Chat]:
    """Makes a client, and the app that gives these replies behind it."""
    with httpx.Client(trust_env=False) as transport:

        def make(*replies: Reply) -> tuple[openai.OpenAI, ChatApp]:
            app = ChatApp(*replies)
            SWITCH.app = ResponsesMiddleware(app)
            return openai.OpenAI(api_key="sk-test", base_url=url, max_retries=0, http_client=transport), app

        yield make


def test_create_gives_a_response(chat: Chat) -> None:
    client, app = chat(whole(completion("Hello")))

    response = client.responses.create(model="m", input="hi", instructions="Be brief", metadata={"a": "b"})

    assert (response.status, response.output_text, response.metadata) == ("completed", "Hello", {"a": "b"})
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (3, 2)
    assert dict(app.headers)[b"authorization"] == b"Bearer sk-test"


def test_a_stream_gives_typed_events(chat: Chat) -> None:
    usage = b"data: " + json.dumps({"choices": [], "usage": USAGE}).encode() + b"\n\n"
    client, _ = chat(streamed(*frames("Hel", "lo")[:-1], usage, DONE))

    events = list(client.responses.create(model="m", input="hi", stream=True))

    assert [event.delta for event in events if isinstance(event, ResponseTextDeltaEvent)] == ["Hel", "lo"]
    last = events[-1]
    assert isinstance(last, ResponseCompletedEvent)
    assert last.response.usage is not None
    assert last.response.usage.total_tokens == 5


def test_the_stream_helper_gathers_the_response(chat: Chat) -> None:
    client, _ = chat(HELLO)

    with client.responses.stream(model="m", input="hi") as stream:
        kinds = [event.type for event in stream]
        response = stream.get_final_response()

    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert response.output_text == "Hello"


def test_the_stream_helper_gathers_thinking_and_calls(chat: Chat) -> None:
    thinking, call = frame(reasoning_content="hm"), call_frame("add", {"a": 1})
    client, _ = chat(streamed(thinking, call, frame(finish="tool_calls"), DONE))

    with client.responses.stream(model="m", input="hi", tools=[TOOL]) as stream:
        response = stream.get_final_response()

    assert [item.type for item in response.output] == ["reasoning", "function_call"]


class Answer(BaseModel):
    city: str
    people: int


BERN = '{"city": "Bern", "people": 135000}'


def test_parse_gives_the_callers_own_type(chat: Chat) -> None:
    client, app = chat(whole(completion(BERN)))

    response = client.responses.parse(model="m", input="hi", text_format=Answer)

    assert response.output_parsed == Answer(city="Bern", people=135000)
    assert app.payloads[0]["response_format"]["json_schema"]["schema"]["required"] == ["city", "people"]


def test_a_stream_is_parsed_too(chat: Chat) -> None:
    client, _ = chat(streamed(*frames(BERN[:9], BERN[9:])))

    with client.responses.stream(model="m", input="hi", text_format=Answer) as events:
        response = events.get_final_response()

    assert response.output_parsed == Answer(city="Bern", people=135000)


@pytest.mark.parametrize("stateful", [True, False])
def test_a_loop_of_function_calls(chat: Chat, stateful: bool) -> None:
    call = streamed(call_frame("add", {"a": 2, "b": 3}), frame(finish="tool_calls"), DONE)
    client, app = chat(call, whole(completion("5")))

    first = client.responses.create(model="m", input="2 + 3?", tools=[TOOL])
    (wanted,) = first.output
    assert wanted.type == "function_call"
    output: Any = {"type": "function_call_output", "call_id": wanted.call_id, "output": "5"}
    if stateful:
        second = client.responses.create(model="m", input=[output], tools=[TOOL], previous_response_id=first.id)
    else:
        history: Any = [{"role": "user", "content": "2 + 3?"}, *first.output, output]
        second = client.responses.create(model="m", input=history, tools=[TOOL])

    assert json.loads(wanted.arguments) == {"a": 2, "b": 3}
    assert second.output_text == "5"
    assert [message["role"] for message in app.payloads[1]["messages"]] == ["user", "assistant", "tool"]


def test_a_stored_response_can_be_read_listed_and_deleted(chat: Chat) -> None:
    client, _ = chat(whole(completion("Hello")))

    first = client.responses.create(model="m", input="one")
    second = client.responses.create(model="m", input="two", previous_response_id=first.id)
    read = client.responses.retrieve(second.id)
    items = list(client.responses.input_items.list(second.id, order="asc", limit=1))
    client.responses.delete(second.id)

    assert read == second
    assert [item.type for item in items] == ["message", "message", "message"]
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(second.id)


ERRORS: list[tuple[int, type[openai.APIStatusError]]] = [
    (400, openai.BadRequestError),
    (401, openai.AuthenticationError),
    (403, openai.PermissionDeniedError),
    (404, openai.NotFoundError),
    (422, openai.UnprocessableEntityError),
    (429, openai.RateLimitError),
    (500, openai.InternalServerError),
    (503, openai.InternalServerError),
]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("status", "kind"), ERRORS)
def test_a_refusal_of_the_upstream_is_a_typed_exception(
    chat: Chat, status: int, kind: type[openai.APIStatusError], stream: bool
) -> None:
    error = {"error": {"message": "because", "type": "a_type", "param": None, "code": "a_code"}}
    client, _ = chat(whole(error, status=status, headers=[(b"retry-after", b"7")]))

    with pytest.raises(kind, match="because") as caught:
        client.responses.create(model="m", input="hi", stream=stream)

    assert (caught.value.code, caught.value.type) == ("a_code", "a_type")
    assert caught.value.response.headers["retry-after"] == "7"


def test_a_bad_request_is_a_typed_exception_that_names_the_place(chat: Chat) -> None:
    wrong: Any = [{"role": "user", "content": [{"type": "nonsense"}]}]
    client, app = chat(HELLO)

    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="m", input=wrong)

    assert caught.value.param == "input[0].content[0].type"
    assert app.scopes == []


def test_a_stream_that_breaks_raises_in_the_loop(chat: Chat) -> None:
    client, _ = chat(streamed(frame("Hel"), b'data: {"error": {"message": "out of memory"}}\n\n'))
    texts = []

    stream = client.responses.create(model="m", input="hi", stream=True)
    with pytest.raises(openai.APIError, match="out of memory"):  # noqa: PT012 (the loop is what raises)
        for event in stream:
            texts += [event.delta] if isinstance(event, ResponseTextDeltaEvent) else []

    assert texts == ["Hel"]


def test_the_sdks_own_retry_is_the_only_one(chat: Chat) -> None:
    busy = whole({"error": {"message": "busy"}}, status=503, headers=[(b"retry-after-ms", b"1")])
    client, app = chat(busy, whole(completion("Hello")))

    response = client.with_options(max_retries=2).responses.create(model="m", input="hi")

    assert response.output_text == "Hello"
    assert len(app.scopes) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_async_client_streams(url: str) -> None:
    SWITCH.app = ResponsesMiddleware(ChatApp(HELLO))
    async with (
        httpx.AsyncClient(trust_env=False) as transport,
        openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0, http_client=transport) as client,
    ):
        stream = await client.responses.create(model="m", input="hi", stream=True)
        texts = [event.delta async for event in stream if isinstance(event, ResponseTextDeltaEvent)]

    assert texts == ["Hel", "lo"]
