"""Tools of a Responses request → tools and tool_choice of a chat request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dialects import Dialect
from ..errors import InvalidRequestError, UnsupportedValueError
from .client_tools import CLIENT_TOOLS
from .left_out import LeftOut
from .tool_names import ToolBinding, ToolKind, ToolNames

Tool = dict[str, Any]

# Types of tools that become a function of their own kind; `computer_use_preview` is the older name of `computer`.
_CLIENT_KINDS: Mapping[str, ToolKind] = {
    "local_shell": "local_shell",
    "shell": "shell",
    "apply_patch": "apply_patch",
    "computer": "computer",
    "computer_use": "computer",
    "computer_use_preview": "computer",
    "tool_search": "tool_search",
}


@dataclass(slots=True)
class OfferedTools:
    """The tools that the upstream is offered, by chat name, and what was left out, by type."""

    names: ToolNames
    chat: dict[str, Tool] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """What is sent of `tool_choice`: its chat value, or None; and the only tools that may be offered, or None for
    all."""

    value: Any = None
    only: frozenset[str] | None = None


def offer(tools: Iterable[tuple[str, Tool]], dialect: Dialect, left_out: LeftOut) -> OfferedTools:
    """Turn the tools of a request into chat tools.

    Args:
        tools: each with its place in the request (`tools[0]`), those that history loaded behind them.
    """
    offered = OfferedTools(ToolNames())
    listed = list(tools)
    deferred = any(tool["type"] == "tool_search" and tool.get("execution") == "client" for _, tool in listed)
    for place, tool in listed:
        for binding, inner in _flat(tool):
            if deferred and inner.get("defer_loading") and place.startswith("tools["):
                continue  # the client's tool_search finds it, and hands it in as the search's output
            _offer_one(offered, place, binding, inner, dialect, left_out)
    return offered


def choose(choice: Any, offered: OfferedTools, dialect: Dialect, left_out: LeftOut) -> ToolChoice:
    """Turn `tool_choice` into what this dialect can say, so that the choice holds."""
    if choice is None or isinstance(choice, str):
        return ToolChoice(_mode(choice, dialect) if choice and offered.chat else None)
    if choice["type"] == "allowed_tools":
        allowed = frozenset(name for tool in choice["tools"] for name in _chosen(tool, offered))
        if not allowed:
            left_out.refuse(_not_offered(choice["tools"]))
        return ToolChoice(_mode(choice.get("mode") or "auto", dialect) if allowed else None, allowed)
    names = _chosen(choice, offered)
    if not names:
        left_out.refuse(_not_offered([choice]))
        return ToolChoice()
    if len(names) > 1:
        return ToolChoice(_mode("required", dialect), frozenset(names))
    return _forced(names[0], offered, dialect)


def _flat(tool: Tool) -> Iterable[tuple[ToolBinding | None, Tool]]:
    match tool["type"]:
        case "function" | "custom":
            yield ToolBinding(tool["type"], tool["name"]), tool
        case "namespace":
            for inner in tool["tools"]:
                yield ToolBinding(inner["type"], inner["name"], tool["name"]), inner
        case kind if kind in _CLIENT_KINDS and not _is_hosted(tool):
            yield ToolBinding(_CLIENT_KINDS[kind], _CLIENT_KINDS[kind]), tool
        case _:
            yield None, tool


def _is_hosted(tool: Tool) -> bool:
    """A shell in a container and a search that the server does are not the client's to run."""
    environment = tool.get("environment")
    in_container = tool["type"] == "shell" and isinstance(environment, dict) and environment.get("type") != "local"
    return in_container or (tool["type"] == "tool_search" and tool.get("execution") != "client")


def _offer_one(
    offered: OfferedTools, place: str, binding: ToolBinding | None, tool: Tool, dialect: Dialect, left_out: LeftOut
) -> None:
    if binding is None:
        if tool["type"] == "tool_search":
            return  # searched on the server's side: all its tools are offered at once
        offered.left_out.add(tool["type"])
        left_out.hint(
            tool["type"],
            param=place,
            why=f"Hosted tool '{tool['type']}' is not supported: nobody here can run it",
        )
        return
    name = offered.names.name(binding)
    match binding.kind:
        case "function":
            offered.chat[name] = _function(name, tool, dialect)
        case "custom":
            offered.chat[name] = _custom(name, tool, dialect)
        case kind:
            offered.chat[name] = _client_function(name, kind, tool)


def _function(name: str, tool: Tool, dialect: Dialect) -> Tool:
    function: Tool = {"name": name}
    if tool.get("description"):
        function["description"] = tool["description"]
    function["parameters"] = tool.get("parameters") or {"type": "object", "properties": {}}
    if (
        dialect.strict_tools and tool.get("strict") is not None
    ):  # true in Responses, false in chat when absent: only what was said
        function["strict"] = tool["strict"]
    return {"type": "function", "function": function}


def _custom(name: str, tool: Tool, dialect: Dialect) -> Tool:
    description, form = tool.get("description") or "", tool.get("format") or {"type": "text"}
    if dialect.custom_tools == "native":
        custom: Tool = {"name": name} | ({"description": description} if description else {})
        if form["type"] == "grammar":
            form = {"type": "grammar", "grammar": {"syntax": form["syntax"], "definition": form["definition"]}}
        return {"type": "custom", "custom": {**custom, "format": form}}
    if form["type"] == "grammar":
        description += f"\n\nThe input must match this {form['syntax']} grammar:\n{form['definition']}"
    parameter = {"type": "string", "description": "The whole input of the tool, as plain text."}
    parameters = {
        "type": "object",
        "properties": {"input": parameter},
        "required": ["input"],
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description.strip(), "parameters": parameters},
    }


def _client_function(name: str, kind: str, tool: Tool) -> Tool:
    client = CLIENT_TOOLS[kind]
    description = tool.get("description") or client.description
    if tool.get("display_width"):
        description += f" The screen has {tool['display_width']} x {tool.get('display_height')} pixels."
    parameters = tool.get("parameters") if kind == "tool_search" else None
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters or client.parameters},
    }


def _mode(mode: str, dialect: Dialect) -> str | None:
    """auto, none and required as this server says them; None: it takes no such choice."""
    if mode != "required" or dialect.tool_choice in ("object", "required"):
        return mode
    return "any" if dialect.tool_choice == "any" else None


def _forced(name: str, offered: OfferedTools, dialect: Dialect) -> ToolChoice:
    """One tool: by name, or offered alone."""
    if dialect.tool_choice != "object":
        return ToolChoice(_mode("required", dialect), frozenset([name]))
    kind = offered.chat[name]["type"]
    return ToolChoice({"type": kind, kind: {"name": name}})


def _chosen(choice: Tool, offered: OfferedTools) -> list[str]:
    """The chat names of the offered tools that a choice means."""
    kind = str(choice.get("type"))
    if kind in ("function", "custom"):
        bindings = [ToolBinding("custom" if kind == "custom" else "function", choice["name"], choice.get("namespace"))]
    elif kind in _CLIENT_KINDS:
        bindings = [ToolBinding(_CLIENT_KINDS[kind], _CLIENT_KINDS[kind])]
    else:
        bindings = []
    exact = [name for name in offered.chat if offered.names.binding(name) in bindings]
    if exact or kind not in ("function", "custom", "namespace"):
        return exact
    wanted = choice.get("name")
    return [
        name
        for name in offered.chat
        if (found := offered.names.binding(name)).namespace
        and wanted == (found.namespace if kind == "namespace" else found.name)
    ]


def _not_offered(choices: Sequence[Tool]) -> InvalidRequestError:
    what = ", ".join(
        f"'{choice.get('name') or choice.get('server_label') or choice.get('type')}'" for choice in choices
    )
    return UnsupportedValueError(
        f"Tool choice {what} can't be forced: no such tool can be offered here.", param="tool_choice"
    )
