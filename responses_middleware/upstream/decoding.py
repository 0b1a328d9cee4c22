"""The body of an upstream's answer on its way to the sink, its content encodings undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..content_coding import DamagedError, UnknownCodingError, decode, open_layers, read_codings
from ..errors import UpstreamProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .base import Headers, Sink

MAX_CODINGS = 2
"""Encodings in a row. Each one can multiply by a thousand; servers use one, a proxy may add a second."""


class BodyDecoder:
    """Undo the content encodings of an upstream's answer, wherever its bytes are cut."""

    def __init__(self, codings: list[str]) -> None:
        self._layers = open_layers(codings)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded bytes that `data` completes, decoded as they are asked for, in pieces of 1 byte to 64 KiB.

        The iterator must be read to its end before the next call. Raises UpstreamProtocolError for damaged bytes.
        """
        try:
            yield from decode(self._layers, data)
        except DamagedError as error:
            raise _damaged_answer(error) from error

    def finish(self) -> Iterator[bytes]:
        """What is left at the end of the body; raises UpstreamProtocolError if the encoding is not at its end.

        A body without any byte is fine: answers to HEAD, 204 and 304 name the encoding of a body that is not there.
        """
        try:
            for layer in self._layers:
                layer.finish()
        except DamagedError as error:
            raise _damaged_answer(error) from error
        return iter(())


def body_decoder(headers: Headers) -> BodyDecoder | None:
    """The decoder that an answer's headers ask for, or None if its body is plain.

    Raises:
        UpstreamProtocolError: an encoding that is unknown or not installed, or more than two.
    """
    value = b",".join(value for name, value in headers if name == b"content-encoding")
    codings = read_codings(value.decode("latin-1")) if value else []
    if not codings:
        return None
    if len(codings) > MAX_CODINGS:
        raise UpstreamProtocolError(f"the upstream's answer has {len(codings)} content encodings, at most two are read")
    try:
        return BodyDecoder(codings)
    except UnknownCodingError as error:
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


def _damaged_answer(error: DamagedError) -> UpstreamProtocolError:
    return UpstreamProtocolError(f"the upstream's answer is damaged: {error}")
