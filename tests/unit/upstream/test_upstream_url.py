from __future__ import annotations

import pytest

from responses_middleware.errors import ConfigurationError
from responses_middleware.options import Limits
from responses_middleware.upstream.http import HttpUpstream
from responses_middleware.upstream.url import parse_base_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://host:8000/v1", "http://host:8000/v1/models"),
        ("http://host:8000/v1//", "http://host:8000/v1/models"),
        ("https://host", "https://host/models"),
        ("https://[::1]:80/a/b/", "https://[::1]:80/a/b/models"),
        ("https://host/v1?api-version=1", "https://host/v1/models?api-version=1"),
    ],
)
def test_a_path_is_joined_to_the_base(url: str, expected: str) -> None:
    assert parse_base_url(url).join("/models") == expected


def test_the_query_of_the_base_comes_before_the_query_of_the_request() -> None:
    assert parse_base_url("http://h/v1?a=1").join("/models", "b=2") == "http://h/v1/models?a=1&b=2"


def test_a_path_beside_the_base_replaces_the_prefix() -> None:
    assert parse_base_url("http://h/api/v1").beside("/v1", "/health") == "http://h/api/health"


def test_nothing_is_beside_a_base_without_the_prefix() -> None:
    assert parse_base_url("http://h/openai").beside("/v1", "/health") is None


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("localhost:8000/v1", "try 'http://localhost:8000/v1'"),
        ("localhost/v1", "try 'http://localhost/v1'"),
        ("ftp://host/v1", "try 'http://host/v1'"),
        ("", "must begin with http"),
        ("http:///v1", "has no host"),
        ("http://host/v1#a", "leave out the '#'"),
        ("http://host/v1/chat/completions", "try 'http://host/v1'"),
        ("http://host/v1/responses/", "try 'http://host/v1'"),
        ("http://user:secret@host/v1", "pass api_key"),
        ("http://host:x/v1", "cannot be read"),
        ("http://ho st/v1", "blank"),
        ("http://host/v1\n", "blank"),
    ],
)
def test_a_wrong_url_says_how_to_write_it(url: str, hint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        HttpUpstream(url, limits=Limits())

    assert hint in caught.value.message
    assert "secret" not in caught.value.message


def test_a_key_with_a_line_end_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigurationError, match="line break") as caught:
        HttpUpstream("http://host/v1", api_key="sk-1\n", limits=Limits())

    assert "sk-1" not in caught.value.message


def test_the_key_has_no_repr() -> None:
    assert "sk-1" not in repr(HttpUpstream("http://host/v1", api_key="sk-1", limits=Limits()))
