"""What the benchmark runs: chat streams of one kind each, a long history, and a yardstick."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

WORDS = (" the", " bridge", " opens", " at", " nine", ",", " says", " Zoë", ".", "\n")
HEAD = {"id": "chatcmpl-9f8e7d6c5b4a", "object": "chat.completion.chunk", "created": 1790000000, "model": "m"}


def chunk(delta: dict[str, Any], finish: str | None = None, **extra: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return b"data: " + json.dumps({**HEAD, "choices": [choice], **extra}, separators=(",", ":")).encode() + b"\n\n"


def stream(kind: str, length: int) -> list[bytes]:
    """The writes of a chat server: `length` deltas, one a write."""
    words = [WORDS[index % len(WORDS)] for index in range(length)]
    end = [chunk({}, "tool_calls" if kind == "tool" else "stop"), b"data: [DONE]\n\n"]
    match kind:
        case "text":
            return [chunk({"content": word}) for word in words] + end
        case "reasoning":
            return [chunk({"reasoning_content": word}) for word in words] + end
        case "usage":
            counts = [{"prompt_tokens": 9, "completion_tokens": n, "total_tokens": n + 9} for n in range(length)]
            return [chunk({"content": word}, usage=usage) for word, usage in zip(words, counts, strict=True)] + end
        case "tool":
            first = {"index": 0, "id": "call_abc123", "type": "function", "function": {"name": "f", "arguments": ""}}
            pieces = ['{"text":"', *(word.replace("\n", "\\n") for word in words), '"}']
            calls = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
            return [chunk({"tool_calls": [call]}) for call in [first, *calls]] + end
        case _:  # "varying": another id in each frame, so that none is like the one before
            return [chunk({"content": word}, id=f"chatcmpl-{index}") for index, word in enumerate(words)] + end


def app_of(writes: list[bytes]) -> ASGIApp:
    """A chat app that sends these."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for data in writes:
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return app


def loads_and_dumps(app: ASGIApp) -> ASGIApp:
    """The yardstick: a send wrapper that reads each frame with json and writes it again, and does nothing else."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def rewrite(message: Message) -> None:
            data = message.get("body", b"")
            if data.startswith(b"data: {"):
                value = json.loads(data[6:])
                message = {**message, "body": b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"}
            await send(message)

        await app(scope, receive, rewrite)

    return wrapped


async def ask(app: ASGIApp, body: dict[str, Any]) -> int:
    """One request, the ASGI way; the number of bytes that came."""
    raw, size, asked = json.dumps(body).encode(), 0, False
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/responses",
        "raw_path": b"/v1/responses",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(raw))],
    }

    async def receive() -> Message:
        nonlocal asked
        if asked:
            return {"type": "http.disconnect"}
        asked = True
        return {"type": "http.request", "body": raw, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal size
        size += len(message.get("body", b""))

    call: Callable[..., Awaitable[None]] = app
    await call(scope, receive, send)
    return size


def history(size: int) -> dict[str, Any]:
    """A request of about `size` bytes as coding agents send it: their whole history, each turn."""
    items: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "input_text", "text": "Mend the bridge."}]}]
    output = "def open_at(hour: int) -> bool:\n    return 9 <= hour < 17  # Zoë's rule\n" * 36  # a screen of text
    turn = len(output) + 700
    for number in range(max(size // turn, 1)):
        call_id = f"call_{number:08}"
        text = f"I look at file {number}."
        items += [
            {"type": "reasoning", "id": f"rs_{number}", "summary": [{"type": "summary_text", "text": text}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
            {"type": "function_call", "call_id": call_id, "name": "read_file", "arguments": json.dumps({"n": number})},
            {"type": "function_call_output", "call_id": call_id, "output": output},
        ]
    tool = {"type": "function", "name": "read_file", "parameters": {"type": "object", "properties": {}}, "strict": None}
    return {"model": "m", "instructions": "You mend bridges.", "input": items, "tools": [tool], "store": False}
