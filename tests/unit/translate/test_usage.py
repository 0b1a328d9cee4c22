from __future__ import annotations

from typing import Any

import pytest

from responses_middleware.translate.usage import find_usage, to_usage

COUNTS = {"prompt_tokens": 3, "completion_tokens": 5}


def flat(chat: Any) -> tuple[int, int, int, int, int, int]:
    usage = to_usage(chat)
    inputs, outputs = usage["input_tokens_details"], usage["output_tokens_details"]
    return (
        usage["input_tokens"], usage["output_tokens"], usage["total_tokens"],
        inputs["cached_tokens"], inputs["cache_write_tokens"], outputs["reasoning_tokens"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "chunk",
    [
        {"usage": COUNTS},
        {"usage": None, "x_groq": {"usage": COUNTS}},
        {"choices": [{"usage": COUNTS}]},
        {"usage": {"total_tokens": 0}, "choices": [{"usage": COUNTS}]},
    ],
    ids=["at the top", "x_groq", "in the choice, as older Kimi", "behind one that counts nothing"],
)
def test_usage_is_found_where_servers_put_it(chunk: dict[str, Any]) -> None:
    assert find_usage(chunk) == COUNTS


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"usage": None},
        {"usage": {}},
        {"usage": {"total_tokens": 0}},
        {"usage": [COUNTS]},
        {"usage": "many"},
        {"choices": None},
        {"choices": {"usage": COUNTS}},
        {"choices": [None]},
        {"x_groq": "id"},
    ],
)
def test_what_counts_nothing_is_no_usage(chunk: dict[str, Any]) -> None:
    assert find_usage(chunk) is None


def test_nothing_known_is_zeros() -> None:
    assert flat(None) == flat({}) == (0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("chat", "expected"),
    [
        (COUNTS, (3, 5, 8, 0, 0, 0)),
        ({**COUNTS, "total_tokens": 99}, (3, 5, 8, 0, 0, 0)),
        ({"input_tokens": 3, "output_tokens": 5}, (3, 5, 8, 0, 0, 0)),
        ({**COUNTS, "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1}}, (3, 5, 8, 2, 1, 0)),
        ({**COUNTS, "input_tokens_details": {"cached_tokens": 2}}, (3, 5, 8, 2, 0, 0)),
        ({**COUNTS, "prompt_cache_hit_tokens": 2}, (3, 5, 8, 2, 0, 0)),
        ({**COUNTS, "cached_tokens": 2}, (3, 5, 8, 2, 0, 0)),
        ({**COUNTS, "cache_read_input_tokens": 2}, (3, 5, 8, 2, 0, 0)),
        ({**COUNTS, "completion_tokens_details": {"reasoning_tokens": 4}}, (3, 5, 8, 0, 0, 4)),
        ({**COUNTS, "output_tokens_details": {"reasoning_tokens": 4}}, (3, 5, 8, 0, 0, 4)),
        ({**COUNTS, "reasoning_tokens": 4}, (3, 5, 8, 0, 0, 4)),
        ({"prompt_tokens": 3, "total_tokens": 8}, (3, 5, 8, 0, 0, 0)),
        ({"prompt_tokens": 9, "total_tokens": 8}, (9, 0, 9, 0, 0, 0)),
    ],
    ids=[
        "OpenAI", "a total that is no sum", "Responses names", "cached", "cached under a Responses name", "DeepSeek",
        "Kimi", "Anthropic", "reasoning", "reasoning under a Responses name", "reasoning at the top", "only a total",
        "a total below the input",
    ],
)  # fmt: skip
def test_counts_are_read_under_every_name(chat: dict[str, Any], expected: tuple[int, ...]) -> None:
    assert flat(chat) == expected


def test_reasoning_that_only_the_total_counts_is_output() -> None:
    chat = {**COUNTS, "total_tokens": 12, "completion_tokens_details": {"reasoning_tokens": 4}}  # xAI

    assert flat(chat) == (3, 9, 12, 0, 0, 4)


@pytest.mark.parametrize("value", [None, -1, True, "3", 1e400, float("nan"), 10**30, [], {}])
def test_what_is_no_number_of_tokens_counts_as_none(value: Any) -> None:
    chat = {"prompt_tokens": value, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": value}}

    assert flat(chat) == (0, 5, 5, 0, 0, 0)


def test_numbers_are_whole() -> None:
    assert flat({"prompt_tokens": 3.0, "completion_tokens": 5.7}) == (3, 5, 8, 0, 0, 0)


@pytest.mark.parametrize("details", [None, 5, "x", [], [{"cached_tokens": 1}]])
def test_details_may_be_anything(details: Any) -> None:
    chat = {**COUNTS, "prompt_tokens_details": details, "completion_tokens_details": details}

    assert flat(chat) == (3, 5, 8, 0, 0, 0)
