"""How an answer is asked for: `text` and `reasoning`."""

from __future__ import annotations

from typing import Final

from .containers import OBJECT, Record, Tagged
from .scalars import BOOLEAN, FUNCTION_NAME, STRING, OneOf
from .shapes import Shape

REASONING_EFFORT: Final = OneOf("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SUMMARY: Final = OneOf("auto", "concise", "detailed")

REASONING: Final = Record(
    None,
    {
        "effort": REASONING_EFFORT,
        "summary": _SUMMARY,
        "generate_summary": _SUMMARY,
        "context": OneOf("auto", "current_turn", "all_turns"),
        "mode": STRING,
    },
)

_FORMATS: Final[dict[str, Shape]] = {
    "text": Record(),
    "json_object": Record(),
    "json_schema": Record(
        {"name": FUNCTION_NAME, "schema": OBJECT}, {"strict": BOOLEAN, "description": STRING}, wrapped="json_schema"
    ),
}
TEXT_FORMATS: Final = Tagged(_FORMATS)
TEXT: Final = Record(None, {"format": TEXT_FORMATS, "verbosity": OneOf("low", "medium", "high")})
