"""How the answer shall look: text.format, verbosity, reasoning effort, logprobs → chat parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..dialects import Dialect
from ..protocol.formats import REASONING_EFFORT
from .left_out import LeftOut, Place

_LOGPROBS = "message.output_text.logprobs"
# Input items are listed as they came, so that the image URLs are there in any case.
_SERVED_INCLUDES = frozenset(
    {
        _LOGPROBS,
        "reasoning.encrypted_content",
        "message.input_image.image_url",
        "computer_call_output.output.image_url",
    }
)
_EFFORTS = REASONING_EFFORT.values  # a ladder, from the lowest rung
_JSON_WORDS = "Answer with one JSON object and nothing else."


def to_response_format(form: Mapping[str, Any] | None, dialect: Dialect) -> tuple[dict[str, Any] | None, str]:
    """`response_format`, and words for the system message where the server can't be told otherwise."""
    kind = form.get("type", "text") if form else "text"
    if form is None or kind == "text":
        return None, ""
    if kind == "json_object":
        wanted = dialect.response_format != "none"
        return ({"type": "json_object"}, "") if wanted else (None, _JSON_WORDS)
    match dialect.response_format:
        case "json_schema":
            schema = {
                name: form[name] for name in ("name", "description", "schema", "strict") if form.get(name) is not None
            }
            return {"type": "json_schema", "json_schema": schema}, ""
        case "json_object_schema":
            return {"type": "json_object", "schema": form["schema"]}, ""
        case "json_object":
            return {"type": "json_object"}, _schema_words(form)
        case _:
            return None, _schema_words(form)


def _schema_words(form: Mapping[str, Any]) -> str:
    about = f" It is: {form['description']}" if form.get("description") else ""
    schema = json.dumps(form["schema"], ensure_ascii=False)
    return f"{_JSON_WORDS}{about} It must be valid by this JSON schema:\n{schema}"


def to_effort(
    reasoning: Mapping[str, Any] | None, dialect: Dialect, left_out: LeftOut, *, at: Place = ("reasoning", "effort")
) -> str | None:
    """`reasoning_effort`, in the server's words; of a value that it lacks, the nearest that it has."""
    effort = reasoning.get("effort") if reasoning else None
    if effort is None:
        return None
    known = dialect.reasoning_effort
    sent = _nearest(effort, known) if isinstance(known, Mapping) else effort if known else None
    if sent is None:
        left_out.hint("reasoning.effort", at=at, why=f"The upstream takes no reasoning effort '{effort}'")
    return sent


def _nearest(effort: str, known: Mapping[str, str]) -> str | None:
    """The next rung of the ladder, the higher of two as near. Nothing is near "none": some servers think only when
    they are told to."""
    if effort in known or effort == "none":
        return known.get(effort)
    rung = _EFFORTS.index(effort)
    steps = [(abs(_EFFORTS.index(other) - rung), -_EFFORTS.index(other), other) for other in _EFFORTS if other in known]
    return known[min(steps)[2]] if steps else None


def to_logprobs(request: Mapping[str, Any], dialect: Dialect, left_out: LeftOut) -> dict[str, Any]:
    """`logprobs` and `top_logprobs`, when the client asked for them."""
    if not wants_logprobs(request):
        return {}
    if not dialect.logprobs:
        included = request.get("include") or ()
        at: Place = ("top_logprobs",) if request.get("top_logprobs") else ("include", included.index(_LOGPROBS))
        left_out.hint("top_logprobs", at=at, why="The upstream gives no logprobs")
        return {}
    return {"logprobs": True} | ({"top_logprobs": request["top_logprobs"]} if request.get("top_logprobs") else {})


def wants_logprobs(request: Mapping[str, Any]) -> bool:
    """Whether the answer shall carry logprobs."""
    return _LOGPROBS in (request.get("include") or ()) or bool(request.get("top_logprobs"))


def note_includes(request: Mapping[str, Any], left_out: LeftOut) -> None:
    """Name the values of `include` that nothing here can fill."""
    for index, value in enumerate(request.get("include") or ()):
        if value not in _SERVED_INCLUDES:
            left_out.hint(f"include.{value}", at=("include", index), why=f"'{value}' can't be included")
