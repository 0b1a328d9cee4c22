"""Every example runs as a user runs it, and README.md and the package agree."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import responses_middleware
import responses_middleware.stream
from responses_middleware import Limits, ResponsesMiddleware
from responses_middleware.command.flags import build_parser
from responses_middleware.dialects.registry import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PATIENCE = 60.0  # seconds for a busy machine
STREAM = [
    "HTTP 200 text/event-stream; charset=utf-8",
    "response.created                  in_progress",
    'response.output_text.delta        "You"',
    "response.completed                completed",
]


def run(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, f"examples/{name}.py", *arguments]
    return subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "error", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("one_line_fastapi", STREAM),
        ("one_line_starlette", [*STREAM, "[any] used 8 tokens"]),
        ("proxy_in_front_of_a_url", [*STREAM, "You said: the old way"]),
        ("function_tools", ['the model calls get_weather({"city": "Oslo"})', "I found: sunny in Oslo"]),
        (
            "legacy_gateway",
            [
                "a plain answer: HTTP 200",
                "  x-backend: b1",
                "a stream: HTTP 200",
                "  content-type: text/event-stream; charset=utf-8",
                "  cache-control: no-cache",
                "  x-accel-buffering: no",
                "  x-backend: b2",
                "a wrong key: HTTP 401",
                "an unusable answer: HTTP 502",
                "an unusable answer where a stream was asked for: HTTP 502",
            ],
        ),
    ],
)
def test_an_example_runs_and_ends_by_itself(name: str, lines: list[str]) -> None:
    ended = run(name)

    assert ended.stderr == ""
    assert ended.returncode == 0
    assert [line for line in lines if line not in ended.stdout.splitlines()] == []


@pytest.mark.skipif(importlib.util.find_spec("llama_cpp") is not None, reason="llama-cpp-python is installed")
def test_without_llama_cpp_python_the_example_says_in_one_line_how_to_get_it() -> None:
    ended = run("wrap_llama_cpp_server", "--model", "any.gguf")

    assert ended.returncode == 1
    assert ended.stderr == "this example needs llama-cpp-python: pip install 'llama-cpp-python[server]'\n"


APP = "import scripted_chat\ndef create_app(server_settings, model_settings):\n    return scripted_chat.app\n"
SETTINGS = "class Settings:\n    def __init__(self, **given): pass\nModelSettings = ServerSettings = Settings\n"


def test_the_app_of_llama_cpp_python_is_wrapped_in_process(tmp_path: Path) -> None:
    server = tmp_path / "llama_cpp" / "server"
    server.mkdir(parents=True)
    for path, text in (
        (server.parent / "__init__.py", ""),
        (server / "__init__.py", ""),
        (server / "app.py", APP),
        (server / "settings.py", SETTINGS),
    ):
        path.write_text(text)

    ended = run("wrap_llama_cpp_server", "--model", "any.gguf", PYTHONPATH=str(tmp_path))

    assert ended.stderr == ""
    assert [line for line in STREAM if line not in ended.stdout.splitlines()] == []


@contextmanager
def serving(name: str) -> Iterator[str]:
    """An example with `--serve`; gives its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [sys.executable, f"examples/{name}.py", "--serve", "--port", str(port)]
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
        guard.cancel()


def ask_until_it_listens(base: str, key: str) -> httpx.Response:
    body, headers = {"model": "any", "input": "Hi"}, {"authorization": f"Bearer {key}"}
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return httpx.post(f"{base}/responses", json=body, headers=headers, trust_env=False)
        except httpx.ConnectError:
            if time.monotonic() > until:
                raise
            threading.Event().wait(0.05)


@pytest.mark.parametrize(
    "name", ["one_line_fastapi", "one_line_starlette", "proxy_in_front_of_a_url", "legacy_gateway"]
)
def test_an_example_goes_on_serving_when_it_is_asked_to(name: str) -> None:
    with serving(name) as base:
        reply = ask_until_it_listens(base, "sesame")

    assert reply.status_code == 200
    assert reply.json()["output"][0]["content"][0]["text"] == "You said: Hi"


def test_every_example_is_named_in_the_readme() -> None:
    names = [path.name for path in EXAMPLES.glob("*.py") if path.stem != "loopback"]

    assert [name for name in names if name not in README] == []


# --- README.md ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [*responses_middleware.__all__, *responses_middleware.stream.__all__, "responses_middleware.stream"]
)
def test_the_readme_names_everything_public(name: str) -> None:
    assert re.search(rf"\b{re.escape(name)}\b", README)


def test_the_readme_has_a_row_for_every_option_with_its_default() -> None:
    parameters = list(inspect.signature(ResponsesMiddleware).parameters.values())[1:]

    missing = [name for name in (parameter.name for parameter in parameters) if not table_row(name)]

    assert missing == []
    for parameter in parameters:
        if isinstance(parameter.default, str | bool):
            assert f"`{parameter.default!r}`".replace("'", '"') in table_row(parameter.name)


@pytest.mark.parametrize("field", dataclasses.fields(Limits), ids=lambda field: field.name)
def test_the_readme_has_a_row_for_every_limit_with_its_default(field: dataclasses.Field[Any]) -> None:
    cells = [cell.strip() for cell in table_row(field.name).split("|")]

    assert cells[2] == (f"{field.default:.10g}" if isinstance(field.default, float) else str(field.default))
    assert (cells[3] == "yes") is ("None" in str(field.type))


def table_row(name: str) -> str:
    rows = [line for line in README.splitlines() if line.startswith(f"| `{name}`")]
    return rows[0] if len(rows) == 1 else ""


def test_the_readme_names_every_dialect() -> None:
    assert [name for name in PRESETS if f"`{name}`" not in README] == []


def test_the_readme_names_every_flag() -> None:
    flags = [flag for action in build_parser()._actions for flag in action.option_strings if flag.startswith("--")]

    assert [flag for flag in flags if flag not in README and flag not in ("--help", "--version")] == []


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("source", blocks("python"))
def test_the_python_of_the_readme_compiles_and_its_imports_exist(source: str) -> None:
    compile(source, "README.md", "exec", dont_inherit=True)

    imports = [line for line in source.splitlines() if re.match(r"(from|import) +(responses_middleware|fastapi)", line)]
    exec("\n".join(imports), {})


def test_the_sans_io_code_of_the_readme_runs() -> None:
    (source,) = [block for block in blocks("python") if "SSEDecoder()" in block]
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]}
    seen: list[dict[str, Any]] = []

    exec(source, {"pieces": [f"data: {json.dumps(chunk)}\n\n".encode(), b"data: [DONE]\n\n"], "handle": seen.append})

    assert seen[0]["type"] == "response.created"
    assert seen[-1]["type"] == "response.completed"
    assert seen[-1]["response"]["output"][0]["content"][0]["text"] == "Hello"


def test_the_links_of_the_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)

    assert [link for link in links if not (ROOT / link).exists()] == []
