"""`tool_choice` of a Responses request → what this dialect can say, so that the choice holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import Dialect
from ..errors import InvalidRequestError, UnsupportedValueError
from ..protocol.faults import quote
from .left_out import LeftOut
from .tool_names import ToolBinding
from .tools import CLIENT_KINDS, OfferedTools, Tool

_CALL_ONE = "Answer with a call of one of the tools, not with text."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    """What is sent of a choice.

    Args:
        value: of chat's `tool_choice`; None: nothing is sent.
        only: the only tools that may be offered; None: all.
        words: what the system message says where the server can't be told otherwise.
    """

    value: str | dict[str, Any] | None = None
    only: frozenset[str] | None = None
    words: str | None = None


_NO_TOOL = ToolChoice(only=frozenset())


def choose(choice: Any, offered: OfferedTools, dialect: Dialect, left_out: LeftOut) -> ToolChoice:
    """Turn `tool_choice` into chat's, with the same effect.

    What may not be called is not offered, and what must be called is asked for in the strongest form that the server
    knows. Raises InvalidRequestError where a tool is forced that can't be offered.
    """
    match choice:
        case None:
            return ToolChoice()
        case str():
            return _by_mode(choice, None, offered, dialect, left_out)
        case {"type": "allowed_tools", "tools": tools, "mode": mode}:
            return _allowed(tools, mode, offered, dialect, left_out)
    names = _meant(choice, offered)
    if not names:
        left_out.refuse(_not_offered([choice]))
        return ToolChoice()
    if len(names) == 1 and dialect.tool_choice == "object":
        kind = offered.chat[names[0]]["type"]
        return ToolChoice(value={"type": kind, kind: {"name": names[0]}})
    return _by_mode("required", frozenset(names), offered, dialect, left_out)


def _allowed(
    tools: Sequence[Tool], mode: str, offered: OfferedTools, dialect: Dialect, left_out: LeftOut
) -> ToolChoice:
    names: set[str] = set()
    for tool in tools:
        meant = _meant(tool, offered)
        if not meant and tool["type"] not in offered.left_out:
            left_out.refuse(_not_offered([tool]))
        names.update(meant)
    if not names:
        if mode == "required":
            left_out.refuse(_not_offered(tools))
        return _NO_TOOL
    return _by_mode(mode, frozenset(names), offered, dialect, left_out)


def _by_mode(
    mode: str, only: frozenset[str] | None, offered: OfferedTools, dialect: Dialect, left_out: LeftOut
) -> ToolChoice:
    """auto, none or required, as this server says them."""
    if not offered.chat:
        if mode == "required":
            why = "Tool choice 'required' can't be served: no tool can be offered here."
            left_out.refuse(UnsupportedValueError(why, param="tool_choice"))
        return ToolChoice(only=only)
    if dialect.tool_choice == "auto":  # no such parameter, or one that is ignored
        return _without_parameter(mode, only, left_out)
    return ToolChoice(value="any" if mode == "required" and dialect.tool_choice == "any" else mode, only=only)


def _without_parameter(mode: str, only: frozenset[str] | None, left_out: LeftOut) -> ToolChoice:
    if mode == "none":
        return _NO_TOOL
    if mode == "required":
        why = "The upstream can't be made to call a tool"
        left_out.hint("tool_choice", at=("tool_choice",), why=why)
        return ToolChoice(only=only, words=_CALL_ONE)
    return ToolChoice(only=only)


def _meant(choice: Tool, offered: OfferedTools) -> list[str]:
    """The chat names of the offered tools that a choice means."""
    kind = str(choice.get("type"))
    if kind in CLIENT_KINDS:
        wanted = ToolBinding(CLIENT_KINDS[kind], CLIENT_KINDS[kind])
    elif kind in ("function", "custom"):
        wanted = ToolBinding("custom" if kind == "custom" else "function", choice["name"], choice.get("namespace"))
    elif kind == "namespace":
        return [name for name in offered.chat if offered.names.binding(name).namespace == choice["name"]]
    else:
        return []
    exact = [name for name in offered.chat if offered.names.binding(name) == wanted]
    if exact or wanted.namespace or kind in CLIENT_KINDS:
        return exact
    bindings = {name: offered.names.binding(name) for name in offered.chat}  # by its name alone, in any namespace
    return [name for name, found in bindings.items() if found.namespace and found.name == choice["name"]]


def _not_offered(choices: Sequence[Tool]) -> InvalidRequestError:
    named = [choice.get("name") or choice.get("server_label") or choice.get("type") for choice in choices]
    what = ", ".join(f"'{quote(str(name))}'" for name in named) or "of no tool"
    return UnsupportedValueError(
        f"Tool choice {what} can't be served: no such tool can be offered.", param="tool_choice"
    )
