"""What endpoints share with HTTP: a bounded body, JSON out, errors with the headers that clients act on."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from responses_middleware import Limits
from responses_middleware.endpoints.exchange import ClientLeftError, read_json
from responses_middleware.engine.replies import send_error, send_json
from responses_middleware.errors import (
    InvalidRequestError,
    MethodNotAllowedError,
    OverloadedError,
    RequestTimeoutError,
    RequestTooLargeError,
    ResponsesError,
    UnsupportedEncodingError,
    UpstreamError,
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


async def sent_by(send: Any) -> tuple[Message, Message]:
    messages: list[Message] = []

    async def keep(message: Message) -> None:
        messages.append(message)

    await send(keep)
    start, body = messages
    return start, body


async def test_json_is_sent_with_its_length() -> None:
    start, body = await sent_by(lambda send: send_json(send, {"é": 1}, status=201, headers=[(b"a", b"b")]))

    assert (start["status"], json.loads(body["body"])) == (201, {"é": 1})
    assert start["headers"] == [(b"a", b"b"), (b"content-type", b"application/json"), (b"content-length", b"8")]
    assert body["more_body"] is False


@pytest.mark.parametrize(
    ("error", "header"),
    [
        (MethodNotAllowedError("PUT", "/x", allowed="GET, DELETE"), (b"allow", b"GET, DELETE")),
        (OverloadedError("m"), (b"retry-after", b"1")),
        (UpstreamError("m", status=429, headers=[(b"retry-after", b"7")]), (b"retry-after", b"7")),
    ],
)
async def test_an_error_has_the_headers_that_clients_act_on(error: ResponsesError, header: tuple[bytes, bytes]) -> None:
    start, body = await sent_by(lambda send: send_error(send, error))

    assert start["status"] == error.status
    assert header in start["headers"]
    assert json.loads(body["body"]) == error.body()
