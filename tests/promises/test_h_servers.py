"""H7. Every server: as a process of its own, with the middleware in it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from asgi_client import request
from wire import PATIENCE, Reply, calling, fetch, http_request

pytestmark = pytest.mark.anyio


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
        _wait_for(port, process, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    late = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, f"the server has ended: {log.read_text()}"
        assert time.monotonic() < late, f"the server does not listen: {log.read_text()}"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
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
