"""E1, E2. Stored responses belong to their owner, and their ids cannot be guessed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from fronts import bridge_of
from misbehaving import SECRET, Answer, chunk, ending, frame, says

if TYPE_CHECKING:
    from fronts import Bridge
    from wire import Reply

pytestmark = pytest.mark.anyio

ANNA = [("Authorization", "Bearer sk-anna-0123456789")]
BERTA = [("Authorization", "Bearer sk-berta-9876543210")]


# -- E1
def same(reply: Reply, stored: str, other: str, missing: str) -> bytes:
    """The answer without the id that was asked for."""
    return reply.body.replace(other.encode(), b"ID").replace(missing.encode(), b"ID").replace(stored.encode(), b"ID")


async def each_endpoint(bridge: Bridge, response_id: str, item_id: str, who: list[tuple[str, str]]) -> dict[str, Reply]:
    """What someone gets who asks for a response and an item by their ids, at every endpoint."""
    reference = [{"type": "item_reference", "id": item_id}, {"role": "user", "content": "x"}]
    return {
        "retrieve": await bridge.get(f"/{response_id}", headers=who),
        "retrieve as stream": await bridge.get(f"/{response_id}?stream=true", headers=who),
        "input items": await bridge.get(f"/{response_id}/input_items", headers=who),
        "cancel": await bridge.get(f"/{response_id}/cancel", method="POST", headers=who),
        "previous": await bridge.ask(previous_response_id=response_id, stream=False, headers=who),
        "previous, streamed": await bridge.ask(previous_response_id=response_id, headers=who),
        "reference": await bridge.ask(input=reference, stream=False, headers=who),
        "delete": await bridge.get(f"/{response_id}", method="DELETE", headers=who),
    }


async def test_e1_a_strangers_id_and_a_missing_id_get_the_same_bytes_at_every_endpoint(
    form: str, subtests: Any
) -> None:
    missing, no_item = "resp_" + "0" * 48, "msg_" + "0" * 48
    strangers = {
        "another key": BERTA,
        "no key": [],
        "the key with a letter less": [("Authorization", ANNA[0][1][:-1])],
        "the key as x-api-key": [("X-Api-Key", "sk-anna-0123456789")],
        "the key twice": [*ANNA, *BERTA],
    }
    async with bridge_of(form) as bridge:
        stored = (await bridge.ask(headers=ANNA)).response
        item = stored["output"][0]["id"]
        for name, who in strangers.items():
            theirs = await each_endpoint(bridge, stored["id"], item, who)
            nobodys = await each_endpoint(bridge, missing, no_item, who)
            for endpoint, reply in theirs.items():
                with subtests.test(f"{name}, {endpoint}"):
                    other = nobodys[endpoint]

                    assert reply.status in (400, 404)
                    assert reply.status == other.status
                    ids = (stored["id"], item, missing), (missing, item, stored["id"])
                    assert same(reply, *ids[0]).replace(no_item.encode(), b"ID") == same(other, *ids[1]).replace(
                        no_item.encode(), b"ID"
                    )
        assert len(bridge.asked) == 1
        assert (await bridge.get(f"/{stored['id']}", headers=ANNA)).json == stored


async def test_e1_what_anonymous_clients_stored_is_for_no_owner_with_a_key(form: str) -> None:
    async with bridge_of(form) as bridge:
        stored = (await bridge.ask()).response
        seen = [(await bridge.get(f"/{stored['id']}", headers=who)).status for who in (ANNA, BERTA, [])]

    assert seen == [404, 404, 200]


async def test_e1_nothing_in_a_body_or_a_header_changes_the_owner(form: str, subtests: Any) -> None:
    owner = "anonymous"
    forged_headers = [("X-Owner", owner), ("OpenAI-Organization", owner), ("X-Forwarded-User", "anna")]
    async with bridge_of(form) as bridge:
        stored = (await bridge.ask(headers=ANNA, user="anna", metadata={"owner": "anna"})).response
        for name, parameters in {
            "user": {"user": "anna"},
            "metadata": {"metadata": {"owner": "anna", "user_id": "anna"}},
            "safety_identifier": {"safety_identifier": "anna"},
            "prompt_cache_key": {"prompt_cache_key": "anna"},
        }.items():
            with subtests.test(name):
                reply = await bridge.ask(
                    stream=False, headers=[*BERTA, *forged_headers], previous_response_id=stored["id"], **parameters
                )

                assert reply.error["code"] == "previous_response_not_found"
        assert (await bridge.get(f"/{stored['id']}", headers=[*BERTA, *forged_headers])).status == 404


async def test_e1_an_owner_function_parts_users_without_keys(form: str) -> None:
    def owner(scope: Any) -> str:
        return dict(scope["headers"]).get(b"x-user", b"").decode()

    async with bridge_of(form, owner=owner) as bridge:
        stored = (await bridge.ask(headers=[("X-User", "anna")])).response
        seen = [(await bridge.get(f"/{stored['id']}", headers=[("X-User", who)])).status for who in ("anna", "berta")]

    assert seen == [200, 404]


async def test_e1_an_owner_function_that_fails_lets_nobody_in(form: str) -> None:
    def owner(scope: Any) -> str:
        if b"x-user" not in dict(scope["headers"]):
            raise KeyError(SECRET)
        return "anna"

    async with bridge_of(form, owner=owner) as bridge:
        stored = (await bridge.ask(headers=[("X-User", "anna")])).response
        replies = [await bridge.get(f"/{stored['id']}"), await bridge.ask(stream=False)]

    assert [reply.status for reply in replies] == [500, 500]
    assert all(SECRET.encode() not in reply.body for reply in replies)


# -- E2
async def test_e2_ids_are_long_random_and_share_no_beginning(form: str) -> None:
    texts = Answer([frame(chunk({"reasoning_content": "hm"})), *says("Hel", "lo"), *ending()])
    async with bridge_of(form, texts) as bridge:
        responses = [(await bridge.ask()).response for _ in range(12)]

    ids = [response["id"] for response in responses] + [item["id"] for each in responses for item in each["output"]]
    random_parts = [name.split("_", 1)[1] for name in ids]
    assert len(set(random_parts)) == len(ids) == 36
    assert all(re.fullmatch("[0-9a-f]{32,}", part) for part in random_parts)
    assert len({part[:10] for part in random_parts}) == len(random_parts)
    columns = [len({part[at] for part in random_parts}) for at in range(32)]
    assert min(columns) > 5  # of 16: no place holds a counter or the time
