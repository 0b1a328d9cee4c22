"""Logprobs of a text as a part holds them, read once and written once.

An answer with logprobs says them in four more events when it ends; there are ten bytes of them for each of its text.
So the list keeps its JSON, and events get that instead of being written from the list again.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from .. import _json
from .._json import repaired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .events import Event

_LOWEST = -9999.0  # OpenAI's own value for what can't be told; vLLM sends -Infinity


class Written(list[dict[str, Any]]):
    """A list that comes with its JSON. It is never changed."""

    __slots__ = ("json",)
    json: bytes

    @classmethod
    def of(cls, entries: Iterable[dict[str, Any]]) -> Written:
        """A list that is still to be written."""
        written = cls(entries)
        written.json = _json.dumps(written)
        return written

    @classmethod
    def joined(cls, arrays: list[bytes]) -> Written:
        """The list of the elements of these JSON arrays, none of which is empty."""
        text = b"[" + b",".join([array[1:-1] for array in arrays]) + b"]"
        written = cls(_json.loads(text))
        written.json = text
        return written


def to_logprobs(logprobs: Any) -> list[dict[str, Any]]:
    """Logprobs of a chunk as a part holds them: `bytes` is always a list, numbers are finite."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    return [
        {**_logprob(entry), "top_logprobs": [_logprob(top) for top in _objects(entry.get("top_logprobs"))]}
        for entry in _objects(content)
    ]


def dumps(event: Event) -> bytes:
    """Write an event, and what it holds of finished logprobs as it is written already."""
    parts_of = _PARTS.get(event["type"])
    parts = [part for part in parts_of(event) if type(part.get("logprobs")) is Written] if parts_of else []
    if not parts:
        return _json.dumps(event)
    lists = [part["logprobs"] for part in parts]
    hole = f"logprobs of {_id_of(event)}"  # which the upstream can't know, and so not say
    try:
        for part in parts:
            part["logprobs"] = hole
        pieces = _json.dumps(event).split(_json.dumps(hole))
    finally:
        for part, logprobs in zip(parts, lists, strict=True):
            part["logprobs"] = logprobs
    return b"".join(chain.from_iterable(zip(pieces, [logprobs.json for logprobs in lists] + [b""], strict=True)))


def _of_response(event: Event) -> list[dict[str, Any]]:
    return [part for item in event["response"]["output"] for part in item.get("content") or ()]


# the text parts that an event holds, in the order in which they are written
_PARTS: dict[str, Callable[[Event], list[dict[str, Any]]]] = {
    "response.output_text.done": lambda event: [event],
    "response.content_part.done": lambda event: [event["part"]],
    "response.output_item.done": lambda event: event["item"].get("content") or [],
    "response.completed": _of_response,
    "response.incomplete": _of_response,
    "response.failed": _of_response,
}


def _id_of(event: Event) -> str:
    identity: str = event["item_id"] if "item_id" in event else (event.get("item") or event["response"])["id"]
    return identity


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _logprob(entry: dict[str, Any]) -> dict[str, Any]:
    token, raw = entry.get("token"), entry.get("bytes")
    token = repaired(token) if isinstance(token, str) else ""
    if not isinstance(raw, list) or not all(type(byte) is int and 0 <= byte < 256 for byte in raw):
        raw = list(token.encode())
    value: Any = entry.get("logprob")
    is_known = type(value) in (int, float) and _LOWEST < value < -_LOWEST  # not NaN, Infinity, …
    return {"token": token, "bytes": raw, "logprob": value if is_known else _LOWEST}
