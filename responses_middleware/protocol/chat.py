"""Chat completions: what is asked upstream. What comes back has no sure shape: stream/reader.py reads any."""

from __future__ import annotations

from typing import Any, Required, TypedDict


class ChatRequest(TypedDict, total=False):
    """The body of POST /chat/completions; only the keys that a dialect sends are there."""

    model: Required[str]
    messages: Required[list[dict[str, Any]]]
    stream: bool
    stream_options: dict[str, Any]
    tools: list[dict[str, Any]]
    tool_choice: str | dict[str, Any]
    parallel_tool_calls: bool
    response_format: dict[str, Any]
    reasoning_effort: str
    max_tokens: int
    max_completion_tokens: int
    temperature: float
    top_p: float
    logprobs: bool
    top_logprobs: int
    metadata: dict[str, str]
    moderation: dict[str, Any]
    prompt_cache_key: str
    prompt_cache_options: dict[str, Any]
    prompt_cache_retention: str
    safety_identifier: str
    service_tier: str
    store: bool
    user: str
    verbosity: str
