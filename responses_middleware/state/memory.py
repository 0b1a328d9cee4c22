"""A store in the memory of this process: bounded, fast, gone with the process."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from .._json import dumps
from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .base import StoredResponse

_ROW_BYTES: Final = 1024  # the dicts and index entries around a row, about
_POINTER_BYTES: Final = 16  # a place in a history: a long chain of responses has very many of them


class MemoryStore:
    """A `Store` in this process's memory. It is volatile: a restart forgets everything, and each worker has its own.

    Beyond `max_rows` or `max_bytes`, the least recently used rows of the owner with the most (rows or bytes) go first;
    of owners with equally much, the one who was here longest ago. The row just put stays, unless it is larger than
    `max_bytes` with its whole history: that one is not kept, and `put` returns normally.

    Bytes are those of the JSON of responses and items, plus about a kilobyte a row; Python's objects take a few times
    as much. Items that rows of an owner share, as a history does with its parents, are kept and counted once. A call
    takes time in proportion to its row, whatever else is stored. For one event loop.
    A wrong bound raises ConfigurationError.

    Args:
        max_bytes: all rows together; None means no limit.
        max_rows: number of rows; None means no limit.
        ttl: life of a row in seconds from its last `put`; None means for ever.
        clock: the time in seconds.
    """

    def __init__(
        self,
        *,
        max_bytes: int | None,
        max_rows: int | None,
        ttl: float | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._max_bytes = _bound("max_bytes", max_bytes)
        self._max_rows = _bound("max_rows", max_rows)
        self._ttl = _bound("ttl", ttl)
        self._clock = clock
        self._tick = count(1)
        self._forget_all()

    def _forget_all(self) -> None:
        self._shelves: dict[str, _Shelf] = {}
        self._deadlines: OrderedDict[tuple[str, str], float] = OrderedDict()  # in the order of puts: first out first
        self._most_rows = _Ranking()
        self._most_bytes = _Ranking()
        self._rows = 0
        self._bytes = 0

    async def put(self, owner: str, row: StoredResponse) -> None:
        now = self._expire()
        self._remove(owner, row.id)
        shelf = self._shelves.get(owner) or _Shelf()
        entry = _Entry(row, tuple(row.items()), deadline=now + self._ttl)
        sizes = {id(item): shelf.size_of(item) for item in entry.items}
        if entry.base + sum(sizes.values()) > self._max_bytes:
            return
        self._shelves[owner] = shelf
        self._rows += 1
        self._bytes += shelf.add(entry, sizes)
        if self._ttl < math.inf:
            self._deadlines[owner, row.id] = entry.deadline
        self._use(owner, shelf)
        self._make_room(owner, shelf)

    async def get(self, owner: str, response_id: str) -> StoredResponse | None:
        entry = self._find(owner, response_id, self._expire())
        if entry is None:
            return None
        shelf = self._shelves[owner]
        shelf.rows.move_to_end(response_id)
        self._use(owner, shelf)
        return entry.row

    async def delete(self, owner: str, response_id: str) -> bool:
        found = self._find(owner, response_id, self._expire()) is not None
        self._remove(owner, response_id)
        return found

    async def find_item(self, owner: str, item_id: str) -> dict[str, Any] | None:
        now = self._expire()
        shelf = self._shelves.get(owner)
        candidates = shelf.found_in.get(item_id, {}) if shelf else {}
        for response_id in reversed(candidates):
            if self._find(owner, response_id, now):
                return candidates[response_id]
        return None

    async def aclose(self) -> None:
        self._forget_all()

    def _find(self, owner: str, response_id: str, now: float) -> _Entry | None:
        shelf = self._shelves.get(owner)
        entry = shelf.rows.get(response_id) if shelf else None
        return entry if entry and now < entry.deadline else None

    def _expire(self) -> float:
        """Drop the rows whose life is over; return the time. A clock set back delays the dropping, never the expiry."""
        now = self._clock()
        while self._deadlines:
            (owner, response_id), deadline = next(iter(self._deadlines.items()))
            if now < deadline:
                break
            self._remove(owner, response_id)
        return now

    def _make_room(self, owner: str, shelf: _Shelf) -> None:
        """Drop rows until the bounds hold, but not the one that this owner has just put."""
        while (many := self._rows > self._max_rows) or self._bytes > self._max_bytes:
            ranking = self._most_rows if many else self._most_bytes
            loser = ranking.first(besides=owner if len(shelf.rows) == 1 else None)
            self._remove(loser, next(iter(self._shelves[loser].rows)))

    def _remove(self, owner: str, response_id: str) -> None:
        shelf = self._shelves.get(owner)
        if shelf is None or response_id not in shelf.rows:
            return
        self._rows -= 1
        self._bytes -= shelf.remove(response_id)
        self._deadlines.pop((owner, response_id), None)
        self._rank(owner, shelf)
        if not shelf.rows:
            del self._shelves[owner]

    def _use(self, owner: str, shelf: _Shelf) -> None:
        shelf.used = next(self._tick)
        self._rank(owner, shelf)

    def _rank(self, owner: str, shelf: _Shelf) -> None:
        self._most_rows.set(owner, len(shelf.rows), shelf.used)
        self._most_bytes.set(owner, shelf.size, shelf.used)


@dataclass(slots=True)
class _Entry:
    """A row, its items as they were when it was put, and when its life ends."""

    row: StoredResponse
    items: tuple[dict[str, Any], ...]
    deadline: float
    own: dict[str, dict[str, Any]] = field(init=False)  # input and output by id: what `find_item` looks up
    base: int = field(init=False)  # bytes of the row without its items

    def __post_init__(self) -> None:
        self.own = {item["id"]: item for item in self.items[len(self.row.history) :] if "id" in item}
        response = len(dumps(self.row.response | {"output": []}))
        self.base = response + len(self.row.history) * _POINTER_BYTES + _ROW_BYTES


@dataclass(slots=True)
class _Shelf:
    """What one owner has. An item is counted once, however many rows hold it, and until the last of them is gone."""

    used: int = 0  # when the owner last put or got something; larger is later
    size: int = 0
    rows: OrderedDict[str, _Entry] = field(default_factory=OrderedDict)  # least recently used first
    found_in: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)  # item id → response id → item, by put
    holders: dict[int, int] = field(default_factory=dict)  # id() of an item → how often rows hold it
    sizes: dict[int, int] = field(default_factory=dict)  # id() of an item → bytes

    def size_of(self, item: dict[str, Any]) -> int:
        known = self.sizes.get(id(item))
        return len(dumps(item)) if known is None else known

    def add(self, entry: _Entry, sizes: dict[int, int]) -> int:
        """Return by how many bytes the shelf has grown."""
        before = self.size
        self.rows[entry.row.id] = entry
        self.size += entry.base + sum(size for key, size in sizes.items() if key not in self.sizes)
        self.sizes.update(sizes)
        for item in entry.items:
            self.holders[id(item)] = self.holders.get(id(item), 0) + 1
        for item_id, item in entry.own.items():
            self.found_in.setdefault(item_id, {})[entry.row.id] = item
        return self.size - before

    def remove(self, response_id: str) -> int:
        """Return by how many bytes the shelf has shrunk."""
        entry = self.rows.pop(response_id)
        freed = entry.base + sum(map(self._let_go, entry.items))
        self.size -= freed
        self._forget_items(response_id, entry.own)
        return freed

    def _let_go(self, item: dict[str, Any]) -> int:
        self.holders[id(item)] -= 1
        if self.holders[id(item)]:
            return 0
        del self.holders[id(item)]
        return self.sizes.pop(id(item))

    def _forget_items(self, response_id: str, item_ids: Iterable[str]) -> None:
        for item_id in item_ids:
            del self.found_in[item_id][response_id]
            if not self.found_in[item_id]:
                del self.found_in[item_id]


class _Ranking:
    """Who has the most: a heap whose outdated entries are skipped, and swept out when they are the majority."""

    def __init__(self) -> None:
        self._current: dict[str, tuple[int, int, str]] = {}
        self._heap: list[tuple[int, int, str]] = []

    def set(self, owner: str, amount: int, used: int) -> None:
        if not amount:
            self._current.pop(owner, None)
            return
        self._current[owner] = (-amount, used, owner)
        heappush(self._heap, self._current[owner])
        if len(self._heap) > 2 * len(self._current) + 64:
            self._heap = list(self._current.values())
            heapify(self._heap)

    def first(self, *, besides: str | None) -> str:
        """The owner with the most, of equals the one who came longest ago. There must be one besides the one named."""
        spared = None
        while (top := self._heap[0]) != self._current.get(top[2]) or top[2] == besides:
            heappop(self._heap)
            if top == self._current.get(top[2]):
                spared = top
        if spared:
            heappush(self._heap, spared)
        return top[2]


def _bound(name: str, value: float | None) -> float:
    if value is None:
        return math.inf
    if not value > 0:
        raise ConfigurationError(f"{name} must be greater than zero, not {value!r}; None means no limit", param=name)
    return value
