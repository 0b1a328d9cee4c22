"""What a client reads off a stream of ours, as strictly as it is promised. Standard library only: the fuzz targets run
in a virtual environment that has little else."""

from __future__ import annotations

import json
from typing import Any


def events_in(body: bytes) -> list[dict[str, Any]]:
    """The events of a stream with nothing between them."""
    return [event_in(frame) for frame in frames_in(body)]


def frames_in(body: bytes) -> list[str]:
    *frames, rest = body.decode().split("\n\n")
    assert rest == "", "the stream ends inside a frame"
    return frames


def event_in(frame: str) -> dict[str, Any]:
    """The event of a frame: `event:`, one `data:` line of JSON, and no half of a surrogate pair in it."""
    name, data = frame.split("\n")
    event: dict[str, Any] = json.loads(data.removeprefix("data: "), parse_constant=refuse_constant)
    assert name == f"event: {event['type']}", frame
    json.dumps(event, ensure_ascii=False).encode()
    return event


def is_comment(frame: str) -> bool:
    return frame.startswith(":") and "\n" not in frame


def refuse_constant(name: str) -> Any:
    """What Python reads beside JSON: NaN, Infinity."""
    raise AssertionError(f"{name} is not JSON")
