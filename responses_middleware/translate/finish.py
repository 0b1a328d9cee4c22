"""How a chat answer ended: finish reasons, and what they make of the response."""

from __future__ import annotations

import re
from typing import Literal

Outcome = Literal["completed", "max_output_tokens", "content_filter", "failed"]

# OpenAI's own, and what servers say besides.
_OUTCOMES: dict[str, Outcome] = {
    "stop": "completed",
    "tool_calls": "completed",
    "function_call": "completed",
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",  # Anthropic, Gemini
    "max_output_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "max_length": "max_output_tokens",
    "model_length": "max_output_tokens",  # Mistral: the context window is full
    "model_context_window_exceeded": "max_output_tokens",  # Anthropic
    "token_limit": "max_output_tokens",
    "limit": "max_output_tokens",
    "error_limit": "max_output_tokens",  # Cohere: the context window is full
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
    "refusal": "content_filter",  # Anthropic: a classifier ended the answer
    "language": "content_filter",  # Gemini
    "error_toxic": "content_filter",  # Cohere
    "network_error": "failed",  # GLM
    "insufficient_system_resource": "failed",  # DeepSeek: the inference was cut
    "function_call_filter": "failed",  # Gemini's OpenAI form: "function_call_filter: MALFORMED_FUNCTION_CALL"
    "other": "failed",  # Gemini: it does not say why it stopped
    "no_image": "failed",
}

# Words of reasons that no table has. Only what has none of them is a regular end: eos, end_turn, stop_sequence,
# tool_use, COMPLETE, …
_WORDS: dict[Outcome, str] = {
    "failed": r"error|fail|abort|cancel|timeout|unavailable|overload|exception|malformed|unexpected|missing|too_many"
    r"|rate_limit|quota|crash|killed|interrupt|disconnect",
    "content_filter": r"filter|safety|block|prohibit|moderation|policy|toxic",
    "max_output_tokens": r"length|limit|exceeded|truncated",
}


def outcome_of(finish_reason: str) -> Outcome:
    """What the response becomes; the reasons of servers come in any case, Gemini's with a detail after a colon."""
    if finish_reason in _OUTCOMES:
        return _OUTCOMES[finish_reason]
    reason = re.sub(r"[^a-z0-9]+", "_", finish_reason.lower().partition(":")[0]).strip("_")
    if reason in _OUTCOMES:
        return _OUTCOMES[reason]
    return next((outcome for outcome, words in _WORDS.items() if re.search(words, reason)), "completed")
