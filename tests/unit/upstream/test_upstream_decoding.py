"""The body of an upstream's answer: which encodings are undone, and what is said of those that can't be."""

from __future__ import annotations

import gzip
import zlib

import pytest

from responses_middleware.errors import UpstreamProtocolError
from responses_middleware.upstream.decoding import BodyDecoder, body_decoder

TEXT = b"data: {}\n\n" * 100
GZIP = gzip.compress(TEXT)


def decoder_of(encoding: str) -> BodyDecoder:
    decoder = body_decoder([(b"content-encoding", encoding.encode())])
    assert decoder is not None
    return decoder


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP , Identity"])
def test_an_encoded_answer_is_decoded(encoding: str) -> None:
    decoder = decoder_of(encoding)

    decoded = b"".join([*decoder.feed(GZIP), *decoder.finish()])

    assert decoded == TEXT


@pytest.mark.parametrize("headers", [[], [(b"content-encoding", b"identity")], [(b"content-encoding", b"")]])
def test_a_plain_body_has_no_decoder(headers: list[tuple[bytes, bytes]]) -> None:
    assert body_decoder(headers) is None


def test_encodings_in_two_header_lines_are_in_a_row() -> None:
    decoder = body_decoder([(b"content-encoding", b"gzip"), (b"content-encoding", b"deflate")])

    assert decoder is not None
    assert b"".join(decoder.feed(zlib.compress(gzip.compress(TEXT)))) == TEXT


def test_an_unknown_encoding_is_named() -> None:
    with pytest.raises(UpstreamProtocolError, match="unknown content encoding: br"):
        body_decoder([(b"content-encoding", b"br")])


def test_a_tower_of_encodings_is_refused() -> None:
    with pytest.raises(UpstreamProtocolError, match="3 content encodings"):
        body_decoder([(b"content-encoding", b"gzip, gzip, gzip")])


def test_a_truncated_answer_is_damaged() -> None:
    decoder = decoder_of("gzip")
    list(decoder.feed(GZIP[:-1]))

    with pytest.raises(UpstreamProtocolError, match="answer is damaged: its gzip encoding ends too early"):
        decoder.finish()


def test_an_answer_that_is_not_encoded_as_it_says_is_damaged() -> None:
    with pytest.raises(UpstreamProtocolError, match="answer is damaged: its gzip encoding cannot be read"):
        list(decoder_of("gzip").feed(TEXT))


def test_an_answer_without_bytes_is_fine() -> None:
    assert list(decoder_of("gzip").finish()) == []
