"""How a chat answer ended: finish reasons, and what they make of the response."""

from __future__ import annotations

from typing import Literal

Outcome = Literal["completed", "max_output_tokens", "content_filter", "failed"]

# What servers say besides OpenAI's own stop, length, tool_calls, function_call and content_filter. Whatever is not in
# the table is a regular end (eos, end_turn, stop_sequence, tool_use, …).
_OUTCOMES: dict[str, Outcome] = {
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",  # Anthropic, Gemini
    "max_output_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "max_length": "max_output_tokens",
    "model_length": "max_output_tokens",  # Mistral: the context window is full
    "model_context_window_exceeded": "max_output_tokens",  # Anthropic
    "token_limit": "max_output_tokens",
    "limit": "max_output_tokens",
    "incomplete": "max_output_tokens",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",  # Bedrock
    "safety": "content_filter",  # Gemini
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "sensitive": "content_filter",  # GLM
    "error": "failed",  # OpenRouter
    "network_error": "failed",  # GLM
    "insufficient_system_resource": "failed",  # DeepSeek: the inference was cut
    "abort": "failed",  # vLLM, SGLang: the request was aborted
    "aborted": "failed",
    "cancelled": "failed",
    "canceled": "failed",
    "timeout": "failed",
    "unavailable": "failed",
    "malformed_function_call": "failed",  # Gemini
}


def outcome_of(finish_reason: str) -> Outcome:
    """What the response becomes; the reasons of servers come in any case."""
    return _OUTCOMES.get(finish_reason.lower(), "completed")
