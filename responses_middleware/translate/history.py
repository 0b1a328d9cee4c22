"""Calls and their outputs in a list of items: which belongs to which, and what is missing on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidRequestError
from .left_out import LeftOut

Item = dict[str, Any]

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
    """Positions of outputs by the id of the call that they answer; the last answer to a call counts."""

    outputs: dict[str, int] = field(default_factory=dict)
    orphans: set[int] = field(default_factory=set)  # positions of items whose other half is missing


def pair(items: Sequence[Item], left_out: LeftOut) -> Pairs:
    """Find the pairs; a missing half is refused as OpenAI refuses it, unless everything is to be ignored."""
    pairs = Pairs()
    calls = {call_id_of(item) for item in items if item.get("type") in CALLS}
    waiting: dict[str, list[str]] = {}  # calls without an output so far, by name: for outputs that name no call
    for position, item in enumerate(items):
        kind = item.get("type")
        if kind in CALLS:
            waiting.setdefault(item.get("name") or "", []).append(call_id_of(item))
        elif kind in OUTPUTS:
            call_id = call_id_of(item) or _only(waiting.get(item.get("name") or "", []), pairs)
            if call_id in calls:
                pairs.outputs[call_id] = position
            else:
                pairs.orphans.add(position)
                why = f"No tool call found for function call output with call_id {call_id or item.get('name')}."
                left_out.refuse(InvalidRequestError(why, param="input"))
    for position, item in enumerate(items):
        if (kind := item.get("type")) in CALLS and call_id_of(item) not in pairs.outputs:
            pairs.orphans.add(position)
            call = (
                "function call" if kind == "function_call" else f"{kind.removesuffix('_call').replace('_', ' ')} call"
            )
            why = f"No tool output found for {call} {call_id_of(item)}."
            left_out.refuse(InvalidRequestError(why, param="input"))
    return pairs


def _only(call_ids: list[str], pairs: Pairs) -> str:
    """The one of these calls that is not answered yet, if there is just one."""
    call_ids[:] = [call_id for call_id in call_ids if call_id not in pairs.outputs]
    return call_ids[0] if len(call_ids) == 1 else ""


def call_id_of(item: Item) -> str:
    """The id that joins a call and its output; a local shell's output has it as `id`, a search may have none."""
    call_id = item.get("call_id")
    if call_id is None and item.get("type") in ("local_shell_call_output", "tool_search_call", "tool_search_output"):
        call_id = item.get("id") if item["type"] == "local_shell_call_output" else "tool_search"
    return call_id if isinstance(call_id, str) else ""
