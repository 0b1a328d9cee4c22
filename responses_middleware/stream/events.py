"""Events in the order in which they happened, numbered without gaps; and the growing text of one open part.

A character that the upstream spread over two pieces (a surrogate pair) comes out whole, a lone surrogate as U+FFFD:
every event is valid UTF-8 and JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _json
from ..errors import UpstreamProtocolError

if TYPE_CHECKING:
    from .logprobs import Written

Event = dict[str, Any]
"""An object with `type` and `sequence_number`; the other keys depend on the type (response_stream_event.py)."""


class Delta(Event):
    """A delta event that its flow's template can write, if it has one."""

    __slots__ = ("template",)
    template: bytes


class Outbox:
    """The events that one step makes, numbered from 0 over the whole response.

    Args:
        max_output: characters of text, reasoning and arguments together, and bytes of what comes with them; more
            raises UpstreamProtocolError.
        obfuscate: adds `obfuscation` to delta events, as `stream_options.include_obfuscation` asks.
    """

    __slots__ = ("_events", "obfuscate", "room", "sequence")

    def __init__(self, *, max_output: int, obfuscate: bool = False) -> None:
        self.sequence = 0
        self.room = max_output
        self.obfuscate = obfuscate
        self._events: list[Event] = []

    def emit(self, kind: str, **fields: Any) -> None:
        self._events.append({"type": kind, **fields, "sequence_number": self.sequence})
        self.sequence += 1

    def emit_delta(self, flow: Flow, text: str, logprobs: Written | None) -> None:
        event = Delta(type=flow.kind, **flow.place, delta=text, sequence_number=self.sequence)
        if flow.has_logprobs:
            event["logprobs"] = logprobs or []
        event.template = flow.template_with_logprobs if logprobs else flow.template
        if self.obfuscate:
            # Recorded OpenAI streams: delta and padding together are a multiple of 16 characters.
            event["obfuscation"] = _PADDING[: -len(text) % 16]
            event.template = b""
        self.sequence += 1
        self._events.append(event)

    def spend(self, size: int) -> None:
        """Take room for so many characters of output."""
        self.room -= size
        if self.room < 0:
            raise UpstreamProtocolError("the upstream's answer exceeds Limits.max_output_bytes")

    def take(self) -> list[Event]:
        events, self._events = self._events, []
        return events


class Flow:
    """The text of one open part or call, growing.

    Args:
        kind: the delta event's type.
        place: the fields that say where: item_id, output_index and, in a part, its index.
        has_logprobs: whether delta events have `logprobs`, as those of an output text.
        observe: called with text that was copied unread, when it is read.
    """

    __slots__ = (
        "_held",
        "_observe",
        "_outbox",
        "_pieces",
        "has_logprobs",
        "kind",
        "literals",
        "logprobs",
        "place",
        "template",
        "template_with_logprobs",
    )

    def __init__(
        self,
        outbox: Outbox,
        kind: str,
        place: dict[str, Any],
        *,
        has_logprobs: bool = False,
        observe: Callable[[str], None] | None = None,
    ) -> None:
        self.kind = kind
        self.place = place
        self.has_logprobs = has_logprobs
        self.literals: list[bytes] = []  # JSON string literals that were copied unread; see splice.py
        self.logprobs: list[bytes] | None = None  # JSON arrays, those of each delta
        self.template = self._made_template(b',"logprobs":[]' if has_logprobs else b"")
        self.template_with_logprobs = b""  # made when there are any
        self._outbox = outbox
        self._observe = observe
        self._pieces: list[str] = []
        self._held = ""  # a high surrogate that waits for its other half

    @property
    def is_plain(self) -> bool:
        """Whether the next piece stands for itself."""
        return not self._held

    def append(self, text: str, logprobs: Written | None = None) -> None:
        """Add a piece and emit its delta; an empty piece is nothing."""
        if logprobs:
            self.template_with_logprobs = self.template_with_logprobs or self._made_template(b',"logprobs":%b')
            self.logprobs = self.logprobs or []
            self.logprobs.append(logprobs.json)
        if not text:
            return
        if not text.isascii():
            text = self._whole(text)
        elif self._held:
            text, self._held = "\ufffd" + text, ""
        if text:
            self.settle()
            self._outbox.spend(len(text))
            self._pieces.append(text)
            self._outbox.emit_delta(self, text, logprobs)

    def end(self) -> str:
        """The whole text; what was held back goes out first."""
        if self._held:
            self._held = ""
            self.append("\ufffd")
        return self.text()

    def text(self) -> str:
        """The text so far."""
        self.settle()
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def settle(self) -> None:
        """Read what was copied unread."""
        if self.literals:
            text = json.loads(b'"' + b"".join([literal[1:-1] for literal in self.literals]) + b'"')
            self.literals.clear()
            self._pieces.append(text)
            if self._observe:
                self._observe(text)

    def _made_template(self, logprobs: bytes) -> bytes:
        head = _json.dumps({"type": self.kind, **self.place})[:-1].replace(b"%", b"%%")
        return (
            b"event: " + self.kind.encode() + b"\ndata: " + head + logprobs + b',"delta":%b,"sequence_number":%d}\n\n'
        )

    def _whole(self, text: str) -> str:
        text, self._held = self._held + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return _json.repaired(text)


_PADDING = "abcdefghijklmnop"
