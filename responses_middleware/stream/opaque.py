"""What an upstream wants back as it was, gathered while the answer comes: signatures, encrypted thinking, reasoning
details."""

from __future__ import annotations

from typing import Any


class Opaque:
    """Opaque data of one answer, by the member of the message that carries it, and by call."""

    __slots__ = ("_calls", "_members")

    def __init__(self) -> None:
        self._members: dict[str, Any] = {}
        self._calls: dict[str, dict[str, Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._members or self._calls)

    def add(self, name: str, value: Any) -> None:
        """Lists go on, anything else is replaced."""
        before = self._members.get(name)
        if isinstance(before, list) and isinstance(value, list):
            before += value
        else:
            self._members[name] = list(value) if isinstance(value, list) else value

    def replace(self, name: str, value: Any) -> None:
        """All of it, so far."""
        self._members[name] = list(value) if isinstance(value, list) else value

    def add_call(self, call_id: str, members: dict[str, Any]) -> None:
        """What belongs to one call."""
        self._calls[call_id] = self._calls.get(call_id, {}) | members

    def take(self) -> dict[str, Any]:
        """All of it, for the sealed token: members of the message, and `calls` by call id."""
        members, self._members = self._members, {}
        calls, self._calls = self._calls, {}
        taken = {name: _whole(value) if isinstance(value, list) else value for name, value in members.items()}
        return taken | ({"calls": calls} if calls else {})


def _whole(details: list[Any]) -> list[Any]:
    """Streamed pieces of one detail (OpenRouter: same type and index, `text` or `summary` cut) joined to one again."""
    whole: list[Any] = []
    texts: list[tuple[str, list[str]]] = []
    for detail in details:
        last: Any = whole[-1] if whole else None
        text = _text_member(detail)
        if text and texts and texts[-1][0] == text[0] and _same(last, detail):
            texts[-1][1].append(text[1])
            last.update({name: value for name, value in detail.items() if value is not None and name != text[0]})
            continue
        whole.append(dict(detail) if isinstance(detail, dict) else detail)
        texts.append((text[0], [text[1]]) if text else ("", []))
    for detail, (name, pieces) in zip(whole, texts, strict=True):
        if name:
            detail[name] = "".join(pieces)
    return whole


def _text_member(detail: Any) -> tuple[str, str] | None:
    if isinstance(detail, dict):
        for name in ("text", "summary"):
            if isinstance(detail.get(name), str):
                return name, detail[name]
    return None


def _same(last: Any, detail: Any) -> bool:
    return isinstance(last, dict) and all(last.get(name) == detail.get(name) for name in ("type", "index"))
