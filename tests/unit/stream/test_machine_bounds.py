"""A response is bounded: its items, their parts, and all that is kept or waits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from replay import call, chunk, names_of, stream_of, text, texts

from responses_middleware.stream.open_items import MOST


def test_a_response_has_a_bounded_number_of_items() -> None:
    stream = stream_of()
    stream.start()

    for _ in range(MOST):
        stream.feed(chunk({"reasoning_content": "a", "content": "b"}))

    assert stream.ended
    assert len(stream.response["output"]) == MOST


def test_a_message_has_a_bounded_number_of_parts() -> None:
    stream = stream_of()
    stream.start()

    for _ in range(MOST):
        stream.feed(chunk({"refusal": "a", "content": "b"}))

    assert stream.ended


@pytest.mark.parametrize(
    "chunk_of",
    [
        lambda words: call(0, words),
        lambda words: chunk({"reasoning_details": [{"data": words}]}),
        lambda words: call(3, arguments=words),
        lambda words: call(1, None, "patch", '{"other":"' + words),
        lambda words: call(2, None, "sh", words),
        lambda words: chunk({"reasoning_content": words}),
        lambda words: {"choices": [{"delta": {"content": "a"}, "logprobs": {"content": [{"token": words}] * 3}}]},
    ],
    ids=["ids", "opaque data", "waiting arguments", "undecoded input", "held arguments", "hidden thinking", "logprobs"],
)
def test_whatever_is_kept_is_counted(chunk_of: Callable[[str], dict[str, Any]]) -> None:
    names = names_of(patch="custom", sh="local_shell")
    stream = stream_of(max_output=5000, seal=json.dumps, reasoning="none", logprobs=True, names=names)
    stream.start()
    stream.feed(call(0, "call_a", "f"))

    for number in range(1000, 1100):
        stream.feed(chunk_of(f"{number}" * 25))

    assert stream.ended
    assert stream.failure is not None
    assert "exceeds Limits.max_output_bytes" in stream.failure.message


def test_text_that_waits_for_a_closing_tag_is_bounded() -> None:
    stream = stream_of(max_output=100, think_tags="extract_implicit_open")
    stream.start()

    for _ in range(200):
        stream.feed(text("x"))

    assert stream.ended
    assert texts(stream.response["output"]) == [("message", "x" * 101)]
