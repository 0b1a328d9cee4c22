from __future__ import annotations

from typing import Any

import pytest

from responses_middleware.errors import UpstreamProtocolError
from responses_middleware.translate.completion import to_chunk


def reasons(*choices: dict[str, Any]) -> list[Any]:
    return [choice.get("finish_reason") for choice in to_chunk({"choices": [*choices]})["choices"]]


def test_the_message_becomes_a_delta_and_the_rest_stays() -> None:
    completion = {"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "length"}], "usage": {"a": 1}}

    assert to_chunk(completion) == {
        "choices": [{"index": 0, "delta": {"content": "a"}, "message": None, "finish_reason": "length"}],
        "usage": {"a": 1},
    }


@pytest.mark.parametrize("reason", [None, "", 5, []])
@pytest.mark.parametrize("says", [{"message": {"content": "a"}}, {"text": "a"}])
def test_a_whole_answer_has_ended_whether_it_says_how_or_not(says: dict[str, Any], reason: Any) -> None:
    assert reasons({**says, "finish_reason": reason}) == ["stop"]


@pytest.mark.parametrize("choice", [{"delta": {"content": "a"}}, {"delta": {"content": "a"}, "finish_reason": None}])
def test_a_chunk_that_came_alone_has_not_ended(choice: dict[str, Any]) -> None:
    assert reasons(choice) == [None]


def test_one_choice_tells_how_all_have_ended() -> None:
    assert reasons({"message": {}, "finish_reason": "length"}, {"message": {}}) == ["length", None]


@pytest.mark.parametrize("reason", [None, "stop"])
def test_cloudflares_own_form_has_ended_too(reason: str | None) -> None:
    assert to_chunk({"response": "a", "finish_reason": reason}) == {"response": "a", "finish_reason": "stop"}


@pytest.mark.parametrize(
    "document",
    [None, 5, "text", [], {}, {"choices": None}, {"choices": []}, {"choices": "a"}, {"choices": [None]},
     {"choices": [{}]}, {"choices": [{"message": None}]}, {"choices": [{"message": None, "finish_reason": "stop"}]},
     {"choices": [{"finish_reason": "tool_calls"}]}, {"result": {}}],
)  # fmt: skip
def test_json_that_is_no_completion_is_refused(document: object) -> None:
    with pytest.raises(UpstreamProtocolError, match="no chat completion"):
        to_chunk(document)


@pytest.mark.parametrize("reason", ["content_filter", "length", "error"])
def test_a_reason_that_says_why_there_is_no_message_is_an_answer(reason: str) -> None:
    chunk = to_chunk({"choices": [{"index": 0, "finish_reason": reason}]})

    assert [choice["finish_reason"] for choice in chunk["choices"]] == [reason]
