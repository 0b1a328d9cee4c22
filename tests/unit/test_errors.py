"""Errors know how they are told: the four keys, the status, the type, the code."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from responses_middleware import errors
from responses_middleware.errors import (
    ConfigurationError,
    InvalidRequestError,
    InvalidTypeError,
    InvalidValueError,
    MethodNotAllowedError,
    MissingParameterError,
    OverloadedError,
    PreviousResponseNotFoundError,
    ResponsesError,
    UnknownParameterError,
    UnsupportedParameterError,
    UnsupportedValueError,
    UpstreamConnectionError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeoutError,
)

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ResponsesError)]

TOLD: list[tuple[ResponsesError, int, str, str | None, str | None]] = [
    # error, status, type, code, param
    (ResponsesError("m"), 500, "server_error", None, None),
    (InvalidRequestError("m", param="input[0]"), 400, "invalid_request_error", None, "input[0]"),
    (MissingParameterError("model"), 400, "invalid_request_error", "missing_required_parameter", "model"),
    (InvalidTypeError("a", expected="x", value=1), 400, "invalid_request_error", "invalid_type", "a"),
    (InvalidValueError("m", param="a"), 400, "invalid_request_error", "invalid_value", "a"),
    (InvalidValueError("m", param="a", code="c"), 400, "invalid_request_error", "c", "a"),
    (UnknownParameterError("a"), 400, "invalid_request_error", "unknown_parameter", "a"),
    (UnsupportedParameterError("m", param="a"), 400, "invalid_request_error", "unsupported_parameter", "a"),
    (UnsupportedValueError("m", param="a"), 400, "invalid_request_error", "unsupported_value", "a"),
    (
        PreviousResponseNotFoundError("resp_1"),
        400,
        "invalid_request_error",
        "previous_response_not_found",
        "previous_response_id",
    ),
    (errors.InvalidEncryptedContentError("m"), 400, "invalid_request_error", "invalid_encrypted_content", None),
    (errors.NotFoundError("m"), 404, "invalid_request_error", None, None),
    (MethodNotAllowedError("PUT", "/x", allowed="POST"), 405, "invalid_request_error", None, None),
    (errors.RequestTimeoutError("m"), 408, "invalid_request_error", None, None),
    (errors.RequestTooLargeError(1000), 413, "invalid_request_error", None, None),
    (errors.UnsupportedEncodingError("m"), 415, "invalid_request_error", None, None),
    (errors.UpgradeRequiredError("m"), 426, "invalid_request_error", None, None),
    (UpstreamError("m"), 502, "server_error", None, None),
    (UpstreamError("m", status=429, type="t", code="c", param="p"), 429, "t", "c", "p"),
    (UpstreamConnectionError("m"), 502, "server_error", None, None),
    (UpstreamProtocolError("m"), 502, "server_error", None, None),
    (UpstreamTimeoutError("m"), 504, "server_error", "timeout", None),
    (errors.StoreError("m"), 500, "server_error", None, None),
    (OverloadedError("m"), 503, "server_error", "server_is_overloaded", None),
]


@pytest.mark.parametrize(("error", "status", "type", "code", "param"), TOLD, ids=lambda value: type(value).__name__)
def test_an_error_is_told_with_its_four_keys(
    error: ResponsesError, status: int, type: str, code: str | None, param: str | None
) -> None:
    assert error.status == status
    assert list(error.body()) == ["error"]
    assert error.body()["error"] == {"message": error.message, "type": type, "param": param, "code": code}


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "an integer"),
        (1.5, "a decimal"),
        ("x", "a string"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_a_wrong_type_is_named_as_json_names_it(value: Any, named: str) -> None:
    error = InvalidTypeError("input", expected="a string", value=value)

    assert error.message == f"Invalid type for 'input': expected a string, but got {named} instead."


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MissingParameterError("input[1].text"), "Missing required parameter: 'input[1].text'."),
        (UnknownParameterError("a", hint=" Use 'b'."), "Unknown parameter: 'a'. Use 'b'."),
        (PreviousResponseNotFoundError("resp_1"), "Previous response with id 'resp_1' not found."),
        (MethodNotAllowedError("PUT", "/x", allowed="GET"), "Method PUT is not allowed for /x; use GET."),
    ],
)
def test_the_words_are_those_of_openai(error: ResponsesError, message: str) -> None:
    assert (error.message, str(error)) == (message, message)


def test_a_configuration_error_is_also_a_value_error() -> None:
    assert issubclass(ConfigurationError, ValueError)


def test_headers_of_two_upstream_errors_are_their_own() -> None:
    first, second = UpstreamError("m"), UpstreamError("m")
    first.headers.append((b"retry-after", b"1"))

    assert second.headers == []


def test_overrides_of_an_upstream_error_stay_its_own() -> None:
    UpstreamError("m", status=429, type="t", code="c")

    assert (UpstreamError("m").status, UpstreamError("m").code) == (502, None)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_tree_of_the_docstring_shows_every_class_where_it_stands(kind: type[ResponsesError]) -> None:
    tree = errors.__doc__ or ""
    lines = {found[2]: len(found[1]) // 4 for found in re.finditer(r"(?m)^([│├└─ ]*)(\w+Error)\b", tree)}

    bases = [base for base in kind.__mro__[1:] if issubclass(base, ResponsesError)]
    assert lines[kind.__name__] == len(bases)
