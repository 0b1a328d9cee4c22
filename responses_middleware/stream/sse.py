"""Server-sent events: bytes in, the `data` payloads of the frames out. The rules are those of WHATWG HTML, section 9.2.

Beside the rules: a last frame without its blank line counts (chat servers do end like this), and the size of a frame is
bounded.
"""

from __future__ import annotations

from ..errors import UpstreamProtocolError

_BOM = b"\xef\xbb\xbf"


class NamedError(bytes):
    """The data of a frame that its server named `error`, or likewise."""


class NamedOtherwise(bytes):
    """The data of a frame with another name than `error` and `message`: a chunk, or a sign of life (`event: ping`)."""


_KINDS: dict[bytes, type[bytes]] = {
    b"message": bytes,
    **dict.fromkeys((b"error", b"exception", b"failure"), NamedError),
}


class SSEDecoder:
    """Split a byte stream into the `data` payloads of its SSE frames.

    Bytes may be cut anywhere: the same bytes give the same payloads however they arrive. Lines end with LF, CRLF or CR,
    never with U+2028 and the like. Empty payloads, comments and other fields are left out.

    Args:
        max_frame: bytes that one line or the data of one frame may have; more raises UpstreamProtocolError.
    """

    __slots__ = (
        "_after_cr",
        "_data",
        "_data_size",
        "_first_line",
        "_max_frame",
        "_name",
        "_rest",
        "_rest_size",
    )

    def __init__(self, *, max_frame: int = 8 * 1024 * 1024) -> None:
        self._rest: list[bytes] | None = None  # pieces of the unfinished line, joined once: linear in its length
        self._rest_size = 0
        self._data: list[bytes] | None = None  # data lines of the unfinished frame
        self._data_size = 0
        self._after_cr = False
        self._name = b""  # of the unfinished frame
        self._first_line = True
        self._max_frame = max_frame

    @property
    def between_frames(self) -> bool:
        """Whether all that was fed are whole frames."""
        return not (self._data or self._rest_size or self._after_cr or self._first_line)

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that are complete now."""
        if self._is_one_payload(data):
            return [data[6:-2]]
        if self._after_cr and data:  # a CRLF may be cut in the middle
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in data:
            self._keep(data)
            return []
        if self._rest is not None:
            data = b"".join([*self._rest, data])
            self._rest, self._rest_size = None, 0
        *lines, rest = data.split(b"\n")
        payloads = self._read(lines)
        self._keep(rest)
        return payloads

    def _is_one_payload(self, data: bytes) -> bool:
        """Whether the bytes are one frame of one line, as by far the most reads are."""
        return (
            data.startswith(b"data: {")
            and data.find(b"\n") == len(data) - 2
            and data.endswith(b"\n\n")
            and b"\r" not in data
            and len(data) <= self._max_frame
            and self.between_frames
            and not self._name
        )

    def finish(self) -> list[bytes]:
        """What an end without a blank line leaves."""
        return self.feed(b"\n\n")

    def _keep(self, rest: bytes) -> None:
        if rest:
            self._rest = self._rest or []
            self._rest.append(rest)
            self._rest_size += len(rest)
            self._check(self._rest_size)

    def _read(self, lines: list[bytes]) -> list[bytes]:
        payloads = []
        for line in lines:
            if self._first_line:
                self._first_line = False
                line = line.removeprefix(_BOM)
            if line.startswith(b"data:"):
                self._add(line[6:] if line.startswith(b"data: ") else line[5:])
            elif line == b"data":
                self._add(b"")
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif not line:
                payload = b"\n".join(self._data or ())
                if payload.strip(b"\n"):
                    payloads.append(_KINDS.get(self._name, NamedOtherwise)(payload) if self._name else payload)
                self._data, self._data_size, self._name = None, 0, b""
        return payloads

    def _add(self, value: bytes) -> None:
        self._data_size += len(value) + bool(self._data)  # with the line feed between them
        self._check(self._data_size)
        self._data = self._data or []
        self._data.append(value)

    def _check(self, size: int) -> None:
        if size > self._max_frame:
            raise UpstreamProtocolError(f"a frame of the upstream exceeds {self._max_frame} bytes")
