"""C5. A graceful stop: the command as a process, told to end by SIGTERM."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from asgi_client import request
from fronts import BUSY, until, within
from misbehaving import STALL, Answer, SocketUpstream, by_model, ending, says, streamed
from wire import PATIENCE, Caller, calling, http_request

if TYPE_CHECKING:
    from anyio.abc import Process

pytestmark = pytest.mark.anyio

SAID = says("Hel", "lo")


@dataclass
class Command:
    """The command as a process."""

    process: Process
    responses: str
    log: list[bytes]

    @asynccontextmanager
    async def asking(self, **parameters: Any) -> AsyncIterator[Caller]:
        data = http_request(self.responses, json.dumps(request(**parameters)).encode())
        async with calling(self.responses, data) as caller:
            yield caller


@asynccontextmanager
async def command(upstream: str, *flags: str) -> AsyncIterator[Command]:
    words = [sys.executable, "-m", "responses_middleware", upstream, "--port", "0", *flags]
    async with await anyio.open_process(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        log: list[bytes] = []
        try:
            with anyio.fail_after(PATIENCE):
                while b"listening on " not in b"".join(log):
                    log.append(await process.stderr.receive())
            url = b"".join(log).decode().split("listening on ")[1].split()[0]
            async with anyio.create_task_group() as group:
                group.start_soon(_collect, process, log)
                yield Command(process, f"{url}/responses", log)
                group.cancel_scope.cancel()
        finally:
            if process.returncode is None:
                process.kill()


async def _collect(process: Process, log: list[bytes]) -> None:
    assert process.stderr is not None
    async for data in process.stderr:
        log.append(data)  # noqa: PERF401 - others read it meanwhile


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c5_sigterm_completes_what_ends_in_time_and_cuts_the_rest_with_a_terminal_event(
    anyio_backend: str,
) -> None:
    go_on = anyio.Event()
    table = {
        "ends in time": Answer([*SAID, go_on, *says(" world"), *ending()]),
        "takes too long": Answer([*SAID, STALL]),
        "has no first byte": Answer([], before=[STALL]),
    }
    grace = 2.0
    async with (
        SocketUpstream(by_model(table)).listening() as upstream,
        command(upstream.url, "--grace", f"{grace:g}") as running,
        running.asking(model="ends in time", stream=True) as short,
        running.asking(model="takes too long", stream=True) as long,
        running.asking(model="has no first byte", stream=True) as waiting,
        running.asking(model="has no first byte", stream=False) as waiting_for_json,
    ):
        await short.until(b'"delta":"lo"')
        await long.until(b'"delta":"lo"')
        with anyio.fail_after(PATIENCE):
            await upstream.wait_asked(4)
        stopped = time.monotonic()
        running.process.send_signal(signal.SIGTERM)
        refusals = [await caller.rest() for caller in (waiting, waiting_for_json)]
        go_on.set()
        completed = (await short.rest()).check_stream()
        cut = (await long.rest()).check_stream()
        with anyio.fail_after(grace + 3 + BUSY):
            await running.process.wait()
        took = time.monotonic() - stopped

    assert [(reply.status, reply.header("retry-after")) for reply in refusals] == [(503, ["1"])] * 2
    assert (completed.outcome, completed.text) == ("completed", "Hello world")
    assert (cut.outcome, cut.text) == ("failed", "Hello")
    assert grace * 0.9 < took < grace + 3 + BUSY
    assert running.process.returncode in (0, -signal.SIGTERM)
    assert b"Traceback" not in b"".join(running.log)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c5_a_request_whose_body_is_still_coming_at_sigterm_is_not_begun(anyio_backend: str) -> None:
    body = json.dumps(request(stream=True)).encode()
    async with (
        SocketUpstream(by_model({"long": Answer([*SAID, STALL]), "m": streamed("late")})).listening() as upstream,
        command(upstream.url, "--grace", "1.5") as running,
        running.asking(model="long", stream=True) as long,
        calling(running.responses, http_request(running.responses, body[:9], length=len(body))) as late,
    ):
        await long.until(b'"delta":"lo"')
        running.process.send_signal(signal.SIGTERM)
        await until(lambda: b"stopping" in b"".join(running.log))
        await late.send(body[9:])
        reply = await late.rest()
        with anyio.fail_after(PATIENCE):
            await running.process.wait()

    assert reply.status == 503
    assert len(upstream.asked) == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_c5_without_requests_the_process_ends_at_once(anyio_backend: str) -> None:
    async with SocketUpstream().listening() as upstream, command(upstream.url, "--grace", "60") as running:
        running.process.send_signal(signal.SIGTERM)
        async with within(3):
            await running.process.wait()

    assert running.process.returncode in (0, -signal.SIGTERM)
