"""A soak: the real command in front of a misbehaving chat server, many streams at a time, faults and aborts mixed in.

Every stream carries a mark of its own in each delta. Checked: a stream has exactly its own text, in order, and so has
its final object; one terminal event, the one that its fault deserves; no gap in the sequence; what was stored can be
read back; after the warm-up the server's memory and descriptors stay flat.

    python tests/soak/soak.py [--minutes 10] [--streams 200]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import upstream

FAULTS = ("ok", "ok", "ok", "slow", "tool", "cut", "error", "no-finish", "length", "status")
TERMINALS = {"length": "response.incomplete", "cut": "response.failed", "error": "response.failed"}
TERMINALS["no-finish"] = "response.failed"
ENDS = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
SECONDS_OF_A_STREAM = 60
MOST_GROWTH = 24.0  # MiB of resident memory between the first and the last third of the time behind the warm-up


class Findings:
    """What was seen."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    def check(self, fine: bool, what: str) -> None:
        if not fine:
            self.faults.append(what)


async def client(port: int, until: float, findings: Findings, luck: random.Random) -> None:
    """One stream after the other."""
    while time.monotonic() < until:
        fault, leaves = luck.choice(FAULTS), luck.random() < 0.25
        mark = f"{luck.getrandbits(48):012x}"
        try:
            async with asyncio.timeout(SECONDS_OF_A_STREAM):
                await one_stream(port, fault, mark, findings, luck if leaves else None)
        except TimeoutError:
            findings.check(False, f"{fault}: no end within {SECONDS_OF_A_STREAM} s")


async def one_stream(port: int, fault: str, mark: str, findings: Findings, leaver: random.Random | None) -> None:
    """Ask once; with a `leaver` hang up at a moment of its choice."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        body = json.dumps({"model": fault, "input": mark, "stream": True, "store": luckily_stored(mark)}).encode()
        head = b"POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
        writer.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        if leaver:
            with suppress(TimeoutError):
                async with asyncio.timeout(leaver.random() * 0.5):
                    await reader.readuntil(mark.encode())
            findings.counts["left"] += 1
            writer.transport.abort()
            return
        answer = await read_slowly(reader, slow=fault == "slow")
        findings.counts[fault] += 1
        final = judge(fault, mark, answer, findings)
        if final and final["store"]:
            findings.check(await is_kept(port, final), f"{fault}: a stored response is not there")
    except ConnectionError as error:
        findings.check(leaver is not None, f"{fault}: {error}")
    finally:
        writer.close()


async def is_kept(port: int, final: dict[str, Any]) -> bool:
    """Whether a response that was just told to be stored can be read back as it was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /v1/responses/%b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % final["id"].encode())
    answer = await reader.read()
    writer.close()
    return answer[9:12] == b"200" and bool(json.loads(answer.partition(b"\r\n\r\n")[2]) == final)


def luckily_stored(mark: str) -> bool:
    return mark[0] in "0123"


async def read_slowly(reader: asyncio.StreamReader, *, slow: bool) -> bytes:
    pieces = []
    while piece := await reader.read(256 if slow else 65536):
        pieces.append(piece)
        if slow:
            await asyncio.sleep(0.005)
    return b"".join(pieces)


def judge(fault: str, mark: str, answer: bytes, findings: Findings) -> dict[str, Any] | None:
    """Check one whole answer; its final Response object, if it has one."""
    status = int(answer[9:12] or 0)
    if fault == "status":
        findings.check(status == 429 and mark.encode() in answer, f"status: {status}")
        return None
    events = [json.loads(line) for line in re.findall(rb"^data: (.*?)\r?$", without_chunks(answer), re.MULTILINE)]
    kinds = [event["type"] for event in events]
    wanted = TERMINALS.get(fault, "response.completed")
    ends = [kind for kind in kinds if kind in ENDS]
    findings.check(kinds[-1:] == ends == [wanted], f"{fault}: {ends}, {kinds[-1:]} at the end (status {status})")
    findings.check([event["sequence_number"] for event in events] == list(range(len(events))), f"{fault}: a gap")
    deltas = "".join(event["delta"] for event in events if event["type"].endswith((".delta",)))
    expected = "".join(upstream.pieces(fault, mark))
    findings.check(deltas == expected, f"{fault}: {deltas[:60]!r} instead of {expected[:60]!r}")
    final: dict[str, Any] = events[-1].get("response", {}) if events else {}
    findings.check(said(final) == expected, f"{fault}: {said(final)[:60]!r} in the final object")
    return final or None


def said(response: dict[str, Any]) -> str:
    """The text and the arguments of a Response object."""
    items = response.get("output", [])
    return "".join(item.get("arguments") or "".join(part["text"] for part in item.get("content", [])) for item in items)


def without_chunks(answer: bytes) -> bytes:
    """The body of a chunked answer."""
    body, whole = answer.partition(b"\r\n\r\n")[2], []
    while body:
        size, _, body = body.partition(b"\r\n")
        whole.append(body[: int(size or b"0", 16)])
        body = body[int(size or b"0", 16) + 2 :]
    return b"".join(whole)


async def sample(pid: int, samples: list[tuple[float, float, int]], until: float) -> None:
    """Seconds, MiB of resident memory, descriptors."""
    started = time.monotonic()
    while time.monotonic() < until:
        await asyncio.sleep(1)
        samples.append((time.monotonic() - started, resident(pid), descriptors(pid)))


def resident(pid: int) -> float:
    """MiB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def flat(samples: list[tuple[float, float, int]], findings: Findings) -> str:
    """Compare the first and the last third behind the warm-up."""
    rest = samples[len(samples) // 3 :]
    third = max(len(rest) // 3, 1)
    before, after = (statistics.median(s[1] for s in part) for part in (rest[:third], rest[-third:]))
    findings.check(after - before < MOST_GROWTH, f"memory grew from {before:.0f} to {after:.0f} MiB")
    return f"memory {before:.0f} MiB → {after:.0f} MiB, at most {max(s[1] for s in samples):.0f} MiB"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command(url: str, port: int) -> subprocess.Popen[bytes]:
    """The real one, with a small store, so that it is full before the warm-up ends."""
    options = ["--port", str(port), "--idle-timeout", "20", "--limit", "store_bytes=16000000", "--log-level", "error"]
    return subprocess.Popen([sys.executable, "-m", "responses_middleware", url, *options], stderr=subprocess.DEVNULL)


async def soak(minutes: float, streams: int, seed: int) -> Findings:
    findings, samples = Findings(), list[tuple[float, float, int]]()
    chat = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    port = free_port()
    url = f"http://127.0.0.1:{chat.sockets[0].getsockname()[1]}/v1"
    with command(url, port) as server:
        try:
            await listening(port)
            before = descriptors(server.pid)
            until = time.monotonic() + minutes * 60
            clients = [client(port, until, findings, random.Random(f"{seed}.{n}")) for n in range(streams)]
            await asyncio.gather(sample(server.pid, samples, until), *clients)
            await asyncio.sleep(3)
            after = descriptors(server.pid)
            findings.check(after <= before + 10, f"descriptors: {before} before, {after} after")
            print(f"{sum(findings.counts.values())} streams: {dict(findings.counts)}")
            print(f"{flat(samples, findings)}; descriptors {before} → {after}")
        finally:
            server.terminate()
    chat.close()
    return findings


async def listening(port: int) -> None:
    for _ in range(300):
        with suppress(OSError):
            (await asyncio.open_connection("127.0.0.1", port))[1].close()
            return
        await asyncio.sleep(0.1)
    raise RuntimeError("the command does not listen")


def main() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.streams} streams at a time, {options.minutes:g} minutes", flush=True)
    findings = asyncio.run(soak(options.minutes, options.streams, options.seed))
    for fault, times in Counter(findings.faults).most_common(20):
        print(f"FAIL {times} x {fault}")
    print("FAIL" if findings.faults else "PASS")
    return bool(findings.faults)


if __name__ == "__main__":
    sys.exit(main())
