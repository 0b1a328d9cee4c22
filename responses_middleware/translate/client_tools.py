"""Tools that a client runs under item types of their own, for servers that know functions only: offered as a function,
replayed as its call and its result, and read back from the call's arguments.

The shapes are those of the openai package: local_shell_call, shell_call, apply_patch_call, computer_call,
tool_search_call.
"""

from __future__ import annotations

import json
import shlex
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
    # arguments → fields of the call item; KeyError, TypeError, ValueError and the like if they don't fit
    to_fields: Callable[[Fields], Fields]
    to_arguments: Callable[[Fields], Fields]  # call item → arguments


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return value
    raise TypeError("not a list of strings")


def _program(value: object) -> list[str]:
    """A program and its arguments. A line is for a shell: Codex' own models ask for one so, and clients run the words
    as they stand."""
    return ["bash", "-lc", value] if isinstance(value, str) else _strings(value)


def _lines(value: object) -> list[str]:
    """Lines for a shell; of a program and its arguments, the line that runs it."""
    if not isinstance(value, list):
        return [_text(value)]
    if not value:
        raise ValueError("no commands")
    return [shlex.join(_strings(entry)) if isinstance(entry, list) else _text(entry) for entry in value]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError("not a text")


def _whole(value: object) -> int:
    """A whole number; models write 10.0 and "10" for it, too."""
    if isinstance(value, bool):
        raise TypeError("not a number")
    return int(value) if isinstance(value, int) else int(float(value))  # type: ignore[arg-type]


def _number(value: object) -> int | None:
    """A limit that may be absent; what is no number limits nothing."""
    try:
        return None if value is None else _whole(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _local_shell_fields(arguments: Fields) -> Fields:
    env = arguments.get("env") or {}
    action: Fields = {"type": "exec", "command": _program(arguments["command"])}
    action["env"] = {_text(name): _text(value) for name, value in env.items()}
    action["timeout_ms"] = _number(arguments.get("timeout_ms"))
    action |= {name: _text(arguments[name]) for name in ("user", "working_directory") if arguments.get(name)}
    return {"action": {name: value for name, value in action.items() if value is not None}}


def _local_shell_arguments(item: Fields) -> Fields:
    return {name: value for name, value in item["action"].items() if name != "type" and value not in (None, {})}


def _shell_fields(arguments: Fields) -> Fields:
    return {
        "action": {
            "commands": _lines(arguments["commands"]),
            "timeout_ms": _number(arguments.get("timeout_ms")),
            "max_output_length": _number(arguments.get("max_output_length")),
        },
        "environment": None,
    }


def _shell_arguments(item: Fields) -> Fields:
    return {name: value for name, value in item["action"].items() if value is not None}


def _patch_fields(arguments: Fields) -> Fields:
    kind = arguments["type"]
    if kind not in ("create_file", "update_file", "delete_file"):
        raise ValueError("no such operation")
    operation = {"type": kind, "path": _text(arguments["path"])}
    return {"operation": operation if kind == "delete_file" else operation | {"diff": _text(arguments["diff"])}}


def _patch_arguments(item: Fields) -> Fields:
    return dict(item["operation"])


_BUTTONS = ("left", "right", "wheel", "back", "forward")


def _button(value: object) -> str:
    if value not in _BUTTONS:
        raise ValueError("no such button")
    return str(value)


def _path(value: object) -> list[Fields]:
    if not isinstance(value, list):
        raise TypeError("not a path")
    return [{"x": _whole(point["x"]), "y": _whole(point["y"])} for point in value]


_POINT: Mapping[str, Callable[[Any], Any]] = {"x": _whole, "y": _whole}
_ACTIONS: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "click": {"button": _button, **_POINT},
    "double_click": _POINT,
    "drag": {"path": _path},
    "keypress": {"keys": _strings},
    "move": _POINT,
    "screenshot": {},
    "scroll": {**_POINT, "scroll_x": _whole, "scroll_y": _whole},
    "type": {"text": _text},
    "wait": {},
}
_WITH_KEYS_HELD = frozenset({"click", "double_click", "drag", "move", "scroll"})
# Members that models leave out where they go without saying.
_ASSUMED: Fields = {"button": "left", "scroll_x": 0, "scroll_y": 0}


def _action(action: Fields) -> Fields:
    kind = action["type"]
    members = {name: read(action[name] if name in action else _ASSUMED[name]) for name, read in _ACTIONS[kind].items()}
    held = {"keys": _strings(action["keys"])} if action.get("keys") and kind in _WITH_KEYS_HELD else {}
    return {"type": kind, **held, **members}


def _computer_fields(arguments: Fields) -> Fields:
    """The actions; `action` too where it is one alone: clients of computer_use_preview read that."""
    given = arguments.get("actions") or [arguments["action"]]
    actions = [_action(action) for action in (given if isinstance(given, list) else [given])]
    alone = {"action": actions[0]} if len(actions) == 1 else {}
    return {**alone, "actions": actions, "pending_safety_checks": []}


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
            command={
                **_TEXTS,
                "description": 'The program and its arguments; for a line of shell ["bash", "-lc", "ls | wc -l"].',
            },
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
                        "button": {"type": "string", "enum": list(_BUTTONS)},
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
        if "\\u" in arguments:
            value = _without_lone_surrogates(value)
        return CLIENT_TOOLS[binding.kind].to_fields(value) if isinstance(value, dict) else None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _without_lone_surrogates(value: Any) -> Any:
    """The same with U+FFFD for what no UTF-8 can say."""
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [_without_lone_surrogates(member) for member in value]
        case dict():
            return {_without_lone_surrogates(name): _without_lone_surrogates(member) for name, member in value.items()}
        case _:
            return value
