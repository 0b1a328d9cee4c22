"""What teaches nothing: the request that a refusal repeats, and values that the client can mend."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from responses_middleware.dialects import Dialect
from responses_middleware.dialects.lessons import changes, learn
from responses_middleware.translate.failure import from_error_body

AUTO = Dialect.named("auto")
TEXT = "Explain stream_options, max_completion_tokens, tool_choice, json_schema, parallel_tool_calls and logprobs"
SECOND = (
    'Why is the parameter "response_format" not supported, and stream_options and json_schema and reasoning_effort?'
)
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"properties": {"tool_choice": {}}}}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "out", "schema": {"type": "object"}, "strict": True}}
PAYLOAD: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": TEXT}, {"role": "user", "content": [{"type": "text", "text": SECOND}]}],
    "max_tokens": 5,
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "ls"}},
    "parallel_tool_calls": True,
    "response_format": SCHEMA,
    "reasoning_effort": "low",
    "logprobs": True,
    "stream": True,
    "stream_options": {"include_usage": True},
}


def taught(body: object, payload: dict[str, Any] | None = None) -> set[str]:
    """The fields of the dialect that a refusal of HTTP changes."""
    written = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    after = learn(from_error_body(400, written, []).words, payload or PAYLOAD, AUTO)
    return set(changes(AUTO, after)) if after else set()


FAULT = {"type": "string_type", "loc": ["body", "messages", 0, "content"], "msg": "Input should be a valid string"}
ECHOES: dict[str, object] = {
    "FastAPI": {"detail": [{**FAULT, "input": PAYLOAD, "ctx": {"error": f"unknown: {TEXT}"}}]},
    "FastAPI, of the body": {"detail": [{"loc": ["body"], "msg": "Value error, bad", "input": PAYLOAD}]},
    "vLLM": {"error": {"message": str([{**FAULT, "input": TEXT}]), "code": 400}},
    "vLLM, since 0.11": {
        "error": {
            "message": f"1 validation error:\n  { ({**FAULT, 'input': PAYLOAD})!r}\n\n  File: api_server",
            "code": 400,
        }
    },
    "pydantic": {
        "error": f"1 validation error for Request\nmessages.0.content\n  Input should be a valid string "
        f"[type=string_type, input_value={TEXT!r} not supported, input_type=list]\n    For further information"
    },
    "JSON in words": {"error": {"message": json.dumps([{**FAULT, "input": TEXT}])}},
    "a policy": {"error": {"message": f'Prompt rejected by policy: "{TEXT}" is not allowed'}},
    "a policy, of a part": {
        "error": {"message": 'Not allowed: "… stream_options and json_schema and reasoning_effort"'}
    },
    "a policy without quotes": {"error": f"Not permitted: {TEXT}"},
    "a policy that cuts": {"error": f"Unsupported content: {TEXT[:70]}…"},
    "plain text": f"Bad request, not supported: {TEXT}",
    "a policy that quotes it escaped": {"error": "Not allowed: " + json.dumps({"content": f"{SECOND}\n{TEXT}"})},
    "a word": {"error": "The prompt holds the forbidden word 'stream_options'"},
    "JSON that was cut": json.dumps({"error": {"message": "x", "request": PAYLOAD, "why": "not supported"}})[:-30],
    "the client's own name": {
        "detail": [
            {
                "loc": ["body", "tools", 0, "function", "parameters", "properties", "tool_choice"],
                "msg": "Extra inputs are not permitted",
            }
        ]
    },
}


@pytest.mark.parametrize("body", ECHOES.values(), ids=ECHOES)
def test_what_a_server_repeats_of_the_request_teaches_nothing(body: object) -> None:
    assert taught(body) == set()


MENDABLE = {
    "OpenAI: a schema": (
        "Invalid schema for response_format 'out': In context=(), 'additionalProperties' is required to be supplied "
        "and to be false."
    ),
    "OpenAI: a keyword": "Invalid schema for response_format 'out': In context=(), 'oneOf' is not permitted.",
    "OpenAI: the name of a schema": (
        "Invalid 'response_format.json_schema.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
    ),
    "OpenAI: no JSON in words": (
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    ),
    "a schema that is too large": "response_format: the schema is too large; it must be smaller",
    "no such tool": "Invalid value for tool_choice: function 'ls' not in tools",
    "OpenAI: no such tool": "Tool choice 'ls' not found in 'tools' parameter.",
    "vLLM: no such tool": (
        "The tool specified in `tool_choice` does not match any of the specified `tools`; it must be one of them"
    ),
    "logprobs out of range": "Invalid value for top_logprobs: must be less than or equal to 5; 20 is not supported",
    "pydantic: logprobs out of range": "top_logprobs: Input should be less than or equal to 20",
    "a limit that is too large": "max_tokens: Input should be less than or equal to 4096",
    "Anthropic: a limit": "max_tokens: 9999 > 8192, which is the maximum allowed number of output tokens",
    "a policy": "Your prompt was blocked.",
}


@pytest.mark.parametrize("message", MENDABLE.values(), ids=MENDABLE)
def test_a_value_that_the_client_can_mend_teaches_nothing(message: str) -> None:
    quiet = {**PAYLOAD, "messages": [{"role": "user", "content": "Hi"}]}

    assert taught({"error": {"message": message}}, quiet) == set()


def test_a_param_that_names_the_parameter_changes_nothing_about_that() -> None:
    error = {"message": MENDABLE["OpenAI: a schema"], "param": "response_format"}

    assert taught({"error": error}) == set()


REFUSED: dict[str, tuple[object, set[str]]] = {
    "OpenAI": ("Unsupported parameter: 'max_tokens' is not supported with this model.", {"max_tokens_field"}),
    "OpenAI, a type": (
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        {"response_format"},
    ),
    "by param": (
        {"error": {"message": "This parameter is not supported.", "param": "parallel_tool_calls"}},
        {"parallel_tool_calls"},
    ),
    "FastAPI": (
        {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted", "input": PAYLOAD}]},
        {"stream_usage"},
    ),
    "vLLM": (
        str(
            [
                {**FAULT, "input": TEXT},
                {"loc": ("body", "response_format", "type"), "msg": "Input should be 'text'", "input": TEXT},
            ]
        ).replace("{'type': 'string_type', ", "{"),
        {"response_format"},
    ),
    "pydantic": (
        f"1 validation error for Request\nreasoning_effort\n  Extra inputs are not permitted [input_value={TEXT!r}]",
        {"reasoning_effort"},
    ),
    "LiteLLM": (
        "litellm.BadRequestError: "
        + json.dumps({"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'x'."}}),
        {"max_tokens_field"},
    ),
    "Groq": ("This model does not support response format `json_schema`.", {"response_format"}),
    "llama-server": (
        'response_format type must be one of "text" or "json_object", but got: json_schema',
        {"response_format"},
    ),
    "Kimi": ("tool_choice 'specified' is incompatible with thinking enabled", {"tool_choice"}),
    "ours alone": ("stream_options bad", {"stream_usage"}),
}


@pytest.mark.parametrize(("message", "fields"), REFUSED.values(), ids=REFUSED)
def test_a_parameter_that_is_not_taken_is_still_a_lesson(message: object, fields: set[str]) -> None:
    quiet = {**PAYLOAD, "messages": [{"role": "user", "content": "Hi"}]}
    body = message if isinstance(message, dict) else {"error": {"message": message}}

    assert taught(body, quiet) == fields


def test_a_client_that_talks_of_parameters_is_helped_too() -> None:
    assert taught({"error": {"message": "Unsupported parameter: 'max_tokens'."}}) == {"max_tokens_field"}


def test_only_what_differs_is_a_change() -> None:
    assert changes(AUTO, replace(AUTO, logprobs=False, stream_usage=False)) == {
        "stream_usage": False,
        "logprobs": False,
    }


@pytest.mark.parametrize(
    "words",
    [
        *("'", '"', "'loc': (", "'loc': (), 'msg': '", "tool_choice ", "'tool_choice' ", "\n ", "not supported "),
        *("response_format type ", '"a b" tool_choice is not supported, ', "system message, role: "),
    ],
)
def test_reading_a_refusal_takes_little_time(words: str) -> None:
    said = (words * 20_000)[:20_000]
    payload = {**PAYLOAD, "messages": [{"role": "user", "content": said * 50}]}
    began = time.process_time()

    learn(f"{said} tool_choice is not supported", payload, AUTO)

    assert time.process_time() - began < 2
