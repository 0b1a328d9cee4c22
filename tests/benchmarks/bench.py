"""The project's own benchmark: `python tests/benchmarks/bench.py [--all] [--record] [--json]`.

Processor time, the best of several rounds in which ours and the yardstick take turns, as ratios within one run:
absolute figures of another machine or hour say nothing. The yardstick of a stream is a wrapper that reads and writes
each frame with json, the one of a request is json.loads + json.dumps of its body.

    text, reasoning, tool, usage, varying    in process, per frame; `varying` is the machine without its fast path
    growth                                   per frame of 50,000 deltas over 1,000: 1 is linear
    request, request_growth                  validate and translate 1 MB of history; 10 MB over ten times 1 MB
    storing                                  the memory store, per response, over writing it as JSON
    --all: proxy                             over loopback, per frame, the processor time of a server in front of a URL

`recorded.json` holds the ratios that test_ratios.py holds a change to; `--record` writes them anew. `--json` prints
the ratios as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import servers
import workloads

from responses_middleware import MemoryStore, ResponsesMiddleware, StoredResponse
from responses_middleware.dialects import Dialect
from responses_middleware.protocol import validate
from responses_middleware.translate.left_out import LeftOut
from responses_middleware.translate.request import to_chat

RECORDED = Path(__file__).parent / "recorded.json"
KINDS = ("text", "reasoning", "tool", "usage", "varying")
ROUNDS = 7


def best(*measures: Callable[[], float]) -> list[float]:
    """The best of several rounds for each: noise only ever adds, and in turns it meets all of them."""
    rounds = [[measure() for measure in measures] for _ in range(ROUNDS)]
    return [min(figures) for figures in zip(*rounds, strict=True)]


def cpu(work: Callable[[], Any]) -> float:
    """Seconds of processor time."""
    started = time.process_time()
    work()
    return time.process_time() - started


def frames(wrap: Callable[[Any], Any], kind: str, length: int, repeat: int) -> Callable[[], float]:
    """Measures seconds per frame in process."""
    writes = workloads.stream(kind, length)
    app, body = wrap(workloads.app_of(writes)), {"model": "m", "input": "x", "stream": True, "store": False}

    async def run() -> None:
        for _ in range(repeat):
            assert await workloads.ask(app, body) > 0

    return lambda: cpu(lambda: asyncio.run(run())) / (len(writes) * repeat)


def request_cost(size: int) -> list[float]:
    """Seconds for validate + translate + writing the chat request, and for json.loads + json.dumps of the body."""
    body = workloads.history(size)
    raw = json.dumps(body)

    def work() -> None:
        request = validate(json.loads(raw), max_items=10**6)
        left_out, dialect = LeftOut("warn"), Dialect()
        call = to_chat(request, [], model="m", dialect=dialect, unsupported=left_out, unseal=lambda _: None)
        json.dumps(call.payload)

    return best(lambda: cpu(work), lambda: cpu(lambda: json.dumps(json.loads(raw))))


def storing_cost() -> float:
    """The memory store over writing the same as JSON."""
    output = [{"type": "message", "id": "m", "content": [{"type": "output_text", "text": "word " * 400}]}]
    rows = [
        StoredResponse(response={"id": f"resp_{number}", "output": output}, input=output, history=[])
        for number in range(500)
    ]

    async def put() -> None:
        store = MemoryStore(max_bytes=None, max_rows=None, ttl=None)
        for row in rows:
            await store.put("owner", row)

    storing, writing = best(
        lambda: cpu(lambda: asyncio.run(put())),
        lambda: cpu(lambda: [json.dumps([row.response, row.input]) for row in rows]),
    )
    return storing / writing


def in_process() -> dict[str, float]:
    """All ratios that need no socket."""
    ratios = {}
    for kind in KINDS:
        ours, yardstick = best(
            *(frames(wrap, kind, 1000, 2) for wrap in (ResponsesMiddleware, workloads.loads_and_dumps))
        )
        ratios[kind] = ours / yardstick
    short, long = best(*(frames(ResponsesMiddleware, "text", length, 50_000 // length) for length in (1000, 50_000)))
    ratios["growth"] = long / short
    ours, yardstick = request_cost(1_000_000)
    ours_of_ten, yardstick_of_ten = request_cost(10_000_000)
    ratios["request"] = ours / yardstick
    ratios["request_growth"] = (ours_of_ten / yardstick_of_ten) / (ours / yardstick)
    ratios["storing"] = storing_cost()
    return ratios


def main() -> None:
    ratios = in_process()
    if "--all" in sys.argv:
        ratios["proxy"] = servers.proxy_over_app()
    if "--json" in sys.argv:
        print(json.dumps(ratios))
        return
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for name, ratio in ratios.items():
        before = f"  (recorded {recorded[name]:.2f})" if name in recorded else ""
        print(f"{name:16} {ratio:6.2f}{before}")
    if "--record" in sys.argv:
        RECORDED.write_text(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
