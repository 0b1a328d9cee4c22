"""JSON nested beyond what codecs write or Python walks makes a legal stream, or an error before it."""

from __future__ import annotations

from typing import Any

import pytest
import replay

from responses_middleware.errors import ResponsesError
from responses_middleware.state.seal import Sealer

PLACES = {
    "content": '{"choices":[{"delta":{"content":DEEP}}]}',
    "arguments": '{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":DEEP}}]}}]}',
    "a signature": '{"choices":[{"delta":{"tool_calls":[{'
    '"function":{"name":"f","arguments":"{}"},"extra_content":DEEP}]}}]}',
    "opaque data": '{"choices":[{"delta":{"content":"a","reasoning_details":DEEP}}]}',
    "an annotation": '{"choices":[{"delta":{"content":"a","annotations":DEEP}}]}',
    "logprobs": '{"choices":[{"delta":{"content":"a"},"logprobs":{"content":DEEP}}]}',
    "a finish reason": '{"choices":[{"delta":{"content":"a"},"finish_reason":DEEP}]}',
    "usage": '{"choices":[],"usage":{"prompt_tokens":DEEP}}',
    "sources": '{"choices":[{"delta":{"content":"a"}}],"citations":DEEP}',
    "a message": '{"choices":[{"message":{"content":DEEP}}]}',
    "Cloudflare's response": '{"response":DEEP}',
    "an error": '{"error":DEEP}',
    "an error's message": '{"error":{"message":DEEP}}',
    "a detail": '{"detail":[{"msg":"No","loc":["body",DEEP]}]}',
    "a frame": "DEEP",
}


@pytest.mark.parametrize("depth", [100, 260, 500, 900, 990, 5000, 100_000])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")], ids=["arrays", "objects"])
def test_deep_json_is_no_accident(place: str, depth: int, brackets: tuple[str, str]) -> None:
    opening, closing = brackets
    payload = place.replace("DEEP", opening * depth + "1" + closing * depth)
    options: dict[str, Any] = {"seal": Sealer(b"a secret of 16 bytes").seal, "logprobs": True}

    try:
        events = replay.transcoded([f"data: {payload}\n\n".encode(), replay.sse(replay.stop())], **options)
    except ResponsesError:
        return
    replay.check(events)
