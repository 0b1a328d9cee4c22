"""Clouds that serve open models: Groq, Cerebras, Together, Fireworks, Cloudflare Workers AI."""

from __future__ import annotations

from .base import Dialect
from .efforts import NONE_LOW_MEDIUM_HIGH

GROQ = Dialect(
    name="groq",
    # The native name; max_tokens is the old one (litellm groq/chat/transformation.py). strict is known of gpt-oss and
    # Kimi only and stays away.
    max_tokens_field="max_completion_tokens",
    # gpt-oss knows low, medium and high, Qwen none (console.groq.com, reasoning; general knowledge).
    reasoning_effort=NONE_LOW_MEDIUM_HIGH,
    # "Not yet supported by any of our models" (groq-python, completion_create_params.py).
    logprobs=False,
    # groq-python, completion_create_params.py. Its service tiers have other names than OpenAI's.
    forward=frozenset({"user"}),
)

CEREBRAS = Dialect(
    name="cerebras",
    # The documented name (inference-docs.cerebras.ai, chat completions).
    max_tokens_field="max_completion_tokens",
    # Tools are to be strict there (inference-docs.cerebras.ai, tool use; req_llm Cerebras guide, but for Qwen models).
    strict_tools=True,
    # 400 "parallel_tool_calls=False is not supported by this model" (agno #4508; req_llm Cerebras guide).
    parallel_tool_calls=False,
    # cerebras-cloud-sdk-python, completion_create_params.py. service_tier is a 400 (req_llm Cerebras guide).
    forward=frozenset({"user"}),
)

TOGETHER = Dialect(
    name="together",
    # There it is a number, not a boolean (together-py, completion_create_params.py).
    logprobs=False,
)

FIREWORKS = Dialect(
    name="fireworks",
    # "required" is called "any" (litellm #4416). strict stays away, as litellm removes it.
    tool_choice="any",
    # Read from history (litellm #40682).
    replay_reasoning="reasoning_content",
    # litellm fireworks_ai/chat/transformation.py.
    forward=frozenset({"user"}),
)

# Nothing known differs at .../ai/v1 (workers-ai-provider 4.0.0); .../ai/run is another protocol.
CLOUDFLARE = Dialect(name="cloudflare")
