from __future__ import annotations

import json
import time
from typing import Any

import pytest

from responses_middleware.errors import UpstreamError
from responses_middleware.translate.failure import find_failure, from_error_body, named_failure, response_error

GENERIC = "the upstream reported an error"
OPENAI = {
    "error": {"message": "No", "type": "invalid_request_error", "param": "messages[0].content", "code": "bad_thing"}
}


def failure_of(chunk: object) -> UpstreamError:
    failure = find_failure(chunk)
    assert failure is not None
    return failure


# -- in a frame or in a 200 body
SHAPES: dict[str, tuple[object, int, str | None, str]] = {
    "OpenAI": (OPENAI, 400, "bad_thing", "No"),
    "text": ({"error": "No"}, 502, "server_error", "No"),
    "a list, as Gemini's": ([OPENAI], 400, "bad_thing", "No"),
    "a status as code": ({"error": {"code": 429, "message": "No"}}, 429, "rate_limit_exceeded", "No"),
    "a status": ({"error": {"status": 503, "message": "No"}}, 503, "server_error", "No"),
    "a status as text": ({"error": {"code": "429", "message": "No"}}, 429, "rate_limit_exceeded", "No"),
    "OpenRouter, in a chunk": ({**OPENAI, "choices": [{"delta": {"content": ""}}]}, 400, "bad_thing", "No"),
    "wrapped by a gateway": ({"error": {"error": {"message": "No", "code": 404}}}, 404, None, "No"),
    "wrapped as text": ({"error": {"error": "No"}}, 502, "server_error", "No"),
    "old vLLM": ({"object": "error", "message": "No", "code": 400}, 400, None, "No"),
    "Anthropic": ({"type": "error", "error": {"type": "overloaded_error", "message": "No"}}, 503, "server_error", "No"),
    "type error alone": ({"type": "error", "message": "No"}, 502, "server_error", "No"),
    "FastAPI": ({"detail": "No"}, 502, "server_error", "No"),
    "FastAPI, validation": ({"detail": [{"loc": ["body"], "msg": "No", "type": "x"}]}, 502, "server_error", "No"),
    "a bare message": ({"message": "No"}, 502, "server_error", "No"),
    "msg": ({"error": {"msg": "No"}}, 502, "server_error", "No"),
    "MiniMax": ({"base_resp": {"status_code": 1002, "status_msg": "No"}}, 429, "rate_limit_exceeded", "No"),
    "MiniMax, unknown": ({"base_resp": {"status_code": 7, "status_msg": "No"}}, 502, "server_error", "No"),
    "in a choice": ({"choices": [{"error": {"message": "No", "code": 429}}]}, 429, "rate_limit_exceeded", "No"),
    "in a later choice": ({"choices": [{"delta": {}}, {"error": "No"}]}, 502, "server_error", "No"),
    "in a delta": ({"choices": [{"delta": {"error": {"message": "No", "code": "bad"}}}]}, 502, "bad", "No"),
    "no success": ({"success": False, "message": "No"}, 502, "server_error", "No"),
    "Cloudflare": ({"success": False, "errors": [{"code": 5007, "message": "No"}]}, 502, "server_error", "No"),
    "Baidu": ({"error_code": 18, "error_msg": "No"}, 502, "server_error", "No"),
    "an unknown object": ({"error": {"why": "No"}}, 502, "server_error", '{"why":"No"}'),
    "a list of words": ({"error": ["No"]}, 502, "server_error", '["No"]'),
    "a small number": ({"error": 1e-8}, 502, "server_error", "1e-08"),
    "true": ({"error": True}, 502, "server_error", "true"),
    "a message that is an object": ({"error": {"message": {"message": "No"}}}, 502, "server_error", "No"),
}


@pytest.mark.parametrize(("chunk", "status", "code", "message"), SHAPES.values(), ids=SHAPES)
def test_errors_are_found_in_every_shape(chunk: object, status: int, code: str | None, message: str) -> None:
    failure = failure_of(chunk)

    assert (failure.status, failure.code, failure.message) == (status, code, message)


NO_ERRORS = {
    "a chunk": {"choices": [{"delta": {"content": "a"}}]},
    "error null": {"error": None, "choices": []},
    "an empty error": {"error": "", "choices": []},
    "MiniMax, all well": {"base_resp": {"status_code": 0, "status_msg": ""}},
    "MiniMax, beside choices": {"base_resp": {"status_code": 7}, "choices": [{"delta": {}}]},
    "a choice with error null": {"choices": [{"error": None, "delta": {"error": None, "content": "a"}}]},
    "choices that are none": {"choices": "error"},
    "a success": {"success": True, "errors": [], "response": "a"},
    "Baidu, all well": {"error_code": 0, "error_msg": "", "result": "a"},
    "a message object": {"message": {"content": "a"}},
    "Ollama's own form": {"message": "a", "usage": {}},
    "Cloudflare's own form": {"response": "a", "detail": "x"},
    "usage alone": {"usage": {"prompt_tokens": 1}},
    "an empty list": [],
    "a list of chunks": [{"choices": []}],
    "text": "error",
    "null": None,
}


@pytest.mark.parametrize("chunk", NO_ERRORS.values(), ids=NO_ERRORS)
def test_what_is_no_error_is_none(chunk: object) -> None:
    assert find_failure(chunk) is None


@pytest.mark.parametrize("payload", [{"error": {"message": "No"}}, {"message": "No"}, {"code": "x", "msg": "No"}, "No"])
def test_what_its_server_named_an_error_is_one_whatever_it_holds(payload: object) -> None:
    assert named_failure(payload).message == "No"


@pytest.mark.parametrize(
    ("chat", "ours"),
    [
        ("messages", "input"),
        ("messages[2].content", "input"),  # a message stands for several items
        ("max_tokens", "max_output_tokens"),
        ("max_completion_tokens", "max_output_tokens"),
        ("response_format.json_schema", "text.format.json_schema"),
        ("reasoning_effort", "reasoning.effort"),
        ("messages_of_mine", "messages_of_mine"),
        ("temperature", "temperature"),
        ("", None),
        (5, None),
        (None, None),
    ],
)
def test_the_param_has_the_name_that_the_client_knows(chat: object, ours: str | None) -> None:
    assert failure_of({"error": {"message": "No", "param": chat}}).param == ours


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "x.py"',
        'No\n  File "/srv/x.py", line 3',
        "<html><body>502</body></html>",
        "<!DOCTYPE html>",
        '<?xml version="1.0"?>',
        "  ",
        "",
    ],
)
def test_pages_and_tracebacks_are_not_passed_on(text: str) -> None:
    assert failure_of({"error": {"message": text}}).message in (GENERIC, '{"message":""}')


def test_a_long_message_is_cut() -> None:
    assert len(failure_of({"error": "x" * 100_000}).message) == 2000


def test_long_words_of_an_error_are_left_out() -> None:
    failure = failure_of(
        {"error": {"message": "No", "type": "t" * 100_000, "code": "c" * 100_000, "param": "p" * 100_000}}
    )

    assert failure.fields() == {"message": "No", "type": "server_error", "code": "server_error", "param": None}


@pytest.mark.parametrize("name", ["message", "type", "code", "param"])
def test_lone_surrogates_are_replaced(name: str) -> None:
    failure = failure_of({"error": {"message": "No", name: "a\ud800b"}})

    assert failure.fields()[name] == "a?b"


@pytest.mark.parametrize("value", [{}, [], 5, 1.5, True, {"a": 1}, "x", float("nan"), 10**400])
@pytest.mark.parametrize("name", ["message", "type", "code", "param", "status", "status_code", "error", "detail"])
def test_any_member_may_hold_anything(name: str, value: Any) -> None:
    fields = failure_of({"error": {"a": 1, name: value}}).fields()

    assert all(isinstance(fields[name], str | None) for name in fields)
    assert fields["message"]


def test_an_error_nested_too_deeply_is_an_error_all_the_same() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert failure_of({"error": {"message": deep}}).message == GENERIC


@pytest.mark.parametrize("text", ["\n" * 60_000, "\n \t" * 20_000, "<" * 60_000, " " * 60_000 + "File"])
def test_looking_for_pages_and_tracebacks_is_linear(text: str) -> None:
    began = time.process_time()

    failure_of({"error": "x" + text})
    from_error_body(500, text.encode(), [])

    assert time.process_time() - began < 2


# -- an HTTP error
def body_error(status: int, body: object) -> UpstreamError:
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    return from_error_body(status, written, [(b"retry-after", b"7")])


def test_an_error_body_gives_status_words_and_headers() -> None:
    error = body_error(400, OPENAI)

    assert error.status == 400
    assert error.headers == [(b"retry-after", b"7")]
    assert error.fields() == {
        "message": "No",
        "type": "invalid_request_error",
        "param": "input",
        "code": "bad_thing",
    }


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (401, "invalid_request_error", None),
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (500, "server_error", "server_error"),
        (503, "server_error", "server_error"),
    ],
)
@pytest.mark.parametrize(
    "body", [b"", b"Not now", b"<html>", {"error": "No"}, {"detail": "No"}, [], [{"error": {}}], 5, {}]
)
def test_the_status_tells_what_the_body_does_not(body: object, status: int, kind: str, code: str | None) -> None:
    error = body_error(status, body)

    assert (error.status, error.type, error.code) == (status, kind, code)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"Not now", "Not now"),
        (b"", "the upstream answered with status 503"),
        (b"<html>", "the upstream answered with status 503"),
        (b"x" * 301, "the upstream answered with status 503"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ([OPENAI], "No"),
        ({"message": "No"}, "No"),
    ],
)
def test_words_that_are_meant_for_a_client_are_kept(body: object, message: str) -> None:
    assert body_error(503, body).message == message


def test_a_redirect_is_the_operators_to_mend() -> None:
    error = body_error(302, b"")

    assert error.status == 502
    assert "redirect" in error.message


# -- in the failed response
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UpstreamError("x", code="invalid_prompt"), "invalid_prompt"),
        (UpstreamError("x", code="made_up"), "server_error"),
        (UpstreamError("x"), "server_error"),
        (UpstreamError("x", status=429), "rate_limit_exceeded"),
        (UpstreamError("x", code="rate_limited", type="rate_limit_error"), "rate_limit_exceeded"),
    ],
)
def test_a_failed_response_has_a_code_that_clients_know(error: UpstreamError, code: str) -> None:
    assert response_error(error) == {"code": code, "message": "x"}


@pytest.mark.parametrize("cut", [b'{"error"', b'{"error": {"message": "no', b'[{"error":'])
def test_json_that_was_cut_is_no_message(cut: bytes) -> None:
    assert from_error_body(429, cut, []).message == "the upstream answered with status 429"
