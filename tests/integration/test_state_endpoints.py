"""What is stored can be read, listed, deleted; by its owner alone; and a store that fails takes no answer away."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgi_client import Exchange, ask
from chat_app import HELLO, ChatApp, completion, whole

from responses_middleware import MemoryStore, ResponsesMiddleware, ResponsesProxy, StoredResponse, StoreError

pytestmark = pytest.mark.anyio

MINE = {"headers": [(b"authorization", b"Bearer mine")]}
THEIRS = {"headers": [(b"authorization", b"Bearer theirs")]}


async def get(app: Any, path: str, *, method: str = "GET", query: str = "", **options: Any) -> Exchange:
    exchange = Exchange(app, b"", method=method, path=f"/v1/responses/{path}", query_string=query.encode(), **options)
    return await exchange.run()


async def stored(app: Any, **parameters: Any) -> str:
    """The id of a response that was stored."""
    exchange = await ask(app, **parameters)
    response_id: str = exchange.response["id"]
    return response_id


# -- GET
@pytest.mark.parametrize("stream", [True, False])
async def test_a_stored_response_is_as_it_was_sent(stream: bool) -> None:
    middleware = ResponsesMiddleware(ChatApp(HELLO))
    sent = await ask(middleware, stream=stream, metadata={"a": "b"}, instructions="Be brief")

    exchange = await get(middleware, sent.response["id"])

    assert (exchange.status, exchange.json) == (200, sent.response)


async def test_the_sdk_asks_with_stream_false() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    response_id = await stored(middleware, stream=True)

    assert (await get(middleware, response_id, query="stream=false&include=x")).status == 200


@pytest.mark.parametrize("query", ["stream=true", "stream=True", "stream=true&starting_after=3"])
async def test_a_finished_response_is_not_streamed_again(query: str) -> None:
    middleware = ResponsesMiddleware(ChatApp())
    response_id = await stored(middleware, stream=True)

    exchange = await get(middleware, response_id, query=query)

    assert (exchange.status, exchange.error["param"]) == (400, "stream")


ENDPOINTS = [("GET", ""), ("DELETE", ""), ("GET", "/input_items"), ("POST", "/cancel")]


@pytest.mark.parametrize(("method", "end"), ENDPOINTS)
@pytest.mark.parametrize("response_id", ["resp_missing", "x", "%00", "a b", "é", "resp_" + "0" * 5000])
async def test_a_missing_response_is_a_404(method: str, end: str, response_id: str) -> None:
    exchange = await get(ResponsesMiddleware(ChatApp()), response_id + end, method=method)

    assert (exchange.status, exchange.error["type"]) == (404, "invalid_request_error")
    assert exchange.error["message"] == f"Response with id '{response_id}' not found."


@pytest.mark.parametrize(("method", "end"), ENDPOINTS)
async def test_a_strangers_response_and_a_missing_one_get_the_same_bytes(method: str, end: str) -> None:
    middleware = ResponsesMiddleware(ChatApp())
    response_id = await stored(middleware, stream=True, exchange=MINE)

    theirs = await get(middleware, response_id + end, method=method, **THEIRS)
    nobodys = await get(middleware, response_id + end, method=method)
    missing = await get(middleware, "resp_missing" + end, method=method, **THEIRS)
    mine = await get(middleware, response_id, **MINE)

    assert theirs.messages[0]["status"] == nobodys.messages[0]["status"] == 404
    assert theirs.body == nobodys.body == missing.body.replace(b"resp_missing", response_id.encode())
    assert mine.status == 200


@pytest.mark.parametrize(("method", "end"), ENDPOINTS)
async def test_without_a_store_every_response_is_missing(method: str, end: str) -> None:
    middleware = ResponsesMiddleware(ChatApp(), store=None)
    response_id = await stored(middleware, stream=True)

    assert (await get(middleware, response_id + end, method=method)).status == 404


async def test_what_was_not_to_be_stored_is_missing() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    response_id = await stored(middleware, stream=True, store=False)

    assert (await get(middleware, response_id)).status == 404


async def test_the_owner_may_be_named_by_the_operator() -> None:
    middleware = ResponsesMiddleware(ChatApp(), owner=lambda scope: dict(scope["headers"]).get(b"x-user", b"").decode())
    response_id = await stored(middleware, stream=True, exchange={"headers": [(b"x-user", b"a")]})

    a = await get(middleware, response_id, headers=[(b"x-user", b"a"), (b"authorization", b"Bearer other")])
    b = await get(middleware, response_id, headers=[(b"x-user", b"b")])

    assert (a.status, b.status) == (200, 404)


async def test_nothing_in_a_body_changes_the_owner() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    forged = {"user": "theirs", "metadata": {"owner": "theirs", "user_id": "theirs"}, "safety_identifier": "theirs"}
    response_id = await stored(middleware, stream=True, exchange=MINE, **forged)

    assert (await get(middleware, response_id, **THEIRS)).status == 404


async def test_a_proxy_stores_too() -> None:
    proxy = ResponsesProxy("http://127.0.0.1:9/v1")

    assert (await get(proxy, "resp_missing")).status == 404


# -- DELETE and cancel
async def test_a_deleted_response_is_gone() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    response_id = await stored(middleware, stream=True)

    deleted = await get(middleware, response_id, method="DELETE")
    again = await get(middleware, response_id, method="DELETE")
    read = await get(middleware, response_id)

    assert (deleted.status, deleted.json) == (200, {"id": response_id, "object": "response", "deleted": True})
    assert (again.status, read.status) == (404, 404)


async def test_what_continued_a_deleted_response_stays_complete() -> None:
    app = ChatApp(HELLO)
    middleware = ResponsesMiddleware(app)
    first = await stored(middleware, input="1", stream=True)
    second = await stored(middleware, input="2", stream=True, previous_response_id=first)
    await get(middleware, first, method="DELETE")

    await ask(middleware, input="3", previous_response_id=second)

    assert [message["content"] for message in app.payloads[2]["messages"]] == ["1", "Hello", "2", "Hello", "3"]


async def test_a_response_of_the_foreground_can_not_be_cancelled() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    response_id = await stored(middleware, stream=True)

    exchange = await get(middleware, f"{response_id}/cancel", method="POST")

    assert (exchange.status, exchange.error["type"]) == (400, "invalid_request_error")
    assert exchange.error["message"] == "Cannot cancel a synchronous response."


# -- input items
async def chain(middleware: ResponsesMiddleware) -> str:
    """The id of a response of three turns: 1, Hello, 2, Hello, and 3a, 3b."""
    first = await stored(middleware, input="1")
    second = await stored(middleware, input="2", previous_response_id=first)
    last = [{"role": "user", "content": "3a"}, {"role": "user", "content": "3b"}]
    return await stored(middleware, input=last, previous_response_id=second)


ALL = ["1", "Hello", "2", "Hello", "3a", "3b"]


def texts(exchange: Exchange) -> list[str]:
    return [item["content"][0]["text"] for item in exchange.json["data"]]


@pytest.mark.parametrize(
    ("query", "expected"), [("", ALL[::-1]), ("order=desc", ALL[::-1]), ("order=asc", ALL), ("limit=2", ["3b", "3a"])]
)
async def test_input_items_are_listed_in_both_orders(query: str, expected: list[str]) -> None:
    middleware = ResponsesMiddleware(ChatApp(whole(completion())))
    response_id = await chain(middleware)

    exchange = await get(middleware, f"{response_id}/input_items", query=query)

    assert exchange.json["object"] == "list"
    assert texts(exchange) == expected
    assert exchange.json["has_more"] is (len(expected) < len(ALL))


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("limit", [1, 2, 4, 6, 100])
async def test_pages_that_follow_each_other_hold_every_item_once(order: str, limit: int) -> None:
    middleware = ResponsesMiddleware(ChatApp(whole(completion())))
    response_id = await chain(middleware)
    seen: list[str] = []
    after, more = "", True

    while more:
        page = await get(middleware, f"{response_id}/input_items", query=f"order={order}&limit={limit}&after={after}")
        seen += texts(page)
        assert page.json["first_id"] == page.json["data"][0]["id"]
        assert page.json["last_id"] == page.json["data"][-1]["id"]
        after, more = page.json["last_id"], page.json["has_more"]

    assert seen == (ALL if order == "asc" else ALL[::-1])


async def test_every_input_item_has_an_id_and_can_be_referred_to() -> None:
    app = ChatApp(whole(completion()))
    middleware = ResponsesMiddleware(app)
    response_id = await stored(middleware, input="first words")
    (item,) = (await get(middleware, f"{response_id}/input_items")).json["data"]

    await ask(middleware, input=[{"type": "item_reference", "id": item["id"]}])

    assert item["content"] == [{"type": "input_text", "text": "first words"}]
    assert app.payloads[1]["messages"] == [{"role": "user", "content": "first words"}]


@pytest.mark.parametrize(
    ("query", "param", "code"),
    [
        ("limit=0", "limit", "integer_below_min_value"),
        ("limit=101", "limit", "integer_above_max_value"),
        ("limit=x", "limit", "invalid_type"),
        ("limit=" + "9" * 5000, "limit", "integer_above_max_value"),
        ("order=sideways", "order", "invalid_value"),
        ("after=msg_missing", "after", "invalid_value"),
    ],
)
async def test_a_wrong_page_is_refused(query: str, param: str, code: str) -> None:
    middleware = ResponsesMiddleware(ChatApp())
    response_id = await stored(middleware, stream=True)

    exchange = await get(middleware, f"{response_id}/input_items", query=query)

    assert (exchange.status, exchange.error["param"], exchange.error["code"]) == (400, param, code)


# -- a store that fails
class BrokenStore:
    """Every method fails, or those named."""

    def __init__(self, *methods: str) -> None:
        self._store = MemoryStore(max_bytes=None, max_rows=None, ttl=None)
        self._methods = methods or ("put", "get", "delete", "find_item")

    def _fail(self, method: str) -> None:
        if method in self._methods:
            raise StoreError("postgres://user:hunter2@db is down")

    async def put(self, owner: str, row: StoredResponse) -> None:
        self._fail("put")
        await self._store.put(owner, row)

    async def get(self, owner: str, response_id: str) -> StoredResponse | None:
        self._fail("get")
        return await self._store.get(owner, response_id)

    async def delete(self, owner: str, response_id: str) -> bool:
        self._fail("delete")
        return await self._store.delete(owner, response_id)

    async def find_item(self, owner: str, item_id: str) -> dict[str, Any] | None:
        self._fail("find_item")
        return await self._store.find_item(owner, item_id)

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize("stream", [True, False])
async def test_a_store_that_fails_takes_no_answer_away(stream: bool, caplog: pytest.LogCaptureFixture) -> None:
    exchange = await ask(ResponsesMiddleware(ChatApp(HELLO), store=BrokenStore()), stream=stream)

    assert (exchange.status, exchange.response["status"], exchange.text) == (200, "completed", "Hello")
    assert exchange.response["store"] is False
    assert "the store failed" in caplog.text


@pytest.mark.parametrize(("method", "end"), ENDPOINTS)
async def test_a_store_that_fails_is_an_error_of_ours_and_keeps_its_secrets(method: str, end: str) -> None:
    exchange = await get(ResponsesMiddleware(ChatApp(), store=BrokenStore()), "resp_1" + end, method=method)

    assert (exchange.status, exchange.error["type"]) == (500, "server_error")
    assert b"hunter2" not in exchange.body


async def test_a_history_that_can_not_be_read_is_no_fresh_conversation() -> None:
    app = ChatApp()

    exchange = await ask(ResponsesMiddleware(app, store=BrokenStore("get")), previous_response_id="resp_1")

    assert (exchange.status, exchange.error["type"]) == (500, "server_error")
    assert app.scopes == []


async def test_a_store_of_the_callers_is_used_and_not_closed() -> None:
    store = MemoryStore(max_bytes=None, max_rows=None, ttl=None)
    one, other = ResponsesMiddleware(ChatApp(), store=store), ResponsesMiddleware(ChatApp(), store=store)
    response_id = await stored(one, stream=True)
    questions = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> Any:
        return questions.pop(0)

    async def send(message: Any) -> None:
        pass

    await one({"type": "lifespan"}, receive, send)

    assert (await get(other, response_id)).status == 200


async def test_what_is_stored_is_stored_before_it_is_told() -> None:
    told: list[bytes] = []
    kept: list[bytes] = []

    class Store(BrokenStore):
        async def put(self, owner: str, row: StoredResponse) -> None:
            kept.extend(told or [b""])

    middleware = ResponsesMiddleware(ChatApp(), store=Store())
    exchange = Exchange(middleware, {"model": "m", "input": "hi", "stream": True})
    send = exchange._send

    async def watched(message: Any) -> None:
        told.append(message.get("body", b""))
        await send(message)

    exchange._send = watched  # type: ignore[method-assign]
    await exchange.run()

    assert kept
    assert not any(b"response.completed" in data for data in kept)
    assert b"response.completed" in told[-1]


async def test_ids_are_long_and_share_nothing_but_their_prefix() -> None:
    middleware = ResponsesMiddleware(ChatApp())
    ids = [await stored(middleware, stream=True) for _ in range(20)]

    bodies = [response_id.removeprefix("resp_") for response_id in ids]
    assert all(len(body) >= 32 for body in bodies)
    assert len({body[:6] for body in bodies}) == 20


# -- what is not served yet: never a wrong success
UNSERVED = [
    ({"background": True}, "background"),
    ({"conversation": "conv_1"}, "conversation"),
    ({"conversation": {"id": "conv_1"}}, "conversation"),
    ({"prompt": {"id": "pmpt_1"}}, "prompt"),
]


@pytest.mark.parametrize(("parameters", "param"), UNSERVED)
@pytest.mark.parametrize("unsupported", ["error", "warn", "ignore"])
async def test_what_is_not_served_is_refused_whatever_is_configured(
    parameters: dict[str, Any], param: str, unsupported: Any
) -> None:
    app = ChatApp()

    exchange = await ask(ResponsesMiddleware(app, unsupported=unsupported), **parameters)

    assert (exchange.status, exchange.error["param"]) == (400, param)
    assert exchange.error["type"] == "invalid_request_error"
    assert app.scopes == []


@pytest.mark.parametrize("path", ["compact", "input_tokens"])
async def test_endpoints_that_are_not_served_are_a_404(path: str) -> None:
    app = ChatApp()
    exchange = Exchange(ResponsesMiddleware(app), {"model": "m", "input": "hi"}, path=f"/v1/responses/{path}")

    await exchange.run()

    assert (exchange.status, exchange.error["type"]) == (404, "invalid_request_error")
    assert app.scopes == []


async def shake_hands(app: Any, *, denial: bool, path: str = "/v1/responses") -> list[dict[str, Any]]:
    """Ask for a WebSocket; what the app says."""
    said: list[dict[str, Any]] = []
    scope = {
        "type": "websocket",
        "path": path,
        "root_path": "",
        "headers": [],
        "extensions": {"websocket.http.response": {}} if denial else {},
    }

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        said.append(message)

    await app(scope, receive, send)
    return said


@pytest.mark.parametrize("app", [ResponsesMiddleware(ChatApp()), ResponsesProxy("http://127.0.0.1:9/v1")])
async def test_a_websocket_is_refused_with_a_426(app: Any) -> None:
    start, body = await shake_hands(app, denial=True)

    assert (start["type"], start["status"]) == ("websocket.http.response.start", 426)
    assert dict(start["headers"])[b"content-length"] == b"%d" % len(body["body"])
    assert json.loads(body["body"])["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("app", [ResponsesMiddleware(ChatApp()), ResponsesProxy("http://127.0.0.1:9/v1")])
async def test_without_the_denial_extension_the_handshake_is_closed(app: Any) -> None:
    assert [message["type"] for message in await shake_hands(app, denial=False)] == ["websocket.close"]
