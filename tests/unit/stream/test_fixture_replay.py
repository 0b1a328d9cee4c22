"""Answers of real servers, and of invented ones in the shape of each server family, from the bytes to the events."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
import replay

from responses_middleware.errors import ResponsesError
from responses_middleware.translate.failure import from_error_body

FIXTURES = Path(__file__).parents[2] / "fixtures"
ZEROS = dict.fromkeys(("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "reasoning_tokens"), 0)
LONG = 8192  # bytes; what is longer is not cut to single ones

Sample = dict[str, Any]


def samples() -> dict[str, Sample]:
    found = {}
    for folder in (FIXTURES / "dialects", FIXTURES / "captures"):
        for sample in json.loads((folder / "index.json").read_text()):
            found[sample["name"]] = {**sample, "path": folder / sample["file"]}
    return found


SAMPLES = samples()
ANSWERS = {name: sample for name, sample in SAMPLES.items() if sample["status"] != "error"}
ERRORS = {name: sample for name, sample in SAMPLES.items() if sample["status"] == "error"}
of_each_answer = pytest.mark.parametrize("name", ANSWERS)


def options_of(sample: Sample) -> dict[str, Any]:
    kinds = dict.fromkeys(("get_weather", "get_time", "ping"), "function")
    kinds |= {call["name"]: "custom" for call in sample.get("custom_tool_calls", ())}
    return {"names": replay.names_of(**kinds), **sample.get("options", {}).get("dialect", {}), "seal": json.dumps}


@functools.cache
def streamed(name: str) -> list[replay.Event]:
    sample = SAMPLES[name]
    return replay.transcoded([sample["path"].read_bytes()], **options_of(sample))


def test_every_file_has_its_entry() -> None:
    files = {path.name for folder in ("dialects", "captures") for path in (FIXTURES / folder).glob("*.*")}

    assert files - {"index.json", "README.md"} == {sample["file"] for sample in SAMPLES.values()}


@of_each_answer
def test_the_events_are_legal(name: str) -> None:
    replay.check(streamed(name))


@of_each_answer
def test_the_response_is_what_the_index_says(name: str) -> None:
    sample, response = SAMPLES[name], streamed(name)[-1]["response"]

    assert response["status"] in (sample["status"], *sample.get("also", ()))
    if response["status"] == sample["status"]:
        expected, found = expected_of(sample), facts_of(sample, response)
        assert {member: found[member] for member in expected} == expected


@of_each_answer
@pytest.mark.parametrize("size", [1, 100])
def test_bytes_may_come_in_any_pieces(name: str, size: int) -> None:
    sample = SAMPLES[name]
    body = sample["path"].read_bytes()
    pieces = replay.cut(body, 7 if size == 1 and len(body) > LONG else size)

    assert replay.transcoded(pieces, **options_of(sample)) == streamed(name)


@of_each_answer
def test_the_folded_response_is_the_streamed_one(name: str) -> None:
    sample = SAMPLES[name]

    assert replay.folded(sample["path"].read_bytes(), **options_of(sample)) == streamed(name)[-1]["response"]


@pytest.mark.parametrize("name", [name for name, sample in ERRORS.items() if sample["http_status"] == 200])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_an_error_instead_of_an_answer_is_raised(name: str, size: int) -> None:
    body = SAMPLES[name]["path"].read_bytes()

    with pytest.raises(ResponsesError) as raised:
        replay.transcoded(replay.cut(body, size))

    assert raised.value.status >= 400


@pytest.mark.parametrize("name", [name for name, sample in ERRORS.items() if sample["http_status"] != 200])
def test_an_http_error_keeps_its_words(name: str) -> None:
    body = SAMPLES[name]["path"].read_bytes()

    error = from_error_body(SAMPLES[name]["http_status"], body, [])

    assert error.message in json.loads(body)["error"]["message"]


def expected_of(sample: Sample) -> dict[str, Any]:
    """What the index says, of what it says."""
    expected = {
        "text": sample["text"],
        "reasoning": sample["reasoning"],
        "tool_calls": [_call(sample, call, "arguments") for call in sample["tool_calls"]],
        "custom_tool_calls": [_call(sample, call, "input") for call in sample.get("custom_tool_calls", ())],
        "usage": sample["usage"] or ZEROS,
        "incomplete_reason": sample.get("incomplete_reason"),
        "error": sample.get("error", {}).get("code"),
    }
    if sample["status"] == "failed":
        expected = {"text": expected["text"], **({"error": expected["error"]} if expected["error"] else {})}
    if sample.get("options"):  # the think tags stand between blanks
        expected |= {member: expected[member].strip() for member in ("text", "reasoning")}
    return expected | {name: sample[name] for name in OPTIONAL if name in sample}


OPTIONAL = ("annotations", "citations", "service_tier", "encrypted", "thought_signatures")


def facts_of(sample: Sample, response: dict[str, Any]) -> dict[str, Any]:
    """The same of a Response."""
    of_type: dict[str, list[Any]] = {"message": [], "reasoning": [], "function_call": [], "custom_tool_call": []}
    for item in response["output"]:
        of_type[item["type"]].append(item)
    parts = [part for item in of_type["message"] for part in item["content"]]
    notes = [note for part in parts for note in part["annotations"]]
    sealed = [json.loads(item["encrypted_content"]) for item in of_type["reasoning"] if item["encrypted_content"]]
    strip = str.strip if sample.get("options") else str
    usage = response["usage"] or {}
    return {
        "text": strip("".join(part["text"] for part in parts)),
        "reasoning": strip("".join(part["text"] for item in of_type["reasoning"] for part in item["content"])),
        "tool_calls": [_call(sample, call, "arguments") for call in of_type["function_call"]],
        "custom_tool_calls": [_call(sample, call, "input") for call in of_type["custom_tool_call"]],
        "usage": usage
        and {
            **{name: usage[name] for name in ("input_tokens", "output_tokens", "total_tokens")},
            "cached_tokens": usage["input_tokens_details"]["cached_tokens"],
            "reasoning_tokens": usage["output_tokens_details"]["reasoning_tokens"],
        },
        "incomplete_reason": (response["incomplete_details"] or {}).get("reason"),
        "error": (response["error"] or {}).get("code"),
        "annotations": notes,
        "citations": [note["url"] for note in notes],
        "service_tier": response["service_tier"],
        "encrypted": "".join(
            detail.get("data", "") for token in sealed for detail in token["opaque"].get("reasoning_details", ())
        ),
        "thought_signatures": {
            call_id: members["extra_content"]["google"]["thought_signature"]
            for token in sealed
            for call_id, members in token["opaque"].get("calls", {}).items()
        },
    }


def _call(sample: Sample, call: dict[str, Any], member: str) -> tuple[str, str, Any]:
    generated = call["call_id"].startswith(("call_made", "<generated>"))
    value = json.loads(call[member]) if sample.get("object_arguments") else call[member]
    return ("<generated>" if generated else call["call_id"], call["name"], value)
