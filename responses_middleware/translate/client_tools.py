"""Tools that a client runs under item types of their own, for servers that know functions only: offered as a function,
replayed as its call and its result, and read back from the call's arguments.

The shapes are those of the openai package: local_shell_call, shell_call, apply_patch_call, computer_call,
tool_search_call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .tool_names import ToolBinding

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTool:
    """One kind of such a tool, in all its forms."""

    description: str
    parameters: Fields
    to_fields: Callable[
        [Fields], Fields
    ]  # arguments → fields of the call item; KeyError, TypeError or ValueError if they don't fit
    to_arguments: Callable[[Fields], Fields]  # call item → arguments


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return value
    raise TypeError("not a list of strings")


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _local_shell_fields(arguments: Fields) -> Fields:
    action: Fields = {"type": "exec", "command": _strings(arguments["command"]), "env": arguments.get("env") or {}}
    action |= {
        name: value
        for name in ("timeout_ms", "user", "working_directory")
        if (value := arguments.get(name)) is not None
    }
    return {"action": action}


def _local_shell_arguments(item: Fields) -> Fields:
    return {name: value for name, value in item["action"].items() if name != "type" and value not in (None, {})}


def _shell_fields(arguments: Fields) -> Fields:
    return {
        "action": {
            "commands": _strings(arguments["commands"]),
            "timeout_ms": _number(arguments.get("timeout_ms")),
            "max_output_length": _number(arguments.get("max_output_length")),
        },
        "environment": None,
    }


def _shell_arguments(item: Fields) -> Fields:
    return {name: value for name, value in item["action"].items() if value is not None}


def _patch_fields(arguments: Fields) -> Fields:
    kind, path = arguments["type"], arguments["path"]
    if kind not in ("create_file", "update_file", "delete_file") or not isinstance(path, str):
        raise ValueError("no such operation")
    operation = {"type": kind, "path": path}
    if kind != "delete_file":
        if not isinstance(arguments["diff"], str):
            raise TypeError("diff is no text")
        operation["diff"] = arguments["diff"]
    return {"operation": operation}


def _patch_arguments(item: Fields) -> Fields:
    return dict(item["operation"])


_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "click": ("button", "x", "y"),
    "double_click": ("x", "y"),
    "drag": ("path",),
    "keypress": ("keys",),
    "move": ("x", "y"),
    "screenshot": (),
    "scroll": ("x", "y", "scroll_x", "scroll_y"),
    "type": ("text",),
    "wait": (),
}


def _computer_fields(arguments: Fields) -> Fields:
    actions = arguments.get("actions") or [arguments["action"]]
    for action in actions:
        if any(name not in action for name in _ACTIONS[action["type"]]):
            raise ValueError("an action lacks a member")
    return {"actions": actions, "pending_safety_checks": []}


def _computer_arguments(item: Fields) -> Fields:
    return {"actions": item.get("actions") or [item.get("action") or {"type": "screenshot"}]}


def _search_fields(arguments: Fields) -> Fields:
    return {"arguments": arguments, "execution": "client"}


def _search_arguments(item: Fields) -> Fields:
    arguments = item.get("arguments")
    return arguments if isinstance(arguments, dict) else {"query": arguments}


def _object(required: list[str], **properties: Fields) -> Fields:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_INTEGER = {"type": "integer"}

CLIENT_TOOLS: Mapping[str, ClientTool] = {
    "local_shell": ClientTool(
        description="Run a command on the user's machine. The result is what it prints.",
        parameters=_object(
            ["command"],
            command={**_TEXTS, "description": "The program and its arguments."},
            working_directory=_TEXT,
            env={"type": "object", "additionalProperties": _TEXT},
            timeout_ms=_INTEGER,
            user=_TEXT,
        ),
        to_fields=_local_shell_fields,
        to_arguments=_local_shell_arguments,
    ),
    "shell": ClientTool(
        description=(
            "Run shell commands on the user's machine, one after the other. "
            "The result is what each prints and its exit code."
        ),
        parameters=_object(["commands"], commands=_TEXTS, timeout_ms=_INTEGER, max_output_length=_INTEGER),
        to_fields=_shell_fields,
        to_arguments=_shell_arguments,
    ),
    "apply_patch": ClientTool(
        description=(
            "Create, update or delete one file. `diff` is a V4A diff: lines of context, "
            "lines that begin with + are added, with - removed."
        ),
        parameters=_object(
            ["type", "path"],
            type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
            path={**_TEXT, "description": "Path of the file, relative to the workspace."},
            diff={**_TEXT, "description": "The change; not for delete_file."},
        ),
        to_fields=_patch_fields,
        to_arguments=_patch_arguments,
    ),
    "computer": ClientTool(
        description=(
            "Use the computer's screen, mouse and keyboard: actions, done in order. The result is a screenshot."
        ),
        parameters=_object(
            ["actions"],
            actions={
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "enum": sorted(_ACTIONS)},
                        "button": {"type": "string", "enum": ["left", "right", "wheel", "back", "forward"]},
                        "x": _INTEGER,
                        "y": _INTEGER,
                        "scroll_x": _INTEGER,
                        "scroll_y": _INTEGER,
                        "keys": _TEXTS,
                        "text": _TEXT,
                        "path": {"type": "array", "items": _object(["x", "y"], x=_INTEGER, y=_INTEGER)},
                    },
                    "required": ["type"],
                },
            },
        ),
        to_fields=_computer_fields,
        to_arguments=_computer_arguments,
    ),
    "tool_search": ClientTool(
        description="Find tools that are not offered yet by what they do.",
        parameters=_object(["query"], query=_TEXT),
        to_fields=_search_fields,
        to_arguments=_search_arguments,
    ),
}


def call_fields(binding: ToolBinding, arguments: str) -> Fields | None:
    """The fields that a call item has beside id, call_id and status, or None if the arguments don't fit it."""
    try:
        value = json.loads(arguments or "{}")
        return CLIENT_TOOLS[binding.kind].to_fields(value) if isinstance(value, dict) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
