"""Errors of a chat server, in every shape that servers use, as an UpstreamError with our names.

Shapes seen: `{"error": {...}}`, `{"error": "text"}`, `[{"error": ...}]` (Gemini), `{"object": "error", "message": ...}`
(old vLLM), `{"detail": ...}` (FastAPI), `{"message": ...}`, `{"errors": [...]}` (Cloudflare), `{"code": 1305, "msg":
...}` (GLM), `{"status": 500, "title": ...}` (RFC 9457), `{"fault": {"faultstring": ...}}` (Apigee),
`{"errorMessage": ...}` (AWS Lambda), `{"base_resp": {"status_code": 1002}}` with HTTP 200 (MiniMax), HTML and plain
text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .. import _json
from ..errors import ResponsesError, UpstreamError
from .error_codes import FINAL_CODES, OVERFLOW, RATE_LIMIT, code_of, is_overflow, is_rate_limit, status_of

# The closed list of `Response.error.code` in the openai package; of other codes, those of FINAL_CODES may stand there,
# and all in the `error` event.
RESPONSE_ERROR_CODES = frozenset(
    {
        "bio_policy",
        "data_residency_mismatch",
        "empty_image_file",
        "failed_to_download_image",
        "image_content_policy_violation",
        "image_file_not_found",
        "image_file_too_large",
        "image_parse_error",
        "image_too_large",
        "image_too_small",
        "invalid_base64_image",
        "invalid_image",
        "invalid_image_format",
        "invalid_image_mode",
        "invalid_image_url",
        "invalid_prompt",
        "misalignment_policy_violation",
        "rate_limit_exceeded",
        "server_error",
        "unsupported_image_media_type",
        "vector_store_timeout",
    }
)

# Chat names in a `param` → the names that the client knows.
_PARAMS = (
    ("max_completion_tokens", "max_output_tokens"),
    ("max_tokens", "max_output_tokens"),
    ("response_format", "text.format"),
    ("reasoning_effort", "reasoning.effort"),
)
_MINIMAX_STATUS = {1002: 429, 1004: 401, 1008: 402, 1027: 400, 1039: 400, 2013: 400}
_LONGEST_MESSAGE = 2000
_LONGEST_REFUSAL = 20_000  # characters of what a refusal may teach; vLLM lists an entry for each fault
_LONGEST_WORD = 200  # of type, code and param
_NO_WORDS = frozenset({"None", "null"})  # LiteLLM writes str(None)
# Where the words of an error stand, the best first.
_WORDS = (
    *("message", "faultstring", "detail", "msg", "error_message", "errorMessage", "error_msg", "title", "exception"),
)
_OF_AN_ANSWER = ("delta", "content", "output", "response", "tool_calls", "usage")
_FAILED = frozenset({"error", "fail", "failed", "failure"})
_ALL_WELL = frozenset({"0", "200", "ok", "success"})  # as `code`, in lower case
# Steps of a path after which everything is the client's own.
_OF_THE_CLIENT = frozenset({"arguments", "content", "metadata", "parameters", "schema"})
_LOOKS_INTERNAL = re.compile(
    r"Traceback \(most recent call last\)|^[ \t]*File \"|<html|<!doctype|<\?xml|<body", re.IGNORECASE | re.MULTILINE
)


def find_failure(chunk: object) -> UpstreamError | None:
    """The error that a frame or a 200 body carries, or None."""
    if isinstance(chunk, list):
        return find_failure(chunk[0]) if chunk and isinstance(chunk[0], dict) and "error" in chunk[0] else None
    if not isinstance(chunk, dict):
        return None
    if chunk.get("error"):
        return _from_error(_unwrapped(chunk), status=None)
    if choices := chunk.get("choices"):
        return _failure_in(choices)
    base = chunk.get("base_resp")
    if isinstance(base, dict) and isinstance(base.get("status_code"), int) and base["status_code"] != 0:
        words = {"message": base.get("status_msg") or " "}
        return _from_error(words, status=_MINIMAX_STATUS.get(base["status_code"]))
    if chunk.get("object") == "error" or chunk.get("type") == "error" or chunk.get("success") is False:
        return _from_error(_unwrapped(chunk), status=None)
    if chunk.get("error_code") and isinstance(chunk.get("error_msg"), str):  # Baidu
        return _from_error({"message": chunk["error_msg"], "code": chunk["error_code"]}, status=None)
    if all(chunk.get(name) is None for name in _OF_AN_ANSWER) and _is_error(chunk):
        return _from_error(_unwrapped(chunk), status=None)
    return None


def _is_error(chunk: dict[str, Any]) -> bool:
    """Whether a frame that says nothing of an answer says that there is none."""
    code, state = chunk.get("code"), chunk.get("status")
    return bool(
        chunk.get("detail") is not None
        or isinstance(chunk.get("message"), str)
        or any(isinstance(chunk.get(name), str) and chunk[name] for name in ("error_message", "errorMessage"))
        or (isinstance(chunk.get("errors"), list) and chunk["errors"])
        or isinstance(chunk.get("fault"), dict)
        or chunk.get("type") == "exception"
        or (isinstance(state, str) and state.lower() in _FAILED)
        or _is_status(state)
        or (code and str(code).lower() not in _ALL_WELL and isinstance(chunk.get("msg"), str))
    )


def _unwrapped(body: dict[str, Any]) -> Any:
    """The error that stands in a body, with the status that stands beside it."""
    errors = body.get("errors")  # Cloudflare: {"success": false, "errors": [{"code": …, "message": …}]}
    inner = body.get("error") or body.get("fault") or (errors[0] if isinstance(errors, list) and errors else None)
    if inner is None:
        return body
    beside = {name: body[name] for name in ("status", "status_code", "code") if _is_status(body.get(name))}
    if isinstance(inner, dict):
        return {**beside, **{name: value for name, value in inner.items() if value is not None}}
    return {**beside, "message": inner if isinstance(inner, str) else _written(inner)}


def named_failure(payload: object) -> UpstreamError:
    """The error in a frame that its server named `error`, whatever it holds."""
    return find_failure(payload) or _from_error(payload, status=None)


def _failure_in(choices: Any) -> UpstreamError | None:
    """An error inside a choice or its delta."""
    for choice in choices if isinstance(choices, list) else ():
        delta = choice.get("delta") if isinstance(choice, dict) else None
        for place in (choice, delta):
            if isinstance(place, dict) and (error := place.get("error")):
                return _from_error(error, status=None)
    return None


def from_error_body(status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> UpstreamError:
    """The answer of a chat server that refused: its status, and its words if they are meant for a client.

    Args:
        status: the HTTP status, 300 or more.
        body: the body as far as it was read; may be empty or cut.
        headers: those that the client shall get with the error, Retry-After above all.
    """
    try:
        value = _json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        error = _from_error(_unwrapped(value), status=status)
    else:
        error = _from_error({"message": _plain_message(body, status)}, status=status)
        error.words = _plain_refusal(body)
    if error.status < 400:
        error = UpstreamError(
            "the upstream answered with a redirect, which is not followed; set its final URL", status=502
        )
    error.headers = headers
    return error


def response_error(error: ResponsesError) -> dict[str, str]:
    """`Response.error` of a failed response; `code` is one that clients know."""
    code = error.code
    is_known = code in RESPONSE_ERROR_CODES and code != "server_error"
    # What is final is the upstream's to say: our own overload passes.
    if code and (is_known or (isinstance(error, UpstreamError) and code in FINAL_CODES)):
        return {"code": code, "message": error.message}
    rate_limited = error.status == 429 or is_rate_limit(code) or is_rate_limit(error.type)
    return {"code": RATE_LIMIT if rate_limited else "server_error", "message": error.message}


def _from_error(error: Any, *, status: int | None) -> UpstreamError:
    """An error object as ours.

    Args:
        status: of the HTTP answer; None: the error stands in the band, and its own words tell.
    """
    if not isinstance(error, dict):
        error = {"message": error if isinstance(error, str) else _written(error)}
    inner = error.get("error")
    if isinstance(inner, dict):  # {"error": {"error": {...}}}: gateways that wrap
        error = inner
    said = next((error[name] for name in _WORDS if error.get(name)), inner if isinstance(inner, str) else error)
    code, kind, message = _code(error.get("code")), _kind(error.get("type")), _message(said)
    told = status or status_of(*(error.get(name) for name in ("status_code", "status", "code", "type")))
    overflow = is_overflow(message, told or 502, code, kind)
    known = told or (400 if overflow else 502)
    failure = UpstreamError(
        message,
        status=known,
        type=kind if kind not in (None, "server_error") or known >= 500 else None,
        code=OVERFLOW if overflow else code or code_of(kind, known),
        param="input" if overflow else _location(said) or _param(error.get("param")),
    )
    if known < 500 and failure.type == "server_error":
        failure.type = "rate_limit_error" if known == 429 else "invalid_request_error"
    failure.words = _refusal(said, error.get("param"))
    return failure


def _is_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599


def _code(value: object) -> str | None:
    """A code that says more than a status."""
    word = _word(value)
    return None if word is None or word.isdigit() else word


def _kind(value: object) -> str | None:
    """The type of an error; not that it is one."""
    word = _word(value)
    return None if word in ("error", "exception") else word


def _message(value: Any) -> str:
    """Words for the client: an upstream's text as it is, anything else as JSON, never a traceback or a page."""
    if _is_fastapi_detail(value):
        value = value[0]["msg"]
    if isinstance(value, dict) and isinstance(value.get("message"), str):
        value = value["message"]
    text = value if isinstance(value, str) else _written(value)
    if not text.strip() or _LOOKS_INTERNAL.search(text):
        return "the upstream reported an error"
    return text.encode("utf-8", "replace").decode()[:_LONGEST_MESSAGE]


def _is_fastapi_detail(value: Any) -> bool:
    """Whether it is `[{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]`."""
    return (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict) and isinstance(value[0].get("msg"), str)
    )


def _location(detail: Any) -> str | None:
    """Where FastAPI found the fault, by our names."""
    return _param(".".join(_steps(detail[0]))) if _is_fastapi_detail(detail) else None


def _steps(fault: dict[str, Any]) -> list[str]:
    steps = fault.get("loc")
    listed = steps if isinstance(steps, list) else []
    return [str(step) for step in listed if isinstance(step, str | int) and step != "body"]


def _refusal(said: Any, param: object) -> str:
    """What the server itself says of a request that it refuses, a line for each fault: never the `input` that servers
    echo."""
    if _is_fastapi_detail(said):
        faults = [fault for fault in said if isinstance(fault, dict) and isinstance(fault.get("msg"), str)]
        return "\n".join(f"{_own_path(_steps(fault))}: {fault['msg']}" for fault in faults)[:_LONGEST_REFUSAL]
    if isinstance(said, dict):
        said = said.get("message")
    place = _own_path(re.split(r"[.\[\]]+", param)) if (param := _word(param)) else ""
    return f"{place}: {said}"[:_LONGEST_REFUSAL].removeprefix(": ") if isinstance(said, str) else place


def _own_path(steps: list[str]) -> str:
    """A path up to where the client's own names begin."""
    ends = next((place for place, step in enumerate(steps, 1) if step in _OF_THE_CLIENT), len(steps))
    return ".".join(steps[:ends])


def _written(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else ""
    except RecursionError:
        return ""


def _word(value: object) -> str | None:
    """A name that programs read; None for anything else."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_WORD or value in _NO_WORDS:
        return None
    return value.encode("utf-8", "replace").decode()


def _plain_message(body: bytes, status: int) -> str:
    text = body.decode("utf-8", "replace").strip()
    is_cut_json = text[:1] in ("{", "[")
    is_word = 0 < len(text) <= 300 and not is_cut_json and not _LOOKS_INTERNAL.search(text) and "<" not in text
    return text if is_word else f"the upstream answered with status {status}"


def _plain_refusal(body: bytes) -> str:
    """The text of a refusal that is no JSON; JSON that was cut may hold the whole request."""
    text = body.decode("utf-8", "replace").strip()
    return "" if text[:1] in ("{", "[") else text[-_LONGEST_REFUSAL:]


def _param(value: object) -> str | None:
    param = _word(value)
    if param and re.match(r"messages(?![a-zA-Z0-9_])", param):
        return "input"  # a message stands for several items, or for a part of one
    for chat_name, name in _PARAMS:
        if param and (param == chat_name or param.startswith((chat_name + ".", chat_name + "["))):
            return name + param[len(chat_name) :]
    return param
