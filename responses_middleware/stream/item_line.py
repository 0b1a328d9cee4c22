"""The items of one answer in a row: finished ones, the open one, and those that wait for their turn.

An output index is assigned once, when an item opens, and is dense from 0. Items stand strictly one after the other:
what belongs to a later one while an earlier one is not whole waits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from typing import TypeVar

from ..errors import UpstreamProtocolError
from ..protocol.items import Item
from ..translate.tool_names import ToolNames
from .citations import Citations
from .events import Outbox
from .open_calls import OpenCall
from .open_items import MOST, ItemStatus, OpenItem, OpenMessage, OpenReasoning
from .returns import Returns
from .toolcalls import CallIds

_OpenItem = TypeVar("_OpenItem", bound=OpenItem)


class ItemLine:
    """The row of items.

    Args:
        new_id: makes an id with a prefix, that nobody else has.
        names: what the upstream's function names stand for.
        taken_call_ids: call ids of the history, which may not be used again.
        returns: what the upstream wants back.

    Attributes:
        output: the finished items.
        waiting: the open item, then those that wait.
        citations: those of the messages, once there are any.
    """

    __slots__ = (
        "_call_ids",
        "_names",
        "_new_id",
        "_outbox",
        "_returns",
        "_taken_call_ids",
        "citations",
        "output",
        "waiting",
    )

    def __init__(
        self,
        outbox: Outbox,
        *,
        new_id: Callable[[str], str],
        names: ToolNames,
        taken_call_ids: Collection[str],
        returns: Returns,
    ) -> None:
        self.output: list[Item] = []
        self.waiting: list[OpenItem] = []
        self.citations: Citations | None = None
        self._outbox = outbox
        self._new_id = new_id
        self._names = names
        self._taken_call_ids = taken_call_ids
        self._call_ids: CallIds | None = None  # made with the first call
        self._returns = returns

    @property
    def last(self) -> OpenItem | None:
        """The item that came last, if it may still grow."""
        return self.waiting[-1] if self.waiting else None

    @property
    def calls(self) -> list[OpenCall]:
        """Calls that are not finished."""
        return [item for item in self.waiting if isinstance(item, OpenCall)]

    def add(self, item: _OpenItem) -> _OpenItem:
        """Put an item at the end of the row."""
        if len(self.output) + len(self.waiting) >= MOST:
            raise UpstreamProtocolError(f"the upstream's answer has more than {MOST} items")
        self.waiting.append(item)
        self.advance()
        return item

    def message(self) -> OpenMessage:
        """The message that grows; a new one, if none does."""
        last = self.last
        return last if type(last) is OpenMessage else self.add(OpenMessage(self._outbox, self._new_id("msg_")))

    def advance(self) -> None:
        """Close what is whole and has a successor, open what is next."""
        while self.waiting:
            head = self.waiting[0]
            if head.index is None:
                if not head.may_open:
                    return
                self._open(head)
            if len(self.waiting) == 1 or not head.may_close:
                return
            self._close_head("completed")

    def drop_nameless(self) -> None:
        """Leave out calls that were cut before their name was known."""
        self.waiting = [item for item in self.waiting if not isinstance(item, OpenCall) or item.name]

    def end(self, *, cut: bool) -> None:
        """Finish all items of a regular answer; one that was cut ends within its last item."""
        while self.waiting:
            head = self._opened_head()
            is_cut = cut and (len(self.waiting) == 1 or not head.is_whole)
            self._close_head("incomplete" if is_cut else "completed")
        self._carry_returns()

    def break_off(self) -> None:
        """Finish all items of an answer that failed; clients are not told that they are done."""
        while self.waiting:
            self._opened_head()
            self._close_head("incomplete", tell=False)

    def _opened_head(self) -> OpenItem:
        head = self.waiting[0]
        if head.index is None:
            self._open(head)
        return head

    def _open(self, item: OpenItem) -> None:
        if isinstance(item, OpenCall):
            self._call_ids = self._call_ids or CallIds(self._taken_call_ids, self._new_id)
            call_id = self._call_ids.of(item)
            if item.opaque:
                self._returns.keep_of_call(call_id, item.opaque)
                item.opaque = {}
            self._carry_returns()
            item.bind(call_id, self._names.binding(item.name))
        item.open(len(self.output))

    def _close_head(self, status: ItemStatus, *, tell: bool = True) -> None:
        item = self.waiting.pop(0)
        if self.citations and isinstance(item, OpenMessage):
            self.citations.close(item)
        room, self._outbox.room = self._outbox.room, sys.maxsize  # what it still says has found room when it came
        self.output.append(item.close(status, tell=tell))
        self._outbox.room = room
        if isinstance(item, OpenCall) and item.opaque:  # a signature that came after the arguments
            self._returns.keep_of_call(self.output[-1]["call_id"], item.opaque)

    def _carry_returns(self) -> None:
        """A reasoning item without text, for what no reasoning item has taken along."""
        if not self._returns.are_due:
            return
        hidden = self._returns.take_hidden()
        seal = self._returns.seal
        carrier = OpenReasoning(self._outbox, self._new_id("rs_"), as_summary=True, seal=lambda _: seal(hidden))
        carrier.open(len(self.output))
        self.output.append(carrier.close("completed"))
