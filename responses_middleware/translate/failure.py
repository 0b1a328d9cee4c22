"""Errors of a chat server, in every shape that servers use, as an UpstreamError with our names.

Shapes seen: `{"error": {...}}`, `{"error": "text"}`, `[{"error": ...}]` (Gemini), `{"object": "error", "message": ...}`
(old vLLM), `{"detail": ...}` (FastAPI), `{"message": ...}`, `{"base_resp": {"status_code": 1002}}` with HTTP 200
(MiniMax), HTML and plain text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .. import _json
from ..errors import UpstreamError

# The closed list of `Response.error.code` in the openai package; other codes stand in the `error` event alone.
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
_LONGEST_WORD = 200  # of type, code and param
_LOOKS_INTERNAL = re.compile(
    r"Traceback \(most recent call last\)|^[ \t]*File \"|<html|<!doctype|<\?xml|<body", re.IGNORECASE | re.MULTILINE
)


def find_failure(chunk: object) -> UpstreamError | None:
    """The error that a frame or a 200 body carries, or None."""
    if isinstance(chunk, list):
        return find_failure(chunk[0]) if chunk and isinstance(chunk[0], dict) and "error" in chunk[0] else None
    if not isinstance(chunk, dict):
        return None
    if error := chunk.get("error"):
        return _from_error(error, status=None)
    if choices := chunk.get("choices"):
        return _failure_in(choices)
    base = chunk.get("base_resp")
    if isinstance(base, dict) and isinstance(base.get("status_code"), int) and base["status_code"] != 0:
        status = _MINIMAX_STATUS.get(base["status_code"], 502)
        return UpstreamError(_message(base.get("status_msg")), status=status, code=_code_for(status))
    if chunk.get("object") == "error" or chunk.get("type") == "error" or chunk.get("success") is False:
        errors = chunk.get("errors")  # Cloudflare: {"success": false, "errors": [{"code": …, "message": …}]}
        return _from_error(errors[0] if isinstance(errors, list) and errors else chunk, status=None)
    if chunk.get("error_code") and isinstance(chunk.get("error_msg"), str):  # Baidu
        return _from_error({"message": chunk["error_msg"], "code": chunk["error_code"]}, status=None)
    if "detail" in chunk and "response" not in chunk:
        return _from_error(chunk, status=None)
    if isinstance(chunk.get("message"), str) and not chunk.keys() & {"usage", "response", "tool_calls", "delta"}:
        return _from_error(chunk, status=None)
    return None


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
        error = _from_error(value.get("error") or value, status=status)
    else:
        error = UpstreamError(_plain_message(body, status), status=status, code=_code_for(status))
    if error.status < 400:
        error = UpstreamError(
            "the upstream answered with a redirect, which is not followed; set its final URL", status=502
        )
    if error.type == "server_error" and error.status < 500:
        error.type = "rate_limit_error" if error.status == 429 else "invalid_request_error"
    error.headers = headers
    error.words = body.decode("utf-8", "replace")
    return error


def response_error(error: Any) -> dict[str, str]:
    """`Response.error` of a failed response; `code` is one that the openai package knows."""
    code = error.code
    if code not in RESPONSE_ERROR_CODES:
        rate_limited = error.status == 429 or "rate_limit" in f"{code} {error.type}"
        code = "rate_limit_exceeded" if rate_limited else "server_error"
    return {"code": code, "message": error.message}


def _from_error(error: Any, *, status: int | None) -> UpstreamError:
    if not isinstance(error, dict):
        return UpstreamError(_message(error), status=status, code=_code_for(status or 502))
    inner = error.get("error")
    if isinstance(inner, dict):  # {"error": {"error": {...}}}: gateways that wrap
        error = inner
    code = error.get("code")
    own_status = next(
        (value for value in (error.get("status_code"), error.get("status"), code) if _is_status(value)), None
    )
    status = status or own_status
    named, kind = _word(code), _word(error.get("type"))
    return UpstreamError(
        _message(
            error.get("message")
            or error.get("detail")
            or error.get("msg")
            or (inner if isinstance(inner, str) else None)
            or error
        ),
        status=status,
        type=kind if kind != "error" else None,
        code=named if named and not named.isdigit() else _code_for(status or 502),
        param=_location(error["detail"]) if _is_fastapi_detail(error.get("detail")) else _param(error.get("param")),
    )


def _is_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599


def _code_for(status: int) -> str | None:
    if status == 429:
        return "rate_limit_exceeded"
    return "server_error" if status >= 500 else None


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


def _location(detail: list[dict[str, Any]]) -> str | None:
    """Where FastAPI found the fault, by our names."""
    steps = detail[0].get("loc")
    if not isinstance(steps, list):
        return None
    return _param(".".join(str(step) for step in steps if isinstance(step, str | int) and step != "body"))


def _written(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else ""
    except RecursionError:
        return ""


def _word(value: object) -> str | None:
    """A name that programs read; None for anything else."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_WORD:
        return None
    return value.encode("utf-8", "replace").decode()


def _plain_message(body: bytes, status: int) -> str:
    text = body.decode("utf-8", "replace").strip()
    short = 0 < len(text) <= 300 and not _LOOKS_INTERNAL.search(text) and "<" not in text
    return text if short else f"the upstream answered with status {status}"


def _param(value: object) -> str | None:
    param = _word(value)
    if param and re.match(r"messages(?![a-zA-Z0-9_])", param):
        return "input"  # a message stands for several items, or for a part of one
    for chat_name, name in _PARAMS:
        if param and (param == chat_name or param.startswith((chat_name + ".", chat_name + "["))):
            return name + param[len(chat_name) :]
    return param
