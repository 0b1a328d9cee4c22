"""The chat server of the soak: the model's name is what goes wrong, the last message is the mark of the stream."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

PIECES = 30


def pieces(fault: str, mark: str) -> list[str]:
    """The texts that a stream delivers."""
    count = PIECES // 2 if fault in ("cut", "error") else PIECES
    texts = [f"{mark}:{number}é\n" for number in range(count)]
    return ['{"text": "', *[text.replace("\n", " ") for text in texts], '"}'] if fault == "tool" else texts


def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
    value = {
        "id": "c",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    data = b"data: " + json.dumps(value).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request a connection."""
    with suppress(ConnectionError, asyncio.IncompleteReadError):  # clients leave, that is what they are for
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:] if b": " in line)
        body = await reader.readexactly(int(fields.get(b"content-length", b"0")))
        if body:
            request = json.loads(body)
            await answer(request["model"], request["messages"][-1]["content"], writer)
        else:
            writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
    writer.close()


async def answer(fault: str, mark: str, writer: asyncio.StreamWriter) -> None:
    if fault == "status":
        text = json.dumps(
            {"error": {"message": mark, "type": "rate_limit_error", "param": None, "code": None}}
        ).encode()
        writer.write(b"HTTP/1.1 429 Slow Down\r\nretry-after: 1\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text))
        return
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    if fault == "tool":
        head = {"index": 0, "id": f"call_{mark}", "type": "function", "function": {"name": "f", "arguments": ""}}
        writer.write(frame({"tool_calls": [head]}))
    for text in pieces(fault, mark):
        call = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
        writer.write(frame(call if fault == "tool" else {"content": text}))
        await writer.drain()
        await asyncio.sleep(0.02)
    end(fault, writer)


def end(fault: str, writer: asyncio.StreamWriter) -> None:
    match fault:
        case "cut":
            writer.transport.abort()
        case "error":
            data = b'data: {"error": {"message": "the model crashed"}}\n\n'
            writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data))
        case "no-finish":
            writer.write(b"0\r\n\r\n")
        case _:
            done = b"data: [DONE]\n\n"
            finish = {"length": "length", "tool": "tool_calls"}.get(fault, "stop")
            writer.write(frame({}, finish) + b"%x\r\n%b\r\n0\r\n\r\n" % (len(done), done))
