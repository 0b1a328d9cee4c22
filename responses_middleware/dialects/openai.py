"""OpenAI itself, and Azure OpenAI."""

from __future__ import annotations

from .base import Dialect

OPENAI = Dialect(
    name="openai",
    # The o-series and gpt-5 refuse max_tokens; the older models take both names (general knowledge).
    max_tokens_field="max_completion_tokens",
    # Chat has the role (openai-python 3.57, chat_completion_developer_message_param.py).
    developer_role=True,
    # Instructions may stand anywhere, any number of times (OpenAI API reference, chat).
    system_messages="in_place",
    # Every role takes a list of text parts (openai-python 3.57, chat_completion_*_message_param.py).
    text_parts=True,
    # Structured outputs for functions (openai-python 3.57, shared_params/function_definition.py).
    strict_tools=True,
    # Chat has custom tools of its own (openai-python 3.57, chat_completion_custom_tool_param.py).
    custom_tools="native",
    # finish_reason, then usage, then [DONE] (OpenAI API reference, chat streaming).
    finish_reason=True,
    # Same names in chat (openai-python 3.57, completion_create_params.py). Not metadata and store: in chat they
    # ask OpenAI to keep the completion, which is another product.
    forward=frozenset(
        {
            "moderation",
            "prompt_cache_key",
            "prompt_cache_options",
            "prompt_cache_retention",
            "safety_identifier",
            "service_tier",
            "user",
            "verbosity",
        }
    ),
)

AZURE = Dialect(
    name="azure",
    # As OpenAI; but Mistral models in Foundry answer 422 to it (pydantic-ai): use the mistral preset for those.
    max_tokens_field="max_completion_tokens",
    # As OpenAI (general knowledge).
    strict_tools=True,
    # As OpenAI; a prompt that the filter blocks is an HTTP 400 instead (Azure OpenAI, content filtering).
    finish_reason=True,
    # Those that api-versions have long had; an older one answers 400 to names that it doesn't know (general knowledge).
    forward=frozenset({"user", "verbosity"}),
)
