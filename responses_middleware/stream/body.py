"""The body of a chat answer, whatever it is framed in: SSE, one JSON document, or one JSON document a line.

What was asked for and what the content type says don't decide: servers answer JSON to stream=true and SSE to
stream=false, under any content type. The first byte does.
"""

from __future__ import annotations

from typing import Literal

from ..errors import UpstreamProtocolError
from .sse import SSEDecoder

_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class AnswerBody:
    """Split the body of an answer into its JSON payloads.

    Args:
        max_frame: bytes of one SSE line or frame.
        max_document: bytes of one JSON document.

    `feed` and `finish` raise UpstreamProtocolError past these.
    """

    __slots__ = ("_at_start", "_head", "_max_document", "_max_frame", "_reader")

    def __init__(self, *, max_frame: int, max_document: int) -> None:
        self._reader: SSEDecoder | _Documents | None = None  # known when the first byte is
        self._max_frame = max_frame
        self._max_document = max_document
        self._at_start = True
        self._head = b""  # what may be a byte order mark

    @property
    def framing(self) -> Literal["sse", "document", "lines"] | None:
        """What the first byte has told, and for documents the second line."""
        if isinstance(self._reader, _Documents):
            return "lines" if self._reader.are_lines else "document"
        return None if self._reader is None else "sse"

    @property
    def between_frames(self) -> bool:
        """Whether the body is SSE and all that was fed are whole frames."""
        return isinstance(self._reader, SSEDecoder) and self._reader.between_frames

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that are complete now."""
        if self._reader is not None:
            return self._reader.feed(data)
        if self._at_start:
            data = self._head + data
            if _BOM.startswith(data) and data != _BOM:
                self._head = data
                return []
            self._at_start = False
            data = data.removeprefix(_BOM)
        start = data.lstrip(_BLANK)
        if not start:
            return []
        is_json = start[0] in b"{["
        self._reader = _Documents(self._max_document) if is_json else SSEDecoder(max_frame=self._max_frame)
        return self._reader.feed(start)

    def finish(self) -> list[bytes]:
        """What the end of the body completes."""
        return self._reader.finish() if self._reader is not None else []


class _Documents:
    """One JSON document, or one a line."""

    __slots__ = ("_first", "_is_pretty", "_max_document", "_pieces", "_size", "are_lines")

    def __init__(self, max_document: int) -> None:
        self.are_lines = False
        self._max_document = max_document
        self._pieces: list[bytes] = []  # of the document, or of the line that is not finished; joined once
        self._size = 0
        self._first: bytes | None = None  # a line that is a document of its own: the only one, unless another follows
        self._is_pretty = False  # a document over several lines

    def feed(self, data: bytes) -> list[bytes]:
        if self._first is not None:
            return self._behind_first(data)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > self._max_document:
            raise UpstreamProtocolError(f"the upstream's answer exceeds {self._max_document} bytes")
        if b"\n" not in data or self._is_pretty:
            return []
        return self._lines() if self.are_lines else self._first_line()

    def finish(self) -> list[bytes]:
        rest = self._first if self._first is not None else b"".join(self._pieces)
        return [rest] if rest.strip(_BLANK) else []

    def _lines(self) -> list[bytes]:
        """The lines that are finished."""
        *lines, rest = b"".join(self._pieces).split(b"\n")
        self._pieces, self._size = [rest], len(rest)
        return [line for line in lines if line.strip(_BLANK)]

    def _first_line(self) -> list[bytes]:
        """Look once whether the first line is a document of its own."""
        first, _, rest = b"".join(self._pieces).partition(b"\n")
        if not _is_object(first):
            self._is_pretty = True
            return []
        self._pieces, self._size, self._first = [], 0, first
        return self._behind_first(rest)

    def _behind_first(self, data: bytes) -> list[bytes]:
        """A line end alone closes a document (Go's encoder writes one); more than blanks makes it one of many."""
        data = data.lstrip(_BLANK)
        if not data or self._first is None:
            return []
        first, self._first, self.are_lines = self._first, None, True
        return [first, *self.feed(data)]


def _is_object(line: bytes) -> bool:
    line = line.strip(_BLANK)
    return line.startswith(b"{") and line.endswith(b"}")
