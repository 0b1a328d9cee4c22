"""Token counts: from wherever a chat server puts them to `Response.usage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def find_usage(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The usage object of a chunk or completion, or None; an object that counts nothing is none.

    At the top (OpenAI), inside the choice (older Kimi), or inside `x_groq`. MiniMax sends `{"total_tokens": 0}` with
    every chunk.
    """
    found = chunk.get("usage")
    if _counts(found):
        return found
    nested = chunk.get("x_groq")
    if isinstance(nested, dict) and _counts(nested.get("usage")):
        return nested["usage"]  # type: ignore[no-any-return]
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and _counts(first.get("usage")):
        return first["usage"]  # type: ignore[no-any-return]
    return None


def to_usage(chat: Mapping[str, Any] | None) -> dict[str, Any]:
    """`Response.usage` with all its required numbers; what the server did not count is 0.

    Totals are computed, not copied: 41 of 41 recorded Responses streams hold input + output = total.
    """
    chat = chat or {}
    prompt_details, completion_details = _details(chat, "prompt"), _details(chat, "completion")
    input_tokens = _first(chat, "prompt_tokens", "input_tokens")
    output_tokens = _first(chat, "completion_tokens", "output_tokens")
    total_tokens = _first(chat, "total_tokens")
    reasoning_tokens = _first(completion_details, "reasoning_tokens") or _first(chat, "reasoning_tokens")
    if total_tokens == input_tokens + output_tokens + reasoning_tokens:
        output_tokens += reasoning_tokens  # xAI counts reasoning beside completion_tokens, only the total tells
    elif total_tokens and not output_tokens:
        output_tokens = max(total_tokens - input_tokens, 0)
    if reasoning_tokens > output_tokens:  # it can be no part of them, whatever the total says
        output_tokens += reasoning_tokens
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {
            # DeepSeek: prompt_cache_hit_tokens; Kimi: cached_tokens beside prompt_tokens
            "cached_tokens": _first(prompt_details, "cached_tokens")
            or _first(chat, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"),
            "cache_write_tokens": _first(prompt_details, "cache_write_tokens", "cache_creation_tokens")
            or _first(chat, "cache_creation_input_tokens"),
        },
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": reasoning_tokens},
        "total_tokens": input_tokens + output_tokens,
    }


def _counts(usage: object) -> bool:
    return isinstance(usage, dict) and any(
        _first(usage, name)
        for name in ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")
    )


def _details(chat: Mapping[str, Any], side: str) -> Mapping[str, Any]:
    for name in (f"{side}_tokens_details", "input_tokens_details" if side == "prompt" else "output_tokens_details"):
        details = chat.get(name)
        if isinstance(details, dict):
            return details
    return {}


def _first(source: Mapping[str, Any], *names: str) -> int:
    """The first of these that is a number of tokens, as an int."""
    for name in names:
        value = source.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e15:
            return int(value)
    return 0
