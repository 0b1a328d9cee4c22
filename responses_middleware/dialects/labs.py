"""Model makers with an endpoint of their own: DeepSeek, Qwen (DashScope, Model Studio), Moonshot (Kimi), Zhipu (GLM,
Z.ai), MiniMax, Mistral, Gemini, Anthropic, xAI, Perplexity.

The same models behind vLLM or a gateway follow the dialect of that server.
"""

from __future__ import annotations

from types import MappingProxyType

from .base import Dialect
from .efforts import LOW_HIGH_MAX, NONE_LOW_MEDIUM_HIGH

DEEPSEEK = Dialect(
    name="deepseek",
    # "Thinking mode does not support this tool_choice", and thinking is on by default (litellm; api-docs.deepseek.com).
    tool_choice="auto",
    # json_schema: "This response_format type is unavailable now" (litellm).
    response_format="json_object",
    # Knows low, high and max (litellm; api-docs.deepseek.com). Thinking is switched off by another parameter.
    reasoning_effort=MappingProxyType(
        {"minimal": "low", "low": "low", "medium": "high", "high": "high", "xhigh": "high", "max": "max"}
    ),
    # 400 "must be passed back" on turns with tool calls (litellm; api-docs.deepseek.com).
    replay_reasoning="reasoning_content",
    # Always one of five; insufficient_system_resource is a cut (api-docs.deepseek.com, create-chat-completion).
    finish_reason=True,
)

QWEN = Dialect(
    name="qwen",
    # json_schema on some models only (alibabacloud.com, Model Studio, structured output; general knowledge).
    response_format="json_object",
    # enable_thinking and thinking_budget instead (alibabacloud.com, Model Studio, deep thinking).
    reasoning_effort=False,
)

MOONSHOT = Dialect(
    name="moonshot",
    # Forced and required are a 400, "incompatible with thinking enabled" (platform.kimi.ai; harn-vm, July 2026).
    tool_choice="auto",
    # Documented for all models; json_schema is not verified (platform.kimi.ai).
    response_format="json_object",
    # K3 knows low, high and max; none is refused (litellm moonshot/chat/transformation.py).
    reasoning_effort=LOW_HIGH_MAX,
    # Must come back on turns with tool calls (litellm moonshot/chat/transformation.py).
    replay_reasoning="reasoning_content",
    # Keeps a conversation on its cache (platform.kimi.ai, context caching).
    forward=frozenset({"prompt_cache_key"}),
)

ZHIPU = Dialect(
    name="zhipu",
    # Not among its parameters (litellm zai).
    parallel_tool_calls=False,
    # Only "auto" is documented (general knowledge).
    tool_choice="auto",
    # json_schema only through gateways (openrouter.ai, model page of GLM).
    response_format="json_object",
    # GLM 5.2 and 5.3 know low, high and max (litellm zai).
    reasoning_effort=LOW_HIGH_MAX,
    # "Preserved thinking" reads it from this field (docs.z.ai; litellm zai).
    replay_reasoning="reasoning_content",
    # Not among its parameters (litellm zai).
    logprobs=False,
)

MINIMAX = Dialect(
    name="minimax",
    # The preferred name, max_tokens is deprecated (platform.minimax.io, text-openai-api).
    max_tokens_field="max_completion_tokens",
    # Two system messages are a 400, "invalid chat setting (2013)" (oh-my-pi #954); from Codex it is also
    # "invalid message role: system (2013)" (CodexPlusPlus #267).
    system_messages="single_leading",
    # Not documented (platform.minimax.io, text-openai-api).
    parallel_tool_calls=False,
    # Not documented (platform.minimax.io, text-openai-api).
    tool_choice="auto",
    # response_format is not supported (platform.minimax.io, text-openai-api).
    response_format="none",
    # Without effect: `thinking` switches it on and off (llmgateway #3051; platform.minimax.io, text-openai-api).
    reasoning_effort=False,
    # Assistant messages must be kept whole, <think> included (platform.minimax.io, text-openai-api).
    replay_reasoning="think",
    # Without reasoning_split thinking stands in the content (platform.minimax.io, text-openai-api).
    think_tags="extract",
)

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
