"""What a request points to: earlier responses and items, of this owner alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidRequestError, PreviousResponseNotFoundError
from ..protocol.item_ids import id_prefix
from ..protocol.items import Item
from ..state import StoredResponse
from ..translate.request import input_items
from .runtime import Runtime


def refers(request: Mapping[str, Any]) -> bool:
    """Whether anything must be looked up for a request."""
    return bool(request.get("previous_response_id")) or any(map(_is_reference, input_items(request)))


async def history_of(runtime: Runtime, owner: str, request: Mapping[str, Any]) -> list[Item]:
    """The items before the input: all of the chain that `previous_response_id` ends, instructions excepted."""
    previous = request.get("previous_response_id")
    if not previous:
        return []
    row = await runtime.store.get(owner, previous) if runtime.store else None
    if row is None:
        raise PreviousResponseNotFoundError(previous)
    if row.response["status"] not in ("completed", "incomplete"):
        why = f"Previous response with id '{previous}' has status '{row.response['status']}' and can't be continued."
        raise InvalidRequestError(why, param="previous_response_id")
    return row.items()


async def resolved_input(runtime: Runtime, owner: str, request: Mapping[str, Any]) -> list[Item]:
    """The input with its references replaced by the items that they mean; those of nobody stay, and are refused
    later."""
    items: list[Item] = []
    for item in input_items(request):
        found = await runtime.store.find_item(owner, item["id"]) if _is_reference(item) and runtime.store else None
        items.append(found or item)
    return items


def _is_reference(item: Item) -> bool:
    kind = item.get("type")
    return kind == "item_reference" or (kind is None and "role" not in item)


async def store_response(
    runtime: Runtime, owner: str, response: dict[str, Any], history: list[Item], given: list[Item]
) -> None:
    """Store a finished response with its input; each item gets an id, by which it can be listed and referred to."""
    assert runtime.store is not None
    named = [_named(runtime, item) for item in given]
    await runtime.store.put(owner, StoredResponse(response=response, input=named, history=history))


def _named(runtime: Runtime, item: Item) -> Item:
    kind = item.get("type") or "message"
    shown = {"type": kind, **item}
    if kind == "message" and isinstance(item.get("content"), str):
        part = "output_text" if item.get("role") == "assistant" else "input_text"
        shown["content"] = [
            {"type": part, "text": item["content"]} | ({"annotations": []} if part == "output_text" else {})
        ]
    if not item.get("id"):
        shown["id"] = runtime.new_id(id_prefix(kind))
    return shown
