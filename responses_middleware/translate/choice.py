"""`tool_choice` of a Responses request → what this dialect can say, so that the choice holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import Dialect
from ..errors import InvalidRequestError, UnsupportedValueError
from ..protocol.faults import quote
from ..protocol.tools import Tool
from .left_out import LeftOut
from .tool_names import ToolBinding
from .tools import CLIENT_KINDS, OfferedTools

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
    names = _Meanings(offered).of(choice)
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
    meanings, names = _Meanings(offered), set[str]()
    distinct = {(tool["type"], _text(tool, "name"), _text(tool, "namespace")): tool for tool in tools}
    for tool in distinct.values():
        meant = meanings.of(tool)
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


class _Meanings:
    """Which offered tools a choice means: by kind and name, by its name alone in any namespace, by its namespace."""

    def __init__(self, offered: OfferedTools) -> None:
        self._exact: dict[ToolBinding, str] = {}
        self._by_name: dict[str, list[str]] = {}
        self._by_namespace: dict[str, list[str]] = {}
        for name in offered.chat:
            binding = offered.names.binding(name)
            self._exact[binding] = name
            if binding.namespace:
                self._by_name.setdefault(binding.name, []).append(name)
                self._by_namespace.setdefault(binding.namespace, []).append(name)

    def of(self, choice: Tool) -> list[str]:
        """Their chat names."""
        match choice["type"]:
            case kind if kind in CLIENT_KINDS:
                exact = self._exact.get(ToolBinding(CLIENT_KINDS[kind], CLIENT_KINDS[kind]))
            case "function" | "custom" as kind:
                namespace = _text(choice, "namespace")
                exact = self._exact.get(ToolBinding(kind, choice["name"], namespace))
                if exact is None and not namespace:
                    return self._by_name.get(choice["name"], [])
            case "namespace":
                return self._by_namespace.get(choice["name"], [])
            case _:
                return []
        return [exact] if exact is not None else []


def _text(choice: Tool, name: str) -> str | None:
    """A member that nobody checks where it does not belong."""
    value = choice.get(name)
    return value if isinstance(value, str) else None


def _not_offered(choices: Sequence[Tool]) -> InvalidRequestError:
    few = choices[:5]
    named = [_text(choice, "name") or _text(choice, "server_label") or choice["type"] for choice in few]
    what = ", ".join(f"'{quote(name)}'" for name in named) or "of no tool"
    more = f" and {len(choices) - len(few)} more" if len(choices) > len(few) else ""
    why = f"Tool choice {what}{more} can't be served: no such tool can be offered."
    return UnsupportedValueError(why, param="tool_choice")
