"""Two readers of JSON that is still growing: whether a value is whole, and the text of one string member. Both are
linear."""

from __future__ import annotations

import json
import re
from typing import Literal

_MARKS = re.compile(r'["\\{}\[\]]')
_STRING_END = re.compile(r'["\\]')
_ESCAPE = re.compile(r"\\(?:u.{4}|.)", re.DOTALL)


class JSONScanner:
    """Tell when the object that the pieces make is whole.

    Only its beginning and the balance of brackets outside strings are read. What does not begin as an object is text
    of its own kind (`[ -f x ] && ls`, `{ ls; }`), which is never whole.
    """

    def __init__(self) -> None:
        self.is_whole = False
        self._head = ""  # an opening brace, until what follows is known
        self._is_object: bool | None = None
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, text: str) -> int:
        """Read a piece; where in it the value ended, its length if it did not end in it."""
        if self._is_object is None:
            self._begin(text)
        if self.is_whole or self._is_object is False:
            return len(text)
        position = 0
        if self._escaped and text:
            self._escaped, position = False, 1
        while mark := (_STRING_END if self._in_string else _MARKS).search(text, position):
            position = mark.end()
            match mark[0]:
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    if self._in_string:
                        self._escaped = position == len(text)
                        position += 1
                case "{" | "[":
                    self._depth += 1
                case _:
                    self._depth -= 1
                    if self._depth == 0:
                        self.is_whole = True
                        return position
        return len(text)

    @property
    def is_cut(self) -> bool:
        """Whether an object has begun and not ended."""
        return not self.is_whole and (self._is_object or self._head != "")

    def _begin(self, text: str) -> None:
        head = (self._head + text).lstrip()
        inside = head[1:].lstrip()
        if head and (head[0] != "{" or inside):
            self._is_object = head[0] == "{" and inside[0] in '"}'
        self._head = head[:1] if self._is_object is None else ""


class MemberText:
    """Decode the string member of `{"input": "…"}` while it comes; the call of a freeform tool is written so.

    Pieces may be cut inside an escape or a surrogate pair; only whole escapes come out. Text that does not begin as an
    object (models forget the wrapping) is passed through as it is; an object of another shape is read when it has
    ended.
    """

    _BEGIN = re.compile(r'\s*\{\s*"input"\s*:\s*"')
    _OTHER = re.compile(r'\s*(?:\{\s*(?:\}|"(?!input")[^"]*"|[^\s"}])|\{\s*"input"\s*:\s*[^\s"])')
    _LONGEST_BEGINNING = 1024

    def __init__(self) -> None:
        self._state: Literal["beginning", "string", "ended", "plain", "late"] = "beginning"
        self._rest = ""
        self._late: list[str] = []

    def feed(self, text: str) -> str:
        """The decoded text that is certain now."""
        match self._state:
            case "plain":
                return text
            case "late":
                self._late.append(text)
            case "beginning":
                self._rest += text
                return self._begin()
            case "string":
                self._rest += text
                return self._decode()
        return ""

    def finish(self) -> str:
        """What is left when no more comes."""
        if self._state not in ("beginning", "late"):
            return ""
        whole = "".join(self._late) + self._rest
        try:
            value = json.loads(whole)
        except (ValueError, RecursionError):
            return whole
        if isinstance(value, dict) and ("input" in value or len(value) == 1):
            value = value.get("input", next(iter(value.values())))
        elif value == {}:
            value = ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def _begin(self) -> str:
        start = self._rest.lstrip()
        if start and start[0] != "{":
            text, self._rest, self._state = self._rest, "", "plain"
            return text
        if begin := self._BEGIN.match(self._rest):
            self._state, self._rest = "string", self._rest[begin.end() :]
            return self._decode()
        if self._OTHER.match(self._rest) or len(self._rest) > self._LONGEST_BEGINNING:
            self._late, self._rest, self._state = [self._rest], "", "late"
        return ""

    def _decode(self) -> str:
        end, position = len(self._rest), 0
        while mark := _STRING_END.search(self._rest, position):
            if mark[0] == '"':
                end, self._state = mark.start(), "ended"
                break
            size = 6 if self._rest[mark.end() : mark.end() + 1] == "u" else 2
            if mark.start() + size > len(self._rest):
                end = mark.start()
                break
            position = mark.start() + size
        literal, self._rest = self._rest[:end], self._rest[end:]
        try:
            return str(json.loads(f'"{literal}"', strict=False))
        except ValueError:  # an escape that JSON does not know: that one stays as it is
            return _ESCAPE.sub(_unescaped, literal)


def _unescaped(escape: re.Match[str]) -> str:
    try:
        return str(json.loads(f'"{escape[0]}"', strict=False))
    except ValueError:
        return escape[0]
