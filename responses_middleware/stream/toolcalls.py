"""Which call a fragment belongs to. Servers say it by index, by id, by both, or not at all.

Rules, in this order:

1. A known id is its call, unless the fragment's index is another call's (TGI numbers all calls "0").
2. An unknown id at a known index is the late id of that call, if it has none; else a new call if the fragment has a
   name or the call is whole (servers that reuse the index); else one more id for the same call (servers that mint an id
   for each fragment).
3. No id, known index: that call, unless the fragment begins another function.
4. Neither: a fragment with a name begins a call, unless it goes on spelling the last one's name; one without belongs to
   the last call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from .._json import repaired
from ..translate.tool_names import ToolNames
from .open_calls import OpenCall, arguments_text

_LONGEST_INDEX = 64  # characters of one that is a string
_SHORT_NUMBER = re.compile(r"\d{0,5}")


@dataclass(frozen=True, slots=True)
class _Fragment:
    """What an element of `tool_calls` says.

    Args:
        is_input: what it calls arguments here is the input of a freeform tool, as the server has it.
    """

    identity: str
    index: int | str | None
    name: str
    arguments: str
    is_input: bool


class ToolCallTracker:
    """Assign fragments of tool calls to calls.

    Args:
        new_call: makes the next call and puts it in line.
        names: those that the upstream was offered; they tell where a split name ends.
    """

    __slots__ = ("_by_id", "_by_index", "_index_of", "_last", "_names", "_new_call")

    def __init__(self, new_call: Callable[[], OpenCall], names: ToolNames) -> None:
        self._new_call = new_call
        self._names = names
        self._by_id: dict[str, OpenCall] = {}
        self._by_index: dict[int | str, OpenCall] = {}
        self._index_of: dict[int, int | str] = {}  # by id() of the call: calls live as long as the tracker
        self._last: OpenCall | None = None

    def feed(self, call_delta: dict[str, Any], *, first_of_chunk: bool = True) -> OpenCall | None:
        """Add a fragment to its call, which is returned; None if there is nothing in it that could begin one."""
        fragment = _read(call_delta)
        call = self._find(fragment, first_of_chunk)
        if call is None:
            if not (fragment.name or fragment.arguments):
                return None  # Gemini: a fragment of nothing but a signature
            call = self._new_call()
        self._remember(call, fragment)
        if fragment.name:
            self._add_name(call, fragment.name)
        if fragment.is_input and (not call.name or self._names.binding(call.name).kind == "custom"):
            call.input(fragment.arguments)
        else:
            call.arguments(fragment.arguments)
        return call

    def _find(self, fragment: _Fragment, first_of_chunk: bool) -> OpenCall | None:
        known = self._by_id.get(fragment.identity)
        at_index = self._by_index.get(fragment.index) if fragment.index is not None else None
        if known:
            own_index = self._index_of.get(id(known))
            if fragment.index is None or own_index is None or own_index == fragment.index:
                return self._same_or_new(known, fragment)
            return at_index or (None if fragment.name else known)
        if fragment.identity and at_index and at_index.upstream_id:
            return None if fragment.name or at_index.may_close else at_index
        if fragment.index is not None:
            return self._same_or_new(at_index, fragment) if at_index else None
        last = self._last
        if fragment.identity:
            return last if last and not fragment.name and not last.upstream_id else None
        if fragment.name:
            return last if last and first_of_chunk and not last.begun and self._spells(last, fragment.name) else None
        return last

    def _same_or_new(self, call: OpenCall, fragment: _Fragment) -> OpenCall | None:
        """The call, or None if the fragment begins another one in its place."""
        name = fragment.name
        if not name or not call.name or (not call.begun and self._spells(call, name)):
            return call
        if self._names.meant(name) != self._names.meant(call.name):
            return None
        return None if call.may_close and call.differs_from(fragment.arguments) else call

    def _spells(self, call: OpenCall, name: str) -> bool:
        """Whether the name says the call's name again, or goes on spelling it (reported for Gemini)."""
        if name == call.name or (call.name not in self._names and name.startswith(call.name)):
            return True
        if self._names.meant(name) in self._names and self._names.meant(call.name) in self._names:
            return False
        return self._names.may_begin(call.name + name)

    def _remember(self, call: OpenCall, fragment: _Fragment) -> None:
        if fragment.identity:
            if fragment.identity not in self._by_id:
                call.outbox.spend(len(fragment.identity))
            call.upstream_id = call.upstream_id or fragment.identity
            self._by_id[fragment.identity] = call
        if fragment.index is not None:
            self._by_index[fragment.index] = call
            self._index_of.setdefault(id(call), fragment.index)
        self._last = call

    def _add_name(self, call: OpenCall, name: str) -> None:
        before = len(call.name)
        if not call.name or (name.startswith(call.name) and not call.begun and call.name not in self._names):
            call.name = name
        elif name != call.name and not call.begun and self._spells(call, name):
            call.name += name
        call.outbox.spend(len(call.name) - before)


class CallIds:
    """The ids of calls, no two the same.

    Args:
        taken: ids of the history, which may not be used again.
    """

    __slots__ = ("_new_id", "_taken")

    def __init__(self, taken: Collection[str], new_id: Callable[[str], str]) -> None:
        self._taken = set(taken)
        self._new_id = new_id

    def of(self, call: OpenCall) -> str:
        """The upstream's id, if it names this call alone: servers that number calls begin again with each answer."""
        wanted = call.upstream_id
        if _SHORT_NUMBER.fullmatch(wanted) or wanted in self._taken:
            wanted = self._new_id("call_")
        self._taken.add(wanted)
        return wanted


def _read(call_delta: dict[str, Any]) -> _Fragment:
    function: dict[str, Any] = call_delta  # Cloudflare: name and arguments without a wrapper
    is_input = False
    for member in ("function", "custom"):
        if isinstance(call_delta.get(member), dict):
            function = call_delta[member]
            is_input = member == "custom" and "input" in function
    identity, index, name = call_delta.get("id"), call_delta.get("index"), function.get("name")
    if isinstance(index, bool) or not isinstance(index, int | str) or _is_long(index):
        index = None
    return _Fragment(
        repaired(identity) if identity and isinstance(identity, str) else "",
        index,
        repaired(name) if name and isinstance(name, str) else "",
        arguments_text(function["input"] if is_input else function.get("arguments", function.get("input"))),
        is_input,
    )


def _is_long(index: int | str) -> bool:
    return isinstance(index, str) and len(index) > _LONGEST_INDEX
