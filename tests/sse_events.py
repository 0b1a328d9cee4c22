"""What a client reads off a stream of ours, as strictly as it is promised. Standard library only: the fuzz targets run
in a virtual environment that has little else."""

from __future__ import annotations

import json
from typing import Any


def events_in(body: bytes) -> list[dict[str, Any]]:
    """The events of a stream with nothing between them, made of what a chat server said."""
    events = [event_in(frame) for frame in frames_in(body)]
    assert_no_surrogates(events)
    return events


def frames_in(body: bytes) -> list[str]:
    *frames, rest = body.decode().split("\n\n")
    assert rest == "", "the stream ends inside a frame"
    return frames


def event_in(frame: str) -> dict[str, Any]:
    """The event of a frame: `event:`, one `data:` line of JSON."""
    name, data = frame.split("\n")
    event: dict[str, Any] = json.loads(data.removeprefix("data: "), parse_constant=refuse_constant)
    assert name == f"event: {event['type']}", frame
    return event


def assert_no_surrogates(value: object) -> None:
    """No half of a pair; what a client sent is echoed with the halves that it had, as escapes."""
    json.dumps(value, ensure_ascii=False).encode()


def is_comment(frame: str) -> bool:
    return frame.startswith(":") and "\n" not in frame


def refuse_constant(name: str) -> Any:
    """What Python reads beside JSON: NaN, Infinity."""
    raise AssertionError(f"{name} is not JSON")
