"""Tools and tool choices, by their type: a new type is one row of `TOOL_TYPES` or `CHOICES`."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from .containers import OBJECT, STRINGS, Either, ListOf, MapOf, Record, Tagged
from .scalars import BOOLEAN, FUNCTION_NAME, INTEGER, STRING, OneOf
from .shapes import Shape

Tool: TypeAlias = dict[str, Any]
"""An element of `tools`: an object with a `type`; `TOOL_TYPES` says which other keys."""

_CALLERS: Final[dict[str, Shape]] = {"allowed_callers": ListOf(OneOf("direct", "programmatic"))}
_CALLABLE: Final[dict[str, Shape]] = _CALLERS | {"description": STRING, "defer_loading": BOOLEAN, "async": BOOLEAN}
_SEARCH_SIZE: Final[dict[str, Shape]] = {"search_context_size": OneOf("low", "medium", "high"), "user_location": OBJECT}

FUNCTION: Final = Record(
    {"name": FUNCTION_NAME},
    _CALLABLE | {"parameters": OBJECT, "strict": BOOLEAN, "output_schema": OBJECT},
    wrapped="function",
)
_GRAMMAR: Final = Record({"syntax": OneOf("lark", "regex"), "definition": STRING}, wrapped="grammar")
CUSTOM: Final = Record(
    {"name": FUNCTION_NAME},
    _CALLABLE | {"format": Tagged({"text": Record(), "grammar": _GRAMMAR})},
    wrapped="custom",
)
_WEB_SEARCH: Final = Record(None, _SEARCH_SIZE | {"filters": OBJECT, "external_web_access": BOOLEAN})
_WEB_SEARCH_PREVIEW: Final = Record(None, _SEARCH_SIZE | {"search_content_types": ListOf(OneOf("text", "image"))})

TOOL_TYPES: Final[dict[str, Shape]] = {
    "function": FUNCTION,
    "custom": CUSTOM,
    "namespace": Record(
        {
            "name": FUNCTION_NAME,
            "description": STRING,
            "tools": ListOf(Tagged({"function": FUNCTION, "custom": CUSTOM})),
        }
    ),
    "tool_search": Record(None, {"execution": OneOf("server", "client"), "description": STRING, "parameters": OBJECT}),
    "local_shell": Record(),
    "shell": Record(None, _CALLERS | {"environment": Record({"type": STRING})}),
    "apply_patch": Record(None, _CALLERS),
    "computer": Record(),
    "computer_use_preview": Record(
        {
            "display_height": INTEGER,
            "display_width": INTEGER,
            "environment": OneOf("windows", "mac", "linux", "ubuntu", "browser"),
        }
    ),
    "web_search": _WEB_SEARCH,
    "web_search_2025_08_26": _WEB_SEARCH,
    "web_search_preview": _WEB_SEARCH_PREVIEW,
    "web_search_preview_2025_03_11": _WEB_SEARCH_PREVIEW,
    "file_search": Record(
        {"vector_store_ids": STRINGS},
        {"filters": OBJECT, "max_num_results": INTEGER, "ranking_options": OBJECT},
    ),
    "code_interpreter": Record(
        {
            "container": Either(
                "one of a string or an object",
                {str: STRING, dict: Record({"type": OneOf("auto")}, {"file_ids": STRINGS})},
            )
        },
        _CALLERS,
    ),
    "image_generation": Record(
        None,
        {
            "action": OneOf("generate", "edit", "auto"),
            "background": OneOf("transparent", "opaque", "auto"),
            "input_image_mask": OBJECT,
            "model": STRING,
            "output_compression": INTEGER,
            "output_format": STRING,
            "partial_images": INTEGER,
            "quality": STRING,
            "size": STRING,
        },
    ),
    "mcp": Record(
        {"server_label": STRING},
        _CALLERS
        | {
            "server_url": STRING,
            "connector_id": STRING,
            "tunnel_id": STRING,
            "server_description": STRING,
            "authorization": STRING,
            "headers": MapOf(STRING),
            "allowed_tools": Either(
                "one of an array of strings or an object",
                {list: STRINGS, dict: Record(None, {"read_only": BOOLEAN, "tool_names": STRINGS})},
            ),
            "require_approval": Either("one of a string or an object", {str: OneOf("always", "never"), dict: OBJECT}),
            "defer_loading": BOOLEAN,
        },
        any_of=("server_url", "connector_id", "tunnel_id"),
    ),
    "programmatic_tool_calling": Record(),
}
TOOLS: Final = Tagged(TOOL_TYPES)

# Forced by their type alone; no tool has the type "computer_use", yet it is a choice (tool_choice_types_param.py).
_TYPE_CHOICES: Final = [*TOOL_TYPES.keys() - {"function", "custom", "mcp", "namespace"}, "computer_use"]
_NAMED_CHOICES: Final[dict[str, Shape]] = {
    "function": Record({"name": STRING}, wrapped="function"),
    "custom": Record({"name": STRING}, wrapped="custom"),
    "mcp": Record({"server_label": STRING}, {"name": STRING}),
    **{name: Record() for name in sorted(_TYPE_CHOICES)},
}
CHOICES: Final[dict[str, Shape]] = _NAMED_CHOICES | {
    "allowed_tools": Record(
        {
            "mode": OneOf("auto", "required"),
            "tools": ListOf(Tagged(_NAMED_CHOICES | {"namespace": Record({"name": STRING})})),
        },
        wrapped="allowed_tools",
    ),
}
TOOL_CHOICE: Final = Either(
    "one of a string or an object", {str: OneOf("none", "auto", "required"), dict: Tagged(CHOICES)}
)
