"""What every example ends with: serve its app on a loopback port, and ask it something.

`python examples/NAME.py` asks and ends; with `--serve` it goes on serving at http://127.0.0.1:9000/v1 (`--port N`).
Needs uvicorn: pip install 'responses-middleware[cli]'.
"""

from __future__ import annotations

import argparse
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn


def run(app: Any, question: str = "How are you today?") -> None:
    """Serve `app`; ask it the question, streamed, and print the events, or with `--serve` go on until Ctrl-C."""
    if is_to_serve():
        serve(app)
        return
    with serving(app) as base:
        ask(base, question)


def ask(base: str, question: str, **headers: str) -> None:
    """Ask one streamed question and print each event with what it says."""
    body = {"model": "any", "input": question, "stream": True, "max_output_tokens": 200}
    with httpx.stream("POST", f"{base}/responses", json=body, headers=headers, timeout=30, trust_env=False) as reply:
        print(f"HTTP {reply.status_code} {reply.headers['content-type']}")
        if not reply.is_success:
            print(reply.read().decode())
        for line in reply.iter_lines():  # each event is on one line of its own
            if line.startswith("data: "):
                show(json.loads(line.removeprefix("data: ")))


def show(event: dict[str, Any]) -> None:
    """Print an event on one line: its type, and the text or the status that it carries."""
    said = json.dumps(event["delta"]) if "delta" in event else event.get("response", {}).get("status", "")
    print(f"{event['type']:<34}{said}")


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve `app` on a free loopback port in a thread; gives the base URL of its API."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            thread.join()


def serve(app: Any) -> None:
    """Serve `app` on the port of the command line until Ctrl-C."""
    port = _given().port
    print(f"the Responses API: http://127.0.0.1:{port}/v1/responses (Ctrl-C ends it)", flush=True)
    uvicorn.run(app, port=port, log_level="warning")


def is_to_serve() -> bool:
    """Whether the command line asks to go on serving."""
    return bool(_given().serve)


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true", help="go on serving until Ctrl-C")
    parser.add_argument("--port", type=int, default=9000, help="for --serve (default: 9000)")
    return parser.parse_known_args()[0]
