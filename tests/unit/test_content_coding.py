"""Content encodings, undone piece by piece wherever the bytes are cut."""

from __future__ import annotations

import gzip
import os
import zlib
from itertools import pairwise

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from responses_middleware.content_coding import (
    PIECE,
    DamagedError,
    Layer,
    UnknownCodingError,
    decode,
    open_layers,
    read_codings,
)

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


def layers_of(encoding: str) -> list[Layer]:
    return open_layers(read_codings(encoding))


def finish(layers: list[Layer]) -> None:
    for layer in layers:
        layer.finish()


@pytest.mark.parametrize(("encoding", "encoded"), ENCODED.values(), ids=ENCODED)
def test_every_encoding_is_undone(encoding: str, encoded: bytes) -> None:
    layers = layers_of(encoding)

    decoded = b"".join(decode(layers, encoded))

    finish(layers)
    assert decoded == TEXT


@pytest.mark.parametrize(("encoding", "encoded"), ENCODED.values(), ids=ENCODED)
def test_bytes_may_come_one_by_one(encoding: str, encoded: bytes) -> None:
    layers = layers_of(encoding)

    decoded = b"".join(piece for byte in encoded for piece in decode(layers, bytes([byte])))

    finish(layers)
    assert decoded == TEXT


@given(
    cuts=st.lists(st.integers(0, len(ENCODED["raw deflate"][1])), max_size=6), kind=st.sampled_from(["zlib", "gzip"])
)
def test_any_split_gives_the_same_bytes(cuts: list[int], kind: str) -> None:
    encoding, encoded = ENCODED[kind]
    edges = [0, *sorted(cuts), len(encoded)]
    layers = layers_of(encoding)

    decoded = b"".join(piece for start, stop in pairwise(edges) for piece in decode(layers, encoded[start:stop]))

    assert decoded == TEXT


def test_a_flushed_frame_is_there_before_the_stream_ends() -> None:
    machine = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    encoded = machine.compress(b"data: 1\n\n") + machine.flush(zlib.Z_SYNC_FLUSH)

    assert list(decode(layers_of("gzip"), encoded)) == [b"data: 1\n\n"]


@pytest.mark.parametrize("encoding", ["", "identity"])
def test_what_is_plain_stays(encoding: str) -> None:
    assert list(decode(layers_of(encoding), b"{}")) == [b"{}"]


def test_an_unknown_encoding_is_named() -> None:
    with pytest.raises(UnknownCodingError, match=r"^br$"):
        layers_of("gzip, br")


@pytest.mark.parametrize(("encoding", "encoded"), ENCODED.values(), ids=ENCODED)
def test_a_truncated_body_is_damaged(encoding: str, encoded: bytes) -> None:
    layers = layers_of(encoding)
    list(decode(layers, encoded[:-41]))

    with pytest.raises(DamagedError, match=r"its .* encoding ends too early"):
        finish(layers)


def test_one_byte_of_deflate_is_truncated() -> None:
    layers = layers_of("deflate")
    list(decode(layers, b"\x78"))

    with pytest.raises(DamagedError, match="too early"):
        finish(layers)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_plain_text_that_is_said_to_be_encoded_is_damaged(encoding: str) -> None:
    with pytest.raises(DamagedError, match=f"its {encoding} encoding cannot be read"):
        list(decode(layers_of(encoding), b'data: {"id": 1}\n\n'))


def test_what_stands_before_the_damage_is_given() -> None:
    pieces = decode(layers_of("gzip"), gzip.compress(b"good") + b"bad")

    assert next(pieces) == b"good"
    with pytest.raises(DamagedError, match="cannot be read"):
        next(pieces)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
def test_a_body_without_bytes_is_fine(encoding: str) -> None:
    finish(layers_of(encoding))


@pytest.mark.parametrize(
    ("encoding", "bomb"),
    [
        ("gzip", gzip.compress(bytes(64 * MIB))),
        ("zstd", zstd(bytes(64 * MIB))),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(64 * MIB)))),
    ],
)
def test_a_bomb_comes_in_small_pieces_as_they_are_asked_for(encoding: str, bomb: bytes) -> None:
    pieces = decode(layers_of(encoding), bomb)

    assert max(len(next(pieces)) for _ in range(100)) <= PIECE


def test_a_zstd_window_past_the_limit_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27)
    encoded = zstandard.ZstdCompressor(compression_params=parameters).compressobj().compress(os.urandom(MIB))

    with pytest.raises(DamagedError, match="zstd encoding cannot be read"):
        list(decode(layers_of("zstd"), encoded))
