"""Thinking inside content: `<think>…</think>` in front of the answer, cut anywhere."""

from __future__ import annotations

from typing import Literal

# Qwen, QwQ, MiniMax, R1 on raw servers; Gemini with include_thoughts writes <thought>.
_TAGS = ("think", "thinking", "thought")
_OPENING = tuple(f"<{tag}>" for tag in _TAGS)
_CLOSING = tuple(f"</{tag}>" for tag in _TAGS)

_LONGEST_BEGINNING = 4096  # blanks that may stand before a tag

Piece = tuple[Literal["reasoning", "text"], str]


class ThinkSplitter:
    """Tell thinking and answer apart.

    Only in front of the answer: a model that writes about tags later is not thinking. No more is held back than what
    may be a tag, and the blanks between thinking and answer, which are dropped.

    Args:
        implicit_open: the template has opened the tag in the prompt, so that only the closing one comes. All text waits
            for it; without one all was answer.
    """

    def __init__(self, *, implicit_open: bool = False) -> None:
        self._state: Literal["implicit", "before", "inside", "behind", "answer"] = (
            "implicit" if implicit_open else "before"
        )
        self._rest = ""
        self._waiting: list[str] = []  # with an implicit opening: text that no closing tag has made thinking yet
        self._waiting_size = 0

    @property
    def waiting(self) -> int:
        """Characters that are held back."""
        return self._waiting_size + len(self._rest)

    @property
    def has_passed(self) -> bool:
        """Whether all that comes now is answer."""
        return self._state == "answer"

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain now."""
        if self._state == "answer":
            return [("text", text)] if text else []
        self._rest += text
        pieces: list[Piece] = []
        while self._step(pieces):
            pass
        return pieces

    def release(self) -> list[Piece]:
        """What was held back, because something else comes now. Thinking goes on after it; otherwise the answer has
        begun."""
        rest, self._rest = self._take_waiting() + self._rest, ""
        inside = self._state == "inside"
        if not inside and rest:
            self._state = "answer"
        return [("reasoning" if inside else "text", rest)] if rest else []

    def finish(self) -> list[Piece]:
        """What was held back."""
        rest = self.release()
        self._state = "answer"
        return rest

    def _take_waiting(self) -> str:
        waiting = "".join(self._waiting)
        self._waiting, self._waiting_size = [], 0
        return waiting

    def _step(self, pieces: list[Piece]) -> bool:
        """Go on by one state; False when more text is needed."""
        match self._state:
            case "implicit":
                return self._implicit(pieces)
            case "before":
                return self._before()
            case "inside":
                return self._inside(pieces)
            case "behind":
                self._rest = self._rest.lstrip()
                self._state = "answer" if self._rest else "behind"
                return bool(self._rest)
            case _:
                pieces.append(("text", self._rest))
                self._rest = ""
                return False

    def _implicit(self, pieces: list[Piece]) -> bool:
        if not self._waiting and _opened(self._rest):
            self._state = "before"
            return True
        if (found := _first(self._rest, _CLOSING)) is None:
            certain = len(self._rest) - _held(self._rest, _CLOSING)
            if certain and (self._waiting or not _may_open(self._rest)):
                self._waiting.append(self._rest[:certain])
                self._waiting_size += certain
                self._rest = self._rest[certain:]
            return False
        start, end = found
        thinking = self._take_waiting() + self._rest[:start]
        pieces += [("reasoning", thinking)] if thinking else []
        self._rest, self._state = self._rest[end:], "behind"
        return True

    def _before(self) -> bool:
        if end := _opened(self._rest):
            self._rest, self._state = self._rest[end:], "inside"
            return True
        if _may_open(self._rest):
            return False
        self._state = "answer"
        return True

    def _inside(self, pieces: list[Piece]) -> bool:
        found = _first(self._rest, _CLOSING)
        start, end = found or (len(self._rest) - _held(self._rest, _CLOSING),) * 2
        pieces += [("reasoning", self._rest[:start])] if start else []
        self._rest = self._rest[end:]
        if found:
            self._state = "behind"
        return found is not None


def _first(text: str, tags: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the first of the tags stands, start and end."""
    found = [(position, position + len(tag)) for tag in tags if (position := text.find(tag)) >= 0]
    return min(found) if found else None


def _held(text: str, tags: tuple[str, ...]) -> int:
    """How many characters at the end may be the beginning of a tag."""
    start = text.rfind("<")
    return len(text) - start if start >= 0 and any(tag.startswith(text[start:]) for tag in tags) else 0


def _opened(text: str) -> int:
    """Where the opening tag ends that the text begins with; 0 if it begins with none."""
    start = text.lstrip()
    blanks = len(text) - len(start)
    found = [blanks + len(tag) for tag in _OPENING if start.startswith(tag)]
    return found[0] if found and blanks <= _LONGEST_BEGINNING else 0


def _may_open(text: str) -> bool:
    """Whether a text of blanks and the beginning of an opening tag may go on to be one."""
    start = text.lstrip()
    if len(text) - len(start) > _LONGEST_BEGINNING:
        return False
    return not start or any(tag.startswith(start) for tag in _OPENING)
