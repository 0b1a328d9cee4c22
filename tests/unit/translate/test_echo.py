"""What the Response object repeats of the request."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.responses import Response
from translating import EVERY_TOOL, FUNCTION

from responses_middleware.protocol import validate
from responses_middleware.translate.echo import to_response

NULLS = (
    "completed_at",
    "error",
    "incomplete_details",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "usage",
    "user",
)
DEFAULTS: dict[str, Any] = {
    "background": False,
    "frequency_penalty": 0.0,
    "metadata": {},
    "output": [],
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "reasoning": {"effort": None, "summary": None},
    "service_tier": "auto",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
VERBATIM: dict[str, Any] = {
    "instructions": "",
    "max_output_tokens": 5,
    "max_tool_calls": 3,
    "metadata": {"a": "b"},
    "parallel_tool_calls": False,
    "previous_response_id": "resp_0",
    "prompt_cache_key": "k",
    "prompt_cache_retention": "24h",
    "safety_identifier": "s",
    "service_tier": "flex",
    "temperature": 0,
    "top_p": 0.0,
    "top_logprobs": 2,
    "truncation": "auto",
    "user": "u",
    "reasoning": {"effort": "low", "summary": "auto"},
    "tool_choice": {"type": "function", "name": "f"},
}


def echo(**parameters: Any) -> dict[str, Any]:
    request = validate({"model": "m", "input": "Hi", **parameters})
    return to_response(request, response_id="resp_1", created_at=7, stores=True)


def test_a_response_says_who_it_is() -> None:
    response = echo()

    wanted = ("resp_1", "response", 7, "in_progress", "m")
    assert tuple(response[name] for name in ("id", "object", "created_at", "status", "model")) == wanted


@pytest.mark.parametrize("name", NULLS)
def test_what_is_not_known_is_null(name: str) -> None:
    assert echo()[name] is None


@pytest.mark.parametrize("name", DEFAULTS)
def test_what_was_not_given_is_openais_default(name: str) -> None:
    assert echo()[name] == DEFAULTS[name]


@pytest.mark.parametrize("name", VERBATIM)
def test_what_was_given_is_repeated(name: str) -> None:
    assert echo(tools=[FUNCTION], **{name: VERBATIM[name]})[name] == VERBATIM[name]


def test_nulls_of_the_request_are_absent() -> None:
    nulls = dict.fromkeys([*VERBATIM, "text", "tools"])

    assert echo(**nulls) == echo()


def test_a_response_that_is_not_kept_says_so() -> None:
    request = validate({"model": "m", "input": "Hi"})

    assert to_response(request, response_id="resp_1", created_at=7, stores=False)["store"] is False


def test_a_function_is_shown_with_all_its_members() -> None:
    assert echo(tools=[{"type": "function", "name": "f"}])["tools"] == [
        {"type": "function", "name": "f", "description": None, "parameters": None, "strict": True}
    ]


@pytest.mark.parametrize("strict", [True, False])
def test_strict_is_shown_as_it_was_given(strict: bool) -> None:
    assert echo(tools=[{**FUNCTION, "strict": strict}])["tools"][0]["strict"] is strict


def test_secrets_of_a_tool_are_hidden() -> None:
    tool = {
        "type": "mcp",
        "server_label": "s",
        "server_url": "https://example.org",
        "authorization": "key",
        "headers": {"X-Key": "key"},
    }

    shown = echo(tools=[tool])["tools"][0]

    assert (shown["authorization"], shown["headers"]) == ("<redacted>", {"X-Key": "<redacted>"})


def test_a_schema_is_shown_with_all_its_members() -> None:
    form = {"type": "json_schema", "name": "out", "schema": {"type": "object"}}

    shown = echo(text={"format": form, "verbosity": "low"})["text"]

    assert shown == {"format": {**form, "description": None, "strict": False}, "verbosity": "low"}


def test_cache_options_are_shown_with_their_defaults() -> None:
    assert echo(prompt_cache_options={"mode": "explicit"})["prompt_cache_options"] == {"mode": "explicit", "ttl": "30m"}


def test_other_wishes_about_reasoning_are_repeated() -> None:
    assert echo(reasoning={"context": "all_turns"})["reasoning"] == {
        "effort": None,
        "summary": None,
        "context": "all_turns",
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tools": EVERY_TOOL},
        {"tools": [FUNCTION], **VERBATIM},
        {"prompt_cache_options": {"mode": "explicit"}, "moderation": {"model": "omni"}},
        {"text": {"format": {"type": "json_schema", "name": "o", "schema": {"type": "object"}}}},
        {
            "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            "tools": [FUNCTION],
        },
    ],
    ids=["nothing", "every tool", "verbatim", "cache and moderation", "schema", "allowed tools"],
)
def test_the_openai_package_knows_all_of_it(parameters: dict[str, Any]) -> None:
    Response.model_validate(echo(**parameters))
