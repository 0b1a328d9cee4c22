"""What a request points to: histories and items of its owner, and what is kept of it afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from test_runtime import runtime

from responses_middleware import MemoryStore, StoredResponse
from responses_middleware.engine.context import history_of, resolved_input, store_response
from responses_middleware.engine.runtime import Runtime
from responses_middleware.errors import PreviousResponseNotFoundError

pytestmark = pytest.mark.anyio

QUESTION = {"type": "message", "id": "msg_1", "role": "user", "content": "hi"}
ANSWER = {"type": "message", "id": "msg_2", "role": "assistant", "content": [], "status": "completed"}
RESPONSE = {"id": "resp_1", "status": "completed", "output": [ANSWER]}


def with_store() -> tuple[Runtime, MemoryStore]:
    shared, store = runtime(), MemoryStore(max_bytes=None, max_rows=None, ttl=None)
    shared.store = store
    return shared, store


async def test_without_a_previous_response_there_is_no_history() -> None:
    shared, _ = with_store()

    assert await history_of(shared, "me", {}) == []
    assert await history_of(shared, "me", {"previous_response_id": None}) == []


async def test_the_history_is_all_that_was_said() -> None:
    shared, store = with_store()
    await store.put("me", StoredResponse(response=RESPONSE, input=[QUESTION], history=[{"id": "msg_0"}]))

    assert await history_of(shared, "me", {"previous_response_id": "resp_1"}) == [{"id": "msg_0"}, QUESTION, ANSWER]


@pytest.mark.parametrize(("owner", "response_id"), [("other", "resp_1"), ("me", "resp_2")])
async def test_what_this_owner_does_not_have_is_not_found(owner: str, response_id: str) -> None:
    shared, store = with_store()
    await store.put("me", StoredResponse(response=RESPONSE, input=[], history=[]))

    with pytest.raises(PreviousResponseNotFoundError):
        await history_of(shared, owner, {"previous_response_id": response_id})


async def test_without_a_store_nothing_is_found() -> None:
    with pytest.raises(PreviousResponseNotFoundError):
        await history_of(runtime(), "me", {"previous_response_id": "resp_1"})


@pytest.mark.parametrize("reference", [{"type": "item_reference", "id": "msg_2"}, {"id": "msg_2"}])
async def test_a_reference_becomes_its_item(reference: dict[str, Any]) -> None:
    shared, store = with_store()
    await store.put("me", StoredResponse(response=RESPONSE, input=[QUESTION], history=[]))

    assert await resolved_input(shared, "me", {"input": [reference, QUESTION]}) == [ANSWER, QUESTION]
    assert await resolved_input(shared, "other", {"input": [reference]}) == [reference]


async def test_a_string_is_one_message_of_the_user() -> None:
    (item,) = await resolved_input(runtime(), "me", {"input": "hi"})

    assert (item["role"], item["content"]) == ("user", "hi")


@pytest.mark.parametrize(
    ("item", "prefix"),
    [
        ({"role": "user", "content": "hi"}, "msg_"),
        ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, "fc_"),
        ({"type": "function_call_output", "call_id": "c", "output": "x"}, "fco_"),
        ({"type": "reasoning", "summary": []}, "rs_"),
        ({"type": "acme:note"}, "item_"),
    ],
)
async def test_every_item_that_is_kept_gets_an_id(item: dict[str, Any], prefix: str) -> None:
    shared, store = with_store()

    await store_response(shared, "me", RESPONSE, [], [item])

    row = await store.get("me", "resp_1")
    assert row is not None
    assert row.input[0]["id"].startswith(prefix)
    assert item.get("id") is None  # the client's own object stays as it is


async def test_an_id_that_the_client_gave_is_kept() -> None:
    shared, store = with_store()

    await store_response(shared, "me", RESPONSE, [], [QUESTION])

    row = await store.get("me", "resp_1")
    assert row is not None
    assert row.input[0]["id"] == "msg_1"


@pytest.mark.parametrize(("role", "kind"), [("user", "input_text"), ("assistant", "output_text")])
async def test_a_content_that_is_a_string_is_kept_as_a_part(role: str, kind: str) -> None:
    shared, store = with_store()

    await store_response(shared, "me", RESPONSE, [], [{"role": role, "content": "hi"}])

    row = await store.get("me", "resp_1")
    assert row is not None
    assert (row.input[0]["content"][0]["type"], row.input[0]["content"][0]["text"]) == (kind, "hi")
