"""A whole `chat.completion` → the one chunk that the stream machine reads."""

from __future__ import annotations

from typing import Any

from ..errors import UpstreamProtocolError
from .finish import outcome_of


def to_chunk(completion: object) -> dict[str, Any]:
    """The completion as a chunk: every message a delta, with an end.

    Raises UpstreamProtocolError for JSON that is no completion.
    """
    if not isinstance(completion, dict):
        raise UpstreamProtocolError("the upstream's answer is no chat completion")
    choices = completion.get("choices")
    if isinstance(choices, list) and choices and all(_says_something(choice) for choice in choices):
        return {**completion, "choices": [_as_delta(choice) for choice in _ended(choices)]}
    if "response" in completion or "tool_calls" in completion:  # Cloudflare's own form
        return {**completion, "finish_reason": _reason(completion) or "stop"}
    raise UpstreamProtocolError("the upstream's answer is no chat completion")


def _says_something(choice: object) -> bool:
    """Whether this is a choice. Gemini's refusals have no message, only a reason that says why there is none."""
    if not isinstance(choice, dict):
        return False
    if any(choice.get(member) is not None for member in ("message", "delta", "text")):
        return True
    return outcome_of(_reason(choice) or "stop") != "completed"


def _as_delta(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("message")
    return {**choice, "delta": message, "message": None} if isinstance(message, dict) else choice


def _ended(choices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A whole answer has ended, whether the server says how or not; several choices may be one answer (Copilot).

    A chunk is none: one that came alone is the beginning of an answer that was cut.
    """
    if any(_reason(choice) for choice in choices) or not any(_is_whole(choice) for choice in choices):
        return choices
    return [{**choices[0], "finish_reason": "stop"}, *choices[1:]]


def _is_whole(choice: dict[str, Any]) -> bool:
    return isinstance(choice.get("message"), dict) or isinstance(choice.get("text"), str)


def _reason(source: dict[str, Any]) -> str | None:
    reason = source.get("finish_reason")
    return reason if isinstance(reason, str) and reason else None
