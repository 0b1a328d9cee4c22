"""What tools returned → text of tool messages, and pictures and files beside it."""

from __future__ import annotations

import json

from ..protocol.items import Item
from .left_out import Place
from .parts import Part, PartWriter
from .tool_names import ToolNames
from .tools import callable_tools

_TOLD_OF_OUTCOME = ("stdout", "stderr", "outcome")


def read_output(item: Item, place: Place, parts: PartWriter, names: ToolNames) -> tuple[str, list[Part]]:
    """The text of an output item, and its images and files as chat parts.

    Args:
        place: of the item.
        names: the chat names of tools, for a search that found some.
    """
    match item["type"]:
        case "shell_call_output":
            return _shell_text(item["output"]), []
        case "apply_patch_call_output":
            return _patch_text(item), []
        case "computer_call_output":
            part = parts.part(item["output"], (*place, "output"))
            return "", [part] if part else []
        case "tool_search_output":
            return _found(item["tools"], names), []
        case _:
            return parts.split(item["output"], (*place, "output"))


def _shell_text(output: list[Item]) -> str:
    """What each command printed, and how it ended."""
    told = [{name: entry[name] for name in _TOLD_OF_OUTCOME if entry.get(name) not in (None, "")} for entry in output]
    return json.dumps(told, ensure_ascii=False)


def _patch_text(item: Item) -> str:
    words, status = item.get("output"), item.get("status") or "completed"
    if not words:
        return f"The patch {status}."
    return f"The patch failed: {words}" if status == "failed" else str(words)


def _found(tools: list[Item], names: ToolNames) -> str:
    """The names by which the model can call what was found."""
    found = [
        names.name(binding) if binding else inner["type"] for tool in tools for binding, inner in callable_tools(tool)
    ]
    return json.dumps(sorted(found), ensure_ascii=False)
