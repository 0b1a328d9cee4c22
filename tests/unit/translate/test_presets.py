"""The request that each preset sends: one rich request, and everything in which it differs from that of "auto"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from translating import FUNCTION, IMAGE, call, output, says, thinks, translate

from responses_middleware.dialects import PRESETS

SCHEMA = {"type": "object"}
WORDS = 'Answer with one JSON object and nothing else. It must be valid by this JSON schema:\n{"type": "object"}'
ABSENT = "absent"

REQUEST: dict[str, Any] = {
    "instructions": "Be brief",
    "input": [
        {"role": "developer", "content": "No jokes"},
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        thinks("Let me see"),
        says("Looking."),
        call("call_a"),
        {"type": "custom_tool_call", "call_id": "call_b", "name": "edit", "input": "x"},
        output("call_a", [{"type": "input_text", "text": "shot"}, IMAGE]),
        {"type": "custom_tool_call_output", "call_id": "call_b", "output": "edited"},
        call("call_c"),
        output("call_c", "ok"),
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": "Go on"},
    ],
    "tools": [{**FUNCTION, "strict": True}, {"type": "custom", "name": "edit"}],
    "tool_choice": {"type": "function", "name": "f"},
    "parallel_tool_calls": True,
    "max_output_tokens": 50,
    "reasoning": {"effort": "xhigh"},
    "text": {"format": {"type": "json_schema", "name": "out", "schema": SCHEMA}, "verbosity": "low"},
    "top_logprobs": 2,
    "stream": True,
    "user": "u",
    "safety_identifier": "s",
    "prompt_cache_key": "k",
    "prompt_cache_retention": "24h",
    "service_tier": "flex",
}

# What "auto" sends of it, as paths and values.
AUTO: dict[str, Any] = {
    "model": "m",
    "messages[0].role": "system",
    "messages[0].content": "Be brief\n\nNo jokes",
    "messages[1].role": "user",
    "messages[1].content": "Hi",
    "messages[2].role": "assistant",
    "messages[2].content": "Looking.",
    "messages[2].tool_calls[0].id": "call_a",
    "messages[2].tool_calls[0].type": "function",
    "messages[2].tool_calls[0].function.name": "f",
    "messages[2].tool_calls[0].function.arguments": "{}",
    "messages[2].tool_calls[1].id": "call_b",
    "messages[2].tool_calls[1].type": "function",
    "messages[2].tool_calls[1].function.name": "edit",
    "messages[2].tool_calls[1].function.arguments": '{"input": "x"}',
    "messages[3].role": "tool",
    "messages[3].tool_call_id": "call_a",
    "messages[3].content": "shot\nSee the next user message for the image or file that this tool returned.",
    "messages[4].role": "tool",
    "messages[4].tool_call_id": "call_b",
    "messages[4].content": "edited",
    "messages[5].role": "user",
    "messages[5].content[0].type": "text",
    "messages[5].content[0].text": "Returned by tool call call_a:",
    "messages[5].content[1].type": "image_url",
    "messages[5].content[1].image_url.url": IMAGE["image_url"],
    "messages[6].role": "assistant",
    "messages[6].content": "",
    "messages[6].tool_calls[0].id": "call_c",
    "messages[6].tool_calls[0].type": "function",
    "messages[6].tool_calls[0].function.name": "f",
    "messages[6].tool_calls[0].function.arguments": "{}",
    "messages[7].role": "tool",
    "messages[7].tool_call_id": "call_c",
    "messages[7].content": "ok",
    "messages[8].role": "system",
    "messages[8].content": "Be kind",
    "messages[9].role": "user",
    "messages[9].content": "Go on",
    "max_tokens": 50,
    "reasoning_effort": "xhigh",
    "logprobs": True,
    "top_logprobs": 2,
    "tools[0].type": "function",
    "tools[0].function.name": "f",
    "tools[0].function.parameters.type": "object",
    "tools[0].function.parameters.properties": {},
    "tools[1].type": "function",
    "tools[1].function.name": "edit",
    "tools[1].function.parameters.type": "object",
    "tools[1].function.parameters.properties.input.type": "string",
    "tools[1].function.parameters.properties.input.description": "The whole input of the tool, as plain text.",
    "tools[1].function.parameters.required[0]": "input",
    "tools[1].function.parameters.additionalProperties": False,
    "tool_choice.type": "function",
    "tool_choice.function.name": "f",
    "parallel_tool_calls": True,
    "response_format.type": "json_schema",
    "response_format.json_schema.name": "out",
    "response_format.json_schema.schema.type": "object",
    "stream": True,
    "stream_options.include_usage": True,
}
AUTO_LEFT_OUT = [
    "text.verbosity",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "user",
]

NO_LOGPROBS = {"logprobs": ABSENT, "top_logprobs": ABSENT}
NO_EFFORT = {"reasoning_effort": ABSENT}
NO_PARALLEL = {"parallel_tool_calls": ABSENT}
NO_USAGE = {"stream_options.include_usage": ABSENT}
STRICT = {"tools[0].function.strict": True}
COMPLETION_TOKENS = {"max_tokens": ABSENT, "max_completion_tokens": 50}
EFFORT_HIGH = {"reasoning_effort": "high"}
EFFORT_MAX = {"reasoning_effort": "max"}
# All system texts are one in front; what stood behind the later one moves up.
SINGLE_SYSTEM = {
    "messages[0].content": "Be brief\n\nNo jokes\n\nBe kind",
    "messages[8].role": "user",
    "messages[8].content": "Go on",
    "messages[9].role": ABSENT,
    "messages[9].content": ABSENT,
}
NO_SCHEMA = {"response_format.json_schema.name": ABSENT, "response_format.json_schema.schema.type": ABSENT}
JSON_OBJECT = {**NO_SCHEMA, "response_format.type": "json_object"}
IN_WORDS = {"messages[0].content": f"Be brief\n\n{WORDS}\n\nNo jokes"}
NO_FORMAT = {**NO_SCHEMA, "response_format.type": ABSENT}
# The forced tool is the only one.
ALONE = {
    "tool_choice.type": ABSENT,
    "tool_choice.function.name": ABSENT,
    **{path: ABSENT for path in AUTO if path.startswith("tools[1]")},
}
CALL_ONE = "Answer with a call of one of the tools, not with text."


def with_thinking(name: str, *, lost: bool = False) -> dict[str, str]:
    return {f"messages[2].{name}": "Let me see"} | ({f"messages[6].{name}": " "} if lost else {})


def forwards(*names: str) -> dict[str, Any]:
    return {name: REQUEST[name] for name in names if name != "verbosity"} | (
        {"verbosity": "low"} if "verbosity" in names else {}
    )


DIFFERENCES: dict[str, dict[str, Any]] = {
    "auto": {},
    "openai": {
        **COMPLETION_TOKENS,
        **STRICT,
        **{path: ABSENT for path in AUTO if path.startswith(("tools[1]", "messages["))},
        "tools[1].type": "custom",
        "tools[1].custom.name": "edit",
        "tools[1].custom.format.type": "text",
        "messages[0].role": "developer",
        "messages[0].content": "Be brief",
        "messages[1].role": "developer",
        "messages[1].content": "No jokes",
        "messages[2].role": "user",
        "messages[2].content[0].type": "text",
        "messages[2].content[0].text": "Hi",
        "messages[3].role": "assistant",
        "messages[3].content": "Looking.",
        "messages[3].tool_calls[0].id": "call_a",
        "messages[3].tool_calls[0].type": "function",
        "messages[3].tool_calls[0].function.name": "f",
        "messages[3].tool_calls[0].function.arguments": "{}",
        "messages[3].tool_calls[1].id": "call_b",
        "messages[3].tool_calls[1].type": "custom",
        "messages[3].tool_calls[1].custom.name": "edit",
        "messages[3].tool_calls[1].custom.input": "x",
        "messages[4].role": "tool",
        "messages[4].tool_call_id": "call_a",
        "messages[4].content": "shot\nSee the next user message for the image or file that this tool returned.",
        "messages[5].role": "tool",
        "messages[5].tool_call_id": "call_b",
        "messages[5].content": "edited",
        "messages[6].role": "user",
        "messages[6].content[0].type": "text",
        "messages[6].content[0].text": "Returned by tool call call_a:",
        "messages[6].content[1].type": "image_url",
        "messages[6].content[1].image_url.url": IMAGE["image_url"],
        "messages[7].role": "assistant",
        "messages[7].content": "",
        "messages[7].tool_calls[0].id": "call_c",
        "messages[7].tool_calls[0].type": "function",
        "messages[7].tool_calls[0].function.name": "f",
        "messages[7].tool_calls[0].function.arguments": "{}",
        "messages[8].role": "tool",
        "messages[8].tool_call_id": "call_c",
        "messages[8].content": "ok",
        "messages[9].role": "developer",
        "messages[9].content": "Be kind",
        "messages[10].role": "user",
        "messages[10].content": "Go on",
        **forwards(
            "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "user", "verbosity"
        ),
    },
    "azure": {**COMPLETION_TOKENS, **STRICT, **forwards("user", "verbosity")},
    "vllm": {**SINGLE_SYSTEM, **with_thinking("reasoning")},
    "sglang": {**SINGLE_SYSTEM, **with_thinking("reasoning_content", lost=True)},
    "llama_cpp": {
        **SINGLE_SYSTEM,
        **ALONE,
        "tool_choice": "required",
        **with_thinking("reasoning_content", lost=True),
    },
    "llama_cpp_python": {
        **SINGLE_SYSTEM,
        **NO_PARALLEL,
        **NO_USAGE,
        **NO_EFFORT,
        **JSON_OBJECT,
        "response_format.schema.type": "object",
    },
    "ollama": {
        **NO_PARALLEL,
        **ALONE,
        **EFFORT_HIGH,
        **with_thinking("reasoning"),
        "messages[0].content": f"Be brief\n\n{CALL_ONE}\n\nNo jokes",
    },
    "lm_studio": {**SINGLE_SYSTEM, **ALONE, "tool_choice": "required"},
    "tgi": {**SINGLE_SYSTEM, **NO_PARALLEL, **NO_EFFORT},
    "deepseek": {
        **ALONE,
        **JSON_OBJECT,
        **EFFORT_HIGH,
        **with_thinking("reasoning_content", lost=True),
        "messages[0].content": f"Be brief\n\n{WORDS}\n\n{CALL_ONE}\n\nNo jokes",
    },
    "qwen": {**JSON_OBJECT, **IN_WORDS, **NO_EFFORT},
    "moonshot": {
        **ALONE,
        **JSON_OBJECT,
        **EFFORT_MAX,
        **with_thinking("reasoning_content", lost=True),
        "messages[0].content": f"Be brief\n\n{WORDS}\n\n{CALL_ONE}\n\nNo jokes",
        **forwards("prompt_cache_key"),
    },
    "zhipu": {
        **NO_PARALLEL,
        **ALONE,
        **JSON_OBJECT,
        **EFFORT_MAX,
        **NO_LOGPROBS,
        **with_thinking("reasoning_content", lost=True),
        "messages[0].content": f"Be brief\n\n{WORDS}\n\n{CALL_ONE}\n\nNo jokes",
    },
    "minimax": {
        **COMPLETION_TOKENS,
        **SINGLE_SYSTEM,
        **NO_PARALLEL,
        **ALONE,
        **NO_FORMAT,
        **NO_EFFORT,
        "messages[0].content": f"Be brief\n\n{WORDS}\n\n{CALL_ONE}\n\nNo jokes\n\nBe kind",
        "messages[2].content": "<think>Let me see</think>\n\nLooking.",
    },
    "mistral": {
        **STRICT,
        **ALONE,
        "tool_choice": "any",
        **NO_USAGE,
        **EFFORT_HIGH,
        **NO_LOGPROBS,
        "messages[2].tool_calls[0].id": "nine",
        "messages[2].tool_calls[1].id": "nine",
        "messages[3].tool_call_id": "nine",
        "messages[4].tool_call_id": "nine",
        "messages[5].content[0].text": "nine",
        "messages[6].tool_calls[0].id": "nine",
        "messages[7].tool_call_id": "nine",
    },
    "gemini": {**NO_PARALLEL, **EFFORT_HIGH},
    "anthropic": {**NO_FORMAT, **IN_WORDS, **NO_EFFORT, **NO_LOGPROBS},
    "xai": EFFORT_HIGH,
    "perplexity": {
        **SINGLE_SYSTEM,
        **NO_PARALLEL,
        **ALONE,
        **NO_USAGE,
        **NO_LOGPROBS,
        "messages[0].content": f"Be brief\n\n{CALL_ONE}\n\nNo jokes\n\nBe kind",
    },
    "groq": {**COMPLETION_TOKENS, **EFFORT_HIGH, **NO_LOGPROBS, **forwards("user")},
    "cerebras": {**COMPLETION_TOKENS, **STRICT, **NO_PARALLEL, **forwards("user")},
    "together": NO_LOGPROBS,
    "fireworks": {
        **ALONE,
        "tool_choice": "any",
        **with_thinking("reasoning_content", lost=True),
        **forwards("user"),
    },
    "cloudflare": {},
    "openrouter": {
        **STRICT,
        "messages[2].reasoning_details[0].type": "reasoning.text",
        "messages[2].reasoning_details[0].text": "Let me see",
        **forwards("user", "verbosity"),
    },
    "copilot": {},
    "bedrock": {**NO_PARALLEL, **NO_FORMAT, **IN_WORDS, **EFFORT_HIGH, **NO_LOGPROBS},
    "litellm": {**STRICT, **forwards("user")},
}


def paths(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of a payload with its path; an empty object is a leaf."""
    match value:
        case dict() if value:
            for name, member in value.items():
                yield from paths(member, f"{place}.{name}" if place else name)
        case list() if value:
            for index, member in enumerate(value):
                yield from paths(member, f"{place}[{index}]")
        case _:
            yield place, value


def shortened(path: str, value: Any) -> Any:
    """The ids that are made for Mistral are only looked at by their form."""
    is_id = path.endswith((".id", "tool_call_id")) and len(value) == 9 and value.isalnum()
    is_caption = isinstance(value, str) and value.startswith("Returned by tool call ") and "call_" not in value
    return "nine" if is_id or is_caption else value


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sends_what_its_server_takes(name: str) -> None:
    sent = {path: shortened(path, value) for path, value in paths(translate(name, **REQUEST).payload)}

    wanted = {path: value for path, value in (AUTO | DIFFERENCES[name]).items() if value != ABSENT}
    assert sent == wanted


@pytest.mark.parametrize("name", PRESETS)
def test_what_a_preset_does_not_send_is_named(name: str) -> None:
    made = translate(name, **REQUEST)

    sent = dict(paths(made.payload))
    unsent = {
        "text.verbosity": "verbosity" not in sent,
        **{hint: hint not in sent for hint in AUTO_LEFT_OUT[1:]},
        "reasoning.effort": "reasoning_effort" not in sent,
        "top_logprobs": "logprobs" not in sent,
        "tool_choice": not any(path.startswith("tool_choice") for path in sent),
    }
    assert sorted(made.left_out) == sorted(hint for hint, is_unsent in unsent.items() if is_unsent)


def test_auto_names_all_that_it_does_not_send() -> None:
    assert translate(**REQUEST).left_out == AUTO_LEFT_OUT
