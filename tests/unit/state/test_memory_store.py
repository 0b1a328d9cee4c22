from __future__ import annotations

import gc
import time
from itertools import count
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responses_middleware._json import dumps
from responses_middleware.errors import ConfigurationError
from responses_middleware.state import MemoryStore, StoredResponse

pytestmark = pytest.mark.anyio


def row(response_id: str, *, size: int = 1, history: list[dict[str, Any]] | None = None) -> StoredResponse:
    return StoredResponse(
        response={"id": response_id, "output": [{"id": f"out_{response_id}", "text": "x" * size}]},
        input=[{"id": f"in_{response_id}"}],
        history=history or [],
    )


def memory(
    *, max_bytes: int | None = None, max_rows: int | None = None, ttl: float | None = None, now: float = 0.0
) -> MemoryStore:
    return MemoryStore(max_bytes=max_bytes, max_rows=max_rows, ttl=ttl, clock=lambda: now)


async def kept(store: MemoryStore, *places: tuple[str, str]) -> list[str]:
    return [response_id for owner, response_id in places if await store.get(owner, response_id)]


async def test_beyond_max_rows_the_oldest_row_goes() -> None:
    store = memory(max_rows=2)

    for response_id in "abc":
        await store.put("alice", row(response_id))

    assert await kept(store, ("alice", "a"), ("alice", "b"), ("alice", "c")) == ["b", "c"]


async def test_a_row_that_was_got_is_no_longer_the_oldest() -> None:
    store = memory(max_rows=2)
    await store.put("alice", row("a"))
    await store.put("alice", row("b"))
    await store.get("alice", "a")

    await store.put("alice", row("c"))

    assert await kept(store, ("alice", "a"), ("alice", "b"), ("alice", "c")) == ["a", "c"]


async def test_a_replaced_row_counts_once() -> None:
    store = memory(max_rows=2)
    await store.put("alice", row("a"))

    for _ in range(5):
        await store.put("alice", row("b"))

    assert await kept(store, ("alice", "a"), ("alice", "b")) == ["a", "b"]


async def test_the_owner_with_the_most_rows_loses_first() -> None:
    store = memory(max_rows=3)
    await store.put("small", row("s"))
    for response_id in "abc":
        await store.put("big", row(response_id))

    assert await kept(store, ("small", "s"), ("big", "a"), ("big", "b"), ("big", "c")) == ["s", "b", "c"]


async def test_the_owner_with_the_most_bytes_loses_first() -> None:
    store = memory(max_bytes=50_000)
    await store.put("small", row("s"))
    for response_id in "abc":
        await store.put("big", row(response_id, size=20_000))

    assert await kept(store, ("small", "s"), ("big", "a"), ("big", "b"), ("big", "c")) == ["s", "b", "c"]


async def test_of_owners_with_equally_much_the_one_away_for_longest_loses() -> None:
    store = memory(max_rows=2)
    await store.put("zoe", row("z"))
    await store.put("bob", row("b"))
    await store.get("zoe", "z")

    await store.put("carol", row("c"))

    assert await kept(store, ("zoe", "z"), ("bob", "b"), ("carol", "c")) == ["z", "c"]


async def test_the_row_just_put_stays_even_if_it_is_the_largest() -> None:
    store = memory(max_bytes=50_000)
    for owner in "abcd":
        await store.put(owner, row("r", size=9_000))

    await store.put("newcomer", row("large", size=30_000))

    assert await kept(store, ("newcomer", "large"), ("a", "r"), ("b", "r"), ("c", "r"), ("d", "r")) == ["large", "r"]


async def test_a_row_larger_than_all_room_is_not_kept_and_drops_nothing() -> None:
    store = memory(max_bytes=10_000)
    await store.put("alice", row("a"))

    await store.put("alice", row("huge", size=20_000))

    assert await kept(store, ("alice", "a"), ("alice", "huge")) == ["a"]


async def test_a_row_that_has_grown_too_large_is_gone_and_not_the_old_one() -> None:
    store = memory(max_bytes=10_000)
    await store.put("alice", row("a"))

    await store.put("alice", row("a", size=20_000))

    assert await store.get("alice", "a") is None


async def test_an_evicted_row_has_no_items() -> None:
    store = memory(max_rows=1)
    await store.put("alice", row("a"))

    await store.put("alice", row("b"))

    assert await store.find_item("alice", "out_a") is None


async def test_a_long_conversation_is_counted_once() -> None:
    store = memory(max_bytes=200_000)
    last = row("r0", size=1_000)
    await store.put("alice", last)

    for turn in range(1, 50):
        last = row(f"r{turn}", size=1_000, history=last.items())
        await store.put("alice", last)

    assert await store.get("alice", "r0") is not None


async def test_the_history_of_deleted_parents_still_counts() -> None:
    store = memory(max_bytes=50_000)
    parent = row("parent", size=30_000)
    await store.put("alice", parent)
    await store.put("alice", row("child", history=parent.items()))
    await store.delete("alice", "parent")

    await store.put("alice", row("other", size=30_000))

    assert await kept(store, ("alice", "child"), ("alice", "other")) == ["other"]


async def test_a_history_shares_the_items_of_its_parents() -> None:
    store = memory()
    parent = row("parent")
    await store.put("alice", parent)

    await store.put("alice", row("child", history=parent.items()))

    child = await store.get("alice", "child")
    assert child is not None
    assert child.history[0] is parent.input[0]


async def test_items_without_an_id_do_no_harm() -> None:
    store = memory()
    await store.put("alice", StoredResponse(response={"id": "r", "output": [{"type": "x"}]}, input=[{}], history=[]))

    assert await store.delete("alice", "r")


async def test_lists_that_grow_after_put_do_not_upset_the_counting() -> None:
    store = memory(max_rows=1)
    growing = row("a")
    await store.put("alice", growing)
    growing.input.append({"id": "late"})
    growing.history.append({"id": "early"})

    await store.put("alice", row("b"))

    assert await kept(store, ("alice", "a"), ("alice", "b")) == ["b"]


async def test_when_everything_is_deleted_nothing_is_left() -> None:
    store = memory(max_rows=1_000, ttl=10)
    for number in range(200):
        await store.put(f"owner{number % 7}", row(f"r{number}", history=[{"id": "h"}]))

    for number in range(200):
        await store.delete(f"owner{number % 7}", f"r{number}")

    assert (store._rows, store._bytes, store._shelves, dict(store._deadlines)) == (0, 0, {}, {})


async def test_expired_rows_leave_memory_without_being_asked_for() -> None:
    times = count()
    store = MemoryStore(max_bytes=None, max_rows=None, ttl=5, clock=lambda: float(next(times)))

    for number in range(100):
        await store.put("alice", row(f"r{number}"))

    assert store._rows == 5


async def test_a_closed_store_holds_nothing() -> None:
    store = memory()
    await store.put("alice", row("a"))

    await store.aclose()

    assert await store.get("alice", "a") is None


@pytest.mark.parametrize("bound", [{"max_bytes": 0}, {"max_rows": -1}, {"ttl": 0.0}, {"ttl": float("nan")}])
def test_a_bound_that_is_not_positive_is_a_configuration_error(bound: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="greater than zero"):
        memory(**bound)


def put_many(rows: int, owners: int) -> float:
    async def run() -> None:
        store = MemoryStore(max_bytes=64 * 1024 * 1024, max_rows=1_000, ttl=3600.0)
        for number in range(rows):
            await store.put(f"owner{number % owners}", row(f"r{number}"))
        assert store._rows == 1_000

    gc.collect()
    start = time.process_time()
    anyio.run(run)
    return time.process_time() - start


@pytest.mark.parametrize("owners", [1, 10, 100_000])
def test_a_hundred_thousand_rows_take_seconds(owners: int) -> None:
    assert put_many(100_000, owners) < 15  # 1 to 2 s on a small machine; a scan per put would take minutes


class Model:
    """What MemoryStore promises, in the plainest way: one list of rows, scanned for everything."""

    def __init__(self, max_rows: int, max_bytes: int, ttl: int) -> None:
        self.max_rows, self.max_bytes, self.ttl = max_rows, max_bytes, ttl
        self.rows: list[tuple[str, StoredResponse, float]] = []  # in the order of puts
        self.used: list[tuple[str, str]] = []  # owner and id, least recently used first

    def expire(self, now: float) -> None:
        self.rows = [each for each in self.rows if now < each[2]]

    def size(self, rows: list[StoredResponse]) -> int:
        items = {id(item): len(dumps(item)) for each in rows for item in each.items()}
        return sum(items.values()) + sum(
            len(dumps({**each.response, "output": []})) + 16 * len(each.history) + 1024 for each in rows
        )

    def of(self, owner: str) -> list[StoredResponse]:
        return [each for whose, each, _ in self.rows if whose == owner]

    def drop(self, owner: str, response_id: str) -> bool:
        before = len(self.rows)
        self.rows = [each for each in self.rows if (each[0], each[1].id) != (owner, response_id)]
        return len(self.rows) < before

    def use(self, owner: str, response_id: str) -> None:
        self.used = [place for place in self.used if place != (owner, response_id)] + [(owner, response_id)]

    def put(self, owner: str, row: StoredResponse, now: float) -> None:
        self.drop(owner, row.id)
        if self.size([row]) > self.max_bytes:
            return
        self.rows.append((owner, row, now + self.ttl))
        self.use(owner, row.id)
        while True:
            owners = {whose for whose, _, _ in self.rows}
            if len(self.rows) > self.max_rows:
                amounts = {whose: len(self.of(whose)) for whose in owners}
            elif sum(self.size(self.of(whose)) for whose in owners) > self.max_bytes:
                amounts = {whose: self.size(self.of(whose)) for whose in owners}
            else:
                return
            if len(self.of(owner)) == 1:
                del amounts[owner]
            last_use = {whose: position for position, (whose, _) in enumerate(self.used)}
            loser = min(amounts, key=lambda whose: (-amounts[whose], last_use[whose]))
            present = {each.id for each in self.of(loser)}
            self.drop(loser, next(each for whose, each in self.used if whose == loser and each in present))

    def get(self, owner: str, response_id: str) -> StoredResponse | None:
        found = next((each for each in self.of(owner) if each.id == response_id), None)
        if found:
            self.use(owner, response_id)
        return found

    def find_item(self, owner: str, item_id: str) -> dict[str, Any] | None:
        found = [
            item for each in self.of(owner) for item in each.input + each.response["output"] if item["id"] == item_id
        ]
        return found[-1] if found else None


OWNERS = st.sampled_from(["alice", "bob", "carol"])
IDS = st.sampled_from(["r1", "r2", "r3", "r4"])
STEPS = st.one_of(
    st.tuples(st.just("put"), OWNERS, IDS, st.integers(0, 3_000), st.one_of(st.none(), IDS)),
    st.tuples(st.just("get"), OWNERS, IDS),
    st.tuples(st.just("delete"), OWNERS, IDS),
    st.tuples(st.just("find_item"), OWNERS, IDS),
    st.tuples(st.just("wait"), st.integers(0, 6)),
)


@settings(deadline=None)
@given(steps=st.lists(STEPS, max_size=60), max_rows=st.integers(1, 6), max_bytes=st.integers(2_000, 12_000))
def test_any_calls_answer_as_the_plain_model_does(steps: list[tuple[Any, ...]], max_rows: int, max_bytes: int) -> None:
    now = 0.0
    store = MemoryStore(max_bytes=max_bytes, max_rows=max_rows, ttl=10, clock=lambda: now)
    model = Model(max_rows, max_bytes, 10)

    async def run() -> None:
        nonlocal now
        for name, *arguments in steps:
            if name == "wait":
                now += arguments[0]
                continue
            model.expire(now)
            match name, *arguments:
                case "put", owner, response_id, size, parent_id:
                    parent = model.get(owner, parent_id) if parent_id else None
                    assert not parent or await store.get(owner, parent_id) is parent
                    new = row(response_id, size=size, history=parent.items() if parent else [])
                    model.put(owner, new, now)
                    await store.put(owner, new)
                case "get", owner, response_id:
                    assert await store.get(owner, response_id) is model.get(owner, response_id)
                case "delete", owner, response_id:
                    assert await store.delete(owner, response_id) is model.drop(owner, response_id)
                case "find_item", owner, response_id:
                    item_id = f"out_{response_id}"
                    assert await store.find_item(owner, item_id) is model.find_item(owner, item_id)
            assert store._bytes == sum(model.size(model.of(owner)) for owner in ("alice", "bob", "carol")) <= max_bytes

    anyio.run(run)
