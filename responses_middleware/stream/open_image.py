"""An image that the model has drawn: it comes whole, in one piece of the chat answer."""

from __future__ import annotations

import re

from ..protocol.items import Item
from .events import Outbox
from .open_items import ItemStatus, OpenItem

_base64_of = re.compile(r"data:image/[\w.+-]+;base64,([A-Za-z0-9+/]+=*)").fullmatch


def image_data(url: str) -> str | None:
    """The base64 of a data URL, or None of any other: an image elsewhere is never fetched."""
    match = _base64_of(url)
    return match[1] if match else None


class OpenImage(OpenItem):
    """An image_generation_call.

    Args:
        data: the image in base64.
    """

    __slots__ = ("_data",)

    def __init__(self, outbox: Outbox, item_id: str, data: str) -> None:
        super().__init__(outbox, item_id)
        self._data = data

    def _announce(self) -> None:
        item = {"id": self.item_id, "type": "image_generation_call", "status": "in_progress", "result": None}
        self._added(item)
        self.outbox.emit("response.image_generation_call.in_progress", **self._place())

    def _finish(self, status: ItemStatus) -> Item:
        # whatever becomes of the answer, the image is whole
        self.outbox.emit("response.image_generation_call.completed", **self._place())
        return {"id": self.item_id, "type": "image_generation_call", "status": "completed", "result": self._data}
