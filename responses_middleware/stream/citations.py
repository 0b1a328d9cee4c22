"""Where citations go: annotations of a chat message, and sources of the whole answer that its text points to."""

from __future__ import annotations

import re
from typing import Any

from .open_items import OpenMessage
from .reader import to_annotation, to_sources

_MARKER = re.compile(r"\[(\d{1,3})\]")  # how Perplexity's text points to its sources


class Citations:
    """Put citations into the message that is open.

    Args:
        room: characters of urls and titles together; a long url and many marks would make a huge answer of a small one.
    """

    __slots__ = ("_held", "_room", "_sources")

    def __init__(self, *, room: int) -> None:
        self._room = room
        self._sources: Any = None
        self._held: list[dict[str, Any]] = []  # came before the text that they are of

    def annotate(self, message: OpenMessage, annotation: dict[str, Any]) -> None:
        """Add a chat annotation, if it is of a kind that clients know."""
        if note := to_annotation(annotation):
            self._cite(message, note)

    def hold(self, annotation: dict[str, Any]) -> None:
        """Keep a chat annotation for the text that comes."""
        if (note := to_annotation(annotation)) and self._has_room(note):
            self._held.append(note)

    def annotate_held(self, message: OpenMessage) -> None:
        """Add what was kept."""
        held, self._held = self._held, []
        for note in held:
            message.annotate(note)

    def keep(self, sources: Any) -> None:
        """Note the sources of the answer so far: the last are all."""
        self._sources = sources

    def close(self, message: OpenMessage) -> None:
        """Point from the marks in the text to the sources; without a mark all sources are cited, pointing nowhere."""
        sources = to_sources(self._sources)
        if not sources or not (text := message.text_so_far()):
            return
        marks = list(_MARKER.finditer(text))
        for mark in marks:
            if 0 < (number := int(mark[1])) <= len(sources):
                self._cite(message, {**sources[number - 1], "start_index": mark.start(), "end_index": mark.end()})
        for source in [] if marks else sources:
            self._cite(message, source)

    def _cite(self, message: OpenMessage, citation: dict[str, Any]) -> None:
        if self._has_room(citation):
            message.annotate(citation)

    def _has_room(self, citation: dict[str, Any]) -> bool:
        self._room -= len(citation["url"]) + len(citation["title"])
        return self._room >= 0
