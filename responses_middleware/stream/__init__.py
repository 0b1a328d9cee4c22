"""The sans-IO door: chat chunks in, Responses events out, from any framework, sync or async.

decoder, stream = SSEDecoder(), ResponseStream(response, new_id=new_id, now=time.time)
events = stream.start()
for payload in decoder.feed(data):
    events += stream.feed(json.loads(payload))
events += stream.finish(done=True)
"""

from __future__ import annotations

from .events import Event
from .machine import ResponseStream
from .sse import SSEDecoder

__all__ = ["Event", "ResponseStream", "SSEDecoder"]
