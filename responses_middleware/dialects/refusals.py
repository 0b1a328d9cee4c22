"""What a refusal says of its own: servers echo the request in it, and the words of a client prove nothing.

A refusal is read in statements, one for each fault. Of what validators write, the place and the message count, never
the input that they repeat. What stands in a statement as it stands in the client's own texts is an echo.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

Span = tuple[int, int]

# pydantic, as JSON or as Python writes it, alone or in a sentence (FastAPI, vLLM, llama-cpp-python).
_FAULT = re.compile(
    r"""['"]loc['"]:\s*[(\[]([^)\]]{0,500})[)\]],\s*['"]msg['"]:\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL
)
_INPUT_VALUE = re.compile(r",? ?input_value=[^\n]*")  # pydantic: "[type=extra_forbidden, input_value=5, …]"
_CONTINUED = re.compile(r"\s*\n[ \t]+")
_QUOTED = re.compile(r"\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_NEAR = 160  # characters between a name and what is said of it
_AROUND = 100  # characters around a name that are compared
_SHORT = 12  # words around a name in a quotation that is compared as a whole
_MOST_NAMED = 50  # times that one statement is read for one name
_MOST_PLACES = 10_000  # of a word in the client's texts


class Statement:
    """One thing that a refusal says."""

    __slots__ = ("_quotes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._quotes = [found.span() for found in _QUOTED.finditer(text) if len(found[0].split()) > 1]

    def spans(self, pattern: re.Pattern[str]) -> Iterator[Span]:
        """Where a pattern is found."""
        return islice((found.span() for found in pattern.finditer(self.text)), _MOST_NAMED)

    def is_quoted(self, span: Span) -> bool:
        """Whether it stands in a quotation of several words: somebody's words, and perhaps not the server's."""
        return self._quote_of(span) is not None

    def are_near(self, one: Span, other: Span) -> bool:
        """Whether one may be said of the other: they overlap, or stand close, and in the same quotation if in any."""
        gap = max(one[0], other[0]) - min(one[1], other[1])
        return gap <= _NEAR and self._quote_of(one) == self._quote_of(other)

    def is_known(self, span: Span, client: ClientTexts) -> bool:
        """Whether the words there stand in the client's texts at all."""
        return client.hold(self._words(*span))

    def is_echo(self, span: Span, client: ClientTexts) -> bool:
        """Whether the words there stand in the client's texts among the same words."""
        name = self._words(*span)
        return any(client.hold(name, among=words) for words in self._contexts(span, name))

    def _quote_of(self, span: Span) -> Span | None:
        place = bisect_left(self._quotes, span) - 1  # of the last that begins in front of it
        return self._quotes[place] if place >= 0 and span[1] <= self._quotes[place][1] else None

    def _contexts(self, span: Span, name: list[str]) -> Iterator[list[str]]:
        """A name and its neighbours: three words and more, or a short quotation as a whole."""
        quote = self._quote_of(span)
        start, end = quote or (0, len(self.text))
        before = self._words(max(start, span[0] - _AROUND), span[0])
        behind = self._words(span[1], min(end, span[1] + _AROUND))
        for left, right in ((2, 0), (1, 1), (0, 2)):
            if len(before) >= left and len(behind) >= right:
                yield [*before[len(before) - left :], *name, *behind[:right]]
        if quote and len(before) + len(behind) <= _SHORT:
            yield [*before, *name, *behind]

    def _words(self, start: int, end: int) -> list[str]:
        return _WORD.findall(self.text[start:end].lower())


class ClientTexts:
    """The client's own texts of a chat request: messages, tools, schema. Read when they are asked for."""

    __slots__ = ("_lines", "_payload", "_texts")

    def __init__(self, payload: Mapping[str, Any]) -> None:
        self._payload = payload
        self._texts: list[str] | None = None
        self._lines: dict[str, str | None] = {}  # what stands around a word; None: it stands there too often to tell

    def hold(self, name: list[str], *, among: list[str] | None = None) -> bool:
        """Whether a name stands in them, among these words if any are given, whatever stands between the words."""
        lines = self._around(max(name, key=len))
        return lines is None or " ".join(among or name) in lines

    def _around(self, word: str) -> str | None:
        if word not in self._lines:
            if self._texts is None:
                self._texts = [text.lower() for text in _texts(self._payload)]
            places = islice(((text, at) for text in self._texts for at in _places(text, word)), _MOST_PLACES)
            lines = [_WORD.findall(text[max(0, at - _AROUND) : at + len(word) + _AROUND]) for text, at in places]
            self._lines[word] = None if len(lines) == _MOST_PLACES else "\n".join(map(" ".join, lines))
        return self._lines[word]


def statements(refusal: str) -> list[Statement]:
    """What a refusal says, without what it repeats of the request.

    Args:
        refusal: the message, or a line for each message.
    """
    faults = _FAULT.findall(refusal)
    if faults:
        lines = [refusal[: refusal.find("{")], *(f"{_path(place)}: {message[1:-1]}" for place, message in faults)]
    else:
        lines = _CONTINUED.sub(" ", _INPUT_VALUE.sub("", refusal)).split("\n")
    return [Statement(line) for line in lines if line.strip()]


def _path(place: str) -> str:
    return ".".join(step.strip(" '\"") for step in place.split(",") if step.strip() and step.strip(" '\"") != "body")


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _texts(payload: Mapping[str, Any]) -> Iterator[str]:
    waiting: list[Any] = [payload.get(name) for name in ("messages", "tools", "response_format")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
