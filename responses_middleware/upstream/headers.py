"""Which headers cross which border. The rules are data; values that could end a header line never pass.

| border | function |
|---|---|
| client → wrapped app, in process | `inner_request_headers` |
| client → another origin, a chat request of ours | `outbound_request_headers` |
| client → another origin, passed through | `relayed_request_headers` |
| upstream → client, a response of ours | `answer_headers` |
| upstream → client, passed through | `relayed_answer_headers` |

RFC 9110 section 7.6.1: Connection and every header that it names are for one hop only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from .base import Headers

HOP_BY_HOP = frozenset(
    {b"connection", b"http2-settings", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
HOP_BY_HOP_PREFIXES = (b"proxy-", b":")

BODY_OF_REQUEST = frozenset(
    {
        b"accept-encoding",
        b"content-digest",
        b"content-encoding",
        b"content-length",
        b"content-md5",
        b"content-type",
        b"digest",
        b"expect",
        b"repr-digest",
        b"transfer-encoding",
    }
)
"""What describes the client's own body and what the client can decode: not true of the chat request that we write."""

HANDSHAKE = frozenset({b"connection", b"upgrade"})
HANDSHAKE_PREFIXES = (b"sec-websocket-",)

BOUND_TO_ORIGIN = frozenset({b"cookie", b"expect", b"forwarded", b"host", b"origin", b"referer", b"via", b"x-real-ip"})
BOUND_TO_ORIGIN_PREFIXES = (*HOP_BY_HOP_PREFIXES, b"sec-", b"x-forwarded")
"""What a client says to us about itself and our origin; another origin must not learn it."""

CREDENTIALS = frozenset({b"api-key", b"authorization", b"x-api-key"})
"""Where the servers of the field read a key; Azure takes api-key, Anthropic-like gateways x-api-key."""

BODY_OF_ANSWER = frozenset(
    {
        b"accept-ranges",
        b"cache-control",
        b"content-digest",
        b"content-disposition",
        b"content-encoding",
        b"content-length",
        b"content-location",
        b"content-md5",
        b"content-range",
        b"content-type",
        b"digest",
        b"etag",
        b"expires",
        b"last-modified",
        b"location",
        b"pragma",
        b"repr-digest",
        b"x-accel-buffering",
    }
)
"""What describes the upstream's body: our own body is another one."""

OF_THE_SERVER = frozenset({b"date", b"server"})
"""ASGI servers write their own; a second one would be doubled."""

OF_THE_ORIGIN = frozenset({b"alt-svc", b"nel", b"report-to", b"set-cookie", b"strict-transport-security"})
"""What another origin says about itself would be said about us."""

_NOT_OF_INNER_REQUEST = BODY_OF_REQUEST | HANDSHAKE
_NOT_OF_ANSWER = HOP_BY_HOP | BODY_OF_ANSWER | OF_THE_SERVER
_NOT_OF_FOREIGN_ANSWER = _NOT_OF_ANSWER | OF_THE_ORIGIN
_JSON = (b"content-type", b"application/json")
_IDENTITY = (b"accept-encoding", b"identity")
_is_token = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch
_ends_the_line = re.compile(rb"[\r\n\0]").search


def inner_request_headers(headers: Iterable[tuple[bytes, bytes]], length: int) -> Headers:
    """The headers of the chat request to the wrapped app: the client's, with our body of `length` bytes described."""
    kept = _without(headers, _NOT_OF_INNER_REQUEST, HANDSHAKE_PREFIXES)
    return [*kept, _JSON, (b"content-length", b"%d" % length)]


def outbound_request_headers(headers: Iterable[tuple[bytes, bytes]], length: int, api_key: str | None) -> Headers:
    """The headers of a chat request to another origin; `api_key` takes the place of the client's credentials."""
    kept = [
        header
        for header in _for_another_origin(headers, api_key)
        if header[0] not in BODY_OF_REQUEST and not header[0].startswith(b"content-")
    ]
    return [*kept, _JSON, (b"content-length", b"%d" % length), _IDENTITY]


def relayed_request_headers(
    headers: Iterable[tuple[bytes, bytes]], api_key: str | None, *, with_key: bool = True
) -> Headers:
    """The headers of a request that is passed to another origin with its body as it is.

    `api_key` takes the place of the client's credentials; without `with_key` nothing does.
    """
    kept = _for_another_origin(headers, api_key, with_key=with_key)
    if any(name == b"accept-encoding" for name, _ in kept):
        return kept
    return [*kept, _IDENTITY]  # HTTP clients would ask for gzip in the name of a client that did not


def answer_headers(headers: Iterable[tuple[bytes, bytes]], *, same_origin: bool) -> Headers:
    """What goes on to the client with a response of ours; `same_origin` for the wrapped app, whose cookies are ours."""
    dropped = _NOT_OF_ANSWER if same_origin else _NOT_OF_FOREIGN_ANSWER
    return _without_hop_by_hop(headers, dropped, HOP_BY_HOP_PREFIXES)


def relayed_answer_headers(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """What goes on to the client with a body that is passed on as it is."""
    return _without_hop_by_hop(headers, HOP_BY_HOP | OF_THE_SERVER | OF_THE_ORIGIN, HOP_BY_HOP_PREFIXES)


def _for_another_origin(
    headers: Iterable[tuple[bytes, bytes]], api_key: str | None, *, with_key: bool = True
) -> Headers:
    dropped = HOP_BY_HOP | BOUND_TO_ORIGIN | (CREDENTIALS if api_key else frozenset())
    kept = _without_hop_by_hop(headers, dropped, BOUND_TO_ORIGIN_PREFIXES)
    if api_key and with_key:
        kept.append((b"authorization", b"Bearer " + api_key.encode()))
    return kept


def _without_hop_by_hop(
    headers: Iterable[tuple[bytes, bytes]], dropped: frozenset[bytes], prefixes: tuple[bytes, ...]
) -> Headers:
    headers = list(headers)
    named = {
        name.strip().lower() for key, value in headers if key.lower() == b"connection" for name in value.split(b",")
    }
    return _without(headers, dropped | named if named else dropped, prefixes)


def _without(headers: Iterable[tuple[bytes, bytes]], dropped: Container[bytes], prefixes: tuple[bytes, ...]) -> Headers:
    return [
        header
        for header in map(_lowered, headers)
        if header[0] not in dropped
        and not header[0].startswith(prefixes)
        and _is_token(header[0])
        and not _ends_the_line(header[1])
    ]


def _lowered(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """The header with its name in lower case: the very same one where it is as ASGI has it."""
    name, value = header
    if type(header) is tuple and type(name) is type(value) is bytes and name == name.lower():
        return header
    return bytes(name).lower(), bytes(value)
