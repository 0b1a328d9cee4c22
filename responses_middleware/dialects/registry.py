"""The table of presets: a server's name → its dialect."""

from __future__ import annotations

from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from .base import Dialect
from .china import DEEPSEEK, MINIMAX, MOONSHOT, QWEN, ZHIPU
from .gateways import BEDROCK, COPILOT, LITELLM, OPENROUTER
from .hosts import CEREBRAS, CLOUDFLARE, FIREWORKS, GROQ, TOGETHER
from .labs import ANTHROPIC, GEMINI, MISTRAL, PERPLEXITY, XAI
from .local import LLAMA_CPP, LLAMA_CPP_PYTHON, LM_STUDIO, OLLAMA, SGLANG, TGI, VLLM
from .openai import AZURE, OPENAI

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTO = Dialect()

PRESETS: Mapping[str, Dialect] = MappingProxyType(
    {
        "auto": AUTO,
        # openai.py
        "openai": OPENAI,
        "azure": AZURE,
        # local.py
        "vllm": VLLM,
        "sglang": SGLANG,
        "llama_cpp": LLAMA_CPP,
        "llama_cpp_python": LLAMA_CPP_PYTHON,
        "ollama": OLLAMA,
        "lm_studio": LM_STUDIO,
        "tgi": TGI,
        # china.py
        "deepseek": DEEPSEEK,
        "qwen": QWEN,
        "moonshot": MOONSHOT,
        "zhipu": ZHIPU,
        "minimax": MINIMAX,
        # labs.py
        "mistral": MISTRAL,
        "gemini": GEMINI,
        "anthropic": ANTHROPIC,
        "xai": XAI,
        "perplexity": PERPLEXITY,
        # hosts.py
        "groq": GROQ,
        "cerebras": CEREBRAS,
        "together": TOGETHER,
        "fireworks": FIREWORKS,
        "cloudflare": CLOUDFLARE,
        # gateways.py
        "openrouter": OPENROUTER,
        "copilot": COPILOT,
        "bedrock": BEDROCK,
        "litellm": LITELLM,
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
