"""Gateways in front of many makers' models: OpenRouter, GitHub Copilot, Bedrock access gateway, LiteLLM proxy."""

from __future__ import annotations

from types import MappingProxyType

from .base import Dialect
from .efforts import LOW_MEDIUM_HIGH

OPENROUTER = Dialect(
    name="openrouter",
    # Passed on to the providers that take it (openrouter.ai, tool calling; @openrouter/ai-sdk-provider).
    strict_tools=True,
    # "max" is "xhigh" there (litellm openrouter).
    reasoning_effort=MappingProxyType(
        {effort: effort for effort in ("none", "minimal", "low", "medium", "high", "xhigh")} | {"max": "xhigh"}
    ),
    # They must come back verbatim, signatures and encrypted data too (openrouter.ai, reasoning tokens).
    replay_reasoning="reasoning_details",
    # openrouter.ai, parameters; @openrouter/ai-sdk-provider.
    forward=frozenset({"user", "verbosity"}),
)

# Nothing that a field could say: thinking comes and goes back as reasoning_text and reasoning_opaque (litellm #35021).
COPILOT = Dialect(name="copilot")

BEDROCK = Dialect(
    name="bedrock",
    # Not in ChatRequest (bedrock-access-gateway, api/schema.py).
    parallel_tool_calls=False,
    # Not in ChatRequest (bedrock-access-gateway, api/schema.py).
    response_format="none",
    # Literal of these three, anything else is a 422 (bedrock-access-gateway, api/schema.py).
    reasoning_effort=LOW_MEDIUM_HIGH,
    # Thinking stands in the content (bedrock-access-gateway, api/models/bedrock.py at 9579458).
    think_tags="extract",
    # Not in ChatRequest (bedrock-access-gateway, api/schema.py).
    logprobs=False,
)

LITELLM = Dialect(
    name="litellm",
    # Taken out again for providers that refuse it: hosted vLLM, xAI, Fireworks (litellm 1.108).
    strict_tools=True,
    # In all recorded streams but one that failed at once (litellm proxy 1.108).
    finish_reason=True,
    # Counts the spend of end users, whatever the provider (docs.litellm.ai, customers). Other names may be a 400
    # without drop_params.
    forward=frozenset({"user"}),
)
