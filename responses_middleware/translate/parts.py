"""Content parts of Responses items → content of chat messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..dialects import Dialect
from .left_out import LeftOut

Part = dict[str, Any]
Content = str | list[Part]

_TEXT_TYPES = frozenset({"input_text", "text", "output_text", "summary_text", "reasoning_text"})


def to_content(content: str | list[Part] | None, place: str, dialect: Dialect, left_out: LeftOut) -> Content:
    """The `content` of a chat message. A list of only text becomes one string: many servers take nothing else."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = _to_parts(content, place, left_out)
    if dialect.text_parts or any(part["type"] != "text" for part in parts):
        return parts
    return joined(part["text"] for part in parts)


def joined(texts: Iterable[str]) -> str:
    """Several text parts as one string, as vLLM and llama.cpp join them."""
    return "\n".join(texts)


def _to_parts(listed: list[Part], place: str, left_out: LeftOut) -> list[Part]:
    made = (to_part(part, f"{place}[{index}]", left_out) for index, part in enumerate(listed))
    return [part for part in made if part]


def text_of(content: Content) -> str:
    """The text alone."""
    return content if isinstance(content, str) else joined(part["text"] for part in content if part["type"] == "text")


def to_part(part: Part, place: str, left_out: LeftOut) -> Part | None:
    """One chat part; None if it can't be carried and is to be left out."""
    match part["type"]:
        case kind if kind in _TEXT_TYPES:
            return {"type": "text", "text": part["text"]}
        case "refusal":
            return {"type": "text", "text": part["refusal"]}
        case "input_image" | "computer_screenshot":
            return _image(part, place, left_out)
        case "input_file":
            return _file(part, place, left_out)
        case "input_audio":
            return {"type": "input_audio", "input_audio": part["input_audio"]}
        case kind:
            left_out.content(
                param=f"{place}.type", why=f"A part of type '{kind}' can't be carried by a chat completion"
            )
            return None


def split_output(output: str | list[Part], place: str, left_out: LeftOut) -> tuple[str, list[Part]]:
    """The text of a tool's output, and its images and files as chat parts: chat tool messages hold only text."""
    if isinstance(output, str):
        return output, []
    parts = _to_parts(output, place, left_out)
    return joined(part["text"] for part in parts if part["type"] == "text"), [
        part for part in parts if part["type"] != "text"
    ]


def shell_text(output: str | list[Part]) -> str:
    """What a shell call printed, and how it ended."""
    if isinstance(output, str):
        return output
    return json.dumps(
        [
            {name: entry[name] for name in ("stdout", "stderr", "outcome") if entry.get(name) not in (None, "")}
            for entry in output
        ],
        ensure_ascii=False,
    )


def _image(part: Part, place: str, left_out: LeftOut) -> Part | None:
    if not (url := part.get("image_url")):
        left_out.content(
            param=f"{place}.file_id",
            why="An image by file_id can't be carried: send it as image_url, a data URL for instance",
        )
        return None
    image: Part = {"url": url}
    if part.get("detail"):  # null is sent by clients and refused by servers
        image["detail"] = part["detail"]
    return {"type": "image_url", "image_url": image}


def _file(part: Part, place: str, left_out: LeftOut) -> Part | None:
    file = {name: part[name] for name in ("file_data", "file_id", "filename") if part.get(name)}
    if "file_data" not in file and "file_id" not in file:
        left_out.content(
            param=f"{place}.file_url",
            why="A file by file_url can't be carried: send it as file_data, a base64 data URL",
        )
        return None
    return {"type": "file", "file": file}
