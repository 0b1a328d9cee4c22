"""What the errors of servers become: a status before any output, and in a stream a code that agents act on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from responses_middleware.errors import OverloadedError, UpstreamError, UpstreamTimeoutError
from responses_middleware.translate.failure import find_failure, from_error_body, response_error


def in_band(error: object) -> UpstreamError:
    failure = find_failure({"error": error})
    assert failure is not None
    return failure


def refused(status: int, body: object) -> UpstreamError:
    return from_error_body(status, json.dumps(body).encode(), [])


# -- what stands in the band
IN_BAND: list[tuple[dict[str, Any], int, str | None, str]] = [
    # the error, its status before any output, its code, the code of a response that fails by it
    ({"code": "rate_limit_exceeded"}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"type": "rate_limit_error"}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"type": "rate_limit_error", "code": None}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"type": "RateLimitError"}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"code": "429"}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"code": 429}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"status": "RESOURCE_EXHAUSTED"}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"code": "too_many_requests"}, 429, "too_many_requests", "rate_limit_exceeded"),
    ({"type": "throttling_error", "param": "None", "code": "429"}, 429, "rate_limit_exceeded", "rate_limit_exceeded"),
    ({"type": "insufficient_quota"}, 429, "insufficient_quota", "insufficient_quota"),
    ({"code": "insufficient_quota", "type": "insufficient_quota"}, 429, "insufficient_quota", "insufficient_quota"),
    ({"code": "usage_not_included"}, 429, "usage_not_included", "usage_not_included"),
    ({"type": "invalid_request_error"}, 400, None, "server_error"),
    ({"code": "context_length_exceeded"}, 400, "context_length_exceeded", "context_length_exceeded"),
    ({"code": "invalid_prompt"}, 400, "invalid_prompt", "invalid_prompt"),
    ({"type": "authentication_error"}, 401, None, "server_error"),
    ({"code": "invalid_api_key"}, 401, "invalid_api_key", "server_error"),
    ({"type": "permission_error"}, 403, None, "server_error"),
    ({"type": "not_found_error"}, 404, None, "server_error"),
    ({"code": "model_not_found", "type": "invalid_request_error"}, 404, "model_not_found", "server_error"),
    ({"type": "overloaded_error"}, 503, "server_error", "server_error"),
    ({"code": 529}, 503, "server_error", "server_error"),
    ({"code": "server_is_overloaded"}, 503, "server_is_overloaded", "server_is_overloaded"),
    ({"code": "503", "type": "unavailable_error"}, 503, "server_error", "server_error"),
    ({"type": "timeout_error"}, 504, "server_error", "server_error"),
    ({"type": "api_error"}, 502, "server_error", "server_error"),
    ({"code": "oom"}, 502, "oom", "server_error"),
    ({"code": 1305}, 502, "server_error", "server_error"),
    ({"code": "500", "type": "None"}, 500, "server_error", "server_error"),
    ({"code": "server_error", "type": "rate_limit_error"}, 429, "server_error", "rate_limit_exceeded"),
    ({"code": True}, 502, "server_error", "server_error"),
    ({"code": "99999"}, 502, "server_error", "server_error"),
    ({"code": "²²²"}, 502, "server_error", "server_error"),
]


@pytest.mark.parametrize(("error", "status", "code", "failed"), IN_BAND, ids=[str(case[0]) for case in IN_BAND])
def test_an_error_in_the_band_keeps_its_meaning(
    error: dict[str, Any], status: int, code: str | None, failed: str
) -> None:
    failure = in_band({"message": "No", **error})

    assert (failure.status, failure.code) == (status, code)
    assert response_error(failure) == {"code": failed, "message": "No"}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 400}, "invalid_request_error"),
        ({"code": 429}, "rate_limit_error"),
        ({"code": 500}, "server_error"),
        ({"type": "overloaded_error"}, "overloaded_error"),
        ({"type": "server_error", "code": 400}, "invalid_request_error"),
    ],
)
def test_the_type_fits_the_status(error: dict[str, Any], kind: str) -> None:
    assert in_band({"message": "No", **error}).type == kind


def test_what_is_final_is_the_upstreams_to_say() -> None:
    codes = [response_error(error)["code"] for error in (OverloadedError("x"), UpstreamTimeoutError("x"))]

    assert codes == ["server_error", "server_error"]


# -- a prompt that is too long, in the words of servers
TOO_LONG = {
    "OpenAI": (
        "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, "
        "1000 in the completion). Please reduce the length of the messages or completion."
    ),
    "vLLM": "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
    "vLLM, since 0.9": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "SGLang": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "llama-server": "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "llama-cpp-python": "Requested tokens (5000) exceed context window of 4096",
    "LM Studio": "The number of tokens to keep from the initial prompt is greater than the context length.",
    "LiteLLM": "litellm.ContextWindowExceededError: litellm.BadRequestError: no",
    "Anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
    "Anthropic, with the answer": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "Bedrock": "Input is too long for requested model.",
    "Gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).",
    "Mistral": "Prompt contains 65673 tokens, too large for model with 32768 maximum context length",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "Kimi": "Invalid request: Your request exceeded model token limit: 8192",
    "MiniMax": "invalid params, context window exceeds limit (2013)",
    "DashScope": "Range of input length should be [1, 30720]",
    "GLM": "Prompt exceeds max length",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
    "Groq": "Please reduce the length of the messages or completion.",
    "Ollama": "prompt too long; exceeded max context length by 904 tokens",
}
SHAPES: dict[str, Any] = {
    "vLLM": lambda words: {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": 400},
    "LiteLLM": lambda words: {"error": {"message": words, "type": "None", "param": "None", "code": "400"}},
    "text": lambda words: {"error": words},
    "FastAPI": lambda words: {"detail": words},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("words", TOO_LONG.values(), ids=TOO_LONG)
def test_a_prompt_that_is_too_long_is_told_as_openai_tells_it(words: str, shape: Any) -> None:
    refusal, failure = refused(400, shape(words)), find_failure(shape(words))

    assert failure is not None
    for error in (refusal, failure):
        assert (error.status, error.code, error.param) == (400, "context_length_exceeded", "input")
        assert error.message == words
    assert response_error(failure)["code"] == "context_length_exceeded"


@pytest.mark.parametrize(
    "error",
    [
        {"type": "exceed_context_size_error", "code": 400, "n_prompt_tokens": 5000, "n_ctx": 4096},
        {"type": "ContextWindowExceededError", "code": "400"},
        {"code": "model_max_prompt_tokens_exceeded"},
        {"code": "context_length_exceeded", "param": "messages"},
    ],
)
def test_its_name_is_enough(error: dict[str, Any]) -> None:
    refusal = refused(400, {"error": {"message": "No", **error}})

    assert (refusal.code, refusal.param) == ("context_length_exceeded", "input")


def test_a_status_of_http_stays() -> None:
    assert refused(500, {"error": TOO_LONG["llama-cpp-python"]}).status == 500


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            400,
            {
                "message": "'max_tokens' or 'max_completion_tokens' is too large: 9999. This model's maximum context "
                "length is 4096 tokens and your request has 12 input tokens (9999 > 4096 - 12).",
                "param": "max_tokens",
            },
        ),
        (429, {"message": "Request too large: prompt is too long for your tier"}),
        (400, {"message": "max_tokens: 9999 > 8192, the maximum allowed number of output tokens"}),
        (404, {"message": "no model with a maximum context length"}),
    ],
)
def test_another_limit_is_no_prompt_that_is_too_long(status: int, error: dict[str, Any]) -> None:
    assert refused(status, {"error": error}).code != "context_length_exceeded"


# -- what is no word
@pytest.mark.parametrize("nothing", ["None", "null", "", None, 5])
def test_none_as_a_word_is_null(nothing: object) -> None:
    error = refused(400, {"error": {"message": "No", "type": nothing, "param": nothing, "code": nothing}})

    assert error.fields() == {"message": "No", "type": "invalid_request_error", "param": None, "code": None}


# -- shapes of errors that no answer has
OTHER_SHAPES: dict[str, tuple[dict[str, Any], int]] = {
    "a list": ({"errors": [{"message": "No"}]}, 502),
    "a list of words": ({"errors": ["No"]}, 502),
    "GLM": ({"code": 1305, "msg": "No"}, 502),
    "a code in words": ({"code": "InvalidParameter", "msg": "No", "data": None}, 400),
    "a status in words": ({"status": "error", "msg": "No"}, 502),
    "failed": ({"status": "failed", "detail": "No"}, 502),
    "error_message": ({"error_message": "No"}, 502),
    "AWS Lambda": ({"errorMessage": "No", "errorType": "Timeout"}, 502),
    "Apigee": ({"fault": {"faultstring": "No", "detail": {"errorcode": "policies.ratelimit.QuotaViolation"}}}, 502),
    "an exception": ({"type": "exception", "message": "No"}, 502),
    "an exception in words": ({"type": "exception", "exception": "No"}, 502),
    "RFC 9457": ({"type": "about:blank", "title": "Internal", "status": 503, "detail": "No"}, 503),
    "RFC 9457, short": ({"status": 500, "title": "No"}, 500),
    "FastAPI": ({"detail": "No"}, 502),
    "a status beside": ({"error": "No", "status_code": 429}, 429),
    "a code beside": ({"type": "error", "error": {"message": "No"}, "code": 404}, 404),
    "an empty choice": ({"choices": [], "code": 500, "msg": "No"}, 500),
}


@pytest.mark.parametrize(("frame", "status"), OTHER_SHAPES.values(), ids=OTHER_SHAPES)
def test_a_frame_that_says_nothing_but_an_error_is_one(frame: dict[str, Any], status: int) -> None:
    failure = find_failure(frame)

    assert failure is not None
    assert (failure.status, failure.message) == (status, "No")


@pytest.mark.parametrize(("frame", "_status"), OTHER_SHAPES.values(), ids=OTHER_SHAPES)
def test_a_refusal_may_have_any_of_these_shapes(frame: dict[str, Any], _status: int) -> None:
    error = refused(418, frame)

    assert (error.status, error.message) == (418, "No")


NO_ERRORS: list[dict[str, Any]] = [
    {"status": "ok"},
    {"status": "in_progress", "title": "x"},
    {"status": 200, "title": "x"},
    {"type": "ping"},
    {"type": "ping", "detail": None},
    {"code": 0, "msg": "success"},
    {"code": 200, "msg": "OK", "data": {}},
    {"code": "0", "msg": ""},
    {"code": "Success", "msg": "x"},
    {"msg": "x"},
    {"errors": []},
    {"errors": None, "id": "x"},
    {"error_message": "", "errorMessage": None},
    {"fault": None},
    {"code": 1305, "msg": "x", "usage": {"prompt_tokens": 1}},
    {"status": "error", "content": "x"},
    {"errors": ["x"], "choices": [{"delta": {"content": "a"}}]},
    {"detail": "x", "delta": {"content": "a"}},
    {"object": "chat.completion.chunk", "id": "x", "created": 1},
]


@pytest.mark.parametrize("frame", NO_ERRORS, ids=json.dumps)
def test_other_frames_are_none(frame: dict[str, Any]) -> None:
    assert find_failure(frame) is None
