from __future__ import annotations

import pytest

from responses_middleware.upstream.headers import (
    answer_headers,
    inner_request_headers,
    outbound_request_headers,
    relayed_answer_headers,
    relayed_request_headers,
)


def names(headers: list[tuple[bytes, bytes]]) -> set[bytes]:
    return {name for name, _ in headers}


def test_the_inner_request_keeps_credentials_cookies_and_trace_headers() -> None:
    headers = [(b"authorization", b"Bearer c"), (b"cookie", b"a=1"), (b"traceparent", b"00-1"), (b"host", b"app")]

    inner = inner_request_headers(headers, 5)

    assert inner[:4] == headers


def test_the_inner_request_describes_its_own_body() -> None:
    headers = [
        (b"Content-Length", b"999"),
        (b"content-type", b"text/plain"),
        (b"content-encoding", b"gzip"),
        (b"transfer-encoding", b"chunked"),
        (b"accept-encoding", b"br"),
        (b"expect", b"100-continue"),
    ]

    inner = inner_request_headers(headers, 5)

    assert inner == [(b"content-type", b"application/json"), (b"content-length", b"5")]


def test_the_inner_request_of_a_websocket_has_no_handshake() -> None:
    headers = [(b"connection", b"upgrade"), (b"upgrade", b"websocket"), (b"sec-websocket-key", b"x"), (b"a", b"b")]

    inner = inner_request_headers(headers, 5)

    assert names(inner) == {b"a", b"content-type", b"content-length"}


@pytest.mark.parametrize(
    "name",
    [
        b"Cookie",
        b"host",
        b"origin",
        b"referer",
        b"x-forwarded-for",
        b"x-forwarded-host",
        b"forwarded",
        b"via",
        b"x-real-ip",
        b"sec-fetch-site",
        b"content-language",
        b"expect",
        b"te",
        b"upgrade",
        b"keep-alive",
        b"proxy-authorization",
        b"proxy-connection",
        b"http2-settings",
        b":authority",
    ],
)
def test_another_origin_does_not_get_what_is_ours(name: bytes) -> None:
    outbound = outbound_request_headers([(name, b"x"), (b"x-kept", b"y")], 5, None)

    assert outbound == [
        (b"x-kept", b"y"),
        (b"content-type", b"application/json"),
        (b"content-length", b"5"),
        (b"accept-encoding", b"identity"),
    ]


def test_headers_named_by_connection_stay_behind() -> None:
    headers = [(b"connection", b"close, X-Hop"), (b"x-hop", b"1"), (b"x-kept", b"2")]

    assert b"x-hop" not in names(outbound_request_headers(headers, 5, None))
    assert b"x-hop" not in names(answer_headers(headers, same_origin=True))


def test_without_a_key_the_credential_of_the_client_goes_on() -> None:
    outbound = outbound_request_headers([(b"authorization", b"Bearer client")], 5, None)

    assert (b"authorization", b"Bearer client") in outbound


def test_a_key_takes_the_place_of_every_credential() -> None:
    headers = [(b"Authorization", b"Bearer client"), (b"api-key", b"client"), (b"x-api-key", b"client")]

    outbound = outbound_request_headers(headers, 5, "ours")

    assert [value for name, value in outbound if name.endswith((b"authorization", b"api-key"))] == [b"Bearer ours"]


@pytest.mark.parametrize("value", [b"a\r\nx: y", b"a\ny", b"a\ry", b"a\0y"])
def test_a_value_that_ends_the_line_is_dropped(value: bytes) -> None:
    headers = [(b"x-bad", value)]

    assert b"x-bad" not in names(inner_request_headers(headers, 5))
    assert b"x-bad" not in names(outbound_request_headers(headers, 5, None))
    assert answer_headers(headers, same_origin=True) == []
    assert relayed_answer_headers(headers) == []


def test_a_name_that_is_none_is_dropped() -> None:
    assert answer_headers([(b"x: y\r\nz", b"1"), (b"", b"2"), (b"a b", b"3")], same_origin=True) == []


def test_the_answer_keeps_what_clients_act_on() -> None:
    headers = [(b"X-Request-Id", b"r"), (b"retry-after", b"3"), (b"x-ratelimit-remaining-tokens", b"9")]

    kept = answer_headers(headers, same_origin=False)

    assert kept == [(name.lower(), value) for name, value in headers]


@pytest.mark.parametrize(
    "name",
    [
        b"content-length",
        b"content-type",
        b"content-encoding",
        b"content-md5",
        b"digest",
        b"etag",
        b"last-modified",
        b"accept-ranges",
        b"content-range",
        b"server",
        b"date",
        b"cache-control",
        b"x-accel-buffering",
        b"transfer-encoding",
        b"proxy-authenticate",
        b"trailer",
    ],
)
def test_the_answer_loses_what_described_another_body_or_hop(name: bytes) -> None:
    assert answer_headers([(name, b"x")], same_origin=True) == []


def test_both_cookies_of_the_wrapped_app_reach_the_client() -> None:
    headers = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")]

    assert answer_headers(headers, same_origin=True) == headers


@pytest.mark.parametrize("name", [b"set-cookie", b"strict-transport-security", b"alt-svc"])
def test_what_another_origin_says_of_itself_does_not_reach_the_client(name: bytes) -> None:
    assert answer_headers([(name, b"x")], same_origin=False) == []
    assert relayed_answer_headers([(name, b"x")]) == []


def test_a_relayed_request_keeps_its_body_described() -> None:
    headers = [(b"content-type", b"a/b"), (b"content-length", b"3"), (b"accept-encoding", b"gzip"), (b"cookie", b"x")]

    relayed = relayed_request_headers(headers, None)

    assert relayed == headers[:3]


def test_a_relayed_request_asks_for_no_encoding_that_the_client_did_not_ask_for() -> None:
    assert relayed_request_headers([], None) == [(b"accept-encoding", b"identity")]


def test_a_relayed_answer_keeps_its_body_described() -> None:
    headers = [(b"content-type", b"a/b"), (b"content-encoding", b"gzip"), (b"content-length", b"3"), (b"etag", b"e")]

    assert relayed_answer_headers([*headers, (b"server", b"s"), (b"connection", b"close")]) == headers
