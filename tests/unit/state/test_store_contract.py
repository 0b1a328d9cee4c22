"""The contract of `Store`, line by line, for every store: a new one adds itself to STORES."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from responses_middleware.state import MemoryStore, Store, StoredResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

pytestmark = pytest.mark.anyio

TTL = 100.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


STORES: dict[str, Callable[[Clock], Store]] = {
    "memory": lambda clock: MemoryStore(max_bytes=None, max_rows=None, ttl=TTL, clock=clock),
}


def item(item_id: str, text: str = "") -> dict[str, Any]:
    return {
        "id": item_id,
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": text or item_id}],
    }


def row(response_id: str, *, history: list[dict[str, Any]] | None = None, text: str = "") -> StoredResponse:
    return StoredResponse(
        response={"id": response_id, "object": "response", "output": [item(f"out_{response_id}", text)]},
        input=[item(f"in_{response_id}", text)],
        history=history or [],
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, clock: Clock) -> AsyncIterator[Store]:
    made = STORES[request.param](clock)
    yield made
    await made.aclose()


async def test_a_row_comes_back_equal(store: Store) -> None:
    await store.put("alice", row("resp_1", history=[item("old")]))

    assert await store.get("alice", "resp_1") == row("resp_1", history=[item("old")])


async def test_what_json_can_say_comes_back_exactly(store: Store) -> None:
    odd = {"id": "m", "text": "\ud800\x00é\u2028", "big": 2**70, "number": 0.1, "none": None, "nested": [[], {}, ""]}
    await store.put("alice", StoredResponse(response={"id": "resp_1", "output": []}, input=[odd], history=[]))

    found = await store.find_item("alice", "m")

    assert found == odd


async def test_an_unknown_id_is_none(store: Store) -> None:
    assert await store.get("alice", "resp_missing") is None


@pytest.mark.parametrize(
    "odd", ["", "'; drop table responses; --", "\x00", "\ud800", "resp_" + "x" * 10_000, "a:b", "*", "%"]
)
async def test_odd_ids_are_unknown_and_raise_nothing(store: Store, odd: str) -> None:
    await store.put("alice", row("resp_1"))

    answers = [await store.get("alice", odd), await store.delete("alice", odd), await store.find_item("alice", odd)]

    assert answers == [None, False, None]


async def test_a_put_replaces_the_row_with_the_same_id(store: Store) -> None:
    await store.put("alice", row("resp_1", text="before"))

    await store.put("alice", row("resp_1", text="after"))

    assert await store.get("alice", "resp_1") == row("resp_1", text="after")


async def test_items_of_a_replaced_row_are_gone(store: Store) -> None:
    await store.put("alice", row("resp_1"))

    await store.put("alice", StoredResponse(response={"id": "resp_1", "output": []}, input=[], history=[]))

    assert await store.find_item("alice", "in_resp_1") is None


async def test_another_owner_does_not_get_the_row(store: Store) -> None:
    await store.put("alice", row("resp_1"))

    assert await store.get("mallory", "resp_1") is None


async def test_another_owner_does_not_find_the_item(store: Store) -> None:
    await store.put("alice", row("resp_1"))

    assert await store.find_item("mallory", "in_resp_1") is None


async def test_another_owner_does_not_delete_the_row(store: Store) -> None:
    await store.put("alice", row("resp_1"))

    deleted = await store.delete("mallory", "resp_1")

    assert (deleted, await store.get("alice", "resp_1")) == (False, row("resp_1"))


async def test_owner_and_id_are_never_glued_together(store: Store) -> None:
    await store.put("alice:a", row("b"))

    assert await store.get("alice", "a:b") is None


async def test_two_owners_may_have_the_same_response_id(store: Store) -> None:
    await store.put("alice", row("resp_1", text="hers"))
    await store.put("bob", row("resp_1", text="his"))

    await store.delete("bob", "resp_1")

    assert await store.get("alice", "resp_1") == row("resp_1", text="hers")


async def test_delete_says_whether_there_was_a_row(store: Store) -> None:
    await store.put("alice", row("resp_1"))

    assert [await store.delete("alice", "resp_1"), await store.delete("alice", "resp_1")] == [True, False]


async def test_a_deleted_row_is_gone(store: Store) -> None:
    await store.put("alice", row("resp_1"))

    await store.delete("alice", "resp_1")

    assert await store.get("alice", "resp_1") is None


@pytest.mark.parametrize("item_id", ["in_resp_1", "out_resp_1"])
async def test_items_of_a_deleted_row_are_gone(store: Store, item_id: str) -> None:
    await store.put("alice", row("resp_1"))

    await store.delete("alice", "resp_1")

    assert await store.find_item("alice", item_id) is None


async def test_a_child_is_complete_without_its_parent(store: Store) -> None:
    await store.put("alice", row("resp_1"))
    await store.put("alice", row("resp_2", history=row("resp_1").items()))

    await store.delete("alice", "resp_1")

    child = await store.get("alice", "resp_2")
    assert child is not None
    assert [each["id"] for each in child.items()] == ["in_resp_1", "out_resp_1", "in_resp_2", "out_resp_2"]


async def test_a_row_lives_until_its_ttl(store: Store, clock: Clock) -> None:
    await store.put("alice", row("resp_1"))

    clock.now += TTL - 0.001

    assert await store.get("alice", "resp_1") is not None


async def test_at_its_ttl_a_row_is_gone(store: Store, clock: Clock) -> None:
    await store.put("alice", row("resp_1"))

    clock.now += TTL

    assert await store.get("alice", "resp_1") is None


async def test_an_expired_row_has_no_items(store: Store, clock: Clock) -> None:
    await store.put("alice", row("resp_1"))

    clock.now += TTL

    assert await store.find_item("alice", "in_resp_1") is None


async def test_an_expired_row_can_not_be_deleted(store: Store, clock: Clock) -> None:
    await store.put("alice", row("resp_1"))

    clock.now += TTL

    assert await store.delete("alice", "resp_1") is False


async def test_getting_a_row_does_not_prolong_its_life(store: Store, clock: Clock) -> None:
    await store.put("alice", row("resp_1"))
    clock.now += TTL / 2
    await store.get("alice", "resp_1")

    clock.now += TTL / 2

    assert await store.get("alice", "resp_1") is None


async def test_a_put_starts_the_life_anew(store: Store, clock: Clock) -> None:
    await store.put("alice", row("resp_1"))
    clock.now += TTL / 2
    await store.put("alice", row("resp_1"))

    clock.now += TTL / 2

    assert await store.get("alice", "resp_1") is not None


async def test_a_clock_set_back_keeps_the_life_of_later_rows_exact(store: Store, clock: Clock) -> None:
    await store.put("alice", row("resp_1"))
    clock.now -= 50
    await store.put("alice", row("resp_2"))

    clock.now += TTL

    assert [await store.get("alice", "resp_1") is None, await store.get("alice", "resp_2")] == [False, None]


@pytest.mark.parametrize("item_id", ["in_resp_1", "out_resp_1"])
async def test_items_of_input_and_output_are_found(store: Store, item_id: str) -> None:
    await store.put("alice", row("resp_1"))

    assert await store.find_item("alice", item_id) == item(item_id)


async def test_items_are_not_looked_up_in_histories(store: Store) -> None:
    await store.put("alice", row("resp_2", history=[item("old")]))

    assert await store.find_item("alice", "old") is None


def with_input(response_id: str, *items: dict[str, Any]) -> StoredResponse:
    return StoredResponse(response={"id": response_id, "output": []}, input=list(items), history=[])


async def test_of_items_with_one_id_that_of_the_last_put_is_found(store: Store) -> None:
    await store.put("alice", with_input("resp_1", item("m", "first")))
    await store.put("alice", with_input("resp_2", item("m", "second")))
    await store.put("alice", with_input("resp_1", item("m", "third")))

    assert await store.find_item("alice", "m") == item("m", "third")


async def test_within_a_row_the_last_item_with_an_id_is_found(store: Store) -> None:
    await store.put("alice", with_input("resp_1", item("m", "first"), item("m", "second")))

    assert await store.find_item("alice", "m") == item("m", "second")


async def test_when_the_newest_row_is_deleted_the_item_before_is_found_again(store: Store) -> None:
    await store.put("alice", with_input("resp_1", item("m", "first")))
    await store.put("alice", with_input("resp_2", item("m", "second")))

    await store.delete("alice", "resp_2")

    assert await store.find_item("alice", "m") == item("m", "first")


async def test_closing_twice_raises_nothing(store: Store) -> None:
    await store.aclose()

    await store.aclose()
