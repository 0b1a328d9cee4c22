from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from responses_middleware.dialects import PRESETS, Dialect
from responses_middleware.dialects.base import FORWARDABLE
from responses_middleware.dialects.registry import preset
from responses_middleware.errors import ConfigurationError

EXPECTED_NAMES = [
    "auto",
    "openai",
    "azure",
    "vllm",
    "sglang",
    "llama_cpp",
    "llama_cpp_python",
    "ollama",
    "lm_studio",
    "tgi",
    "deepseek",
    "qwen",
    "moonshot",
    "zhipu",
    "minimax",
    "mistral",
    "groq",
    "cerebras",
    "gemini",
    "anthropic",
    "openrouter",
    "together",
    "fireworks",
    "perplexity",
    "xai",
    "copilot",
    "cloudflare",
    "bedrock",
    "litellm",
]


def test_the_presets_are_those_that_are_documented() -> None:
    assert sorted(PRESETS) == sorted(EXPECTED_NAMES)


@pytest.mark.parametrize("name", EXPECTED_NAMES)
def test_a_preset_is_found_under_its_own_name(name: str) -> None:
    assert preset(name).name == name


def test_auto_is_the_default_dialect() -> None:
    assert preset("auto") == Dialect()


@pytest.mark.parametrize("name", ["llama-cpp-python", "LLAMA_CPP_PYTHON", "Llama-Cpp_Python"])
def test_a_name_is_found_in_any_case_and_with_hyphens(name: str) -> None:
    assert preset(name) is PRESETS["llama_cpp_python"]


def test_a_dialect_can_be_asked_for_the_presets() -> None:
    assert Dialect.named("vllm") is PRESETS["vllm"]


def test_an_unknown_name_is_refused_with_the_nearest_and_all_names() -> None:
    with pytest.raises(ConfigurationError) as caught:
        preset("deepseak")

    assert caught.value.message == (
        f"There is no dialect 'deepseak'. Did you mean 'deepseek'? The dialects are {', '.join(PRESETS)}."
    )


def test_an_unknown_name_that_resembles_none_gets_no_suggestion() -> None:
    with pytest.raises(ConfigurationError) as caught:
        preset("0123456789")

    assert "Did you mean" not in caught.value.message


def test_an_unknown_name_points_at_the_option() -> None:
    with pytest.raises(ConfigurationError) as caught:
        preset("")

    assert caught.value.param == "dialect"


def test_the_table_of_presets_is_read_only() -> None:
    with pytest.raises(TypeError):
        PRESETS["mine"] = Dialect()  # type: ignore[index]


@pytest.mark.parametrize("name", EXPECTED_NAMES)
def test_a_preset_is_frozen(name: str) -> None:
    with pytest.raises(FrozenInstanceError):
        preset(name).name = "mine"  # type: ignore[misc]


def test_a_preset_is_changed_by_replace_and_stays_as_it_was() -> None:
    changed = replace(preset("vllm"), strict_tools=True)

    assert (changed.strict_tools, preset("vllm").strict_tools) == (True, False)


def test_what_can_not_be_forwarded_is_refused_at_construction() -> None:
    with pytest.raises(ConfigurationError, match="temperature"):
        Dialect(forward=frozenset({"temperature"}))


def test_what_can_be_forwarded_never_has_a_field_of_its_own() -> None:
    assert not FORWARDABLE & set(Dialect.__dataclass_fields__)
