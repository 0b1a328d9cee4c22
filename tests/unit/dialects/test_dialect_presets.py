from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest

from responses_middleware.dialects import PRESETS, Dialect, efforts, gateways, hosts, labs, local, openai

ROOMS = (openai, local, labs, hosts, gateways)
SOURCES = [inspect.getsource(room) for room in ROOMS]

TO_HIGH = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
TO_MAX = {"minimal": "low", "low": "low", "medium": "high", "high": "high", "xhigh": "max", "max": "max"}
STRICT_TEMPLATE = {"system_messages": "single_leading"}

# Everything in which a preset differs from "auto".
DIFFERENCES: dict[str, dict[str, Any]] = {
    "auto": {},
    "openai": {
        "max_tokens_field": "max_completion_tokens",
        "developer_role": True,
        "system_messages": "in_place",
        "text_parts": True,
        "strict_tools": True,
        "custom_tools": "native",
        "finish_reason": True,
        "forward": {
            "moderation",
            "prompt_cache_key",
            "prompt_cache_options",
            "prompt_cache_retention",
            "safety_identifier",
            "service_tier",
            "user",
            "verbosity",
        },
    },
    "azure": {
        "max_tokens_field": "max_completion_tokens",
        "strict_tools": True,
        "finish_reason": True,
        "forward": {"user", "verbosity"},
    },
    "vllm": {**STRICT_TEMPLATE, "replay_reasoning": "reasoning", "finish_reason": True},
    "sglang": {**STRICT_TEMPLATE, "replay_reasoning": "reasoning_content", "finish_reason": True},
    "llama_cpp": {
        **STRICT_TEMPLATE,
        "tool_choice": "required",
        "replay_reasoning": "reasoning_content",
        "finish_reason": True,
    },
    "llama_cpp_python": {
        **STRICT_TEMPLATE,
        "parallel_tool_calls": False,
        "response_format": "json_object_schema",
        "stream_usage": False,
        "reasoning_effort": False,
        "finish_reason": True,
    },
    "ollama": {
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "reasoning_effort": {"none": "none", **TO_HIGH},
        "replay_reasoning": "reasoning",
        "finish_reason": True,
    },
    "lm_studio": {**STRICT_TEMPLATE, "tool_choice": "required"},
    "tgi": {**STRICT_TEMPLATE, "parallel_tool_calls": False, "reasoning_effort": False},
    "deepseek": {
        "tool_choice": "auto",
        "response_format": "json_object",
        "reasoning_effort": {**TO_MAX, "xhigh": "high"},
        "replay_reasoning": "reasoning_content",
        "finish_reason": True,
    },
    "qwen": {"response_format": "json_object", "reasoning_effort": False},
    "moonshot": {
        "tool_choice": "auto",
        "response_format": "json_object",
        "reasoning_effort": TO_MAX,
        "replay_reasoning": "reasoning_content",
        "forward": {"prompt_cache_key"},
    },
    "zhipu": {
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "response_format": "json_object",
        "reasoning_effort": TO_MAX,
        "replay_reasoning": "reasoning_content",
        "logprobs": False,
    },
    "minimax": {
        "max_tokens_field": "max_completion_tokens",
        "system_messages": "single_leading",
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "response_format": "none",
        "reasoning_effort": False,
        "replay_reasoning": "think",
        "think_tags": "extract",
    },
    "mistral": {
        "strict_tools": True,
        "tool_choice": "any",
        "stream_usage": False,
        "reasoning_effort": {"none": "none", "high": "high", "xhigh": "high", "max": "high"},
        "tool_call_ids": "mistral9",
        "logprobs": False,
    },
    "gemini": {
        "parallel_tool_calls": False,
        "reasoning_effort": {"none": "none", **TO_HIGH, "minimal": "minimal"},
    },
    "anthropic": {"response_format": "none", "reasoning_effort": False, "logprobs": False},
    "xai": {"reasoning_effort": {"none": "none", **TO_HIGH}},
    "perplexity": {
        "system_messages": "single_leading",
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "stream_usage": False,
        "logprobs": False,
    },
    "groq": {
        "max_tokens_field": "max_completion_tokens",
        "reasoning_effort": {"none": "none", **TO_HIGH},
        "logprobs": False,
        "forward": {"user"},
    },
    "cerebras": {
        "max_tokens_field": "max_completion_tokens",
        "strict_tools": True,
        "parallel_tool_calls": False,
        "forward": {"user"},
    },
    "together": {"logprobs": False},
    "fireworks": {"tool_choice": "any", "replay_reasoning": "reasoning_content", "forward": {"user"}},
    "cloudflare": {},
    "openrouter": {
        "strict_tools": True,
        "reasoning_effort": {
            "none": "none",
            "minimal": "minimal",
            "low": "low",
            "medium": "medium",
            "high": "high",
            "xhigh": "xhigh",
            "max": "xhigh",
        },
        "replay_reasoning": "reasoning_details",
        "forward": {"user", "verbosity"},
    },
    "copilot": {},
    "bedrock": {
        "parallel_tool_calls": False,
        "response_format": "none",
        "reasoning_effort": TO_HIGH,
        "think_tags": "extract",
        "logprobs": False,
    },
    "litellm": {"strict_tools": True, "finish_reason": True, "forward": {"user"}},
}


def differences(dialect: Dialect) -> dict[str, Any]:
    default = Dialect()
    names = [field.name for field in fields(Dialect) if field.name != "name"]
    return {name: getattr(dialect, name) for name in names if getattr(dialect, name) != getattr(default, name)}


def preset_calls() -> list[tuple[str, list[str], ast.Call]]:
    """Each `NAME = Dialect(...)` as (preset's name, source lines of its module, the call)."""
    return [
        (target.id.lower(), source.splitlines(), call)
        for source in SOURCES
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign)
        for target, call in [(statement.targets[0], statement.value)]
        if isinstance(target, ast.Name) and isinstance(call, ast.Call)
    ]


CALLS = preset_calls()
CALL_IDS = [name for name, _, _ in CALLS]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_differs_from_auto_in_exactly_these_fields(name: str) -> None:
    assert differences(PRESETS[name]) == DIFFERENCES[name]


def test_every_constant_of_the_presets_is_in_the_table() -> None:
    assert sorted(CALL_IDS) == sorted(PRESETS.keys() - {"auto"})


@pytest.mark.parametrize(("name", "lines", "call"), CALLS, ids=CALL_IDS)
def test_a_preset_states_only_what_differs(name: str, lines: list[str], call: ast.Call) -> None:
    stated = {keyword.arg for keyword in call.keywords} - {"name"}

    assert stated == differences(PRESETS[name]).keys()


@pytest.mark.parametrize(("name", "lines", "call"), CALLS, ids=CALL_IDS)
def test_every_difference_is_explained_by_the_comment_above_it(name: str, lines: list[str], call: ast.Call) -> None:
    above = [lines[keyword.value.lineno - 2].strip() for keyword in call.keywords if keyword.arg != "name"]

    assert [line for line in above if not line.startswith("# ")] == []


@pytest.mark.parametrize(("name", "lines", "call"), CALLS, ids=CALL_IDS)
def test_a_preset_states_its_fields_in_the_order_of_the_dataclass(name: str, lines: list[str], call: ast.Call) -> None:
    order = [field.name for field in fields(Dialect)]
    places = [order.index(str(keyword.arg)) for keyword in call.keywords]

    assert all(left < right for left, right in pairwise(places))


@pytest.mark.parametrize("name", PRESETS)
def test_an_effort_that_a_server_knows_is_never_renamed(name: str) -> None:
    efforts_map = PRESETS[name].reasoning_effort

    renamed = efforts_map if isinstance(efforts_map, Mapping) else {}

    assert [value for value in renamed.values() if renamed.get(value) != value] == []


@pytest.mark.parametrize("ladder", [efforts.LOW_MEDIUM_HIGH, efforts.NONE_LOW_MEDIUM_HIGH, efforts.LOW_HIGH_MAX])
def test_a_ladder_never_asks_for_less_effort_when_more_is_wanted(ladder: Mapping[str, str]) -> None:
    order = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
    sent = [order.index(ladder[effort]) for effort in order if effort in ladder]

    assert sent == sorted(sent)


@pytest.mark.parametrize("name", PRESETS)
def test_a_shared_effort_map_can_not_be_changed(name: str) -> None:
    reasoning_effort = PRESETS[name].reasoning_effort

    assert not isinstance(reasoning_effort, dict)


@pytest.mark.parametrize("name", PRESETS)
def test_thinking_goes_back_as_tags_only_where_it_comes_as_tags(name: str) -> None:
    dialect = PRESETS[name]

    assert dialect.replay_reasoning != "think" or dialect.think_tags is not None
