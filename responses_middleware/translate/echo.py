"""The Response object before anything is known of the answer: what it echoes of the request, and nulls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_REDACTED = "<redacted>"  # as OpenAI shows them
_SECRETS = ("authorization", "headers")


def to_response(request: Mapping[str, Any], *, response_id: str, created_at: int, stores: bool) -> dict[str, Any]:
    """All members that OpenAI and Open Responses require, in OpenAI's order; `output` and `usage` are filled by the
    stream.

    Args:
        request: the validated request; null means absent.
        response_id: ours, `resp_…`.
        created_at: seconds since 1970.
        stores: whether the response will be kept, as `store` says to the client.
    """
    text, reasoning = request.get("text") or {}, request.get("reasoning") or {}
    response = {
        "id": response_id,
        "object": "response",
        "created_at": created_at,
        "status": "in_progress",
        "background": bool(request.get("background")),
        "completed_at": None,
        "error": None,
        "frequency_penalty": 0.0,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "max_tool_calls": request.get("max_tool_calls"),
        "model": request["model"],
        "output": [],
        "parallel_tool_calls": _or(request.get("parallel_tool_calls"), True),
        "presence_penalty": 0.0,
        "previous_response_id": request.get("previous_response_id"),
        "prompt_cache_key": request.get("prompt_cache_key"),
        "prompt_cache_retention": request.get("prompt_cache_retention"),
        "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")} | _given(reasoning),
        "safety_identifier": request.get("safety_identifier"),
        "service_tier": request.get("service_tier") or "auto",
        "store": stores,
        "temperature": _or(request.get("temperature"), 1.0),
        "text": {**_given(text), "format": _format(text), "verbosity": text.get("verbosity") or "medium"},
        "tool_choice": request.get("tool_choice") or "auto",
        "tools": [_tool(tool) for tool in request.get("tools") or ()],
        "top_logprobs": _or(request.get("top_logprobs"), 0),
        "top_p": _or(request.get("top_p"), 1.0),
        "truncation": request.get("truncation") or "disabled",
        "usage": None,
        "user": request.get("user"),
        "metadata": request.get("metadata") or {},
    }
    if options := request.get("prompt_cache_options"):
        response["prompt_cache_options"] = {"mode": "implicit", "ttl": "30m", **_given(options)}
    return response


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _given(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: member for name, member in value.items() if member is not None}


def _format(text: Mapping[str, Any]) -> dict[str, Any]:
    form = text.get("format") or {"type": "text"}
    if form["type"] != "json_schema":
        return dict(form)
    return {"description": None, "strict": False, **_given(form)}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    """As OpenAI shows it: a function with all its members, secrets hidden."""
    if tool["type"] == "function":
        return {"description": None, "parameters": None, **tool, "strict": _or(tool.get("strict"), True)}
    return {name: _redacted(value) if name in _SECRETS and value else value for name, value in tool.items()}


def _redacted(secret: Any) -> Any:
    return dict.fromkeys(secret, _REDACTED) if isinstance(secret, dict) else _REDACTED
