"""The request's JSON body: bounded in size and time, its encoding undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from .. import _json
from ..content_coding import DamagedError, UnknownCodingError, decode, open_layers, read_codings
from ..errors import InvalidRequestError, RequestTimeoutError, RequestTooLargeError, UnsupportedEncodingError
from ..options import Limits

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

_ACCEPTED = "gzip, deflate, zstd or identity"


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


def decode_request_body(data: bytes, encoding: str, max_bytes: int) -> bytes:
    """Undo the Content-Encoding of a client's request body.

    Raises:
        UnsupportedEncodingError: more than one encoding, or one that is unknown or not installed.
        RequestTooLargeError: more than `max_bytes` decoded.
        InvalidRequestError: damaged or truncated.
    """
    codings = read_codings(encoding)
    if len(codings) > 1:  # layers in a row could make much work of a few bytes without ever reaching max_bytes
        raise UnsupportedEncodingError(f"Content-Encoding must be one of {_ACCEPTED}, not several.")
    try:
        layers = open_layers(codings)
    except UnknownCodingError as error:
        raise _unsupported(str(error)) from error
    decoded = bytearray()
    try:
        for piece in decode(layers, data):
            decoded += piece
            if len(decoded) > max_bytes:
                raise RequestTooLargeError(max_bytes)
        for layer in layers:
            layer.finish()
    except DamagedError as error:
        raise InvalidRequestError(f"The request body is damaged: {error}.") from error
    return bytes(decoded)


def _unsupported(name: str) -> UnsupportedEncodingError:
    if name == "zstd":
        return UnsupportedEncodingError(
            "Content-Encoding 'zstd' is not installed here: the server needs `pip install zstandard`; "
            "gzip, deflate and identity are accepted."
        )
    return UnsupportedEncodingError(f"Content-Encoding {name[:40]!r} is not known; {_ACCEPTED} are accepted.")
