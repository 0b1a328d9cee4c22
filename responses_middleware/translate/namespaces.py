"""What a namespace of tools says of itself. A chat server knows no namespaces: their tools tell it."""

from __future__ import annotations

from ..protocol.tools import Tool

_LONGEST = 1024  # characters of a description: OpenAI's chat refuses longer ones ("string_above_max_length")
_LONGEST_REPEATED = 200  # of a namespace's own on each tool but one: enough to choose by, and little in sum
_SHORTEST = 40  # fewer say nothing


class Namespace:
    """The description of a namespace, while its tools are written: told whole once, in short by the others.

    Args:
        tool: as the request lists it; of any other type, it says nothing.
    """

    __slots__ = ("_about", "_is_told", "is_cut")

    def __init__(self, tool: Tool) -> None:
        description = (tool.get("description") or "").strip() if tool["type"] == "namespace" else ""
        self._about = f"About the {tool['name']} tools: {description}" if description else ""
        self._is_told = False
        self.is_cut = False  # tools were written, and none of them tells it whole

    def told_by(self, tool: Tool, length: int) -> Tool:
        """A tool of the namespace, with what the namespace says.

        Args:
            length: characters that the tool's description has on its way up without it.
        """
        if not self._about:
            return tool
        own = (tool.get("description") or "").strip()
        room = _LONGEST - length - (2 if length else 0)
        about = _shortened(self._about, min(room, _LONGEST_REPEATED) if self._is_told else room)
        if not self._is_told:
            self._is_told = bool(about)
            self.is_cut = about != self._about
        return {**tool, "description": f"{own}\n\n{about}".strip()} if about else tool


def _shortened(text: str, most: int) -> str:
    """The text, cut after a word if it is longer; nothing, if that would be too short to say anything."""
    if len(text) <= most:
        return text
    if most < _SHORTEST:
        return ""
    kept = text[:most].rpartition(" ")[0] or text[: most - 1]
    return f"{kept.rstrip()}…"
