"""Over loopback: the processor time of a server process, per frame, as the kernel counts it."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DELTAS, STREAMS = 200, 100
SERVE = "import sys, uvicorn; sys.path.insert(0, {here!r}); import servers; servers.serve({what!r}, {port}, {upstream})"


def serve(what: str, port: int, upstream: int) -> None:
    """The chat app, or the proxy in front of it, on a loopback port."""
    import uvicorn
    import workloads

    from responses_middleware import ResponsesProxy

    app = (
        workloads.app_of(workloads.stream("text", DELTAS))
        if what == "app"
        else ResponsesProxy(f"http://127.0.0.1:{upstream}/v1", store=None)
    )
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


@contextmanager
def server(what: str, upstream: int = 0) -> Iterator[int]:
    """A server process; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    code = SERVE.format(here=str(Path(__file__).parent), what=what, port=port, upstream=upstream)
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 30
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{what} did not start")
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)


async def load(port: int, streams: int) -> None:
    """So many streams, ten at a time, read to their end."""
    body = json.dumps({"model": "m", "input": "x", "stream": True}).encode()
    head = b"POST /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert b" 200 " in await reader.read(64)
        while await reader.read(1 << 16):
            pass
        writer.close()

    for _ in range(streams // 10):
        await asyncio.gather(*[one() for _ in range(10)])


def cost(what: str, streams: int) -> float:
    """Seconds of processor time of one server process and its start; with `proxy`, of the app behind it, too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if what == "app":
        with server("app") as port:
            asyncio.run(load(port, streams))
    else:
        with server("app") as upstream, server("proxy", upstream) as port:
            asyncio.run(load(port, streams))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def proxy_over_app() -> float:
    """What the proxy adds to the app alone, as a multiple of the app's own cost; start-up is taken off."""
    app = cost("app", STREAMS) - cost("app", 0)
    both = cost("proxy", STREAMS) - cost("proxy", 0)
    return (both - app) / app
