"""JSON out, and errors with the headers that clients act on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from responses_middleware.errors import MethodNotAllowedError, OverloadedError, ResponsesError, UpstreamError
from responses_middleware.replies import send_error, send_json

if TYPE_CHECKING:
    from starlette.types import Message

pytestmark = pytest.mark.anyio


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
