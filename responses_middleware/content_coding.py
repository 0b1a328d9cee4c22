"""Undo content encodings piece by piece: whatever a body swells to, at most one small piece of it is in memory.

gzip, deflate and zstd are known, alone or in a row; zstd from Python 3.14's standard library or from `zstandard`.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PIECE = 64 * 1024
"""Bytes in one decoded piece, at most."""

ZSTD_WINDOW = 8 * 1024 * 1024
"""Bytes that zstd may look back: what RFC 9659 allows for content encodings; the library's default: 128 MiB."""

ZSTD_SLICE = 64
"""Bytes given to `zstandard` at once: its output has no limit, 4 bytes can stand for 128 KiB; so it stays at 2 MiB."""


class DamagedError(ValueError):
    """The encoded bytes are not what they say; the message names the encoding."""


class UnknownCodingError(ValueError):
    """An encoding that cannot be undone here; the message names it."""


def read_codings(value: str) -> list[str]:
    """The encodings of a Content-Encoding value in the order in which they were applied, without identity."""
    names = (name.strip().lower().removeprefix("x-") for name in value.split(","))
    return [name for name in names if name not in ("", "identity")]


def open_layers(codings: list[str]) -> list[Layer]:
    """What undoes these encodings, the last one first; UnknownCodingError for one that can't be undone here."""
    for name in codings:
        if name == "zstd":
            _open_zstd()  # says at once if it is not installed
        elif name not in ("gzip", "deflate"):
            raise UnknownCodingError(name)
    return [Layer(name) for name in reversed(codings)]


def decode(layers: list[Layer], data: bytes) -> Iterator[bytes]:
    """The bytes that `data` completes, decoded as they are asked for, in pieces of 1 byte to 64 KiB.

    The iterator must be read to its end before the next call. Raises DamagedError.
    """
    pieces: Iterator[bytes] = iter((data,))
    for layer in layers:
        pieces = layer.feed(pieces)
    return pieces


class Layer:
    """Undo one encoding; `name` is its name in Content-Encoding."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._member: _Member | None = None
        self._head = b""  # the first byte of a deflate stream, which alone does not tell its form
        self._may_be_padding = False  # behind a gzip member: zeros, as tapes and some servers fill up their blocks

    def feed(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """What these pieces decode to, piece by piece; DamagedError where they can't be read."""
        for piece in pieces:
            try:
                yield from self._feed(piece)
            except DamagedError as error:
                raise DamagedError(f"its {self._name} encoding cannot be read") from error

    def finish(self) -> None:
        """Raise DamagedError if the encoding is not at its end; without any byte it is."""
        if self._member is not None or self._head:
            raise DamagedError(f"its {self._name} encoding ends too early")

    def _feed(self, data: bytes) -> Iterator[bytes]:
        while data := data.lstrip(b"\0") if self._may_be_padding else data:
            if self._member is None:
                data = self._head + data
                self._head = b"" if self._name != "deflate" or len(data) > 1 else data
                if self._head:
                    return
                self._member = _open_member(self._name, data)
                self._may_be_padding = False
            yield from self._member.pieces(data)
            data = b""
            if self._member.eof:
                data = self._member.unused_data
                self._member = None
                self._may_be_padding = self._name == "gzip"


class _Member(Protocol):
    """One gzip member, zlib stream or zstd frame; several may follow each other in a body."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def pieces(self, data: bytes) -> Iterator[bytes]: ...


class _ZlibMember:
    def __init__(self, window_bits: int) -> None:
        self._machine = zlib.decompressobj(window_bits)

    @property
    def eof(self) -> bool:
        return self._machine.eof

    @property
    def unused_data(self) -> bytes:
        return self._machine.unused_data

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while True:
            try:
                piece = self._machine.decompress(data, PIECE)
            except zlib.error as error:
                raise DamagedError from error
            if piece:
                yield piece
            data = self._machine.unconsumed_tail
            if self.eof or (not data and len(piece) < PIECE):  # a full piece may leave output behind without input
                return


class _ZstandardMember:
    def __init__(self, zstandard: Any) -> None:
        self._error = zstandard.ZstdError
        self._machine = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()
        self._left = b""

    @property
    def eof(self) -> bool:
        return bool(self._machine.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._machine.unused_data) + self._left

    def pieces(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), ZSTD_SLICE):
            try:
                decoded = self._machine.decompress(data[start : start + ZSTD_SLICE])
            except self._error as error:
                raise DamagedError from error
            for offset in range(0, len(decoded), PIECE):
                yield decoded[offset : offset + PIECE]
            if self.eof:
                self._left = data[start + ZSTD_SLICE :]
                return


class _ZstdMember:
    """Like the others, with `compression.zstd` of Python 3.14."""

    def __init__(self, zstd: Any) -> None:
        window_log = ZSTD_WINDOW.bit_length() - 1
        self._error = zstd.ZstdError
        self._machine = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: window_log})

    @property
    def eof(self) -> bool:
        return bool(self._machine.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._machine.unused_data)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while True:
            try:
                piece = self._machine.decompress(data, PIECE)
            except self._error as error:
                raise DamagedError from error
            if piece:
                yield piece
            data = b""
            if self.eof or self._machine.needs_input:
                return


def _open_member(name: str, data: bytes) -> _Member:
    if name == "gzip":
        return _ZlibMember(zlib.MAX_WBITS | 16)
    if name == "deflate":
        # RFC 9110 section 8.4.1.2: zlib, though "some non-conformant implementations send" the raw form
        is_zlib = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return _ZlibMember(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
    return _open_zstd()


def _open_zstd() -> _Member:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return _ZstdMember(zstd)
    try:
        import zstandard
    except ImportError as error:
        raise UnknownCodingError("zstd") from error
    return _ZstandardMember(zstandard)
