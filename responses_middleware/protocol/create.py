"""The body of POST /responses: a parameter is one row of `PARAMETERS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Required, TypedDict

from .containers import OBJECT, Either, ListOf, MapOf, Record
from .formats import REASONING, TEXT
from .items import INPUT_ITEMS
from .scalars import BOOLEAN, IDENTIFIER, INTEGER, STRING, Decimal, Integer, OneOf, Text
from .shapes import Shape
from .tools import TOOL_CHOICE, TOOLS

if TYPE_CHECKING:
    from .items import Item
    from .tools import Tool


class CreateRequest(TypedDict, total=False):
    """A valid body of POST /responses, as the client sent it; a parameter that is null counts as absent."""

    model: Required[str]
    input: str | list[Item] | None
    instructions: str | None
    previous_response_id: str | None
    conversation: str | dict[str, Any] | None
    prompt: dict[str, Any] | None
    tools: list[Tool] | None
    tool_choice: str | dict[str, Any] | None
    parallel_tool_calls: bool | None
    max_tool_calls: int | None
    text: dict[str, Any] | None
    reasoning: dict[str, Any] | None
    include: list[str] | None
    stream: bool | None
    stream_options: dict[str, Any] | None
    max_output_tokens: int | None
    temperature: float | None
    top_p: float | None
    top_logprobs: int | None
    truncation: str | None
    context_management: list[dict[str, Any]] | None
    store: bool | None
    background: bool | None
    background_options: dict[str, Any] | None
    metadata: dict[str, str] | None
    client_metadata: dict[str, Any] | None
    user: str | None
    safety_identifier: str | None
    service_tier: str | None
    prompt_cache_key: str | None
    prompt_cache_options: dict[str, Any] | None
    prompt_cache_retention: str | None
    moderation: dict[str, Any] | None
    access_programs: dict[str, Any] | None
    image: dict[str, Any] | None


PARAMETERS: Final[dict[str, Shape]] = {
    "model": STRING,
    "input": Either("one of a string or an array of input items", {str: STRING, list: INPUT_ITEMS}),
    "instructions": STRING,
    "previous_response_id": IDENTIFIER,
    "conversation": Either("one of a string or an object", {str: IDENTIFIER, dict: Record({"id": IDENTIFIER})}),
    "prompt": Record({"id": STRING}, {"version": STRING, "variables": OBJECT}),
    "tools": ListOf(TOOLS),
    "tool_choice": TOOL_CHOICE,
    "parallel_tool_calls": BOOLEAN,
    "max_tool_calls": Integer(low=1),
    "text": TEXT,
    "reasoning": REASONING,
    "include": ListOf(
        OneOf(
            "file_search_call.results",
            "web_search_call.results",
            "web_search_call.action.sources",
            "message.input_image.image_url",
            "computer_call_output.output.image_url",
            "code_interpreter_call.outputs",
            "reasoning.encrypted_content",
            "message.output_text.logprobs",
        )
    ),
    "stream": BOOLEAN,
    "stream_options": Record(None, {"include_obfuscation": BOOLEAN}),
    "max_output_tokens": Integer(low=1),
    "temperature": Decimal(low=0, high=2),
    "top_p": Decimal(low=0, high=1),
    "top_logprobs": Integer(low=0, high=20),
    "truncation": OneOf("auto", "disabled"),
    "context_management": ListOf(Record({"type": OneOf("compaction")}, {"compact_threshold": INTEGER})),
    "store": BOOLEAN,
    "background": BOOLEAN,
    "background_options": Record(None, {"completion_window": OneOf("soonest", "2h", "8h"), "continuation_id": STRING}),
    "metadata": MapOf(Text(max_length=512), max_pairs=16, max_key=64),
    "client_metadata": OBJECT,  # Codex sends it with every request; no SDK knows it
    "user": STRING,
    "safety_identifier": Text(max_length=128),
    "service_tier": OneOf("auto", "default", "flex", "scale", "priority", "fast", "ultrafast"),
    "prompt_cache_key": STRING,
    "prompt_cache_options": Record(
        None,
        {
            "mode": OneOf("implicit", "explicit"),
            "ttl": OneOf("30m", "12h"),
            "prewarm": BOOLEAN,
            "comparison_response_id": STRING,
        },
    ),
    # openai-python 2 wrote it with a dash.
    "prompt_cache_retention": OneOf("in_memory", "24h", "in-memory"),
    "moderation": Record({"model": STRING}, {"policy": OBJECT}),
    "access_programs": Record(None, {"cyber": OneOf("standard", "daybreak_blue", "daybreak_red")}),
    "image": Record(None, {"context_compression": OneOf("auto", "enabled", "disabled")}),
}

# Parameters of chat completions and where they have gone.
MOVED: Final[dict[str, str]] = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "response_format": "text.format",
    "reasoning_effort": "reasoning.effort",
    "verbosity": "text.verbosity",
    "functions": "tools",
    "function_call": "tool_choice",
    "logprobs": "top_logprobs",
    "web_search_options": "tools",
}
# Those without a counterpart.
GONE: Final[frozenset[str]] = frozenset(
    {
        "n",
        "stop",
        "seed",
        "logit_bias",
        "frequency_penalty",
        "presence_penalty",
        "prediction",
        "modalities",
        "audio",
    }
)
