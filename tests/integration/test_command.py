"""The command as a process on a loopback port, in front of a chat server on a real socket."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from chat_app import completion, frames

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0  # seconds for a busy machine


class ChatServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Chat)
        self.asked = threading.Event()
        self.may_go_on = threading.Event()
        self.authorizations: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Chat(BaseHTTPRequestHandler):
    """Answers Hello; the model `slow` says Hel and waits, the model `mute` waits first."""

    server: ChatServer

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._reply("application/json", json.dumps({"data": [{"id": "parrot"}]}).encode())
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        self.server.authorizations.append(self.headers["authorization"])
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not asked.get("stream"):
            return self._reply("application/json", json.dumps(completion()).encode())
        self.server.asked.set()
        if asked["model"] == "mute":
            self.server.may_go_on.wait(PATIENCE)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for number, piece in enumerate(frames("Hel", "lo")):
            if number == 1 and asked["model"] == "slow":
                self.server.may_go_on.wait(PATIENCE)
            try:
                self.wfile.write(piece)
            except OSError:  # the proxy has gone
                return None
        return None

    def _reply(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.may_go_on.set()
            server.shutdown()
            thread.join()


class Command:
    """A running command; `lines` are what it has printed up to `listening on …`, `rest()` is what came after."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        self.process = process
        self.lines: list[str] = []
        for line in process.stderr:
            self.lines.append(line.rstrip())
            if line.startswith("listening on "):
                break

    @property
    def base(self) -> str:
        return self.lines[-1].removeprefix("listening on ")

    def stop(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, rest


@contextmanager
def command(*arguments: str, **environment: str) -> Iterator[Command]:
    process = subprocess.Popen(
        [sys.executable, "-m", "responses_middleware", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    guard = threading.Timer(2 * PATIENCE, process.kill)
    guard.start()
    try:
        with process:
            yield Command(process)
            process.kill()
    finally:
        guard.cancel()


def question(*, stream: bool, model: str = "parrot") -> dict[str, Any]:
    return {"model": model, "input": "Hi", "stream": stream}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "responses_middleware", *arguments]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_it_says_what_it_serves_and_listens(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0") as running:
        text = "\n".join(running.lines)

        assert f"for the chat completions of {chat.url}" in text
        assert f"curl -N {running.base}/responses" in text
        assert '"model": "parrot"' in text
        assert f"OPENAI_BASE_URL={running.base}" in text
        assert "warning" not in text


def test_a_plain_request_is_answered(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0") as running:
        reply = httpx.post(f"{running.base}/responses", json=question(stream=False), trust_env=False)

    assert reply.status_code == 200
    assert reply.json()["status"] == "completed"
    assert reply.json()["output"][0]["content"][0]["text"] == "Hello"


def test_a_streamed_request_is_answered_by_events(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0") as running:
        reply = httpx.post(f"{running.base}/responses", json=question(stream=True), trust_env=False)

    payloads = [json.loads(line.removeprefix("data: ")) for line in reply.text.split("\n") if line.startswith("data: ")]
    assert payloads[0]["type"] == "response.created"
    assert payloads[-1]["type"] == "response.completed"
    assert "".join(p["delta"] for p in payloads if p["type"] == "response.output_text.delta") == "Hello"


def test_the_key_of_the_environment_reaches_the_upstream(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0", RESPONSES_MIDDLEWARE_API_KEY="sesame") as running:
        httpx.post(f"{running.base}/responses", json=question(stream=False), trust_env=False)

    assert chat.authorizations == ["Bearer sesame"]


def test_a_url_without_its_v1_is_a_warning(chat: ChatServer) -> None:
    with command(chat.url.removesuffix("/v1"), "--port", "0") as running:
        warnings = [line for line in running.lines if "warning" in line]

    assert len(warnings) == 1
    assert "is the /v1 missing" in warnings[0]


def test_a_dead_upstream_is_a_warning_and_it_serves_all_the_same() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with command(f"http://127.0.0.1:{port}/v1", "--port", "0") as running:
        reply = httpx.post(f"{running.base}/responses", json=question(stream=True), trust_env=False)

    assert sum("cannot be reached" in line for line in running.lines) == 1
    assert reply.status_code == 502


def test_a_taken_port_is_one_line_and_status_1(chat: ChatServer) -> None:
    ended = run("http://127.0.0.1:1/v1", "--port", str(chat.server_port))

    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1


def test_a_bad_url_is_one_line_and_status_2() -> None:
    ended = run("localhost:8000/v1")

    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1


def test_a_refused_websocket_is_426_and_nothing_in_the_log(chat: ChatServer) -> None:
    upgrade = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    upgrade["sec-websocket-key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    with command(chat.url, "--port", "0") as running:
        reply = httpx.get(f"{running.base}/responses", headers=upgrade, trust_env=False)
        _, rest = running.stop(signal.SIGTERM)

    assert reply.status_code == 426
    assert rest == ""


def test_sigterm_ends_it_without_a_word(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0") as running:
        status, rest = running.stop(signal.SIGTERM)

    assert status in (0, -signal.SIGTERM)
    assert rest == ""


def test_ctrl_c_ends_it_without_a_word(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0") as running:
        status, rest = running.stop(signal.SIGINT)

    assert status in (0, -signal.SIGINT)
    assert rest == ""


@contextmanager
def open_stream(running: Command) -> Iterator[Iterator[str]]:
    """The lines of an answer of which `Hel` was read."""
    with (
        httpx.Client(trust_env=False, timeout=PATIENCE) as client,
        client.stream("POST", f"{running.base}/responses", json=question(stream=True, model="slow")) as reply,
    ):
        lines = reply.iter_lines()
        assert any('"delta":"Hel"' in line for line in lines)
        yield lines


def last_event(lines: Iterator[str]) -> str:
    return [line.removeprefix("event: ") for line in lines if line.startswith("event: ")][-1]


def test_a_stream_that_is_open_at_sigterm_may_end_within_grace(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0", "--grace", "20") as running, open_stream(running) as lines:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.stderr is not None
        assert "stopping" in running.process.stderr.readline()
        chat.may_go_on.set()

        assert last_event(lines) == "response.completed"
        running.process.wait(PATIENCE)


def test_a_stream_that_takes_longer_ends_with_a_terminal_event_that_is_not_completed(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0", "--grace", "1") as running, open_stream(running) as lines:
        running.process.send_signal(signal.SIGTERM)

        assert last_event(lines) == "response.failed"
        assert running.process.wait(1 + 3) in (0, -signal.SIGTERM)


def test_a_request_without_a_first_byte_gets_503_at_sigterm(chat: ChatServer) -> None:
    replies: list[httpx.Response] = []
    with command(chat.url, "--port", "0", "--grace", "1") as running:
        body = question(stream=True, model="mute")
        asking = threading.Thread(
            target=lambda: replies.append(
                httpx.post(f"{running.base}/responses", json=body, trust_env=False, timeout=PATIENCE)
            )
        )
        asking.start()
        assert chat.asked.wait(PATIENCE)
        running.process.send_signal(signal.SIGTERM)
        asking.join()

    assert replies[0].status_code == 503
    assert "retry-after" in replies[0].headers


def test_a_second_ctrl_c_ends_it_at_once_and_without_a_traceback(chat: ChatServer) -> None:
    with command(chat.url, "--port", "0", "--grace", "60") as running, open_stream(running):
        running.process.send_signal(signal.SIGINT)
        assert running.process.stderr is not None
        assert "Ctrl-C ends them now" in running.process.stderr.readline()
        status, rest = running.stop(signal.SIGINT)

    assert status in (0, -signal.SIGINT)
    assert rest == ""
