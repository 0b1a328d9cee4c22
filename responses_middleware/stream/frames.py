"""Events as SSE frames: `event: TYPE`, one line of JSON, a blank line, as all recorded OpenAI streams have them."""

from __future__ import annotations

from .. import _json
from .events import Delta, Event

KEEPALIVE = b": keepalive\n\n"  # a comment: ignored by every parser, and it takes no sequence number
DONE = b"data: [DONE]\n\n"


def to_frame(event: Event) -> bytes:
    """One event on the wire."""
    if type(event) is Delta and event.template:
        return event.template % (_json.dumps(event["delta"]), event["sequence_number"])
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _json.dumps(event))
