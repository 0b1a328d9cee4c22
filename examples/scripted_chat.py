"""A chat completions server without a model, for the examples: it calls the first tool that it is offered, else repeats
what it hears.

    python examples/scripted_chat.py        # serves http://127.0.0.1:8000/v1/chat/completions until Ctrl-C
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Body = dict[str, Any]


def completion(body: Body) -> Body:
    """The answer as one `chat.completion`."""
    message = {"role": "assistant", **_said(body)}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    return {**_head(body), "object": "chat.completion", "choices": [choice], "usage": _usage(body)}


async def frames(body: Body) -> AsyncIterator[str]:
    """The answer as server-sent events, a word at a time."""
    said = _said(body)
    words = said["content"].split(" ") if said["content"] else []
    deltas: list[Body] = [{"role": "assistant"}]
    deltas += [{"content": word if number == 0 else " " + word} for number, word in enumerate(words)]
    deltas += [{"tool_calls": [{"index": 0, **call}]} for call in said.get("tool_calls", [])]
    for delta in deltas:
        yield _frame(body, choices=[{"index": 0, "delta": delta, "finish_reason": None}])
        await anyio.sleep(0.02)  # a model takes its time
    end = "tool_calls" if "tool_calls" in said else "stop"
    yield _frame(body, choices=[{"index": 0, "delta": {}, "finish_reason": end}])
    yield _frame(body, choices=[], usage=_usage(body))
    yield "data: [DONE]\n\n"


def _said(body: Body) -> Body:
    last = body["messages"][-1]
    if body.get("tools") and last["role"] != "tool":
        name = body["tools"][0]["function"]["name"]
        function = {"name": name, "arguments": json.dumps({"city": "Oslo"})}
        return {"content": None, "tool_calls": [{"id": "call_oslo_1", "type": "function", "function": function}]}
    return {"content": f"You said: {last['content']}" if last["role"] == "user" else f"I found: {last['content']}"}


def _head(body: Body) -> Body:
    return {"id": "chatcmpl-1", "created": 1, "model": body["model"]}


def _usage(body: Body) -> Body:
    sent, back = len(str(body["messages"][-1]["content"]).split()), 4
    return {"prompt_tokens": sent, "completion_tokens": back, "total_tokens": sent + back}


def _frame(body: Body, **fields: Any) -> str:
    return f"data: {json.dumps({**_head(body), 'object': 'chat.completion.chunk', **fields})}\n\n"


async def _chat(request: Request) -> Response:
    body = await request.json()
    if body.get("stream"):
        return StreamingResponse(frames(body), media_type="text/event-stream")
    return JSONResponse(completion(body))


app = Starlette(routes=[Route("/v1/chat/completions", _chat, methods=["POST"])])

if __name__ == "__main__":
    import uvicorn

    uvicorn.run(app, port=8000)
