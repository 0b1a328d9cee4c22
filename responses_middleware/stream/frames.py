"""Events as SSE frames: `event: TYPE`, one line of JSON, a blank line, as all recorded OpenAI streams have them."""

from __future__ import annotations

from .. import _json
from .events import Delta, Event
from .logprobs import dumps

KEEPALIVE = b": keepalive\n\n"  # a comment: ignored by every parser, and it takes no sequence number
DONE = b"data: [DONE]\n\n"


def to_frame(event: Event) -> bytes:
    """One event on the wire."""
    if type(event) is Delta and event.template:
        text, number, logprobs = _json.dumps(event["delta"]), event["sequence_number"], event.get("logprobs")
        return event.template % ((logprobs.json, text, number) if logprobs else (text, number))
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), dumps(event))
