"""H. ASGI citizenship: a good guest in the wrapped app's process, under any server, on both loops."""

from __future__ import annotations

import contextvars
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import request, started
from fronts import bridge_of, serving
from misbehaving import (
    CUT,
    SECRET,
    SSE,
    STALL,
    Answer,
    AppUpstream,
    by_model,
    completion,
    ending,
    says,
    streamed,
    whole,
)
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Mount, Route
from wire import PATIENCE, Reply, calling, fetch, http_request

from responses_middleware import ResponsesMiddleware, ResponsesProxy

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

pytestmark = pytest.mark.anyio

STARLETTE = pytest.mark.parametrize("anyio_backend", ["asyncio"])
"""Starlette 1.10 streaming on hypercorn's trio worker never closes its connection, without us too: it takes the
disconnect that hypercorn 0.18 tells in the middle of the last `send` for a client that left, and cancels that send."""

BODY = json.dumps(request(stream=True)).encode()
WHOLE_BODY = json.dumps(request()).encode()


def start(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": [SSE, *headers]}


def part(data: Any, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}


def http_only(app: ASGIApp) -> ResponsesMiddleware:
    """The middleware around an app that knows no lifespan, and says so as the ASGI specification lets it."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        await app(scope, receive, send)

    return ResponsesMiddleware(guarded)


async def read_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


# -- H1
def test_h1_it_is_pure_asgi() -> None:
    for kind in (ResponsesMiddleware, ResponsesProxy):
        assert kind.__mro__ == (kind, object)
    script = (
        "import responses_middleware, sys; "
        "assert not [name for name in sys.modules if name.startswith(('starlette', 'fastapi'))], 'imports starlette'"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])


async def test_h1_each_event_is_sent_before_the_next_frame_is_written(form: str) -> None:
    steps = [anyio.Event() for _ in range(3)]
    answer = Answer([*says("a"), steps[0], *says("b"), steps[1], *says("c"), steps[2], *ending()])
    async with bridge_of(form, answer) as bridge, bridge.asking() as caller:
        for letter, step in zip("abc", steps, strict=True):
            await caller.until(b'"delta":"%b"' % letter.encode())
            step.set()
        reply = await caller.rest()

    assert reply.check_stream().text == "abc"


# -- H2
async def test_h2_receive_behind_the_body_waits_for_the_real_disconnect(anyio_backend: str) -> None:
    early: list[bool] = []
    told = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        with anyio.move_on_after(0.3) as waiting:
            await receive()
        early.append(not waiting.cancelled_caught)
        await send(start())
        await send(part(b"".join(says("Hello"))))  # type: ignore[arg-type]
        assert (await receive())["type"] == "http.disconnect"
        told.set()

    async with serving(http_only(app)) as url:
        async with calling(url, http_request(f"{url}/v1/responses", BODY)) as caller:
            await caller.until(b'"delta":"Hello"')
        with anyio.fail_after(PATIENCE):
            await told.wait()

    assert early == [False]


async def test_h2_the_whole_chat_request_comes_in_one_message_with_its_right_length(anyio_backend: str) -> None:
    async with bridge_of("app") as bridge:
        await bridge.ask(input="x" * 100_000)
        [asked] = bridge.asked

    assert asked.header(b"content-length") == [b"%d" % len(asked.body)]
    assert [name for name, _ in asked.headers if name != name.lower()] == []
    assert asked.path == "/v1/chat/completions"


# -- H3
FAULTS: dict[str, tuple[Answer, str]] = {
    "raises before the start": (Answer([], before=[RuntimeError(SECRET)]), "http 500"),
    "raises behind the start": (Answer([RuntimeError(SECRET)]), "http 500"),
    "raises in the middle": (Answer([*says("Hello"), RuntimeError(SECRET)]), "failed"),
    "raises OSError before the start": (Answer([], before=[ConnectionRefusedError(SECRET)]), "http 500"),
    "raises OSError in the middle": (Answer([*says("Hello"), ConnectionResetError(SECRET)]), "failed"),
    "returns without an answer": (Answer([], before=[CUT]), "http 502"),
    "returns without a body": (Answer([CUT]), "http 502"),
    "returns without the last message": (Answer([*says("Hello"), CUT]), "failed"),
}


async def test_h3_a_fault_of_the_wrapped_app_is_an_error_object_or_failed(anyio_backend: str, subtests: Any) -> None:
    async with bridge_of("app", by_model({name: answer for name, (answer, _) in FAULTS.items()})) as bridge:
        for name, (_, outcome) in FAULTS.items():
            with subtests.test(name):
                reply = await bridge.ask(model=name)

                assert reply.outcome == outcome
                if outcome != "failed":
                    assert reply.error["type"] == "server_error"
        assert (await bridge.ask(model="returns without a body", stream=False)).status == 502


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_h3_an_exception_is_raised_on_to_the_servers_log_once(
    anyio_backend: str, caplog: pytest.LogCaptureFixture, subtests: Any
) -> None:
    async with bridge_of("app", by_model({name: answer for name, (answer, _) in FAULTS.items()})) as bridge:
        for name in FAULTS:
            if name.startswith("raises"):
                with subtests.test(name):
                    caplog.clear()
                    await bridge.ask(model=name)
                    raised = [each for each in caplog.records if each.exc_info and SECRET in str(each.exc_info[1])]

                    assert [each.name for each in raised] == ["uvicorn.error"]


async def test_h3_messages_out_of_order_are_a_failure_not_an_exception_for_the_client(anyio_backend: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if json.loads(await read_body(receive))["model"] == "early":
            await send(part(b"x"))
        await send(start())
        await send(start())

    async with serving(http_only(app)) as url:
        replies = [
            await fetch(f"{url}/v1/responses", json.dumps(request(model=model)).encode())
            for model in ("early", "twice")
        ]

    assert [reply.status >= 500 for reply in replies] == [True, True]
    assert [reply.error["type"] for reply in replies] == ["server_error"] * 2


# -- H4
async def test_h4_background_work_runs_to_its_end_and_delays_nobody(anyio_backend: str) -> None:
    go_on, done = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        await send(start())
        for piece in (*says("Hello"), *ending(), b": one more\n\n"):
            await send(part(piece))
        await send(part(b"", more=False))
        await go_on.wait()
        done.set()

    async with serving(http_only(app)) as url, calling(url, http_request(f"{url}/v1/responses", BODY)) as caller:
        await caller.until(b"event: response.completed")
        was_done = done.is_set()
        go_on.set()
        with anyio.fail_after(PATIENCE):
            await done.wait()
        reply = await caller.rest()

    assert not was_done
    assert reply.check_stream().text == "Hello"


@STARLETTE
async def test_h4_a_background_task_of_starlette_runs_too(anyio_backend: str) -> None:
    done = anyio.Event()

    async def work() -> None:
        done.set()

    async def complete(scope_request: Any) -> StreamingResponse:
        async def pieces() -> AsyncIterator[Any]:
            for piece in (*says("Hello"), *ending()):
                yield piece

        return StreamingResponse(pieces(), media_type="text/event-stream", background=BackgroundTask(work))

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    app.add_middleware(ResponsesMiddleware)
    async with serving(app) as url:
        reply = await fetch(f"{url}/v1/responses", BODY)
        with anyio.fail_after(PATIENCE):
            await done.wait()

    assert reply.check_stream().text == "Hello"


async def test_h4_background_work_goes_on_when_the_client_leaves_behind_its_answer(anyio_backend: str) -> None:
    go_on, done = anyio.Event(), anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        await send(start())
        await send(part(b"".join([*says("Hello"), *ending()]), more=False))  # type: ignore[list-item]
        await go_on.wait()
        await anyio.sleep(0.7)  # more than twice _FAREWELL_OF_APP of engine/turns.py: what an app has that was told
        done.set()

    async with serving(http_only(app)) as url:
        async with calling(url, http_request(f"{url}/v1/responses", BODY)) as caller:
            await caller.until(b"event: response.completed")
        go_on.set()
        with anyio.fail_after(PATIENCE):
            await done.wait()


# -- H5
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


async def test_h5_context_variables_are_those_of_the_requests_own_task(anyio_backend: str) -> None:
    seen: dict[str, list[str]] = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        model = json.loads(await read_body(receive))["model"]
        token = VARIABLE.set(f"inner of {VARIABLE.get()}")
        await send(start())
        for piece in (*says("Hel", "lo"), *ending()):
            await send(part(piece))
            await anyio.sleep(0.001)
            seen.setdefault(model, []).append(VARIABLE.get())
        VARIABLE.reset(token)  # raises in another context
        await send(part(b"", more=False))

    middleware = http_only(app)

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            VARIABLE.set(dict(scope["headers"])[b"x-name"].decode())
        await middleware(scope, receive, send)

    async with serving(outer) as url, anyio.create_task_group() as group:

        async def one(name: str) -> None:
            body = json.dumps(request(model=name, stream=True)).encode()
            reply = await fetch(f"{url}/v1/responses", body, headers=[("X-Name", name)])
            assert reply.check_stream().outcome == "completed"

        for number in range(20):
            group.start_soon(one, f"m{number}")

    assert seen == {f"m{n}": [f"inner of m{n}"] * 6 for n in range(20)}


async def test_h5_the_state_of_the_request_is_the_same_object(anyio_backend: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive)
        scope["state"]["inner"] = scope["state"]["outer"] + 1
        await send(start())
        await send(part(b"".join([*says("Hello"), *ending()]), more=False))  # type: ignore[list-item]

    middleware, states = http_only(app), []

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["state"] = {"outer": 1}
            states.append(scope["state"])
        await middleware(scope, receive, send)

    async with serving(outer) as url:
        await fetch(f"{url}/v1/responses", BODY)

    assert states == [{"outer": 1, "inner": 2}]


# -- H6
@pytest.mark.parametrize("stream", [True, False])
async def test_h6_cancellation_goes_through_and_completes_nothing(form: str, stream: bool) -> None:
    async with bridge_of(form, Answer([*says("Hello"), STALL])) as bridge:
        sent: list[Any] = []
        cancelled: list[bool] = []

        body = [json.dumps(request(stream=stream)).encode()]

        async def receive() -> Any:
            if not body:
                await anyio.sleep_forever()
            return {"type": "http.request", "body": body.pop(), "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/v1/responses", "headers": [], "query_string": b""}

        async def run(group: Any) -> None:
            with anyio.CancelScope() as cancelling:
                group.start_soon(cancel, cancelling)
                await bridge.middleware(scope, receive, send)
            cancelled.append(cancelling.cancelled_caught)

        async def cancel(cancelling: anyio.CancelScope) -> None:
            asked = await bridge.upstream.wait_asked()
            await asked.playing.wait()
            cancelling.cancel()

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                await run(group)
            await bridge.asked[0].left.wait()

    assert cancelled == [True]
    assert b"response.completed" not in b"".join(message.get("body", b"") for message in sent)
    assert not [message for message in sent if message.get("more_body") is False]


# -- H7
SERVERS = ["uvicorn-h11", "uvicorn-httptools", "hypercorn-asyncio", "hypercorn-trio", "granian"]
APP = """
import json, sys
sys.path[:0] = {paths!r}
from misbehaving import AppUpstream, Answer, STALL, says, streamed, whole, by_model, completion
from responses_middleware import ResponsesMiddleware, Limits

async def reply(send, body):
    await send({{"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]}})
    await send({{"type": "http.response.body", "body": body, "more_body": False}})

chat = AppUpstream(by_model({{
    "m": streamed("Hel", "lo", headers=[(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")]),
    "whole": whole(completion("Hello")),
    "stall": Answer([*says("Hel"), STALL]),
    "stall before": Answer([], before=[STALL]),
    "raises": Answer([*says("Hel"), RuntimeError("SECRET")]),
}}))

async def inner(scope, receive, send):
    if scope["type"] == "http" and scope["path"] == "/stalled":
        stalled = [asked for asked in chat.asked if "stall" in asked.payload["model"]]
        left = sum(asked.left.is_set() for asked in stalled)
        await reply(send, json.dumps({{"asked": len(stalled), "left": left}}).encode())
    elif scope["type"] == "http" and scope["path"] == "/echo":
        message = await receive()
        await reply(send, message["body"])
    else:
        await chat(scope, receive, send)

app = ResponsesMiddleware(inner, limits=Limits(keepalive=0.2, grace=1.0))
"""
COMMANDS: dict[str, Callable[[int], list[str]]] = {
    "uvicorn-h11": lambda port: ["uvicorn", "promised:app", "--port", str(port), "--http", "h11"],
    "uvicorn-httptools": lambda port: ["uvicorn", "promised:app", "--port", str(port), "--http", "httptools"],
    "hypercorn-asyncio": lambda port: ["hypercorn", "promised:app", "-b", f"127.0.0.1:{port}", "-k", "asyncio"],
    "hypercorn-trio": lambda port: ["hypercorn", "promised:app", "-b", f"127.0.0.1:{port}", "-k", "trio"],
    "granian": lambda port: [
        "granian", "promised:app", "--interface", "asgi", "--host", "127.0.0.1", "--port", str(port), "--no-ws",
        "--http", "1",
    ],
}  # fmt: skip


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server as a process with the middleware in it; its base URL."""
    name: str = request.param
    pytest.importorskip(name.partition("-")[0])
    folder = tmp_path_factory.mktemp("server")
    paths = [str(folder) for folder in Path(__file__).parents[:3]]  # of misbehaving.py, what it needs, and the package
    (folder / "promised.py").write_text(APP.format(paths=paths))
    with socket.create_server(("127.0.0.1", 0)) as chooser:
        port = chooser.getsockname()[1]
    program, *flags = COMMANDS[name](port)
    with (folder / "log").open("wb") as log:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(folder)}
        process = subprocess.Popen(
            [sys.executable, "-m", program, *flags],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
        )  # fmt: skip
    try:
        anyio.run(_wait_for, port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    with anyio.fail_after(PATIENCE):
        while True:
            assert process.poll() is None, "the server has ended: its log stands beside promised.py"
            try:
                await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
            except OSError:
                await anyio.sleep(0.05)
            else:
                return


async def ask(server: str, **parameters: Any) -> Reply:
    return await fetch(f"{server}/v1/responses", json.dumps(request(**parameters)).encode())


async def stalled(server: str, **counts: int) -> dict[str, int]:
    """Wait until so many requests of the models that stall were `asked`, or so many clients of theirs have `left`."""
    with anyio.fail_after(PATIENCE):
        while True:
            found: dict[str, int] = (await fetch(f"{server}/stalled", method="GET")).json
            if all(found[name] >= count for name, count in counts.items()):
                return found
            await anyio.sleep(0.05)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_h7_every_server_streams_exact_events(server: str, anyio_backend: str) -> None:
    reply = (await ask(server, stream=True)).check_stream()

    assert (reply.outcome, reply.text) == ("completed", "Hello")
    assert reply.header("set-cookie") == ["a=1", "b=2"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_h7_every_server_sends_whole_answers_and_errors(server: str, anyio_backend: str) -> None:
    whole_answer, error = await ask(server, model="whole"), await ask(server, input=5)
    echo = await fetch(f"{server}/echo", b"as it is")

    assert (whole_answer.outcome, whole_answer.text, whole_answer.clean) == ("completed", "Hello", True)
    assert (error.status, error.clean) == (400, True)
    assert error.error["param"] == "input"
    assert echo.body == b"as it is"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_h7_every_server_streams_live_with_comments_and_ends_failures_cleanly(
    server: str, anyio_backend: str
) -> None:
    body = json.dumps(request(model="stall", stream=True)).encode()
    async with calling(server, http_request(f"{server}/v1/responses", body)) as caller:
        await caller.until(b'"delta":"Hel"')
        await caller.until(b"\n\n:")
    failed = (await ask(server, model="raises", stream=True)).check_stream()

    assert (failed.outcome, failed.text) == ("failed", "Hel")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_h7_every_server_tells_of_a_client_that_left(server: str, anyio_backend: str) -> None:
    before = await stalled(server)
    for number, (model, stream) in enumerate(
        (("stall", True), ("stall before", True), ("stall before", False)), before["asked"] + 1
    ):
        body = json.dumps(request(model=model, stream=stream)).encode()
        async with calling(server, http_request(f"{server}/v1/responses", body)) as caller:
            if model == "stall":
                await caller.until(b'"delta":"Hel"')
            else:
                await stalled(server, asked=number)
    await stalled(server, left=before["left"] + 3)


# -- H8
async def test_h8_headers_of_the_wrapped_app_stay_and_those_of_its_body_go(anyio_backend: str, subtests: Any) -> None:
    kept = [
        *((b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"x-request-id", b"r1"), (b"x-own", b"1")),
        *((b"vary", b"x"), (b"access-control-allow-origin", b"*"), (b"x-ratelimit-remaining", b"5")),
    ]
    gone = [(b"etag", b"e"), (b"content-md5", b"m"), (b"content-encoding", b"identity"), (b"last-modified", b"l")]
    table = {
        "sse": streamed("Hello", headers=[*kept, *gone]),
        "json": whole(completion("Hello"), headers=[*kept, *gone]),
        "error": whole({"error": "x"}, status=429, headers=[*kept, *gone]),
    }
    async with bridge_of("app", by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    for key, value in kept:
                        assert value.decode() in reply.header(key.decode())
                    assert len(reply.header("set-cookie")) == 2
                    assert not [key for key, _ in gone if reply.header(key.decode())]


# -- H1 to H8 together: in the middle of other middlewares
class Signed(BaseHTTPMiddleware):
    async def dispatch(self, request: Any, call_next: Any) -> Any:
        response = await call_next(request)
        response.headers["x-signed"] = "1"
        return response


def chat_app(*, inside: Callable[[Starlette], None] = lambda app: None) -> Starlette:
    async def complete(scope_request: Any) -> Any:
        payload = await scope_request.json()
        if not payload.get("stream"):
            return JSONResponse(completion("Hello"))

        async def pieces() -> AsyncIterator[Any]:
            for piece in (*says("Hel", "lo"), *ending()):
                yield piece

        return StreamingResponse(pieces(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    inside(app)
    app.add_middleware(ResponsesMiddleware)
    return app


async def both(url: str, path: str = "/v1/responses", **options: Any) -> list[Reply]:
    return [await fetch(url + path, body, path=path, **options) for body in (BODY, WHOLE_BODY)]


INSIDE: dict[str, Callable[[Starlette], None]] = {
    "gzip": lambda app: app.add_middleware(GZipMiddleware, minimum_size=1),
    "BaseHTTPMiddleware": lambda app: app.add_middleware(Signed),
    "cors": lambda app: app.add_middleware(CORSMiddleware, allow_origins=["https://a.example"]),
    "all": lambda app: [app.add_middleware(kind) for kind in (GZipMiddleware, Signed, Signed)] and None,
}


@STARLETTE
@pytest.mark.parametrize("name", INSIDE)
async def test_h1_middlewares_inside_do_no_harm(anyio_backend: str, name: str) -> None:
    async with serving(chat_app(inside=INSIDE[name])) as url:
        headers = [("Accept-Encoding", "gzip"), ("Origin", "https://a.example")]
        replies = await both(url, headers=headers)

    assert [reply.text for reply in replies] == ["Hello", "Hello"]
    assert all(reply.clean and reply.header("content-encoding") == [] for reply in replies)
    if name == "cors":
        assert replies[0].header("access-control-allow-origin") == ["https://a.example"]


@STARLETTE
async def test_h1_gzip_around_us_compresses_what_we_write(anyio_backend: str) -> None:
    app = chat_app()
    app.add_middleware(GZipMiddleware, minimum_size=1)
    async with serving(app) as url:
        _, whole_reply = await both(url, headers=[("Accept-Encoding", "gzip")])

    assert whole_reply.header("content-encoding") == ["gzip"]
    assert json.loads(gzip.decompress(whole_reply.body))["status"] == "completed"


@STARLETTE
async def test_h1_base_http_middleware_around_us_does_no_harm(anyio_backend: str) -> None:
    app = chat_app()
    app.add_middleware(Signed)
    async with serving(app) as url:
        replies = await both(url)

    assert [(reply.text, reply.header("x-signed")) for reply in replies] == [("Hello", ["1"])] * 2


@STARLETTE
async def test_h1_authentication_around_us_decides_first(anyio_backend: str) -> None:
    from starlette.authentication import AuthCredentials, AuthenticationBackend, AuthenticationError, SimpleUser

    class Backend(AuthenticationBackend):
        async def authenticate(self, conn: Any) -> Any:
            if conn.headers.get("authorization") != "Bearer right":
                raise AuthenticationError("no")
            return AuthCredentials(["x"]), SimpleUser("anna")

    app = chat_app()
    app.add_middleware(AuthenticationMiddleware, backend=Backend())
    async with serving(app) as url:
        statuses = [
            (await fetch(f"{url}/v1/responses", BODY, headers=[("Authorization", f"Bearer {key}")])).status
            for key in ("wrong", "right")
        ]

    assert statuses == [400, 200]


async def test_h1_a_mounted_app_works_and_needs_no_lifespan(anyio_backend: str) -> None:
    outer = Starlette(routes=[Mount("/openai", app=ResponsesMiddleware(AppUpstream()))])
    async with serving(outer) as url:
        replies = await both(url, "/openai/v1/responses")
        elsewhere = await fetch(f"{url}/v1/responses", BODY)

    assert [reply.outcome for reply in replies] == ["completed"] * 2
    assert elsewhere.status == 404


async def test_h1_two_instances_nested_or_side_by_side_do_not_meet(anyio_backend: str) -> None:
    chat = AppUpstream()
    nested = ResponsesMiddleware(ResponsesMiddleware(chat))
    beside = ResponsesMiddleware(ResponsesMiddleware(chat, prefix="/a"), prefix="/b")
    async with serving(nested) as url:
        first = await both(url)
    async with serving(beside) as url:
        second = [*await both(url, "/a/responses"), *await both(url, "/b/responses")]

    assert [reply.outcome for reply in (*first, *second)] == ["completed"] * 6
    assert len(chat.asked) == 6


async def test_h1_an_app_whose_lifespan_fails_fails_as_without_us(
    anyio_backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        raise RuntimeError("no database")
        yield

    app = Starlette(lifespan=lifespan)
    app.add_middleware(ResponsesMiddleware)
    asked = [{"type": "lifespan.startup"}]
    answers: list[Any] = []

    async def receive() -> Any:
        return asked.pop()

    async def send(message: Any) -> None:
        answers.append(message)

    with pytest.raises(RuntimeError, match="no database"):
        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    assert [message["type"] for message in answers] == ["lifespan.startup.failed"]


async def test_h1_an_app_without_lifespan_is_served_all_the_same(anyio_backend: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        await AppUpstream()(scope, receive, send)

    middleware = ResponsesMiddleware(app)
    with anyio.fail_after(PATIENCE):
        async with started(middleware):
            pass
    async with serving(middleware) as url:
        assert [reply.outcome for reply in await both(url)] == ["completed"] * 2
