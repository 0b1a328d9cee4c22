"""The request's JSON body: bounded in size and time, its encoding undone."""

from __future__ import annotations

import gzip
import sys
import zlib
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import zstandard

from responses_middleware import Limits
from responses_middleware.endpoints.request_body import ClientLeftError, decode_request_body, read_json
from responses_middleware.errors import (
    InvalidRequestError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)

if TYPE_CHECKING:
    from starlette.types import Message

pytestmark = pytest.mark.anyio

TEXT = b'{"n": 1}' * 1000
GONE: Any = {"type": "http.disconnect"}


def piece(data: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": data, "more_body": more}


async def read(*messages: Message, headers: list[tuple[bytes, bytes]] | None = None, **limits: Any) -> Any:
    """Read a body that comes so; behind the last message nothing comes any more."""
    waiting = list(messages)

    async def receive() -> Message:
        if not waiting:
            await anyio.sleep_forever()
        return waiting.pop(0)

    return await read_json({"headers": headers or []}, receive, Limits(**limits))


async def test_a_body_may_come_in_pieces() -> None:
    assert await read(piece(b'{"a"', more=True), piece(b"", more=True), piece(b": 1}")) == {"a": 1}


async def test_a_message_without_a_body_is_an_empty_piece() -> None:
    assert await read({"type": "http.request", "more_body": True}, piece(b"[]")) == []


@pytest.mark.parametrize("before", [[], [piece(b'{"a": 1}', more=True)]])
async def test_a_client_that_left_sent_no_request(before: list[Message]) -> None:
    with pytest.raises(ClientLeftError):
        await read(*before, GONE)


@pytest.mark.parametrize("before", [[], [piece(b"[", more=True)]])
async def test_every_gap_of_the_body_is_bounded(before: list[Message]) -> None:
    with pytest.raises(RequestTimeoutError):
        await read(*before, body_timeout=0.05)


async def test_a_declared_length_is_believed_when_it_is_too_large() -> None:
    with pytest.raises(RequestTooLargeError):
        await read(headers=[(b"content-length", b"11")], max_request_bytes=10)


async def test_a_declared_length_is_not_believed_when_it_is_small() -> None:
    with pytest.raises(RequestTooLargeError):
        await read(piece(b"x" * 11), headers=[(b"content-length", b"1")], max_request_bytes=10)


@pytest.mark.parametrize("length", [b"", b"x", b"-5", b"1e9", b"\xb2"])
async def test_a_length_that_is_none_is_left_alone(length: bytes) -> None:
    assert await read(piece(b"[]"), headers=[(b"content-length", length)]) == []


async def test_an_encoding_is_undone() -> None:
    body = gzip.compress(b"[1]")

    assert await read(piece(body), headers=[(b"content-encoding", b" GZIP ")]) == [1]


async def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(UnsupportedEncodingError):
        await read(piece(b"[]"), headers=[(b"content-encoding", b"br")])


async def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="We could not parse the JSON body"):
        await read(piece(b"{"))


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("zstd", zstandard.ZstdCompressor().compress(TEXT)),
    ],
)
def test_a_request_body_is_decoded(encoding: str, encoded: bytes) -> None:
    assert decode_request_body(encoded, encoding, len(TEXT)) == TEXT


@pytest.mark.parametrize("encoding", ["", "identity"])
def test_a_plain_request_body_stays(encoding: str) -> None:
    assert decode_request_body(b"{}", encoding, 10) == b"{}"


@pytest.mark.parametrize(
    "encoded", [gzip.compress(bytes(64 * 1024 * 1024), mtime=0), gzip.compress(bytes(1001), mtime=0)]
)
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
def test_without_zstandard_the_library_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(UnsupportedEncodingError, match="pip install zstandard"):
        decode_request_body(b"", "zstd", 1000)
