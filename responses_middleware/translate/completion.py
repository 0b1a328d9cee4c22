"""A whole `chat.completion` → the one chunk that the stream machine reads."""

from __future__ import annotations

from typing import Any

from ..errors import UpstreamProtocolError


def to_chunk(completion: object) -> dict[str, Any]:
    """The completion as a chunk: every message a delta, with an end.

    Raises UpstreamProtocolError for JSON that is no completion.
    """
    if not isinstance(completion, dict):
        raise UpstreamProtocolError("the upstream's answer is no chat completion")
    choices = completion.get("choices")
    if isinstance(choices, list) and choices and all(_says_something(choice) for choice in choices):
        return {**completion, "choices": [_as_delta(choice) for choice in choices]}
    if "response" in completion or "tool_calls" in completion:  # Cloudflare's own form
        return {"finish_reason": "stop", **completion}
    raise UpstreamProtocolError("the upstream's answer is no chat completion")


def _says_something(choice: object) -> bool:
    return isinstance(choice, dict) and any(choice.get(member) is not None for member in ("message", "delta", "text"))


def _as_delta(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("message")
    if not isinstance(message, dict):
        return choice
    # A whole message has ended, whether the server says how or not.
    return {**choice, "delta": message, "message": None, "finish_reason": choice.get("finish_reason") or "stop"}
