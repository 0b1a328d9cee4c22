"""Undo content encodings piece by piece: whatever a body swells to, at most one small piece of it is in memory.

gzip, deflate and zstd are known, alone or two in a row; zstd from Python 3.14's standard library or from `zstandard`.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import (
    InvalidRequestError,
    RequestTooLargeError,
    UnsupportedEncodingError,
    UpstreamProtocolError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .base import Headers, Sink

PIECE = 64 * 1024
"""Bytes in one decoded piece, at most."""

ZSTD_WINDOW = 8 * 1024 * 1024
"""Bytes that zstd may look back: what RFC 9659 allows for content encodings; the library's default: 128 MiB."""

ZSTD_SLICE = 64
"""Bytes given to `zstandard` at once: its output has no limit, 4 bytes can stand for 128 KiB; so it stays at 2 MiB."""

MAX_CODINGS = 2
"""Encodings in a row. Each one can multiply by a thousand; servers use one, a proxy may add a second."""


class _DamagedError(ValueError):
    """The encoded bytes are not what they say; the message names the encoding."""


class _UnknownCodingError(ValueError):
    """An encoding that cannot be undone here; the message names it."""


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
                raise _DamagedError from error
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
                raise _DamagedError from error
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
                raise _DamagedError from error
            if piece:
                yield piece
            data = b""
            if self.eof or self._machine.needs_input:
                return


class _Layer:
    """Undo one encoding; `name` is its name in Content-Encoding."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._member: _Member | None = None
        self._head = b""  # the first byte of a deflate stream, which alone does not tell its form
        self._may_be_padding = False  # behind a gzip member: zeros, as tapes and some servers fill up their blocks

    def feed(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            try:
                yield from self._feed(piece)
            except _DamagedError as error:
                raise _DamagedError(f"its {self._name} encoding cannot be read") from error

    def finish(self) -> None:
        if self._member is not None or self._head:
            raise _DamagedError(f"its {self._name} encoding ends too early")

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
        raise _UnknownCodingError("zstd") from error
    return _ZstandardMember(zstandard)


def _codings(value: str) -> list[str]:
    """The encodings of a Content-Encoding value in the order in which they were applied, without identity."""
    names = (name.strip().lower().removeprefix("x-") for name in value.split(","))
    return [name for name in names if name not in ("", "identity")]


def _layers(codings: list[str]) -> list[_Layer]:
    for name in codings:
        if name == "zstd":
            _open_zstd()  # says at once if it is not installed
        elif name not in ("gzip", "deflate"):
            raise _UnknownCodingError(name)
    return [_Layer(name) for name in reversed(codings)]


def _decode(layers: list[_Layer], data: bytes) -> Iterator[bytes]:
    pieces: Iterator[bytes] = iter((data,))
    for layer in layers:
        pieces = layer.feed(pieces)
    return pieces


class BodyDecoder:
    """Undo the content encodings of an upstream's answer, wherever its bytes are cut."""

    def __init__(self, codings: list[str]) -> None:
        self._layers = _layers(codings)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes that `data` completes, decoded as they are asked for, in pieces of 1 byte to 64 KiB.

        The iterator must be read to its end before the next call. Raises UpstreamProtocolError for damaged bytes.
        """
        try:
            yield from _decode(self._layers, data)
        except _DamagedError as error:
            raise _damaged_answer(error) from error

    def finish(self) -> Iterator[bytes]:
        """What is left at the end of the body; raises UpstreamProtocolError if the encoding is not at its end.

        A body without any byte is fine: answers to HEAD, 204 and 304 name the encoding of a body that is not there.
        """
        try:
            for layer in self._layers:
                layer.finish()
        except _DamagedError as error:
            raise _damaged_answer(error) from error
        return iter(())


def body_decoder(headers: Headers) -> BodyDecoder | None:
    """The decoder that an answer's headers ask for, or None if its body is plain.

    Raises:
        UpstreamProtocolError: an encoding that is unknown or not installed, or more than two.
    """
    value = b",".join(value for name, value in headers if name == b"content-encoding")
    codings = _codings(value.decode("latin-1")) if value else []
    if not codings:
        return None
    if len(codings) > MAX_CODINGS:
        raise UpstreamProtocolError(f"the upstream's answer has {len(codings)} content encodings, at most two are read")
    try:
        return BodyDecoder(codings)
    except _UnknownCodingError as error:
        raise UpstreamProtocolError(f"the upstream's answer has an unknown content encoding: {error}") from error


async def start_answer(sink: Sink, status: int, headers: Headers) -> BodyDecoder | None:
    """Give the sink status and headers; the decoder of the body, or None if it is plain.

    The status of an error reaches the sink even if its body cannot be decoded; UpstreamProtocolError comes then, too.
    """
    try:
        decoder = body_decoder(headers)
    except UpstreamProtocolError:
        if status >= 400:
            await sink.start(status, headers)
        raise
    await sink.start(status, headers)
    return decoder


async def push_decoded(sink: Sink, pieces: Iterable[bytes]) -> None:
    """Push decoded pieces until the sink is finished."""
    for piece in pieces:
        if sink.finished:
            return
        await sink.body(piece)


def decode_request_body(data: bytes, encoding: str, max_bytes: int) -> bytes:
    """Undo the Content-Encoding of a client's request body.

    Raises:
        UnsupportedEncodingError: more than one encoding, or one that is unknown or not installed.
        RequestTooLargeError: more than `max_bytes` decoded.
        InvalidRequestError: damaged or truncated.
    """
    codings = _codings(encoding)
    if len(codings) > 1:  # layers in a row could make much work of a few bytes without ever reaching max_bytes
        raise UnsupportedEncodingError(f"Content-Encoding must be one of {_ACCEPTED}, not several.")
    try:
        layers = _layers(codings)
    except _UnknownCodingError as error:
        raise _unsupported(str(error)) from error
    decoded = bytearray()
    try:
        for piece in _decode(layers, data):
            decoded += piece
            if len(decoded) > max_bytes:
                raise RequestTooLargeError(max_bytes)
        for layer in layers:
            layer.finish()
    except _DamagedError as error:
        raise InvalidRequestError(f"The request body is damaged: {error}.") from error
    return bytes(decoded)


_ACCEPTED = "gzip, deflate, zstd or identity"


def _unsupported(name: str) -> UnsupportedEncodingError:
    if name == "zstd":
        return UnsupportedEncodingError(
            "Content-Encoding 'zstd' is not installed here: the server needs `pip install responses-middleware[zstd]`; "
            "gzip, deflate and identity are accepted."
        )
    return UnsupportedEncodingError(f"Content-Encoding {name[:40]!r} is not known; {_ACCEPTED} are accepted.")


def _damaged_answer(error: _DamagedError) -> UpstreamProtocolError:
    return UpstreamProtocolError(f"the upstream's answer is damaged: {error}")
