"""Tools of a Responses request → tools of a chat request. What is chosen of them: choice.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..dialects import Dialect
from ..protocol.tools import Tool
from .client_tools import CLIENT_TOOLS
from .left_out import LeftOut, Place
from .namespaces import Namespace
from .tool_names import ToolBinding, ToolKind, ToolNames

# Types of tools that become a function of their own kind; `computer_use_preview` is the older name of `computer`.
CLIENT_KINDS: Mapping[str, ToolKind] = {
    "local_shell": "local_shell",
    "shell": "shell",
    "apply_patch": "apply_patch",
    "computer": "computer",
    "computer_use": "computer",
    "computer_use_preview": "computer",
    "tool_search": "tool_search",
}


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as the request lists it.

    Args:
        found: an item brought it: the client's search found it, say.
    """

    place: Place
    tool: Tool
    found: bool = False


@dataclass(slots=True)
class OfferedTools:
    """The tools that the upstream is offered, by chat name, and the types of those that were left out."""

    names: ToolNames
    chat: dict[str, Tool] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)


def offer(tools: Iterable[ListedTool], dialect: Dialect, left_out: LeftOut) -> OfferedTools:
    """Turn the tools of a request into chat tools; of two that are the same tool, the last one counts.

    Args:
        tools: those of the request, then those that its items brought.
    """
    offered = OfferedTools(ToolNames())
    listed = list(tools)
    client_searches = any(
        each.tool["type"] == "tool_search" and each.tool.get("execution") == "client" for each in listed
    )
    for each in listed:
        namespace = Namespace(each.tool)
        for binding, tool in callable_tools(each.tool):
            if binding is None:
                _leave_out(tool["type"], each.place, offered, left_out)
            elif client_searches and tool.get("defer_loading") and not each.found:
                continue  # the client's tool_search finds it, and hands it in as the search's output
            else:
                name = offered.names.name(binding)
                offered.chat[name] = _told_tool(name, binding.kind, tool, dialect, namespace)
        if namespace.is_cut:
            why = "The namespace's description is too long for a tool's"
            left_out.hint("namespace.description", at=(*each.place, "description"), why=why)
    return offered


def callable_tools(tool: Tool) -> Iterable[tuple[ToolBinding | None, Tool]]:
    """The tools that can be called, each with what its call comes back as; None: nobody here runs it."""
    match tool["type"]:
        case "function" | "custom":
            yield ToolBinding(tool["type"], tool["name"]), tool
        case "namespace":
            for inner in tool["tools"]:
                yield ToolBinding(inner["type"], inner["name"], tool["name"]), inner
        case kind if kind in CLIENT_KINDS and not _is_hosted(tool):
            yield ToolBinding(CLIENT_KINDS[kind], CLIENT_KINDS[kind]), tool
        case _:
            yield None, tool


def _is_hosted(tool: Tool) -> bool:
    """A shell in a container and a search that the server does are not the client's to run."""
    environment = tool.get("environment")
    in_container = tool["type"] == "shell" and isinstance(environment, dict) and environment.get("type") != "local"
    return in_container or (tool["type"] == "tool_search" and tool.get("execution") != "client")


def _leave_out(kind: str, place: Place, offered: OfferedTools, left_out: LeftOut) -> None:
    offered.left_out.add(kind)
    if kind != "tool_search":  # nothing is lost: all tools that could be found are offered at once
        left_out.hint(kind, at=place, why=f"Hosted tool '{kind}' is not supported: nobody here can run it")


def _told_tool(name: str, kind: ToolKind, tool: Tool, dialect: Dialect, namespace: Namespace) -> Tool:
    """The chat tool, which tells what its namespace says, too."""
    chat = _chat_tool(name, kind, tool, dialect)
    told = namespace.told_by(tool, len(chat[chat["type"]].get("description") or ""))
    return chat if told is tool else _chat_tool(name, kind, told, dialect)


def _chat_tool(name: str, kind: ToolKind, tool: Tool, dialect: Dialect) -> Tool:
    match kind:
        case "function":
            return _function(name, tool, dialect)
        case "custom" if dialect.custom_tools == "native":
            return _native_custom(name, tool)
        case "custom":
            return _wrapped_custom(name, tool)
        case _:
            return _client_function(name, kind, tool)


def _function(name: str, tool: Tool, dialect: Dialect) -> Tool:
    function: Tool = {"name": name}
    if tool.get("description"):
        function["description"] = tool["description"]
    function["parameters"] = tool.get("parameters") or {"type": "object", "properties": {}}
    # Absent means true in Responses and false in chat: only what was said is sent.
    if dialect.strict_tools and tool.get("strict") is not None:
        function["strict"] = tool["strict"]
    return {"type": "function", "function": function}


def _native_custom(name: str, tool: Tool) -> Tool:
    form = tool.get("format") or {"type": "text"}
    if form["type"] == "grammar":
        form = {"type": "grammar", "grammar": {"syntax": form["syntax"], "definition": form["definition"]}}
    described = {"description": tool["description"]} if tool.get("description") else {}
    return {"type": "custom", "custom": {"name": name, **described, "format": form}}


def _wrapped_custom(name: str, tool: Tool) -> Tool:
    """A freeform tool as a function with one string; its grammar can only be told in words."""
    description, form = tool.get("description") or "", tool.get("format") or {"type": "text"}
    if form["type"] == "grammar":
        description += f"\n\nThe input must match this {form['syntax']} grammar:\n{form['definition']}"
    parameter = {"type": "string", "description": "The whole input of the tool, as plain text."}
    parameters = {
        "type": "object",
        "properties": {"input": parameter},
        "required": ["input"],
        "additionalProperties": False,
    }
    described = {"description": description.strip()} if description.strip() else {}
    return {"type": "function", "function": {"name": name, **described, "parameters": parameters}}


def _client_function(name: str, kind: str, tool: Tool) -> Tool:
    client = CLIENT_TOOLS[kind]
    description, parameters = client.description, client.parameters
    if kind == "tool_search":  # the only one whose client may describe it
        description, parameters = tool.get("description") or description, tool.get("parameters") or parameters
    elif kind == "shell":
        description += _skills(tool.get("environment"))
    elif tool["type"] == "computer_use_preview":
        description += f" The screen has {tool['display_width']} x {tool['display_height']} pixels."
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _skills(environment: Any) -> str:
    """The skills of a local shell: folders with instructions that the model may read."""
    listed = environment.get("skills") if isinstance(environment, dict) else None
    skills = [skill for skill in (listed if isinstance(listed, list) else ()) if isinstance(skill, dict)]
    lines = [f"- {skill.get('name')} ({skill.get('path')}): {skill.get('description')}" for skill in skills]
    return "\nSkills, to be read before they are used:\n" + "\n".join(lines) if lines else ""
