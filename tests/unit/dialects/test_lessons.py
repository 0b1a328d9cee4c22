"""What a refusal teaches: the words of real servers, the request that they refuse, and how the dialect changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from responses_middleware.dialects import Dialect
from responses_middleware.dialects.lessons import LESSONS, learn

AUTO = Dialect.named("auto")
USER = {"role": "user", "content": "Hi"}
SYSTEM = {"role": "system", "content": "Be brief"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}
STRICT = {"type": "function", "function": {"name": "f", "parameters": {}, "strict": True}}
NAMED = {"type": "function", "function": {"name": "f"}}
CALLS: list[dict[str, Any]] = [
    USER,
    {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function", "function": {}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "x"},
]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "out", "schema": {}}}

Change = dict[str, Any]
# words of the refusal, the request beside its messages, its messages, the change
TAUGHT: dict[str, tuple[str, dict[str, Any], list[dict[str, Any]], Change]] = {
    "OpenAI: max_tokens": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"max_tokens": 5},
        [USER],
        {"max_tokens_field": "max_completion_tokens"},
    ),
    "only the unknown name": (
        "Unrecognized request argument supplied: max_tokens",
        {"max_tokens": 5},
        [USER],
        {"max_tokens_field": "max_completion_tokens"},
    ),
    "Azure with Mistral: max_completion_tokens": (
        "Extra inputs are not permitted: max_completion_tokens",
        {"max_completion_tokens": 5},
        [USER],
        {"max_tokens_field": "max_tokens"},
    ),
    "stream_options": (
        "Unrecognized request argument supplied: stream_options",
        {"stream": True, "stream_options": {"include_usage": True}},
        [USER],
        {"stream_usage": False},
    ),
    "Gemini: parallel calls": (
        'Invalid JSON payload received. Unknown name "parallel_tool_calls": Cannot find field.',
        {"tools": [TOOL], "parallel_tool_calls": True},
        [USER],
        {"parallel_tool_calls": "only_false"},
    ),
    "Cerebras: one call at a time": (
        "parallel_tool_calls=False is not supported by this model",
        {"tools": [TOOL], "parallel_tool_calls": False},
        [USER],
        {"parallel_tool_calls": False},
    ),
    "parallel calls in words": (
        "Parallel tool calls are not supported",
        {"tools": [TOOL], "parallel_tool_calls": False},
        [USER],
        {"parallel_tool_calls": False},
    ),
    "Qwen's template: a later system message": (
        "System message must be at the beginning.",
        {},
        [USER, SYSTEM],
        {"system_messages": "single_leading"},
    ),
    "Mistral's template: a later system message": (
        "Unexpected role 'system' after role 'user'",
        {},
        [USER, SYSTEM],
        {"system_messages": "single_leading"},
    ),
    "developer role": (
        "messages[0].role: 'developer' is not one of ['system', 'user']",
        {},
        [{"role": "developer", "content": "x"}, USER],
        {"developer_role": False},
    ),
    "OpenAI: a value of the effort": (
        (
            "reasoning.effort Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. "
            "Supported values are: 'low', 'medium', and 'high'."
        ),
        {"reasoning_effort": "minimal"},
        [USER],
        {"reasoning_effort": {"low": "low", "medium": "medium", "high": "high"}},
    ),
    "vLLM: a value of the effort": (
        (
            "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), "
            "'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'xhigh'}]"
        ),
        {"reasoning_effort": "xhigh"},
        [USER],
        {"reasoning_effort": {"low": "low", "medium": "medium", "high": "high"}},
    ),
    "no effort at all": (
        "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        {"reasoning_effort": "low"},
        [USER],
        {"reasoning_effort": False},
    ),
    "strict": (
        "tools.0.function.strict: Extra inputs are not permitted",
        {"tools": [STRICT]},
        [USER],
        {"strict_tools": False},
    ),
    "Mistral: any": (
        "tool_choice: Input should be 'auto', 'none' or 'any'",
        {"tools": [TOOL], "tool_choice": "required"},
        [USER],
        {"tool_choice": "any"},
    ),
    "LM Studio: a named tool": (
        "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
        {"tools": [TOOL], "tool_choice": NAMED},
        [USER],
        {"tool_choice": "required"},
    ),
    "DeepSeek: a forced call": (
        "Thinking mode does not support this tool_choice",
        {"tools": [TOOL], "tool_choice": "required"},
        [USER],
        {"tool_choice": "auto"},
    ),
    "DeepSeek: a schema": (
        "This response_format type is unavailable now",
        {"response_format": SCHEMA},
        [USER],
        {"response_format": "json_object"},
    ),
    "LM Studio: json_object": (
        "'response_format.type' must be 'json_schema' or 'text'",
        {"response_format": {"type": "json_object"}},
        [USER],
        {"response_format": "none"},
    ),
    "logprobs": (
        "logprobs are not supported with reasoning models.",
        {"logprobs": True},
        [USER],
        {"logprobs": False},
    ),
    "Mistral: ids of calls": (
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        {},
        CALLS,
        {"tool_call_ids": "mistral9"},
    ),
    "DeepSeek: lost thinking": (
        "The reasoning_content in the thinking mode must be passed back to the API.",
        {},
        CALLS,
        {"replay_reasoning": "reasoning_content"},
    ),
    "Kimi: lost thinking": (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
        {},
        CALLS,
        {"replay_reasoning": "reasoning_content"},
    ),
    "Claude: empty content": (
        "messages: text content blocks must be non-empty",
        {},
        CALLS,
        {"tool_call_content": None},
    ),
}
# Dialects by which the request was written, where "auto" writes another.
WRITTEN_BY = {
    "Azure with Mistral: max_completion_tokens": replace(AUTO, max_tokens_field="max_completion_tokens"),
    "developer role": replace(AUTO, developer_role=True),
    "strict": replace(AUTO, strict_tools=True),
}
NOT_TAUGHT: dict[str, tuple[str, dict[str, Any], list[dict[str, Any]]]] = {
    "a limit that is too large": (
        "'max_tokens' or 'max_completion_tokens' is too large: 9999. The maximum context length is 4096 tokens.",
        {"max_tokens": 9999},
        [USER],
    ),
    "another parameter": ("temperature must be at most 1", {"temperature": 2}, [USER]),
    "a name that the request did not hold": ("parallel_tool_calls is not supported", {"tools": [TOOL]}, [USER]),
    "a system message that leads": ("System message must be at the beginning.", {}, [SYSTEM, USER]),
    "a choice that forces nothing": ("tool_choice is unknown", {"tools": [TOOL], "tool_choice": "auto"}, [USER]),
    "thinking without calls": ("reasoning_content must be passed back", {}, [USER]),
    "ids that fit": (
        "Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.",
        {},
        [{"role": "assistant", "content": "", "tool_calls": [{"id": "abcdefghi"}]}],
    ),
    "nothing at all": ("", {"max_tokens": 5, "stream_options": {}}, [USER, SYSTEM]),
}


def taught(words: str, payload: dict[str, Any], messages: list[dict[str, Any]], before: Dialect = AUTO) -> Change:
    after = learn(words, {"model": "m", "messages": messages, **payload}, before)
    if after is None:
        return {}
    names = Dialect.__dataclass_fields__
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}


@pytest.mark.parametrize("name", TAUGHT)
def test_a_refusal_changes_just_what_it_names(name: str) -> None:
    words, payload, messages, change = TAUGHT[name]

    assert taught(words, payload, messages, WRITTEN_BY.get(name, AUTO)) == change


@pytest.mark.parametrize("name", NOT_TAUGHT)
def test_other_refusals_change_nothing(name: str) -> None:
    assert taught(*NOT_TAUGHT[name]) == {}


def test_every_lesson_is_taught_by_a_case() -> None:
    taught_by: set[int] = set()
    for words, payload, messages, change in TAUGHT.values():
        taught_by |= {
            index
            for index, lesson in enumerate(LESSONS)
            if lesson.field in change
            and lesson.words.search(words)
            and lesson.applies({"messages": messages, **payload})
        }

    assert taught_by == set(range(len(LESSONS)))


def test_one_refusal_may_teach_several_things() -> None:
    words = "Unrecognized request arguments supplied: parallel_tool_calls, stream_options"
    payload = {"tools": [TOOL], "parallel_tool_calls": True, "stream_options": {}}

    assert taught(words, payload, [USER]) == {"stream_usage": False, "parallel_tool_calls": "only_false"}


def test_what_is_known_teaches_nothing_new() -> None:
    before = replace(AUTO, tool_choice="auto")

    assert taught("does not support this tool_choice", {"tool_choice": "required"}, [USER], before) == {}


def test_a_choice_that_is_refused_again_is_said_in_yet_another_way() -> None:
    payloads: list[dict[str, Any]] = [{"tool_choice": NAMED}, {"tool_choice": "required"}]
    dialect, ways = AUTO, [AUTO.tool_choice]

    for payload in payloads:
        learnt = learn("tool_choice is not supported", {"messages": [USER], **payload}, dialect)
        assert learnt is not None
        dialect = learnt
        ways.append(dialect.tool_choice)

    assert ways == ["object", "required", "auto"]


def test_a_format_that_is_refused_again_is_asked_for_in_words() -> None:
    words = "response_format is not supported"

    first = learn(words, {"messages": [USER], "response_format": SCHEMA}, AUTO)
    assert first is not None
    second = learn(words, {"messages": [USER], "response_format": {"type": "json_object"}}, first)

    assert second is not None
    assert (first.response_format, second.response_format) == ("json_object", "none")


def test_the_name_of_the_dialect_stays() -> None:
    learnt = learn("stream_options", {"messages": [USER], "stream_options": {}}, AUTO)

    assert learnt is not None
    assert learnt.name == "auto"
