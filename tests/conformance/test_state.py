"""Parameters that point to what is stored, and the name of the model: end to end, as far as the table says."""

from __future__ import annotations

from typing import Any

import pytest
from asgi_client import Exchange
from chat_app import ChatApp, completion, whole

from responses_middleware import ResponsesMiddleware

pytestmark = pytest.mark.anyio


def chat() -> ChatApp:
    return ChatApp(whole(completion("Hello")))


async def asked(app: Any, **parameters: Any) -> dict[str, Any]:
    exchange = await Exchange(app, {"model": "m", "input": "Hi", **parameters}).run()
    assert exchange.status == 200, exchange.body
    answer: dict[str, Any] = exchange.json
    return answer


async def test_the_model_is_renamed_for_the_server_alone() -> None:
    below = chat()

    answer = await asked(ResponsesMiddleware(below, model={"m": "real"}))

    assert (below.payloads[0]["model"], answer["model"]) == ("real", "m")


async def test_a_response_goes_on_from_the_previous_one() -> None:
    below = chat()
    app = ResponsesMiddleware(below)
    first = await asked(app, input="One")
    second = await asked(app, input="Two", previous_response_id=first["id"])

    await asked(app, input="Three", previous_response_id=second["id"])

    said = [message["content"] for message in below.payloads[2]["messages"]]
    assert said == ["One", "Hello", "Two", "Hello", "Three"]


async def test_instructions_are_not_inherited() -> None:
    below = chat()
    app = ResponsesMiddleware(below)
    first = await asked(app, instructions="Be brief")

    await asked(app, previous_response_id=first["id"])

    assert [message["role"] for message in below.payloads[1]["messages"]] == ["user", "assistant", "user"]


async def test_a_response_that_is_not_stored_can_not_be_fetched() -> None:
    app = ResponsesMiddleware(chat())
    kept, not_kept = await asked(app), await asked(app, store=False)

    statuses = [
        (await Exchange(app, method="GET", path=f"/v1/responses/{answer['id']}").run()).status
        for answer in (kept, not_kept)
    ]

    assert statuses == [200, 404]


async def test_a_reference_means_the_stored_item() -> None:
    below = chat()
    app = ResponsesMiddleware(below)
    first = await asked(app)
    reference = {"type": "item_reference", "id": first["output"][0]["id"]}

    await asked(app, input=[{"role": "user", "content": "Hi"}, reference, {"role": "user", "content": "Go on"}])

    assert below.payloads[1]["messages"][1] == {"role": "assistant", "content": "Hello"}
