"""Logprobs: what chat servers send, what a part holds, and how it is written once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from responses_middleware.stream.frames import to_frame
from responses_middleware.stream.logprobs import Written, to_logprobs


def token(text: str, logprob: float, raw: list[int]) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": raw}


def test_logprobs_have_all_their_members() -> None:
    found = to_logprobs(
        {"content": [{"token": "é", "logprob": -0.5, "top_logprobs": [{"token": "e", "logprob": -2, "bytes": [101]}]}]}
    )

    assert found == [{**token("é", -0.5, [0xC3, 0xA9]), "top_logprobs": [token("e", -2, [101])]}]


@pytest.mark.parametrize("value", [float("-inf"), float("nan"), None, "x", True, 10**400, -(10**400)])
def test_a_logprob_that_is_no_number_is_openais_lowest(value: Any) -> None:
    assert to_logprobs({"content": [{"token": "a", "logprob": value}]})[0]["logprob"] == -9999.0


@pytest.mark.parametrize("raw", [None, "x", [256], [-1], [1.5], [True], ["a"]])
def test_bytes_that_are_none_are_those_of_the_token(raw: Any) -> None:
    assert to_logprobs({"content": [{"token": "a", "logprob": -1, "bytes": raw}]})[0]["bytes"] == [97]


@pytest.mark.parametrize(("given", "text"), [("\ud83d", "\ufffd"), (None, ""), (5, "")])
def test_a_token_is_text(given: Any, text: str) -> None:
    assert to_logprobs({"content": [{"token": given}]})[0]["token"] == text


@pytest.mark.parametrize(
    "logprobs", [None, 5, [], {}, {"content": None}, {"content": "x"}, {"content": [None]}, {"tokens": ["a"]}]
)
def test_logprobs_of_another_form_are_none(logprobs: Any) -> None:
    assert to_logprobs(logprobs) == []


@pytest.mark.parametrize("top", [None, 5, "x", [None, 5], {}])
def test_top_logprobs_of_another_form_are_none(top: Any) -> None:
    assert to_logprobs({"content": [{"token": "a", "top_logprobs": top}]})[0]["top_logprobs"] in (
        [],
        [token("", -9999.0, [])],
    )


# -- written once
ENTRY = {**token("é%", -0.5, [195, 169, 37]), "top_logprobs": []}


def data_of(frame: bytes) -> Any:
    return json.loads(frame.partition(b"data: ")[2])


def test_lists_joined_are_what_was_written() -> None:
    joined = Written.joined([Written.of([ENTRY]).json, b'[{"token": "b"}, {"token": "c"}]'])

    assert joined == [ENTRY, {"token": "b"}, {"token": "c"}]
    assert json.loads(joined.json) == joined


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "response.output_text.done", "item_id": "msg_1", "logprobs": ...},
        {"type": "response.content_part.done", "item_id": "msg_1", "part": {"type": "output_text", "logprobs": ...}},
        {
            "type": "response.output_item.done",
            "item": {"id": "msg_1", "content": [{"logprobs": ...}, {"refusal": "no"}]},
        },
        {
            "type": "response.completed",
            "response": {
                "id": "resp_1",
                "output": [{"type": "reasoning", "content": None}, {"content": [{"logprobs": ...}] * 2}, {}],
            },
        },
    ],
)
def test_an_event_is_written_with_the_json_of_its_logprobs(fields: dict[str, Any]) -> None:
    marked = Written([ENTRY])
    marked.json = b'[ "as it is" ]'

    def filled(value: Any, logprobs: Any) -> Any:
        match value:
            case dict():
                return {key: filled(item, logprobs) for key, item in value.items()}
            case list():
                return [filled(item, logprobs) for item in value]
            case _:
                return logprobs if value is ... else value

    event = filled(fields, marked)

    assert data_of(to_frame(event)) == filled(fields, ["as it is"])
    assert event == filled(fields, [ENTRY])  # unchanged
