"""How families of chat servers differ in the requests that they take, as data.

Reading a chat stream needs no dialect (think tags aside): one liberal reader understands every server. A dialect shapes
the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..errors import ConfigurationError


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """What one family of chat servers accepts. Change a preset with `dataclasses.replace(Dialect.named("vllm"), ...)`.

    The defaults are those of "auto": the form that most servers take.

    Args:
        name: of the preset.
        max_tokens_field: the one name under which `max_output_tokens` is sent.
        developer_role: False: developer messages become system messages.
        system_messages: `merge_leading`: the leading run of instructions and system messages becomes one message;
            `single_leading`: all of them, wherever they stand, become one message in front; `in_place`: nothing is
            merged.
        text_parts: False: a list of only text parts becomes one string, joined with newlines.
        tool_call_content: what stands in `content` beside tool calls without text.
        strict_tools: whether a `strict` that the client gave is sent.
        parallel_tool_calls: whether the parameter is sent (only ever with tools); `only_false`: not where it says what
            is so anyway.
        custom_tools: freeform tools as a function with one string `input`, or natively.
        tool_choice: how one forced function is asked for: as the object; the one tool alone with "required"; likewise
            with "any"; or not at all.
        response_format: how `text.format` of type json_schema is asked for: natively; as json_object with the schema in
            the system message; as json_object with a `schema` beside it; only in the system message.
        stream_usage: whether `stream_options.include_usage` is sent.
        reasoning_effort: whether it is sent; a mapping renames values, the nearest stands for one that is not in it.
        replay_reasoning: under which name earlier thinking goes back in history; None: it does not.
        think_tags: whether thinking stands inside content: `<think>…</think>`; `extract_implicit_open`: the opening tag
            may be missing.
        tool_call_ids: `mistral9`: ids become nine alphanumerics, always the same ones.
        finish_reason: whether the server always sends one; None: learned from its answers.
        tool_result_images: where images in a tool's output go.
        logprobs: whether logprobs may be asked for.
        forward: parameters of a Responses request that this server takes under the same name, of `FORWARDABLE`.
    """

    name: str = "auto"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    developer_role: bool = False
    system_messages: Literal["merge_leading", "single_leading", "in_place"] = "merge_leading"
    text_parts: bool = False
    tool_call_content: Literal[""] | None = ""
    strict_tools: bool = False
    parallel_tool_calls: bool | Literal["only_false"] = True
    custom_tools: Literal["function", "native"] = "function"
    tool_choice: Literal["object", "required", "any", "auto"] = "object"
    response_format: Literal["json_schema", "json_object", "json_object_schema", "none"] = "json_schema"
    stream_usage: bool = True
    reasoning_effort: bool | Mapping[str, str] = True
    replay_reasoning: Literal["reasoning_content", "reasoning", "reasoning_details", "think"] | None = None
    think_tags: Literal["extract", "extract_implicit_open"] | None = None
    tool_call_ids: Literal["mistral9"] | None = None
    finish_reason: bool | None = None
    tool_result_images: Literal["user_message", "tool_message"] = "user_message"
    logprobs: bool = True
    forward: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if unknown := self.forward - FORWARDABLE:
            raise ConfigurationError(
                f"Dialect.forward: {', '.join(sorted(unknown))} can't be forwarded; "
                f"it may hold {', '.join(sorted(FORWARDABLE))}",
                param="forward",
            )

    @staticmethod
    def named(name: str) -> Dialect:
        """The preset of that name; ConfigurationError names those that exist."""
        from .registry import preset

        return preset(name)


FORWARDABLE = frozenset(
    {
        "metadata",
        "moderation",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
        "verbosity",
    }
)
