"""What a refusal teaches about a server: the same request, said otherwise.

A lesson is one row: what the refusal's words must name, whether the request held it at all, and how the dialect
changes. Only what we chose ourselves is said otherwise; a parameter that the client gave and the server refuses stays
the client's error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .base import Dialect

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing that a server may refuse and that can be said otherwise."""

    words: re.Pattern[str]
    applies: Callable[[Payload], bool]
    change: Mapping[str, Any]


def _named(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


def _holds(name: str) -> Callable[[Payload], bool]:
    return lambda payload: name in payload


def _has_role(role: str) -> Callable[[Payload], bool]:
    return lambda payload: any(message["role"] == role for message in payload["messages"])


def _has_later_system(payload: Payload) -> bool:
    return any(message["role"] == "system" for message in payload["messages"][1:])


def _function_has(member: str) -> Callable[[Payload], bool]:
    return lambda payload: any(member in tool.get("function", {}) for tool in payload.get("tools", ()))


def _may_call_in_parallel(payload: Payload) -> bool:
    return payload.get("parallel_tool_calls") is True


def _may_not_call_in_parallel(payload: Payload) -> bool:
    return payload.get("parallel_tool_calls") is False


def _forces_by_name(payload: Payload) -> bool:
    return isinstance(payload.get("tool_choice"), dict)


def _forces_any(payload: Payload) -> bool:
    return payload.get("tool_choice") == "required"


def _asks_for_schema(payload: Payload) -> bool:
    return bool(payload.get("response_format", {}).get("type") == "json_schema")


LESSONS = (
    # OpenAI's reasoning models: "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead."
    Lesson(_named("max_completion_tokens"), _holds("max_tokens"), {"max_tokens_field": "max_completion_tokens"}),
    Lesson(_named("max_completion_tokens"), _holds("max_completion_tokens"), {"max_tokens_field": "max_tokens"}),
    # Mistral, older FastAPI servers with extra="forbid"
    Lesson(_named("stream_options", "include_usage"), _holds("stream_options"), {"stream_usage": False}),
    Lesson(_named("parallel_tool_calls"), _may_call_in_parallel, {"parallel_tool_calls": "only_false"}),
    Lesson(_named("parallel_tool_calls"), _may_not_call_in_parallel, {"parallel_tool_calls": False}),
    # Templates of Qwen 3.5 and others: "System message must be at the beginning."
    Lesson(
        _named("system message", "role.{0,20}system", "system.{0,20}role"),
        _has_later_system,
        {"system_messages": "single_leading"},
    ),
    Lesson(_named("developer"), _has_role("developer"), {"developer_role": False}),
    Lesson(_named("reasoning_effort"), _holds("reasoning_effort"), {"reasoning_effort": False}),
    Lesson(_named(r"\bstrict\b"), _function_has("strict"), {"strict_tools": False}),
    # Kimi and DeepSeek while thinking: "does not support this tool_choice"; Mistral and Fireworks: "any"
    Lesson(_named("tool_choice.*any", "any.*tool_choice"), _forces_any, {"tool_choice": "any"}),
    Lesson(_named("tool_choice"), _forces_by_name, {"tool_choice": "required"}),
    # DeepSeek: "This response_format type is unavailable now"
    Lesson(_named("response_format", "json_schema"), _asks_for_schema, {"response_format": "json_object"}),
    Lesson(_named("logprobs"), _holds("logprobs"), {"logprobs": False}),
)


def learn(refusal: str, payload: Payload, dialect: Dialect) -> Dialect | None:
    """The dialect that says otherwise all that the refusal names, or None if nothing that we chose is named.

    Args:
        refusal: the words of the upstream's error, its `param` among them.
        payload: the chat request that was refused.
        dialect: by which it was written.
    """
    changes: dict[str, Any] = {}
    for lesson in LESSONS:
        is_new = all(name not in changes and getattr(dialect, name) != value for name, value in lesson.change.items())
        if is_new and lesson.words.search(refusal) and lesson.applies(payload):
            changes |= lesson.change
    return replace(dialect, **changes) if changes else None
