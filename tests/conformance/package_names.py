"""Every name of the Responses API that the installed openai package knows, read from its types."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from openai.types.responses import (
    response_computer_tool_call_output_screenshot_param,
    response_content_part_added_event,
    response_create_params,
    response_format_text_config_param,
    response_function_call_output_item_list_param,
    response_includable,
    response_input_audio_param,
    response_input_item_param,
    response_input_message_content_list_param,
    response_output_item,
    response_output_message_param,
    response_reasoning_item_param,
    response_stream_event,
    tool_param,
)
from typing_extensions import is_typeddict

PART_UNIONS: list[Any] = [
    response_input_message_content_list_param.ResponseInputMessageContentListParam,
    response_function_call_output_item_list_param.ResponseFunctionCallOutputItemListParam,
    response_input_audio_param.ResponseInputAudioParam,
    response_output_message_param.Content,
    typing.get_type_hints(response_reasoning_item_param.ResponseReasoningItemParam)["summary"],
    typing.get_type_hints(response_reasoning_item_param.ResponseReasoningItemParam)["content"],
    response_computer_tool_call_output_screenshot_param.ResponseComputerToolCallOutputScreenshotParam,
    response_content_part_added_event.Part,
]


def known_names() -> dict[str, set[str]]:
    """The names, by the group of the compatibility table that they belong to."""
    params = response_create_params.ResponseCreateParamsStreaming
    return {
        "parameter": set(_parameters(params)),
        "input item": set(_tags(response_input_item_param.ResponseInputItemParam)),
        "content part": {name for union in PART_UNIONS for name in _tags(union)},
        "tool": set(_tags(tool_param.ToolParam)),
        "tool_choice": set(_tags(response_create_params.ToolChoice)),
        "text format": set(_tags(response_format_text_config_param.ResponseFormatTextConfigParam)),
        "include": set(typing.get_args(response_includable.ResponseIncludable)),
        "output item": set(_tags(response_output_item.ResponseOutputItem)),
        "stream event": set(_tags(response_stream_event.ResponseStreamEvent)),
    }


# Their values have groups of their own.
_GROUPS_OF_THEIR_OWN = frozenset({"input", "tools", "tool_choice", "include"})


def _parameters(params: Any) -> Iterator[str]:
    """Each parameter, and each member of those that are objects."""
    for name, hint in typing.get_type_hints(params).items():
        yield name
        if name not in _GROUPS_OF_THEIR_OWN:
            for record in _records(hint):
                yield from (f"{name}.{member}" for member in typing.get_type_hints(record))


def _records(hint: Any) -> Iterator[Any]:
    """The object types in a hint, those of a list too."""
    if is_typeddict(hint):
        yield hint
        return
    for argument in typing.get_args(hint):
        yield from _records(argument)


def _tags(union: Any) -> Iterator[str]:
    """The values of `type` in the members of a union; its own words, where it has any."""
    if isinstance(union, str):
        yield union
        return
    fields = getattr(union, "model_fields", None)
    if fields or is_typeddict(union):
        hint = fields["type"].annotation if fields else typing.get_type_hints(union)["type"]
        yield from _words(hint)
        return
    for argument in typing.get_args(union):
        yield from _tags(argument)


def _words(hint: Any) -> Iterator[str]:
    if isinstance(hint, str):
        yield hint
    for argument in typing.get_args(hint):
        yield from _words(argument)
