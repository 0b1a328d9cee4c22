"""Counts that stand beside the usual ones: reasoning that is no part of the output, and what a cache has taken in."""

from __future__ import annotations

from typing import Any

import pytest

from responses_middleware.translate.usage import to_usage


def counted(reasoning: int, **counts: int) -> tuple[int, int, int]:
    """Output, reasoning and total of a chat usage."""
    usage = to_usage({**counts, "completion_tokens_details": {"reasoning_tokens": reasoning}})
    return usage["output_tokens"], usage["output_tokens_details"]["reasoning_tokens"], usage["total_tokens"]


@pytest.mark.parametrize(
    ("counts", "reasoning", "expected"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, 20, (25, 20, 35)),
        ({"prompt_tokens": 10, "completion_tokens": 5}, 20, (25, 20, 35)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 35}, 20, (25, 20, 35)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 18}, 3, (8, 3, 18)),
        ({"prompt_tokens": 10, "total_tokens": 30}, 20, (20, 20, 30)),
        ({"prompt_tokens": 10, "completion_tokens": 0}, 20, (20, 20, 30)),
    ],
    ids=["the excess says so", "no total", "both", "only the total", "only a total", "nothing but reasoning"],
)
def test_reasoning_beside_the_output_is_added(
    counts: dict[str, int], reasoning: int, expected: tuple[int, ...]
) -> None:
    assert counted(reasoning, **counts) == expected


@pytest.mark.parametrize("reasoning", [0, 1, 4, 5])
def test_reasoning_within_the_output_is_not_added(reasoning: int) -> None:
    assert counted(reasoning, prompt_tokens=10, completion_tokens=5, total_tokens=15) == (5, reasoning, 15)


@pytest.mark.parametrize(
    "counts",
    [
        {"cache_creation_input_tokens": 7, "cache_read_input_tokens": 2},
        {"prompt_tokens_details": {"cache_creation_tokens": 7, "cached_tokens": 2}},
        {"prompt_tokens_details": {"cache_write_tokens": 7, "cached_tokens": 2}, "cache_creation_input_tokens": 9},
    ],
    ids=["Anthropic and LiteLLM", "LiteLLM's details", "details count first"],
)
def test_what_the_cache_took_in_is_read_as_what_it_gave(counts: dict[str, Any]) -> None:
    details = to_usage({"prompt_tokens": 10, "completion_tokens": 5, **counts})["input_tokens_details"]

    assert details == {"cached_tokens": 2, "cache_write_tokens": 7}
