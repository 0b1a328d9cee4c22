"""Calls and their outputs in a list of items: which belongs to which, and what is missing on either side."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from ..errors import InvalidRequestError
from ..protocol.faults import quote
from ..protocol.items import Item
from .left_out import LeftOut

CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "computer_call",
        "tool_search_call",
    }
)
OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
        "tool_search_output",
    }
)


@dataclass(slots=True)
class Pairs:
    """Which output answers which call, by their positions."""

    outputs: dict[int, int] = field(default_factory=dict)
    orphans: set[int] = field(default_factory=set)  # positions of items whose other half is missing


def pair(items: Sequence[Item], left_out: LeftOut) -> Pairs:
    """Find the pairs; a missing half is refused as OpenAI refuses it, unless everything is to be ignored.

    Calls that were cut, and that nobody answered, are left out and named.
    """
    pairs = Pairs()
    calls = _Calls(items, pairs)
    for position, item in enumerate(items):
        kind = item.get("type")
        if kind in CALLS:
            calls.pass_by(position, item)
        elif kind in OUTPUTS:
            call = calls.answered_by(position, item)
            if call is None:
                pairs.orphans.add(position)
                named = quote(call_id_of(item) or _name_of(item))
                why = f"No tool call found for function call output with call_id {named}."
                left_out.refuse(InvalidRequestError(why, param="input"))
            else:
                if call in pairs.outputs:
                    why = f"The call {quote(call_id_of(item))} has two outputs, of which the last one is carried"
                    left_out.hint(item["type"], at=("input", position), why=why)
                pairs.outputs[call] = position
    for position in calls.unanswered():
        pairs.orphans.add(position)
        _miss_output(position, items[position], left_out)
    return pairs


def _miss_output(position: int, call: Item, left_out: LeftOut) -> None:
    noun = call["type"].removesuffix("_call").replace("_", " ")
    error = InvalidRequestError(f"No tool output found for {noun} call {quote(call_id_of(call))}.", param="input")
    if call.get("status") == "incomplete":  # an answer ended in it: nobody could run it, and the conversation goes on
        why = f"The call {quote(call_id_of(call))} is incomplete and has no output"
        left_out.hint(call["type"], at=("input", position), why=why, error=error)
    else:
        left_out.refuse(error)


class _Calls:
    """The calls of a history. An id may come again in a later turn: servers exist that count from 0 in each answer."""

    def __init__(self, items: Sequence[Item], pairs: Pairs) -> None:
        self._items = items
        self._outputs = pairs.outputs
        self._waiting: dict[str, deque[int]] = {}  # by call id, in order
        self._last_answered: dict[str, int] = {}
        self._by_name: dict[str, deque[int]] = {}  # those passed by, for outputs that name no call
        self._ids: dict[str, str] = {}  # of local shell calls, by the id of their item
        for position, item in enumerate(items):
            if item.get("type") in CALLS:
                self._waiting.setdefault(call_id_of(item), deque()).append(position)
                if item["type"] == "local_shell_call" and item.get("id"):
                    self._ids[item["id"]] = call_id_of(item)

    def pass_by(self, position: int, item: Item) -> None:
        self._by_name.setdefault(_name_of(item), deque()).append(position)

    def answered_by(self, position: int, item: Item) -> int | None:
        """The call that an output answers: the first open one of its id that stands before it; else the last one that
        was answered before (the last answer counts); else one that follows."""
        call_id = call_id_of(item)
        if not call_id:
            return self._only(_name_of(item))
        if item["type"] == "local_shell_call_output" and call_id not in self._waiting:
            call_id = self._ids.get(call_id, call_id)
        waiting = self._waiting.get(call_id)
        if waiting and (waiting[0] < position or call_id not in self._last_answered):
            self._last_answered[call_id] = waiting.popleft()
        return self._last_answered.get(call_id)

    def _only(self, name: str) -> int | None:
        """The one open call of that name."""
        passed = self._by_name.get(name, deque())
        while passed and passed[0] in self._outputs:
            passed.popleft()
        still_open = list(islice((position for position in passed if position not in self._outputs), 2))
        if len(still_open) != 1:
            return None
        self._waiting[call_id_of(self._items[still_open[0]])].remove(still_open[0])
        return still_open[0]

    def unanswered(self) -> list[int]:
        return sorted(position for waiting in self._waiting.values() for position in waiting)


def call_id_of(item: Item) -> str:
    """The id that joins a call and its output; a local shell's output has it as `id`, a search may have none."""
    call_id = item.get("call_id")
    if call_id is None and item.get("type") in ("local_shell_call_output", "tool_search_call", "tool_search_output"):
        call_id = item.get("id") if item["type"] == "local_shell_call_output" else "tool_search"
    return call_id if isinstance(call_id, str) else ""


def _name_of(item: Item) -> str:
    """The tool's name; keys that do not belong to an item are not checked."""
    name = item.get("name")
    return name if isinstance(name, str) else ""
