"""Content parts of Responses items → content of chat messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..dialects import Dialect
from ..errors import InvalidTypeError
from .left_out import LeftOut, Place, param_of

Part = dict[str, Any]
Content = str | list[Part]

_TEXT_TYPES = frozenset({"input_text", "text", "output_text", "summary_text", "reasoning_text"})


class PartWriter:
    """Write content parts as this dialect takes them.

    Args:
        left_out: what becomes of a part that can't be carried.
    """

    def __init__(self, dialect: Dialect, left_out: LeftOut) -> None:
        self._left_out = left_out
        self._keeps_lists = dialect.text_parts
        self._marks_cache = "prompt_cache_options" in dialect.forward

    def content(self, content: str | list[Part] | None, place: Place) -> Content:
        """The `content` of a user message. A list of only text becomes one string: many servers take nothing else."""
        if content is None or isinstance(content, str):
            return content or ""
        parts = self._parts(content, place)
        if parts and (self._keeps_lists or not all(map(_is_plain_text, parts))):
            return parts
        return joined(part["text"] for part in parts)

    def system(self, content: str | list[Part] | None, place: Place) -> tuple[Content, list[Part]]:
        """The `content` of a system message, and what can't stand in one: images, audio and files."""
        if content is None or isinstance(content, str):
            return content or "", []
        texts, media = _texts_and_media(self._parts(content, place))
        return texts if not all(map(_is_plain_text, texts)) else joined(part["text"] for part in texts), media

    def split(self, content: str | list[Part] | None, place: Place) -> tuple[str, list[Part]]:
        """The text, and images, audio and files beside it, where a message holds one string."""
        if content is None or isinstance(content, str):
            return content or "", []
        texts, media = _texts_and_media(self._parts(content, place))
        if not all(map(_is_plain_text, texts)):
            self._unmarked(place)
        return joined(part["text"] for part in texts), media

    def part(self, part: Part, place: Place) -> Part | None:
        """One chat part; None if it can't be carried and is to be left out."""
        kind = part["type"]
        if kind in _TEXT_TYPES:
            written: Part | None = {"type": "text", "text": part["text"]}
        elif kind == "refusal":
            return {"type": "text", "text": part["refusal"]}
        elif kind in ("input_image", "computer_screenshot"):
            written = self._image(part, place)
        elif kind == "input_file":
            written = self._file(part, place)
        elif kind == "input_audio":
            audio = part["input_audio"]
            return {"type": "input_audio", "input_audio": {"data": audio["data"], "format": audio["format"]}}
        else:
            why = f"A part of type '{kind}' can't be carried by a chat completion"
            self._left_out.content(at=(*place, "type"), why=why)
            return None
        if written and part.get("prompt_cache_breakpoint") is not None:
            self._mark(written, part["prompt_cache_breakpoint"], (*place, "prompt_cache_breakpoint"))
        return written

    def _parts(self, listed: list[Part], place: Place) -> list[Part]:
        made = (self.part(part, (*place, index)) for index, part in enumerate(listed))
        return [part for part in made if part]

    def _image(self, part: Part, place: Place) -> Part | None:
        if not (url := part.get("image_url")):
            why = "An image by file_id can't be carried: send it as image_url, a data URL for instance"
            self._left_out.content(at=(*place, "file_id" if part.get("file_id") else "image_url"), why=why)
            return None
        image: Part = {"url": url}
        # Null is sent by clients and refused by servers; "original" is newer than most servers, which check against the
        # other three.
        if (detail := part.get("detail")) in ("low", "high", "auto", "original"):
            image["detail"] = "high" if detail == "original" else detail
        return {"type": "image_url", "image_url": image}

    def _file(self, part: Part, place: Place) -> Part | None:
        file = {name: part[name] for name in ("file_data", "file_id", "filename") if part.get(name)}
        if "file_data" not in file and "file_id" not in file:
            why = "A file by file_url can't be carried: send it as file_data, a base64 data URL"
            self._left_out.content(at=(*place, "file_url" if part.get("file_url") else "file_data"), why=why)
            return None
        if part.get("detail") in ("low", "high"):
            why = "Chat completions have no detail level of files"
            self._left_out.hint("input_file.detail", at=(*place, "detail"), why=why)
        return {"type": "file", "file": file}

    def _mark(self, written: Part, mark: Any, place: Place) -> None:
        if not isinstance(mark, dict):
            raise InvalidTypeError(param_of(place), expected="an object", value=mark)
        if self._marks_cache:
            written["prompt_cache_breakpoint"] = mark
        else:
            self._unmarked(place)

    def _unmarked(self, place: Place) -> None:
        why = "The upstream takes no 'prompt_cache_breakpoint' here"
        self._left_out.hint("prompt_cache_breakpoint", at=place, why=why)


def _is_plain_text(part: Part) -> bool:
    return part["type"] == "text" and len(part) == 2


def _texts_and_media(parts: list[Part]) -> tuple[list[Part], list[Part]]:
    return [part for part in parts if part["type"] == "text"], [part for part in parts if part["type"] != "text"]


def joined(texts: Iterable[str]) -> str:
    """Several text parts as one string, as vLLM and llama.cpp join them."""
    return "\n".join(texts)
