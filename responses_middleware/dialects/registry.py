"""The table of presets by name; each stands in the file of its kind of server."""

from __future__ import annotations

from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from .base import Dialect
from .gateways import BEDROCK, COPILOT, LITELLM, OPENROUTER
from .hosts import CEREBRAS, CLOUDFLARE, FIREWORKS, GROQ, TOGETHER
from .labs import ANTHROPIC, DEEPSEEK, GEMINI, MINIMAX, MISTRAL, MOONSHOT, PERPLEXITY, QWEN, XAI, ZHIPU
from .local import LLAMA_CPP, LLAMA_CPP_PYTHON, LM_STUDIO, OLLAMA, SGLANG, TGI, VLLM
from .openai import AZURE, OPENAI

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTO = Dialect()

PRESETS: Mapping[str, Dialect] = MappingProxyType(
    {
        dialect.name: dialect
        for dialect in (
            AUTO,
            *(OPENAI, AZURE),
            *(VLLM, SGLANG, LLAMA_CPP, LLAMA_CPP_PYTHON, OLLAMA, LM_STUDIO, TGI),
            *(DEEPSEEK, QWEN, MOONSHOT, ZHIPU, MINIMAX, MISTRAL, GEMINI, ANTHROPIC, XAI, PERPLEXITY),
            *(GROQ, CEREBRAS, TOGETHER, FIREWORKS, CLOUDFLARE),
            *(OPENROUTER, COPILOT, BEDROCK, LITELLM),
        )
    }
)


def preset(name: str) -> Dialect:
    """The preset of that name, in any case and with `-` for `_`; ConfigurationError lists the names that exist."""
    wanted = name.lower().replace("-", "_")
    found = PRESETS.get(wanted)
    if found is None:
        nearest = get_close_matches(wanted, PRESETS, n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ConfigurationError(
            f"There is no dialect {name!r}.{hint} The dialects are {', '.join(PRESETS)}.", param="dialect"
        )
    return found
