"""The request's JSON body: bounded in size and time, its encoding undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from .. import _json
from ..errors import InvalidRequestError, RequestTimeoutError, RequestTooLargeError
from ..options import Limits
from ..upstream.decoding import decode_request_body

if TYPE_CHECKING:
    from starlette.types import Receive, Scope


class ClientLeftError(Exception):
    """The client went before its request was whole: half a request is no request."""


async def read_json(scope: Scope, receive: Receive, limits: Limits) -> Any:
    """The request's JSON, decoded within the limits.

    Raises RequestTooLargeError, RequestTimeoutError, UnsupportedEncodingError, InvalidRequestError; ClientLeftError.
    """
    headers = dict(scope["headers"])
    body = await _read_body(headers, receive, limits)
    encoding = headers.get(b"content-encoding", b"").decode("latin-1").strip().lower()
    if encoding and encoding != "identity":
        body = decode_request_body(body, encoding, limits.max_request_bytes)
    try:
        return _json.loads_exact(body)
    except ValueError as error:  # UnicodeDecodeError is one
        raise InvalidRequestError(
            "We could not parse the JSON body of your request. The body must be one JSON object, in UTF-8, sent with "
            "Content-Type: application/json."
        ) from error


async def _read_body(headers: dict[bytes, bytes], receive: Receive, limits: Limits) -> bytes:
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 18 or int(length) > limits.max_request_bytes):
        raise RequestTooLargeError(limits.max_request_bytes)
    pieces: list[bytes] = []
    room = limits.max_request_bytes
    more = True
    while more:
        message = None
        with anyio.move_on_after(limits.body_timeout):
            message = await receive()
        if message is None:
            raise RequestTimeoutError(f"No byte of the request body came for {limits.body_timeout:g} seconds.")
        if message["type"] == "http.disconnect":
            raise ClientLeftError
        pieces.append(message.get("body", b""))
        room -= len(pieces[-1])
        if room < 0:
            raise RequestTooLargeError(limits.max_request_bytes)
        more = message.get("more_body", False)
    return b"".join(pieces)
