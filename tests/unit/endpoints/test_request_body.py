"""The request's JSON body: bounded in size and time, its encoding undone."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from responses_middleware import Limits
from responses_middleware.endpoints.request_body import ClientLeftError, read_json
from responses_middleware.errors import (
    InvalidRequestError,
    RequestTimeoutError,
    RequestTooLargeError,
    UnsupportedEncodingError,
)

if TYPE_CHECKING:
    from starlette.types import Message

pytestmark = pytest.mark.anyio

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
