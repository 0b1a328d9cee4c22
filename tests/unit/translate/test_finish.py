from __future__ import annotations

import pytest

from responses_middleware.translate.finish import outcome_of


@pytest.mark.parametrize(
    "reason",
    ["stop", "tool_calls", "function_call", "eos", "end_turn", "stop_sequence", "tool_use", "COMPLETE", "made_up", ""],
)
def test_regular_and_unknown_reasons_complete(reason: str) -> None:
    assert outcome_of(reason) == "completed"


@pytest.mark.parametrize(
    "reason",
    [
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "model_length",
        "model_context_window_exceeded",
        "ERROR_LIMIT",
        "length_limit",
    ],
)
def test_a_limit_makes_the_response_incomplete(reason: str) -> None:
    assert outcome_of(reason) == "max_output_tokens"


@pytest.mark.parametrize(
    "reason",
    [
        "content_filter",
        "SAFETY",
        "RECITATION",
        "sensitive",
        "guardrail_intervened",
        "content-filter",
        "refusal",
        "IMAGE_SAFETY",
        "ERROR_TOXIC",
        "content_filter: PROHIBITED_CONTENT",
    ],
)
def test_a_filter_makes_the_response_incomplete(reason: str) -> None:
    assert outcome_of(reason) == "content_filter"


@pytest.mark.parametrize(
    "reason",
    [
        "error",
        "network_error",
        "insufficient_system_resource",
        "abort",
        "timeout",
        "MALFORMED_FUNCTION_CALL",
        "function_call_filter: MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "OTHER",
        "USER_CANCEL",
        "rate_limit",
        "server_error",
        "engine_overloaded",
        "failed",
    ],
)
def test_an_accident_fails_the_response(reason: str) -> None:
    assert outcome_of(reason) == "failed"
