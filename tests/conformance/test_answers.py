"""Which items and events come: all that the table calls served, and no other, over one of every kind of answer."""

from __future__ import annotations

from functools import cache
from typing import Any

import anyio
import pytest
from asgi_client import Exchange
from chat_app import DONE, ChatApp, Reply, call_frame, frame, frames, streamed
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter
from rich_request import TOOLS
from table import TABLE
from test_every_tool import CallingApp

from responses_middleware import ResponsesMiddleware

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
SOURCE = {"type": "url_citation", "url_citation": {"url": "https://example.org", "title": "T", "start_index": 0}}
DRAWN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}}
THINKING = [frame(reasoning_content="Hm"), *frames("Hello")]
# One of every kind of answer, with the options of the middleware that it needs.
ANSWERS: list[tuple[Reply, dict[str, Any]]] = [
    (streamed(*frames("Hel", "lo")), {}),
    (streamed(frame("See"), frame(annotations=[SOURCE]), *frames("!")), {}),
    (streamed(frame(refusal="No."), frame(finish="stop"), DONE), {}),
    (streamed(*THINKING), {}),
    (streamed(*THINKING), {"reasoning": "text"}),
    (streamed(call_frame("get_weather", {"city": "Paris"}), frame(finish="tool_calls"), DONE), {}),
    (streamed(*frames("Hel", finish="length")), {}),
    (streamed(*frames("Hel", finish="content_filter")), {}),
    (streamed(frame("Hel")), {}),
    (streamed(frame("Hel"), b'data: {"error": {"message": "overloaded"}}\n\n'), {}),
    (streamed(frame(images=[DRAWN]), frame(finish="stop"), DONE), {}),
    (streamed(frame(audio={"id": "a", "transcript": "Hello"}), frame(finish="stop"), DONE), {}),
]


def names(group: str, *statuses: str) -> list[str]:
    return [row.name for row in TABLE[group] if row.status in statuses]


async def streamed_events(app: Any) -> list[dict[str, Any]]:
    body = {"model": "m", "input": "Hi", "tools": TOOLS, "stream": True}
    return (await Exchange(app, body).run()).events


@cache
def all_events() -> list[dict[str, Any]]:
    apps = [ResponsesMiddleware(ChatApp(reply), **options) for reply, options in ANSWERS]
    apps.append(ResponsesMiddleware(CallingApp(5)))
    return [event for app in apps for event in anyio.run(streamed_events, app)]


@cache
def all_items() -> list[dict[str, Any]]:
    return [event["item"] for event in all_events() if event["type"] == "response.output_item.done"]


@pytest.mark.parametrize("name", names("stream event", "served"))
def test_a_served_event_is_sent(name: str) -> None:
    sent = [event for event in all_events() if event["type"] == name]

    assert sent
    # The error event is nested on the wire and flat in the package (stream grammar: as OpenAI sends it).
    assert name == "error" or all(EVENT.validate_python(event).type == name for event in sent)


def test_no_other_event_is_sent() -> None:
    assert {event["type"] for event in all_events()} <= set(names("stream event", "served"))


@pytest.mark.parametrize("name", names("output item", "served"))
def test_a_served_item_comes_back(name: str) -> None:
    assert name in {item["type"] for item in all_items()}


def test_no_other_item_comes_back() -> None:
    assert {item["type"] for item in all_items()} <= set(names("output item", "served"))


@pytest.mark.anyio
@pytest.mark.parametrize("wanted", [True, False])
async def test_deltas_are_padded_when_that_is_asked_for(wanted: bool) -> None:
    body = {"model": "m", "input": "Hi", "stream": True, "stream_options": {"include_obfuscation": wanted}}

    events = (await Exchange(ResponsesMiddleware(ChatApp()), body).run()).events

    assert ["obfuscation" in event for event in events if event["type"].endswith(".delta")] == [wanted, wanted]
