"""Content parts: the elements of an item's `content`, `summary` or `output`, by their type.

Each table holds the parts that may stand in one place. Texts are taken under any of their names: clients mix them up,
and their meaning is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from . import faults
from .containers import OBJECT, Either, Record, Tagged
from .faults import Fault
from .scalars import STRING, OneOf
from .shapes import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT: Final = Record({"text": STRING})
INPUT_IMAGE: Final = Record(
    None,
    {
        "image_url": STRING,
        "file_id": STRING,
        "detail": OneOf("low", "high", "auto", "original"),
        "prompt_cache_breakpoint": OBJECT,
    },
    any_of=("image_url", "file_id"),
)
INPUT_FILE: Final = Record(
    None,
    {
        "file_data": STRING,
        "file_id": STRING,
        "file_url": STRING,
        "filename": STRING,
        "detail": OneOf("auto", "low", "high"),
        "prompt_cache_breakpoint": OBJECT,
    },
    any_of=("file_data", "file_id", "file_url"),
)
# Not in the SDK's input union, yet its class exists (response_input_audio_param.py).
INPUT_AUDIO: Final = Record({"input_audio": Record({"data": STRING, "format": STRING})})
SCREENSHOT: Final = Record(None, {"image_url": STRING, "file_id": STRING}, any_of=("image_url", "file_id"))

TEXT_PARTS: Final[dict[str, Shape]] = {"input_text": TEXT, "output_text": TEXT, "text": TEXT}
OUTPUT_PARTS: Final[dict[str, Shape]] = TEXT_PARTS | {"input_image": INPUT_IMAGE, "input_file": INPUT_FILE}
INPUT_PARTS: Final[dict[str, Shape]] = OUTPUT_PARTS | {"input_audio": INPUT_AUDIO}
ASSISTANT_PARTS: Final[dict[str, Shape]] = INPUT_PARTS | {"refusal": Record({"refusal": STRING})}
SUMMARY_PARTS: Final[dict[str, Shape]] = {"summary_text": TEXT}
REASONING_PARTS: Final[dict[str, Shape]] = {"reasoning_text": TEXT, "text": TEXT}

_ITEM_HINT: Final = " '{}' is an item of its own: put it into 'input', beside the message, not into its content."
_HINTS: Final = {
    name: _ITEM_HINT.format(name)
    for name in ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning")
} | {
    "image_url": " Chat's 'image_url' part is 'input_image' here, and its 'image_url' is a string.",
    "file": " Chat's 'file' part is 'input_file' here, with 'file_data', 'file_id' or 'file_url' beside 'type'.",
    "image": " An image is a part of type 'input_image' here.",
    "tool_use": " A tool call is an item of type 'function_call' in 'input' here.",
    "tool_result": " A tool's result is an item of type 'function_call_output' in 'input' here.",
}


class Parts:
    """An array of parts from one table."""

    def __init__(self, table: Mapping[str, Shape]) -> None:
        self.element = Tagged(table, hints=_HINTS)
        self._texts = frozenset(name for name, shape in table.items() if shape is TEXT)

    def check(self, value: Any, /) -> None:
        if type(value) is not list:
            raise faults.wrong_type("an array", value)
        texts = self._texts
        check = self.element.check
        index = 0
        try:
            for index, part in enumerate(value):  # noqa: B007 (read where it fails)
                # Nearly all parts of a long history are good texts: this is the check of TEXT, in place.
                if (
                    type(part) is dict
                    and type(part.get("text")) is str
                    and type(tag := part.get("type")) is str
                    and tag in texts
                ):
                    continue
                check(part)
        except Fault as fault:
            fault.at(index)
            raise


def text_or_parts(table: Mapping[str, Shape]) -> Either:
    """A string or an array of such parts."""
    return Either("one of a string or an array of content parts", {str: STRING, list: Parts(table)})
