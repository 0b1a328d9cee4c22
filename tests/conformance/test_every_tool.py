"""A request that offers every tool at once: each kind of call comes back in its own item type, streamed and not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from asgi_client import Exchange
from chat_app import DONE, JSON, SSE, completion, frame, read_body
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from rich_request import TOOLS

from responses_middleware import ResponsesMiddleware

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
FREEFORM = 'print("hi")\n\N{SNOWMAN} \N{GRINNING FACE}\t\\end'

# What the model calls each function with, by the chat name that it is offered under.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "get_weather": {"city": "Paris"},
    "edit": {"input": FREEFORM},
    "plain": {"input": ""},
    "crm__get_weather": {"city": "Rome"},
    "crm__edit": {"input": "note"},
    "tool_search": {"query": "mail"},
    "local_shell": {"command": ["ls", "-l"], "timeout_ms": 100},
    "shell": {"commands": ["ls", "pwd"]},
    "apply_patch": {"type": "update_file", "path": "a.py", "diff": "+x"},
    "computer": {"actions": [{"type": "click", "button": "left", "x": 1, "y": 2}]},
}
# What the client gets instead: the fields of the item beside id, call_id and status.
ITEMS: dict[str, dict[str, Any]] = {
    "get_weather": {"type": "function_call", "name": "get_weather", "arguments": '{"city": "Paris"}'},
    "edit": {"type": "custom_tool_call", "name": "edit", "input": FREEFORM},
    "plain": {"type": "custom_tool_call", "name": "plain", "input": ""},
    "crm__get_weather": {
        "type": "function_call",
        "name": "get_weather",
        "namespace": "crm",
        "arguments": '{"city": "Rome"}',
    },
    "crm__edit": {"type": "custom_tool_call", "name": "edit", "namespace": "crm", "input": "note"},
    "tool_search": {"type": "tool_search_call", "execution": "client", "arguments": {"query": "mail"}},
    "local_shell": {
        "type": "local_shell_call",
        "action": {"type": "exec", "command": ["ls", "-l"], "env": {}, "timeout_ms": 100},
    },
    "shell": {
        "type": "shell_call",
        "action": {"commands": ["ls", "pwd"], "timeout_ms": None, "max_output_length": None},
        "environment": None,
    },
    "apply_patch": {
        "type": "apply_patch_call",
        "operation": {"type": "update_file", "path": "a.py", "diff": "+x"},
    },
    "computer": {
        "type": "computer_call",
        "action": {"type": "click", "button": "left", "x": 1, "y": 2},
        "actions": [{"type": "click", "button": "left", "x": 1, "y": 2}],
        "pending_safety_checks": [],
    },
}
LEFT_OUT = [tool["type"] for tool in TOOLS if tool["type"].startswith(("web", "file", "code", "image", "mcp", "prog"))]


class CallingApp:
    """A chat app that calls each tool that it is offered, once.

    Args:
        size: characters of arguments in one chunk.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.payloads: list[dict[str, Any]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        payload = json.loads(await read_body(receive))
        self.payloads.append(payload)
        calls = [{"id": f"call_{index}_of_app", **_call(tool)} for index, tool in enumerate(payload.get("tools", []))]
        body = b"".join(self._frames(calls)) if payload.get("stream") else _whole(calls)
        headers = [SSE if payload.get("stream") else JSON]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    def _frames(self, calls: list[dict[str, Any]]) -> list[bytes]:
        frames = [frame(role="assistant")]
        for index, call in enumerate(calls):
            kind, member = call["type"], "arguments" if call["type"] == "function" else "input"
            text = call[kind][member]
            head = {**call, "index": index, kind: {**call[kind], member: ""}}
            frames.append(frame(tool_calls=[head]))
            for start in range(0, len(text), self._size):
                piece = {member: text[start : start + self._size]}
                frames.append(frame(tool_calls=[{"index": index, kind: piece}]))
        return [*frames, frame(finish="tool_calls"), DONE]


def _call(tool: dict[str, Any]) -> dict[str, Any]:
    kind = tool["type"]
    name = tool[kind]["name"]
    if kind == "custom":
        return {"type": "custom", "custom": {"name": name, "input": ARGUMENTS[name]["input"]}}
    return {"type": "function", "function": {"name": name, "arguments": json.dumps(ARGUMENTS[name])}}


def _whole(calls: list[dict[str, Any]]) -> bytes:
    return json.dumps(completion(None, finish="tool_calls", tool_calls=calls)).encode()


async def asked(*, stream: bool, dialect: str = "auto", size: int = 1) -> tuple[Exchange, CallingApp]:
    chat = CallingApp(size)
    body = {"model": "m", "input": "Do all of it", "tools": TOOLS, "stream": stream}
    return await Exchange(ResponsesMiddleware(chat, dialect=dialect), body).run(), chat


def shown(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in ("id", "call_id", "status")}


@pytest.mark.anyio
@pytest.mark.parametrize("dialect", ["auto", "openai"])
@pytest.mark.parametrize(("stream", "size"), [(False, 1), (True, 1), (True, 5), (True, 1000)])
async def test_each_call_comes_back_as_its_own_item(stream: bool, size: int, dialect: str) -> None:
    exchange, chat = await asked(stream=stream, dialect=dialect, size=size)

    names = [tool[tool["type"]]["name"] for tool in chat.payloads[0]["tools"]]
    assert sorted(names) == sorted(ITEMS)
    assert [shown(item) for item in exchange.response["output"]] == [ITEMS[name] for name in names]


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
async def test_each_call_can_be_answered(stream: bool) -> None:
    exchange, _ = await asked(stream=stream)

    output = exchange.response["output"]
    assert [item["call_id"] for item in output] == [f"call_{index}_of_app" for index in range(len(ITEMS))]
    assert {item["status"] for item in output} == {"completed"}
    assert len({item["id"] for item in output}) == len(output)


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
async def test_what_nobody_runs_is_named(stream: bool) -> None:
    exchange, _ = await asked(stream=stream)

    (named,) = exchange.header(b"x-responses-unsupported")
    assert named.decode().split(", ") == LEFT_OUT


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
async def test_the_response_is_of_the_type_that_the_openai_package_knows(stream: bool) -> None:
    exchange, _ = await asked(stream=stream)

    response = Response.model_validate(exchange.response)
    assert [item.type for item in response.output] == [item["type"] for item in exchange.response["output"]]


@pytest.mark.anyio
async def test_each_event_is_of_the_type_that_the_openai_package_knows() -> None:
    exchange, _ = await asked(stream=True)

    for event in exchange.events:
        assert EVENT.validate_python(event).type == event["type"]


@pytest.mark.anyio
async def test_freeform_input_is_streamed_decoded() -> None:
    exchange, _ = await asked(stream=True)

    deltas = [event for event in exchange.events if event["type"] == "response.custom_tool_call_input.delta"]
    by_item: dict[str, str] = {}
    for event in deltas:
        by_item[event["item_id"]] = by_item.get(event["item_id"], "") + event["delta"]
    calls = [item for item in exchange.response["output"] if item["type"] == "custom_tool_call" and item["input"]]
    assert by_item == {item["id"]: item["input"] for item in calls}


@pytest.mark.anyio
@pytest.mark.parametrize("dialect", ["auto", "openai"])
async def test_all_the_calls_go_back_as_they_came(dialect: str) -> None:
    exchange, chat = await asked(stream=False, dialect=dialect)
    calls = exchange.response["output"]

    body = {
        "model": "m",
        "input": [{"role": "user", "content": "Do all of it"}, *calls, *(_output(call) for call in calls)],
        "tools": TOOLS,
    }
    again = await Exchange(ResponsesMiddleware(chat, dialect=dialect), body).run()

    assert again.status == 200, again.body
    sent = chat.payloads[1]["messages"][1]["tool_calls"]
    assert [_meaning(call) for call in sent] == [
        _meaning({"id": f"call_{index}_of_app", **_call(tool)}) for index, tool in enumerate(chat.payloads[0]["tools"])
    ]


def _output(call: dict[str, Any]) -> dict[str, Any]:
    outputs: dict[str, dict[str, Any]] = {
        "function_call": {"type": "function_call_output", "output": "done"},
        "custom_tool_call": {"type": "custom_tool_call_output", "output": "done"},
        "tool_search_call": {"type": "tool_search_output", "tools": [], "execution": "client", "status": "completed"},
        "local_shell_call": {"type": "local_shell_call_output", "output": "done"},
        "shell_call": {
            "type": "shell_call_output",
            "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
        "apply_patch_call": {"type": "apply_patch_call_output", "status": "completed"},
        "computer_call": {
            "type": "computer_call_output",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"},
        },
    }
    return {"call_id": call["call_id"], **outputs[call["type"]]}


def _meaning(call: dict[str, Any]) -> tuple[Any, ...]:
    """A chat call, whatever the blanks in its arguments."""
    inner = call[call["type"]]
    return call["id"], call["type"], inner["name"], inner.get("input") or json.loads(inner.get("arguments", "{}"))
