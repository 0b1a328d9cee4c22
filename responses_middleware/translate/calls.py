"""Tool calls of the input → calls of a chat message."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from ..dialects import Dialect
from ..protocol.items import Item
from .client_tools import CLIENT_TOOLS
from .tool_names import ToolBinding, ToolKind, ToolNames

Call = dict[str, Any]
"""An element of `tool_calls`, without its id."""

CALL_KINDS: Mapping[str, ToolKind] = {
    "function_call": "function",
    "custom_tool_call": "custom",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "tool_search_call": "tool_search",
}
# Another server ran them: the item has the result, too.
FOREIGN_CALLS = frozenset({"mcp_call", "code_interpreter_call"})
_NINE = re.compile(r"[a-zA-Z0-9]{9}")


def to_call(item: Item, dialect: Dialect, names: ToolNames) -> Call:
    """A call of a tool that the client runs."""
    kind = CALL_KINDS[item["type"]]
    name = names.name(_binding(kind, item))
    if kind == "custom" and dialect.custom_tools == "native":
        return {"type": "custom", "custom": {"name": name, "input": item["input"]}}
    return _function(name, _arguments(kind, item))


def to_call_and_result(item: Item, names: ToolNames) -> tuple[Call, str]:
    """A call that another server ran, and what came of it."""
    if item["type"] == "mcp_call":
        binding = ToolBinding("function", item["name"], item.get("server_label"))
        arguments, result = _object_text(item.get("arguments") or ""), item.get("output") or item.get("error") or ""
    else:
        binding = ToolBinding("function", "code_interpreter")
        arguments = json.dumps({"code": item.get("code") or ""}, ensure_ascii=False)
        result = _printed(item)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return _function(names.name(binding), arguments), text


def shortened(call_id: str) -> str:
    """The id as Mistral takes it: itself if it has the form, else one made of it, always the same."""
    if _NINE.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:9]


def _function(name: str, arguments: str) -> Call:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def _binding(kind: ToolKind, item: Item) -> ToolBinding:
    """The tool that a call is of; only functions and freeform tools have names of their own."""
    if kind in ("function", "custom"):
        return ToolBinding(kind, item["name"], item.get("namespace"))
    return ToolBinding(kind, kind)


def _arguments(kind: ToolKind, item: Item) -> str:
    match kind:
        case "function":
            return _object_text(item["arguments"])
        case "custom":
            return json.dumps({"input": item["input"]}, ensure_ascii=False)
        case _:
            return json.dumps(CLIENT_TOOLS[kind].to_arguments(item), ensure_ascii=False)


def _object_text(arguments: str) -> str:
    """Arguments that are one JSON object: llama.cpp and vLLM parse those of history, and answer 500 or 400 to others.
    What a cut or careless model wrote instead is kept as text."""
    if not arguments.strip():
        return "{}"
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"arguments": arguments}, ensure_ascii=False)


def _printed(item: Item) -> str:
    """What a code interpreter printed; its files are elsewhere."""
    logs = (output.get("logs") for output in item.get("outputs") or ())
    return "\n".join(log for log in logs if isinstance(log, str))
