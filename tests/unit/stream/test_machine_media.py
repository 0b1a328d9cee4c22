"""What an answer has beside text and calls: images, citations, and thinking in rare forms."""

from __future__ import annotations

import json
from typing import Any

import pytest
from replay import call, chunk, folded, output_of, response_of, stop, text

URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}}
NOTE = {"type": "url_citation", "url_citation": {"url": "http://x", "title": "t", "start_index": 0, "end_index": 3}}
CITED = {"type": "url_citation", "url": "http://x", "title": "t", "start_index": 0, "end_index": 3}


# -- images
@pytest.mark.parametrize(
    "drawn",
    [
        chunk({"content": "", "images": [URL]}),
        chunk({"content": [URL]}),
        chunk({"images": {"image_url": URL["image_url"]["url"]}}),
    ],
)
def test_an_image_that_the_model_drew_is_an_item(drawn: Any) -> None:
    first, image, last = output_of(text("Look:"), drawn, text("Nice?"), stop())

    assert [first["type"], last["type"]] == ["message", "message"]
    assert image["id"].startswith("ig_")
    assert image == {
        "id": image["id"],
        "type": "image_generation_call",
        "status": "completed",
        "result": "iVBORw0=",
    }


def test_an_image_of_a_whole_completion_is_an_item() -> None:
    choice = {"index": 0, "message": {"content": None, "images": [URL]}, "finish_reason": "stop"}

    (image,) = folded(json.dumps({"choices": [choice]}).encode())["output"]

    assert image["result"] == "iVBORw0="


def test_an_image_elsewhere_is_named_in_the_text() -> None:
    elsewhere = {"image_url": {"url": "https://example.com/a.png"}}

    (message,) = output_of(chunk({"images": [elsewhere]}), stop())

    assert message["content"][0]["text"] == "![image](https://example.com/a.png)"


def test_an_image_counts_as_output() -> None:
    response = response_of(text("a"), chunk({"images": [URL]}), stop(), max_output=5)

    assert response["status"] == "failed"
    assert "max_output_bytes" in response["error"]["message"]


# -- citations
def test_citations_of_a_whole_message_are_on_it_though_calls_stand_beside() -> None:
    function = {"name": "f", "arguments": "{}"}
    calls = [{"id": "call_abcdef", "type": "function", "function": function}]
    message = {"content": "See x", "tool_calls": calls, "annotations": [NOTE]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}

    said, called = folded(json.dumps({"choices": [choice]}).encode())["output"]

    assert said["content"][0]["annotations"] == [CITED]
    assert called["type"] == "function_call"


def test_citations_in_front_of_the_text_are_on_it() -> None:
    (message,) = output_of(chunk({"annotations": [NOTE]}), text("See x"), stop())

    assert message["content"][0]["annotations"] == [CITED]


def test_citations_in_front_of_a_call_and_a_text_are_on_the_text() -> None:
    called, message = output_of(
        chunk({"annotations": [NOTE]}), call(0, "call_abcdef", "f", "{}"), text("See x"), stop("tool_calls")
    )

    assert called["type"] == "function_call"
    assert message["content"][0]["annotations"] == [CITED]


# -- thinking
@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": {"text": "hm"}},  # Envoy AI Gateway
        {"reasoning": {"content": "hm"}},
        {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
        {"reasoning_content": "hm", "thinking_blocks": [{"type": "thinking", "thinking": "hm"}]},
        {"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm", "signature": "s"}]}]},
    ],
)
def test_thinking_in_rare_forms_is_thinking(delta: dict[str, Any]) -> None:
    thought, message = output_of(chunk(delta), text("a"), stop())

    assert thought["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert message["content"][0]["text"] == "a"
