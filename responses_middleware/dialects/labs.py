"""Model makers with an endpoint of their own: Mistral, Gemini, Anthropic, xAI, Perplexity."""

from __future__ import annotations

from types import MappingProxyType

from .base import Dialect
from .efforts import NONE_LOW_MEDIUM_HIGH

MISTRAL = Dialect(
    name="mistral",
    # `Function.strict` (mistralai client-python, models/function.py).
    strict_tools=True,
    # "any" forces a call on every release; the object came later (litellm mistral/chat/transformation.py).
    tool_choice="any",
    # 422 extra_forbidden, and usage comes unasked in the last chunk (avante.nvim #2347, tabby #4082).
    stream_usage=False,
    # Medium 3.5, Small 4 and Large 4 know none and high; "low" is refused by magistral (pydantic-ai).
    reasoning_effort=MappingProxyType({"none": "none", "high": "high", "xhigh": "high", "max": "high"}),
    # Exactly nine of [a-zA-Z0-9] (pydantic-ai profiles/mistral.py).
    tool_call_ids="mistral9",
    # Not among its parameters, and unknown ones are a 422 (mistralai client-python, chatcompletionstreamrequest.py).
    logprobs=False,
)

GEMINI = Dialect(
    name="gemini",
    # 400 'Unknown name "parallel_tool_calls"' and "Parallel tool calls are not supported" in 2024 and 2025; that it is
    # taken now is not verified (magentic #382, TheAgenticBrowser #4).
    parallel_tool_calls=False,
    # Ends at high (ai.google.dev, Gemini API, OpenAI compatibility).
    reasoning_effort=MappingProxyType({**NONE_LOW_MEDIUM_HIGH, "minimal": "minimal"}),
)

ANTHROPIC = Dialect(
    name="anthropic",
    # response_format is ignored (docs.anthropic.com, OpenAI SDK compatibility).
    response_format="none",
    # reasoning_effort is ignored (docs.anthropic.com, OpenAI SDK compatibility).
    reasoning_effort=False,
    # logprobs is ignored (docs.anthropic.com, OpenAI SDK compatibility).
    logprobs=False,
)

XAI = Dialect(
    name="xai",
    # grok-4.3 knows none, low, medium and high (@ai-sdk/xai 3.0.97). strict stays away, as litellm removes it.
    reasoning_effort=NONE_LOW_MEDIUM_HIGH,
)

PERPLEXITY = Dialect(
    name="perplexity",
    # 400 "After the (optional) system message(s), user or tool message(s) should alternate …" (serac #53).
    system_messages="single_leading",
    # It takes no tools at all (litellm perplexity/chat/transformation.py).
    parallel_tool_calls=False,
    # Likewise.
    tool_choice="auto",
    # Not among its parameters; usage stands in every chunk (litellm perplexity; docs.perplexity.ai, stream-mode).
    stream_usage=False,
    # Not among its parameters (litellm perplexity/chat/transformation.py).
    logprobs=False,
)
