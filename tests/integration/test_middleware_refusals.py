"""What the client is told when the app refuses: the status, its words and headers, once, and at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest
from asgi_client import Exchange, ask, request
from chat_app import DONE, ChatApp, Reply, streamed, whole

from responses_middleware import ResponsesMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 500, 503, 529])
async def test_a_refusal_of_the_app_keeps_status_words_and_headers(status: int, stream: bool) -> None:
    error = {"error": {"message": "because", "type": "a_type", "param": None, "code": "a_code"}}
    app = ChatApp(whole(error, status=status, headers=[(b"retry-after", b"7"), (b"x-should-retry", b"false")]))

    exchange = await ask(ResponsesMiddleware(app), stream=stream)

    assert (exchange.status, exchange.json) == (status, error)
    assert exchange.header(b"content-type") == [b"application/json"]
    assert (exchange.header(b"retry-after"), exchange.header(b"x-should-retry")) == ([b"7"], [b"false"])


async def test_a_refusal_names_our_parameters() -> None:
    error = {"error": {"message": "too many", "type": "invalid_request_error", "param": "messages[0].content"}}

    exchange = await ask(ResponsesMiddleware(ChatApp(whole(error, status=400))))

    assert exchange.error["param"] == "input"  # which item a message was made of, nobody can say


def working_on(reply: Reply, gate: anyio.Event) -> ASGIApp:
    """An app with background work behind its last byte."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await ChatApp(reply)(scope, receive, send)
        await gate.wait()

    return app


REFUSALS = {
    "a status": whole({"error": {"message": "bad"}}, status=400),
    "a document": whole({"error": {"message": "bad", "code": 400}}),
    "a first frame": streamed(b'data: {"error": {"message": "bad", "code": 400}}\n\n', DONE),
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("reply", REFUSALS.values(), ids=REFUSALS)
async def test_a_refusal_is_told_before_the_app_has_done_its_background_work(reply: Reply, stream: bool) -> None:
    gate = anyio.Event()
    middleware = ResponsesMiddleware(working_on(reply, gate))

    async with Exchange(middleware, request(stream=stream)).running() as exchange:
        await exchange.until(b"bad")
        ended, worked = exchange.ended, gate.is_set()
        gate.set()

    assert (ended, worked) == (True, False)
    assert (exchange.status, exchange.error["message"]) == (400, "bad")


async def test_a_traceback_of_the_app_never_reaches_the_client() -> None:
    trace = b'Traceback (most recent call last):\n  File "/srv/app.py", line 3\nKeyError: hunter2'

    exchange = await ask(ResponsesMiddleware(ChatApp(whole(trace, status=500))), stream=True)

    assert (exchange.status, exchange.error["type"]) == (500, "server_error")
    assert b"hunter2" not in exchange.body
    assert b"/srv" not in exchange.body


async def test_a_redirect_of_the_app_is_not_passed_on() -> None:
    app = ChatApp(Reply([b""], 307, [(b"location", b"http://elsewhere/")]))

    exchange = await ask(ResponsesMiddleware(app))

    assert exchange.status == 502
    assert exchange.header(b"location") == []


async def test_the_app_is_asked_once_whatever_it_answers() -> None:
    app = ChatApp(whole({"error": {"message": "overloaded"}}, status=500))

    await ask(ResponsesMiddleware(app), stream=True)

    assert len(app.scopes) == 1
