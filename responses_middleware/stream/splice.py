r"""The fast path: frames that differ only in their text are copied, not read.

A chat server sends hundreds of frames that are the same but for one string:

    data: {"id":"c1","choices":[{"index":0,"delta":{"content":" bridge"},"finish_reason":null}]}

One of them goes through the machine. If it made exactly one delta of the text that grows now, and its text stands in it
exactly once, then what is before and behind that JSON string is learned. A frame that has the same bytes around one
complete JSON string
literal says the same with another text: the literal, still escaped, is put into the event's template. The text is
decoded once, when the
part ends.

Anything unusual goes through the machine: other bytes around the literal, an empty text, an escaped surrogate (it may
be half a character), bytes that are not UTF-8, a bracket that may complete a call's arguments. Frames whose `usage` or
`obfuscation` varies fit a pattern with holes in these places; the last such frame is read when the run ends, so that
its usage counts.

tests/property/test_splice.py holds this path to the machine's, event by event.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from .. import _json
from ..translate.usage import find_usage
from .events import Delta, Event, Flow
from .machine import ResponseStream
from .open_calls import arguments_text
from .reader import Said, read

# One JSON string; no escaped surrogates. Possessive, so that a literal that the read has cut costs no backtracking.
_TEXT = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
# In a call's arguments no closing bracket either: it may complete them.
_ARGUMENTS = (
    rb'"[^"\\\x00-\x1f\]}]*+(?:\\(?:["\\/bfnrt]|u(?!00[57][dD]|[dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\\x00-\x1f\]}]*+)*+"'
)
_text_at = re.compile(_TEXT).match
_arguments_at = re.compile(_ARGUMENTS).match
_HOLES = re.compile(rb'"(?:[a-z]+_tokens":\s*\d+|obfuscation":\s*"[0-9A-Za-z]*")')
_DIGITS = re.compile(rb"\d+\Z")
_COUNT = rb"(?:0|[1-9]\d{0,17}+)(?![\d.eE])"  # as JSON writes an integer; the machine judges all else
_PADDING = re.compile(rb'"[0-9A-Za-z]*"\Z')
_PROBE = "\u2603 probe"
_REPEATABLE = frozenset({"text", "reasoning", "refusal", "call", "usage", "tier"})
_LONGEST = 4096  # bytes around the text; a pattern with holes takes long to make for more
_PATIENCE = 32  # frames to learn from in vain: these are all different


class Splice:
    """Copy what was learned from one frame to the next.

    `learn` arms it after a frame that the machine has read; `disarm` ends the run before the machine reads another.
    """

    def __init__(self, stream: ResponseStream) -> None:
        self.armed = False
        self._stream = stream
        self._outbox = stream.outbox
        self._literals: list[bytes] = []  # of the flow whose frames these are
        self._frame: re.Pattern[bytes] | None = None  # of a frame with holes
        self._literal = _text_at
        self._template = self._before = self._behind = b""
        self._skip = self._step = 0
        self._last = b""  # the last copied frame with holes
        self._patience = _PATIENCE

    def learn(self, payload: bytes, events: list[Event]) -> None:
        """Learn from a frame that the machine has just read, if there is something to learn."""
        flow = self._stream.live_flow
        if flow is None or len(events) != 1 or type(events[0]) is not Delta or self._patience == 0:
            return
        event = events[0]
        if event["type"] != flow.kind or not event.template:
            return
        self._patience -= 1
        text = event["delta"]
        for literal in {encode_basestring_ascii(text).encode(), encode_basestring(text).encode("utf-8", "replace")}:
            before, found, behind = payload.partition(literal)
            if (
                found
                and len(payload) - len(literal) <= _LONGEST
                and literal not in behind
                and _grows_by(payload, text, before, behind)
            ):
                self._remember(flow, b"data: " + before, behind + b"\n\n")
                return

    def copy(self, data: bytes) -> bytes | None:
        """The events of a read that is one frame which fits, or None: by far the most reads are."""
        if not self.armed or self._frame is not None or not data.startswith(self._before):
            return None
        match = self._literal(data, self._skip)
        if match is None or match.end() + self._step != len(data) or not data.endswith(self._behind):
            return None
        literal = match[0]
        if len(literal) == 2 or not (literal.isascii() or _is_text(literal)):
            return None
        outbox, size = self._outbox, len(literal) - 2 if b"\\" not in literal else _length(literal)
        if outbox.room < size:  # too much output: the machine reads this frame, and says so
            return None
        outbox.room -= size
        outbox.sequence = (number := outbox.sequence) + 1
        self._literals.append(literal)
        return self._template % (literal, number)

    def copy_many(self, data: bytes, start: int, out: list[bytes]) -> int:
        """Copy the frames that fit, from `start` on; where the first that does not fit begins."""
        literals: list[bytes] = []
        at = (self._match_holes if self._frame else self._match)(data, start, literals)
        outbox, size = self._outbox, sum(map(_length, literals))
        if not literals or outbox.room < size:
            return start
        out += [self._template % (literal, outbox.sequence + place) for place, literal in enumerate(literals)]
        outbox.room -= size
        outbox.sequence += len(literals)
        self._literals += literals
        self._patience = _PATIENCE
        return at

    def disarm(self) -> None:
        """End the run: count the usage of its last frame."""
        self.armed = False
        if self._last:
            last, self._last = self._last, b""
            self._stream.count(find_usage(_json.loads(last)))

    def _remember(self, flow: Flow, before: bytes, behind: bytes) -> None:
        self.armed = True
        self._literals, self._template = flow.literals, flow.template
        is_call = flow.kind == "response.function_call_arguments.delta"
        self._literal = _arguments_at if is_call else _text_at
        if before == self._before and behind == self._behind:
            return  # the pattern of before fits
        self._before, self._behind = before, behind
        self._skip, self._step = len(before), len(behind)
        self._frame = None
        if _HOLES.search(before) or _HOLES.search(behind):
            literal = b"(" + (_ARGUMENTS if is_call else _TEXT) + b")"
            self._frame = re.compile(_with_holes(before) + literal + _with_holes(behind))

    def _match(self, data: bytes, start: int, literals: list[bytes]) -> int:
        before, behind, literal_at = self._before, self._behind, self._literal
        skip, step, at = self._skip, self._step, start
        while data.startswith(before, at):
            match = literal_at(data, at + skip)
            if match is None or not data.startswith(behind, match.end()) or not _is_text(match[0]):
                break
            literals.append(match[0])
            at = match.end() + step
        return at

    def _match_holes(self, data: bytes, start: int, literals: list[bytes]) -> int:
        assert self._frame is not None, "called for a frame with holes"
        begin = at = start
        while (match := self._frame.match(data, at)) and _is_text(match[1]):
            literals.append(match[1])
            begin, at = at, match.end()
        if at > start:
            self._last = data[begin + 6 : at]  # without `data: `
        return at


def _length(literal: bytes) -> int:
    """About as many characters as the text has."""
    return len(literal) - 2 - 5 * literal.count(b"\\u")


def _is_text(literal: bytes) -> bool:
    """Whether a literal is a piece of text: not empty, and UTF-8."""
    if literal.isascii():
        return len(literal) > 2
    try:
        literal.decode()
    except UnicodeDecodeError:
        return False
    return True


def _grows_by(payload: bytes, text: str, before: bytes, behind: bytes) -> bool:
    """Whether the text that the frame adds stands between `before` and `behind`, and all else would be said again."""
    probe = before + encode_basestring_ascii(_PROBE).encode() + behind
    try:
        said, probed = read(_json.loads(payload)), read(_json.loads(probe))
    except ValueError:
        return False
    if any(statement[0] not in _REPEATABLE for statement in said):
        return False
    (texts, rest), (probed_texts, probed_rest) = _texts_and_rest(said), _texts_and_rest(probed)
    return texts == [text] and probed_texts == [_PROBE] and rest == probed_rest


def _texts_and_rest(said: list[Said]) -> tuple[list[str], list[Any]]:
    texts: list[str] = []
    rest: list[Any] = []
    for kind, what, *others in said:
        if kind == "call":
            function = what.get("function")
            carrier = function if isinstance(function, dict) else what
            texts.append(arguments_text(carrier.get("arguments")))
            rest.append((kind, {**what, "function": None}, {**carrier, "arguments": None}, others))
        elif kind in ("text", "reasoning", "refusal"):
            texts.append(what)
            rest.append((kind, others))
        else:
            rest.append((kind, what, others))
    return texts, rest


def _with_holes(part: bytes) -> bytes:
    """A pattern of these bytes in which counts of tokens and paddings may vary."""
    pieces, at = [], 0
    for hole in _HOLES.finditer(part):
        value = _DIGITS.search(hole[0]) or _PADDING.search(hole[0])
        assert value is not None  # one of the two ends every hole
        may_be = rb'"[0-9A-Za-z]*+"' if value[0][:1] == b'"' else _COUNT
        pieces += [re.escape(part[at : hole.start() + value.start()]), may_be]
        at = hole.end()
    return b"".join([*pieces, re.escape(part[at:])])
