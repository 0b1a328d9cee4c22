"""G. The store: what was acknowledged is there, what failed is told, what was deleted is gone. In memory."""

from __future__ import annotations

import json
import logging
import time
import tracemalloc
from typing import Any

import anyio
import pytest
from fronts import bridge_of
from misbehaving import CUT, STALL, Answer, ending, says, streamed
from wire import PATIENCE

from responses_middleware import MemoryStore, StoredResponse, StoreError

pytestmark = pytest.mark.anyio

SAID = says("Hel", "lo")


def row(number: int, text: str = "x", *, history: list[dict[str, Any]] | None = None) -> StoredResponse:
    output = [{"id": f"msg_{number}", "type": "message", "content": text}]
    given = [{"id": f"in_{number}", "type": "message", "content": "hi"}]
    return StoredResponse(response={"id": f"resp_{number}", "output": output}, input=given, history=history or [])


class Gated(MemoryStore):
    """A store whose writes wait."""

    def __init__(self) -> None:
        super().__init__(max_bytes=None, max_rows=None, ttl=None)
        self.asked = anyio.Event()
        self.go_on = anyio.Event()

    async def put(self, owner: str, row: StoredResponse) -> None:
        self.asked.set()
        await self.go_on.wait()
        await super().put(owner, row)


# -- G1
@pytest.mark.parametrize("stream", [True, False])
async def test_g1_the_write_is_finished_before_the_client_learns_that_the_answer_is(form: str, stream: bool) -> None:
    store = Gated()
    async with bridge_of(form, store=store) as bridge, bridge.asking(stream=stream) as caller:
        with anyio.fail_after(PATIENCE):
            await store.asked.wait()
            with anyio.move_on_after(0.2):
                await caller.rest()
        before = bytes(caller.reply.data)
        store.go_on.set()
        reply = await caller.rest()

        assert b"response.completed" not in before
        assert stream or before == b""
        assert reply.outcome == "completed"
        assert (await bridge.get(f"/{reply.response['id']}")).json == reply.response


async def test_g1_what_was_acknowledged_is_there_exact_and_can_be_continued(form: str) -> None:
    async with bridge_of(form, streamed("Hel", "lo"), streamed("again")) as bridge:
        first = (await bridge.ask(input="one", metadata={"a": "b"})).response
        read = (await bridge.get(f"/{first['id']}")).json
        second = await bridge.ask(input="two", previous_response_id=first["id"])

        assert read == first
        assert second.text == "again"
        assert bridge.asked[-1].payload["messages"] == [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": "two"},
        ]


async def test_g1_the_moment_of_the_terminal_event_is_enough(form: str) -> None:
    async with bridge_of(form, Answer([*SAID, *ending(), STALL])) as bridge, bridge.asking() as caller:
        await caller.until(b"event: response.completed")
        response_id = json.loads(bytes(caller.reply.data).split(b"data: ")[1].split(b"\n")[0])["response"]["id"]

        assert (await bridge.get(f"/{response_id}")).response["status"] == "completed"


# -- G2
async def test_g2_what_failed_is_never_stored_as_completed_nor_in_progress(form: str) -> None:
    async with bridge_of(form, Answer([*SAID, CUT])) as bridge:
        reply = await bridge.ask()
        stored = await bridge.get(f"/{reply.response['id']}")

    assert stored.status == 404 or stored.response["status"] == "failed"


# -- G3
class Broken(MemoryStore):
    def __init__(self, error: Exception) -> None:
        super().__init__(max_bytes=None, max_rows=None, ttl=None)
        self._error = error

    async def put(self, owner: str, row: StoredResponse) -> None:
        raise self._error

    async def get(self, owner: str, response_id: str) -> StoredResponse | None:
        raise self._error


ERRORS = [StoreError("disk full"), OSError("a bug of the store"), RuntimeError("a bug of the store")]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_g3_a_store_that_raises_costs_the_client_nothing_but_the_storing(
    form: str, error: Exception, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "responses_middleware"):
        async with bridge_of(form, store=Broken(error)) as bridge:
            reply = await bridge.ask(stream=stream)

    assert reply.outcome == "completed"
    assert reply.text == "Hello"
    assert reply.response["store"] is False
    assert [record.levelname for record in caplog.records if record.name.startswith("responses_middleware")]
    assert "a bug of the store" not in caplog.text  # nor what else an error may quote: E7


@pytest.mark.parametrize("stream", [True, False])
async def test_g3_a_store_that_hangs_holds_nobody_for_ever(
    form: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import responses_middleware.engine.turns as turns

    monkeypatch.setattr(turns, "_STORE_PATIENCE", 0.3)
    async with bridge_of(form, store=Gated()) as bridge:
        with anyio.fail_after(10):
            reply = await bridge.ask(stream=stream)

    assert reply.outcome == "completed"
    assert reply.response["store"] is False


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_g3_a_store_that_cannot_be_read_is_a_server_error_and_no_fresh_conversation(
    form: str, error: Exception
) -> None:
    async with bridge_of(form, store=Broken(error)) as bridge:
        replies = [
            await bridge.get("/resp_1"),
            await bridge.ask(previous_response_id="resp_1"),
            await bridge.get("/resp_1/input_items"),
        ]

    assert [reply.status >= 500 for reply in replies] == [True] * 3
    assert bridge.asked == []
    assert all(b"a bug of the store" not in reply.body for reply in replies)


# -- G4
async def test_g4_what_was_deleted_is_gone_at_every_endpoint_and_its_descendants_are_whole(form: str) -> None:
    async with bridge_of(form, streamed("Hel", "lo"), streamed("again")) as bridge:
        first = (await bridge.ask(input="one")).response
        second = (await bridge.ask(input="two", previous_response_id=first["id"])).response
        deleted = await bridge.get(f"/{first['id']}", method="DELETE")
        after = [
            await bridge.get(f"/{first['id']}"),
            await bridge.get(f"/{first['id']}/input_items"),
            await bridge.get(f"/{first['id']}", method="DELETE"),
            await bridge.ask(previous_response_id=first["id"]),
            await bridge.ask(
                input=[{"type": "item_reference", "id": first["output"][0]["id"]}, {"role": "user", "content": "x"}]
            ),
        ]
        third = await bridge.ask(input="three", previous_response_id=second["id"])

        assert deleted.json == {"id": first["id"], "object": "response", "deleted": True}
        assert [reply.status for reply in after[:4]] == [404, 404, 404, 400]
        assert after[4].status in (400, 404)
        assert third.outcome == "completed"
        assert [each["content"] for each in bridge.asked[-1].payload["messages"]] == [
            "one", "Hello", "two", "again", "three",
        ]  # fmt: skip


async def test_g4_store_false_keeps_nothing(form: str) -> None:
    async with bridge_of(form) as bridge:
        response = (await bridge.ask(store=False)).response

        assert response["store"] is False
        assert (await bridge.get(f"/{response['id']}")).status == 404
        assert (await bridge.ask(previous_response_id=response["id"])).status == 400
        assert bridge.runtime.store._rows == 0


async def test_g4_store_ttl_is_kept(form: str) -> None:
    now = [1000.0]
    store = MemoryStore(max_bytes=None, max_rows=None, ttl=60, clock=lambda: now[0])
    async with bridge_of(form, store=store) as bridge:
        response = (await bridge.ask()).response
        statuses = []
        for later in (59, 61):
            now[0] = 1000.0 + later
            statuses.append((await bridge.get(f"/{response['id']}")).status)

    assert statuses == [200, 404]


# -- G5
MANY = 100_000


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_g5_a_hundred_thousand_rows_stay_within_the_bounds_and_in_time(anyio_backend: str) -> None:
    store = MemoryStore(max_bytes=3_000_000, max_rows=1000, ttl=None)
    begun = time.process_time()
    tracemalloc.start()
    try:
        for number in range(MANY // 10):
            await store.put("anna", row(number))
        steady = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for number in range(MANY // 10, MANY // 5):
            await store.put("anna", row(number))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    for number in range(MANY // 5, MANY):
        await store.put("anna", row(number))

    assert store._rows == 1000
    assert await store.get("anna", f"resp_{MANY - 1}") is not None
    assert await store.get("anna", f"resp_{MANY - 1001}") is None
    assert peak < steady * 1.5 + 1_000_000
    assert time.process_time() - begun < 30


async def test_g5_bytes_are_bounded_too(anyio_backend: str) -> None:
    store = MemoryStore(max_bytes=1_000_000, max_rows=None, ttl=None)
    for number in range(1000):
        await store.put("anna", row(number, "x" * 10_000))

    assert store._bytes <= 1_000_000
    assert 60 < store._rows < 100


async def test_g5_who_has_the_most_loses_first(anyio_backend: str) -> None:
    store = MemoryStore(max_bytes=None, max_rows=100, ttl=None)
    await store.put("berta", row(0))
    for number in range(1, 1000):
        await store.put("anna", row(number))

    assert await store.get("berta", "resp_0") is not None
    assert await store.get("anna", "resp_999") is not None
    assert await store.get("anna", "resp_1") is None


async def test_g5_the_limits_of_the_middleware_bound_its_store(form: str) -> None:
    async with bridge_of(form, limits={"store_rows": 3}) as bridge:
        ids = [(await bridge.ask()).response["id"] for _ in range(5)]
        statuses = [(await bridge.get(f"/{each}")).status for each in ids]

    assert statuses == [404, 404, 200, 200, 200]
