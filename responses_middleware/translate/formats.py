"""How the answer shall look: text.format, verbosity, reasoning effort, logprobs → chat parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..dialects import Dialect
from .left_out import LeftOut

_LOGPROBS = "message.output_text.logprobs"
_SERVED_INCLUDES = frozenset({_LOGPROBS, "reasoning.encrypted_content"})


def to_response_format(form: Mapping[str, Any] | None, dialect: Dialect) -> tuple[dict[str, Any] | None, str]:
    """`response_format`, and words for the system message where the server can't be told otherwise."""
    kind = form.get("type", "text") if form else "text"
    if form is None or kind == "text":
        return None, ""
    if kind == "json_object":
        wanted = dialect.response_format != "none"
        return ({"type": "json_object"}, "") if wanted else (None, "Answer with one JSON object and nothing else.")
    schema_text = json.dumps(form["schema"], ensure_ascii=False)
    words = f"Answer with one JSON object and nothing else. It must be valid by this JSON schema:\n{schema_text}"
    match dialect.response_format:
        case "json_schema":
            schema = {
                name: form[name] for name in ("name", "description", "schema", "strict") if form.get(name) is not None
            }
            return {"type": "json_schema", "json_schema": schema}, ""
        case "json_object_schema":
            return {"type": "json_object", "schema": form["schema"]}, ""
        case "json_object":
            return {"type": "json_object"}, words
        case _:
            return None, words


def to_effort(reasoning: Mapping[str, Any] | None, dialect: Dialect, left_out: LeftOut) -> str | None:
    """`reasoning_effort`, in the server's words."""
    effort = reasoning.get("effort") if reasoning else None
    if effort is None:
        return None
    known = dialect.reasoning_effort
    sent = known.get(effort) if isinstance(known, Mapping) else effort if known else None
    if sent is None:
        left_out.hint(
            "reasoning.effort", param="reasoning.effort", why=f"The upstream takes no reasoning effort '{effort}'"
        )
    return sent


def to_logprobs(request: Mapping[str, Any], dialect: Dialect, left_out: LeftOut) -> dict[str, Any]:
    """`logprobs` and `top_logprobs`, when the client asked for them."""
    if not wants_logprobs(request):
        return {}
    if not dialect.logprobs:
        left_out.hint("top_logprobs", param="top_logprobs", why="The upstream gives no logprobs")
        return {}
    return {"logprobs": True} | ({"top_logprobs": request["top_logprobs"]} if request.get("top_logprobs") else {})


def wants_logprobs(request: Mapping[str, Any]) -> bool:
    """Whether the answer shall carry logprobs."""
    return _LOGPROBS in (request.get("include") or ()) or bool(request.get("top_logprobs"))


def note_includes(request: Mapping[str, Any], left_out: LeftOut) -> None:
    """Name the values of `include` that nothing here can fill."""
    for index, value in enumerate(request.get("include") or ()):
        if value not in _SERVED_INCLUDES:
            left_out.hint(f"include.{value}", param=f"include[{index}]", why=f"'{value}' can't be included")
