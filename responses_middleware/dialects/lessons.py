"""What a refusal teaches about a server: the same request, said otherwise.

A lesson is one row: what the refusal's words must name, whether the request held it at all, and how the dialect
changes. Only what we can say otherwise, or do without and name to the client, is a lesson; whatever else the server
refuses stays the client's error.
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
    """One thing that a server may refuse and that can be said otherwise.

    Args:
        words: found in the refusal.
        applies: whether the request held what the words name.
        field: of the dialect, which changes.
        value: that it gets; or what makes it of the refusal and the request.
    """

    words: re.Pattern[str]
    applies: Callable[[Payload], bool]
    field: str
    value: Any


def _named(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE | re.DOTALL)


def _holds(name: str) -> Callable[[Payload], bool]:
    return lambda payload: name in payload


def _has_role(role: str) -> Callable[[Payload], bool]:
    return lambda payload: any(message["role"] == role for message in payload["messages"])


def _has_later_system(payload: Payload) -> bool:
    return any(message["role"] == "system" for message in payload["messages"][1:])


def _function_has(member: str) -> Callable[[Payload], bool]:
    return lambda payload: any(member in tool.get("function", {}) for tool in payload.get("tools", ()))


def _turn_with_calls(fits: Callable[[Mapping[str, Any]], bool]) -> Callable[[Payload], bool]:
    """Whether an earlier turn called tools and fits."""
    return lambda payload: any(message.get("tool_calls") and fits(message) for message in payload["messages"])


def _asks_for(kind: str) -> Callable[[Payload], bool]:
    return lambda payload: bool(payload.get("response_format", {}).get("type") == kind)


def _has(name: str, *values: Any) -> Callable[[Payload], bool]:
    return lambda payload: payload.get(name) in values


def _forces_by_name(payload: Payload) -> bool:
    return isinstance(payload.get("tool_choice"), dict)


_EFFORT = re.compile(r"['\"`](none|minimal|low|medium|high|xhigh|max)['\"`]")


def _efforts(refusal: str, payload: Payload) -> Mapping[str, str] | bool:
    """The efforts that the refusal lists instead of ours; False: it knows none."""
    listed = {effort: effort for effort in _EFFORT.findall(refusal) if effort != payload["reasoning_effort"]}
    return listed or False


# Not vLLM's "'max_tokens' or 'max_completion_tokens' is too large: … maximum context length": the value is at fault.
_UNKNOWN_LIMIT = _named(
    r"^(?!.*(too large|context length)).*max_completion_tokens",
    r"(unsupported|unknown|unrecognized|unexpected)[^.]{0,60}\bmax_tokens\b",
    r"\bmax_tokens\b[^.]{0,40}(not supported|unsupported|not permitted|deprecated|unexpected|unknown)",
)
_SYSTEM_PLACE = _named("system message", "role.{0,20}system", "system.{0,20}role")

LESSONS = (
    # OpenAI's reasoning models: "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead."
    Lesson(_UNKNOWN_LIMIT, _holds("max_tokens"), "max_tokens_field", "max_completion_tokens"),
    Lesson(_UNKNOWN_LIMIT, _holds("max_completion_tokens"), "max_tokens_field", "max_tokens"),
    # Mistral, older FastAPI servers with extra="forbid"
    Lesson(_named("stream_options", "include_usage"), _holds("stream_options"), "stream_usage", False),
    # Cerebras refuses false only; Gemini, Mistral: "Parallel tool calls are not supported"
    Lesson(
        _named("parallel[_ ]tool[_ ]calls?"), _has("parallel_tool_calls", True), "parallel_tool_calls", "only_false"
    ),
    Lesson(_named("parallel[_ ]tool[_ ]calls?"), _has("parallel_tool_calls", False), "parallel_tool_calls", False),
    # Templates of Qwen 3.5 and others: "System message must be at the beginning."
    Lesson(_SYSTEM_PLACE, _has_later_system, "system_messages", "single_leading"),
    Lesson(_named("developer"), _has_role("developer"), "developer_role", False),
    # OpenAI: "Supported values are: 'low', 'medium', and 'high'."; vLLM: "Input should be 'low', 'medium' or 'high'"
    Lesson(_named(r"reasoning[_. ]effort"), _holds("reasoning_effort"), "reasoning_effort", _efforts),
    Lesson(_named(r"\bstrict\b"), _function_has("strict"), "strict_tools", False),
    # Mistral and Fireworks say "any"
    Lesson(_named(r"tool_choice.*['\"`]any['\"`]"), _has("tool_choice", "required"), "tool_choice", "any"),
    Lesson(_named("tool_choice"), _forces_by_name, "tool_choice", "required"),
    # Kimi and DeepSeek while thinking: "does not support this tool_choice"
    Lesson(_named("tool_choice"), _has("tool_choice", "required", "any"), "tool_choice", "auto"),
    # DeepSeek: "This response_format type is unavailable now"; LM Studio takes json_schema and text only
    Lesson(_named("response_format", "json_schema"), _asks_for("json_schema"), "response_format", "json_object"),
    Lesson(_named("response_format", "json_object"), _asks_for("json_object"), "response_format", "none"),
    Lesson(_named("logprobs"), _holds("logprobs"), "logprobs", False),
    # Mistral: "Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9."
    Lesson(
        _named(r"tool.?call.?id.{0,120}length of 9"),
        _turn_with_calls(lambda message: any(len(call["id"]) != 9 for call in message["tool_calls"])),
        "tool_call_ids",
        "mistral9",
    ),
    # DeepSeek: "The reasoning_content in the thinking mode must be passed back"; Kimi: "reasoning_content is missing"
    Lesson(
        _named("reasoning_content"),
        _turn_with_calls(lambda message: "reasoning_content" not in message),
        "replay_reasoning",
        "reasoning_content",
    ),
    # Claude behind gateways: "text content blocks must be non-empty"
    Lesson(
        _named("non-?empty", "must not be empty", "can(no|')t be empty", "empty (text|content)"),
        _turn_with_calls(lambda message: message["content"] == ""),
        "tool_call_content",
        None,
    ),
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
        if lesson.field in changes or not lesson.words.search(refusal) or not lesson.applies(payload):
            continue
        value = lesson.value(refusal, payload) if callable(lesson.value) else lesson.value
        if getattr(dialect, lesson.field) != value:
            changes[lesson.field] = value
    return replace(dialect, **changes) if changes else None
