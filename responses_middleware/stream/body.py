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
        max_frame: bytes of one SSE line, frame or JSON line.
        max_document: bytes of one JSON document.

    `feed` and `finish` raise UpstreamProtocolError past these.
    """

    def __init__(self, *, max_frame: int, max_document: int) -> None:
        self.framing: Literal["sse", "document", "lines"] | None = None  # known when the first byte is
        self._sse = SSEDecoder(max_frame=max_frame)
        self._max_document = max_document
        self._head = b""
        self._pieces: list[bytes] = []  # of the document, or of its unfinished line; joined once
        self._size = 0
        self._line_ended = False  # a document over several lines is not looked at again

    @property
    def between_frames(self) -> bool:
        """Whether the body is SSE and all that was fed are whole frames."""
        return self.framing == "sse" and self._sse.between_frames

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that are complete now."""
        if self.framing == "sse":
            return self._sse.feed(data)
        if self.framing is not None:
            return self._document(data)
        start = (self._head + data).removeprefix(_BOM).lstrip(_BLANK)
        if not start or _BOM.startswith(start):
            self._head = start
            return []
        if start[0] in b"{[":
            self.framing = "document"
            return self._document(start)
        self.framing = "sse"
        return self._sse.feed(start)

    def finish(self) -> list[bytes]:
        """What the end of the body completes."""
        if self.framing == "sse":
            return self._sse.finish()
        rest = b"".join(self._pieces)
        return [rest] if rest.strip(_BLANK) else []

    def _document(self, data: bytes) -> list[bytes]:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > self._max_document:
            raise UpstreamProtocolError(f"the upstream's answer exceeds {self._max_document} bytes")
        if b"\n" not in data or (self._line_ended and self.framing == "document"):
            return []
        *lines, rest = b"".join(self._pieces).split(b"\n")
        self._line_ended = True
        if self.framing == "document":
            if not _is_object(lines[0]):
                return []
            self.framing = "lines"
        self._pieces, self._size = [rest], len(rest)
        return [line for line in lines if line.strip(_BLANK)]


def _is_object(line: bytes) -> bool:
    line = line.strip(_BLANK)
    return line.startswith(b"{") and line.endswith(b"}")
