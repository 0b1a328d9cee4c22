from __future__ import annotations

import gzip
import os
import sys
import zlib
from itertools import pairwise

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from responses_middleware.errors import (
    InvalidRequestError,
    RequestTooLargeError,
    UnsupportedEncodingError,
    UpstreamProtocolError,
)
from responses_middleware.upstream.decoding import PIECE, BodyDecoder, body_decoder, decode_request_body

TEXT = b"".join(b'data: {"n": %d}\n\n' % number for number in range(20_000))
MIB = 1024 * 1024


def raw_deflate(data: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return machine.compress(data) + machine.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


ENCODED = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "x-gzip": ("x-gzip", gzip.compress(TEXT)),
    "two gzip members": ("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
    "padded gzip": ("gzip", gzip.compress(TEXT) + b"\0" * 40),
    "zlib": ("deflate", zlib.compress(TEXT)),
    "raw deflate": ("deflate", raw_deflate(TEXT)),
    "zstd": ("zstd", zstd(TEXT)),
    "two zstd frames": ("zstd", zstd(TEXT[:100]) + zstd(TEXT[100:])),
    "gzip, then zstd": ("gzip, zstd", zstd(gzip.compress(TEXT))),
    "upper case": ("GZIP , Identity", gzip.compress(TEXT)),
}


def decoder_of(encoding: str) -> BodyDecoder:
    decoder = body_decoder([(b"content-encoding", encoding.encode())])
    assert decoder is not None
    return decoder


@pytest.mark.parametrize(("encoding", "encoded"), ENCODED.values(), ids=ENCODED)
def test_every_encoding_is_undone(encoding: str, encoded: bytes) -> None:
    decoder = decoder_of(encoding)

    decoded = b"".join([*decoder.feed(encoded), *decoder.finish()])

    assert decoded == TEXT


@pytest.mark.parametrize(("encoding", "encoded"), ENCODED.values(), ids=ENCODED)
def test_bytes_may_come_one_by_one(encoding: str, encoded: bytes) -> None:
    decoder = decoder_of(encoding)

    decoded = b"".join(piece for byte in encoded for piece in decoder.feed(bytes([byte])))

    assert decoded == TEXT
    assert list(decoder.finish()) == []


@given(
    cuts=st.lists(st.integers(0, len(ENCODED["raw deflate"][1])), max_size=6), kind=st.sampled_from(["zlib", "gzip"])
)
def test_any_split_gives_the_same_bytes(cuts: list[int], kind: str) -> None:
    encoding, encoded = ENCODED[kind]
    edges = [0, *sorted(cuts), len(encoded)]
    decoder = decoder_of(encoding)

    decoded = b"".join(piece for start, stop in pairwise(edges) for piece in decoder.feed(encoded[start:stop]))

    assert decoded == TEXT


def test_a_flushed_frame_is_there_before_the_stream_ends() -> None:
    machine = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    encoded = machine.compress(b"data: 1\n\n") + machine.flush(zlib.Z_SYNC_FLUSH)

    assert list(decoder_of("gzip").feed(encoded)) == [b"data: 1\n\n"]


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


@pytest.mark.parametrize(("encoding", "encoded"), ENCODED.values(), ids=ENCODED)
def test_a_truncated_body_is_damaged(encoding: str, encoded: bytes) -> None:
    decoder = decoder_of(encoding)
    list(decoder.feed(encoded[:-41]))

    with pytest.raises(UpstreamProtocolError, match=r"answer is damaged: its .* encoding ends too early"):
        decoder.finish()


def test_one_byte_of_deflate_is_truncated() -> None:
    decoder = decoder_of("deflate")
    list(decoder.feed(b"\x78"))

    with pytest.raises(UpstreamProtocolError, match="too early"):
        decoder.finish()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_plain_text_that_is_said_to_be_encoded_is_damaged(encoding: str) -> None:
    with pytest.raises(UpstreamProtocolError, match=f"damaged: its {encoding} encoding cannot be read"):
        list(decoder_of(encoding).feed(b'data: {"id": 1}\n\n'))


def test_what_stands_before_the_damage_is_given() -> None:
    pieces = decoder_of("gzip").feed(gzip.compress(b"good") + b"bad")

    assert next(pieces) == b"good"
    with pytest.raises(UpstreamProtocolError, match="cannot be read"):
        next(pieces)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_body_without_bytes_is_fine(encoding: str) -> None:
    assert list(decoder_of(encoding).finish()) == []


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(bytes(64 * MIB))),
        ("zstd", zstd(bytes(64 * MIB))),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(64 * MIB)))),
    ],
)
def test_a_bomb_comes_in_small_pieces_as_they_are_asked_for(encoding: str, bomb: bytes) -> None:
    pieces = decoder_of(encoding).feed(bomb)

    assert max(len(next(pieces)) for _ in range(100)) <= PIECE


def test_a_zstd_window_past_the_limit_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    encoded = zstandard.ZstdCompressor(compression_params=parameters).compressobj().compress(os.urandom(MIB))

    with pytest.raises(UpstreamProtocolError, match="zstd encoding cannot be read"):
        list(decoder_of("zstd").feed(encoded))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_request_body_is_decoded(encoding: str) -> None:
    encoded = {"gzip": gzip.compress(TEXT), "deflate": zlib.compress(TEXT), "zstd": zstd(TEXT)}[encoding]

    assert decode_request_body(encoded, encoding, len(TEXT)) == TEXT


@pytest.mark.parametrize("encoding", ["", "identity"])
def test_a_plain_request_body_stays(encoding: str) -> None:
    assert decode_request_body(b"{}", encoding, 10) == b"{}"


@pytest.mark.parametrize("encoded", [gzip.compress(bytes(64 * MIB), mtime=0), gzip.compress(bytes(1001), mtime=0)])
def test_a_request_body_past_its_limit_is_too_large(encoded: bytes) -> None:
    with pytest.raises(RequestTooLargeError, match="1000 bytes"):
        decode_request_body(encoded, "gzip", 1000)


@pytest.mark.parametrize("body", [b"{}", gzip.compress(b"{}", mtime=0)[:-1], gzip.compress(b"{}", mtime=0) + b"x"])
def test_a_damaged_request_body_is_the_clients_error(body: bytes) -> None:
    with pytest.raises(InvalidRequestError, match="The request body is damaged"):
        decode_request_body(body, "gzip", 1000)


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip"])
def test_another_encoding_is_refused_with_those_that_are_accepted(encoding: str) -> None:
    with pytest.raises(UnsupportedEncodingError, match="gzip, deflate, zstd or identity"):
        decode_request_body(b"", encoding, 1000)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="zstd is in the standard library")
def test_without_zstandard_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(UnsupportedEncodingError, match=r"pip install responses-middleware\[zstd\]"):
        decode_request_body(b"", "zstd", 1000)
