"""The fast path: frames that differ only in their text are copied, not read.

A chat server sends hundreds of frames that are the same but for one string. One of them goes through the machine; if it
made exactly one delta of the text that grows now, a pattern is learned from it (frame_pattern.py). The text of a frame
that fits is put into the event's template as it stands there, still escaped, and so are its logprobs. They are decoded
once, when the part ends.

Anything unusual goes through the machine: other bytes around the literal, an empty text, an escaped surrogate (it may
be half a character), bytes that are not UTF-8, a bracket that may complete a call's arguments. Of frames whose usage
varies the last one is read when the run ends, so that its usage counts.

tests/property/test_splice.py holds this path to the machine's, event by event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _json
from ..translate.usage import find_usage
from .events import Delta, Event
from .frame_pattern import pattern_of

if TYPE_CHECKING:
    from .frame_pattern import Fill, FramePattern
    from .machine import ResponseStream

_PATIENCE = 32  # frames to learn from in vain: these are all different


class Splice:
    """Copy what was learned from one frame to the next.

    `learn` arms it after a frame that the machine has read; `disarm` ends the run before the machine reads another.

    Args:
        stream: the machine.
        max_frame: bytes of one frame; longer ones are left to the machine.
    """

    __slots__ = (
        "_before",
        "_behind",
        "_fill",
        "_last",
        "_literals",
        "_logprobs",
        "_max_frame",
        "_outbox",
        "_patience",
        "_pattern",
        "_skip",
        "_step",
        "_stream",
        "_template",
        "armed",
    )

    def __init__(self, stream: ResponseStream, max_frame: int) -> None:
        self.armed = False
        self._max_frame = max_frame
        self._stream = stream
        self._outbox = stream.outbox
        self._pattern: FramePattern | None = None
        self._template = b""
        self._literals: list[bytes] = []  # of the flow whose frames these are
        self._logprobs: list[bytes] | None = None  # of the flow, if frames have any and the client wants them
        self._last = b""  # the last copied frame with counts
        self._patience = _PATIENCE
        # A pattern taken apart, if the text is all that varies in it, as in by far the most; else `_skip` is 0.
        self._before = self._behind = b""
        self._skip = self._step = 0
        self._fill: Fill | None = None

    def learn(self, payload: bytes, events: list[Event]) -> None:
        """Learn from a frame that the machine has just read, if there is something to learn."""
        flow = self._stream.live_flow
        if flow is None or self._patience == 0 or [type(event) for event in events].count(Delta) != 1:
            return
        event = events[-1]
        if type(event) is not Delta or event["type"] != flow.kind or not event.template:
            return
        self._patience -= 1
        has_logprobs = bool(event.get("logprobs"))
        is_call = flow.kind == "response.function_call_arguments.delta"
        pattern = pattern_of(payload, event["delta"], is_call=is_call, wants_logprobs=has_logprobs)
        if pattern is None:
            return
        self._literals, self._template = flow.literals, event.template
        self._logprobs = flow.logprobs if has_logprobs else None
        if pattern != self._pattern:
            self._remember(pattern)
        self.armed = True

    def copy(self, data: bytes) -> bytes | None:
        """The events of a read that is one frame which fits, or None: by far the most reads are."""
        if not self.armed:
            return None
        if not self._skip:
            copied = self._copy_at(data, 0, len(data))
            return copied[0] if copied else None
        if not data.startswith(self._before):
            return None
        match = self._fill(data, self._skip)  # type: ignore[misc]  # there is one where _skip is not 0
        size = len(data)
        if match is None or match.end() + self._step != size or size > self._max_frame:
            return None
        if not data.endswith(self._behind):
            return None
        literal = match[0]
        if len(literal) == 2 or not (literal.isascii() or _is_utf8(literal)):
            return None
        outbox, size = self._outbox, len(literal) - 2 if b"\\" not in literal else _length(literal)
        if outbox.room < size:  # too much output: the machine reads this frame, and says so
            return None
        outbox.room -= size
        outbox.sequence = (number := outbox.sequence) + 1
        self._literals.append(literal)
        return self._template % (literal, number)

    def copy_many(self, data: bytes, at: int, out: list[bytes]) -> int:
        """Copy the frames that fit, from `at` on; where the first that does not fit begins."""
        while copied := self._copy_at(data, at):
            frame, at = copied
            out.append(frame)
            self._patience = _PATIENCE
        return at

    def disarm(self) -> None:
        """End the run: count the usage of its last frame."""
        self.armed = False
        if self._last:
            last, self._last = self._last, b""
            self._stream.count(find_usage(_json.loads(last)))

    def _remember(self, pattern: FramePattern) -> None:
        self._pattern = pattern
        (self._before, self._fill, _), *more = pattern.steps
        self._behind = pattern.end
        self._skip, self._step = 0 if more else len(self._before), len(self._behind)

    def _copy_at(self, data: bytes, at: int, end: int | None = None) -> tuple[bytes, int] | None:
        """The event of a frame that fits and where that ends, which may be given."""
        assert self._pattern is not None, "called when armed"
        found = self._pattern.match(data, at)
        if found is None or (end is not None and found[2] != end) or found[2] - at > self._max_frame:
            return None
        literal, logprobs, end = found
        outbox, size = self._outbox, _length(literal)
        if self._logprobs is not None:
            size += len(logprobs)
        if len(literal) == 2 or outbox.room < size or not (_is_utf8(literal) and _is_utf8(logprobs)):
            return None
        outbox.room -= size
        outbox.sequence = (number := outbox.sequence) + 1
        self._literals.append(literal)
        if self._pattern.has_counts:
            self._last = data[at + 6 : end]  # without `data: `
        if self._logprobs is None:
            return self._template % (literal, number), end
        self._logprobs.append(logprobs)
        return self._template % (logprobs, literal, number), end


def _length(literal: bytes) -> int:
    """About as many characters as the text has."""
    return len(literal) - 2 - 5 * literal.count(b"\\u")


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
