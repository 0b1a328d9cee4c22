"""What the words of servers for their errors mean: the HTTP status, and the code that clients act on.

Servers name an error by a code, by a type or by a class name; all are compared as `rate_limit`, without `_error` and
the like. Clients read the status of an HTTP error, and of a stream that fails `response.error.code` alone: Codex gives
up at context_length_exceeded, insufficient_quota, usage_not_included and server_is_overloaded, waits at
rate_limit_exceeded, and asks again at all others.
"""

from __future__ import annotations

import re

OVERFLOW = "context_length_exceeded"
RATE_LIMIT = "rate_limit_exceeded"
FINAL_CODES = frozenset({OVERFLOW, "insufficient_quota", "usage_not_included", "server_is_overloaded"})
"""Codes that the openai package does not list but OpenAI sends (response-map.md, section 1), and agents stop at."""

_RATE_LIMITED = frozenset(
    {
        "rate_limit",  # Anthropic's and LiteLLM's type, vLLM's class
        "rate_limit_exceeded",
        "rate_limit_reached",
        "rate_limited",
        "requests",  # OpenAI's types of a 429
        "resource_exhausted",  # Gemini
        "throttled",
        "throttling",  # Bedrock, DashScope
        "tokens",
        "too_many_requests",
    }
)
_OVERFLOWN = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",  # LiteLLM
        "exceed_context_size",  # llama-server
        "model_max_prompt_tokens_exceeded",  # Copilot
    }
)
_STATUS: dict[str, int] = {
    **dict.fromkeys(_OVERFLOWN, 400),
    **dict.fromkeys(_RATE_LIMITED, 429),
    "invalid_request": 400,
    "bad_request": 400,
    "invalid_argument": 400,  # Gemini
    "invalid_parameter": 400,
    "invalid_prompt": 400,
    "invalid_value": 400,
    "content_policy_violation": 400,
    "failed_precondition": 400,  # Gemini
    "missing_required_parameter": 400,
    "unknown_parameter": 400,
    "unsupported_parameter": 400,
    "unsupported_value": 400,
    "authentication": 401,
    "incorrect_api_key": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "unauthorized": 401,
    "billing": 402,  # Anthropic
    "insufficient_balance": 402,  # DeepSeek
    "payment_required": 402,
    "access_denied": 403,
    "forbidden": 403,
    "permission": 403,  # Anthropic
    "permission_denied": 403,
    "model_not_found": 404,
    "not_found": 404,
    "request_too_large": 413,  # Anthropic
    "unprocessable_entity": 422,
    "insufficient_quota": 429,
    "usage_limit_reached": 429,
    "usage_not_included": 429,
    "engine_overloaded": 503,  # Kimi
    "overloaded": 503,  # Anthropic
    "server_is_overloaded": 503,
    "service_unavailable": 503,
    "unavailable": 503,  # Gemini, llama-server
    "api_timeout": 504,
    "deadline_exceeded": 504,  # Gemini
    "gateway_timeout": 504,
    "request_timeout": 504,
    "timeout": 504,
}
_SITE_IS_OVERLOADED = 529  # Anthropic's own status

# A prompt that is longer than the model can take, by server.
_OVERFLOW_WORDS = re.compile(
    "|".join(
        (
            r"maximum context length",  # OpenAI, vLLM, SGLang, DeepSeek, OpenRouter, Mistral ("… with 32768 …")
            r"maximum model length of \d",  # vLLM: "The decoder prompt (length 9) is longer than the …"
            r"(longer than|exceeds?) the (model's )?(max(imum)? )?context length",  # SGLang, Ollama
            r"input length \(\d+ tokens\) exceeds the maximum allowed length",  # SGLang
            r"exceeds? the (available )?context (size|window)",  # llama-server; OpenAI's Responses
            r"exceeds? (the )?(model's )?context window",  # llama-cpp-python
            r"exceeded max context length",  # Ollama
            r"greater than the context length",  # LM Studio
            r"context the overflows",  # LM Studio, spelled so
            r"ContextWindowExceeded",  # LiteLLM
            r"context[_ ]length[_ ]exceeded",
            r"prompt is too long",  # Anthropic, Fireworks
            r"exceeds? context limit",  # Anthropic: "input length and `max_tokens` exceed context limit"
            r"input is too long for requested model",  # Bedrock
            r"input token count.{0,40}exceeds",  # Gemini
            r"prompt token count of \d+ exceeds",  # Copilot
            r"maximum prompt length is \d",  # xAI
            r"context window exceeds limit",  # MiniMax
            r"exceeded model token limit",  # Kimi
            r"range of input length should be",  # DashScope
            r"prompt exceeds max length",  # GLM
            r"too large for model with \d+ maximum context",  # Mistral
            r"`inputs` (must have less than|tokens \+ `max_new_tokens` must be)",  # TGI, Together
            r"too many tokens: ",  # Cohere
            r"reduce the length of the (input )?(messages|prompt)",  # Groq, Cerebras
        )
    ),
    re.IGNORECASE,
)
# vLLM names the context length here too, but what is too large is the client's limit of the answer.
_LIMIT_TOO_LARGE = re.compile(r"max_(completion_)?tokens['\"`]? (is|are) too large", re.IGNORECASE)
_OVERFLOW_STATUSES = frozenset({400, 413, 422, 500, 502})  # llama-cpp-python answers 500
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SUFFIX = re.compile(r"_?(error|exception)$")


def status_of(*words: object) -> int | None:
    """The HTTP status that the first of some words means that means one; numbers may be strings (LiteLLM's are)."""
    for word in words:
        if isinstance(word, str) and word.isascii() and word.isdigit() and len(word) == 3:
            word = int(word)
        if isinstance(word, int) and not isinstance(word, bool) and 400 <= word <= 599:
            return 503 if word == _SITE_IS_OVERLOADED else word
    return next((_STATUS[name] for word in words if (name := _name(word)) in _STATUS), None)


def code_of(kind: object, status: int) -> str | None:
    """The code of an error without one, by its type and its status."""
    name = _name(kind)
    if name in _RATE_LIMITED:
        return RATE_LIMIT
    if name in _OVERFLOWN:
        return OVERFLOW
    if name in FINAL_CODES and name != "server_is_overloaded":  # without a code it may pass
        return name
    if status == 429:
        return RATE_LIMIT
    return "server_error" if status >= 500 else None


def is_rate_limit(word: object) -> bool:
    """Whether a code or a type says that there were too many requests."""
    return _name(word) in _RATE_LIMITED


def is_overflow(message: str, status: int, *words: object) -> bool:
    """Whether an error says that the prompt is longer than the model can take."""
    if any(_name(word) in _OVERFLOWN for word in words):
        return True
    return (
        status in _OVERFLOW_STATUSES and bool(_OVERFLOW_WORDS.search(message)) and not _LIMIT_TOO_LARGE.search(message)
    )


def _name(word: object) -> str:
    """A code, a type or the name of a class as `rate_limit`."""
    if not isinstance(word, str) or len(word) > 100:
        return ""
    return _SUFFIX.sub("", _CAMEL.sub("_", word).lower().replace("-", "_").replace(" ", "_").rpartition(".")[2])
