"""The body of an upstream's answer, any bytes, through AnswerBody and Transcoder.

- Only a ResponsesError may escape, and only before anything was written.
- What is written are legal events without a gap, one terminal event last, valid UTF-8 and JSON.
- Wherever the bytes are cut, with or without the fast path, with either codec, the events are the same.
- A folded answer ends as the streamed one does.
"""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from typing import Any

from harness import Choices, fuzz, instrumented, pieces, slow_codec
from sse_events import events_in

with instrumented() if __name__ == "__main__" else nullcontext():
    from responses_middleware import _json
    from responses_middleware.errors import ResponsesError, UpstreamConnectionError
    from responses_middleware.stream.grammar import Grammar
    from responses_middleware.stream.machine import ResponseStream
    from responses_middleware.stream.transcoder import Transcoder
    from responses_middleware.translate.echo import to_response

NOW = 1_790_000_000
TERMINAL = ("response.completed", "response.failed", "response.incomplete")


def transcoder(options: dict[str, Any], *, fast: bool = True, silent: bool = False) -> Transcoder:
    response = to_response({"model": "m"}, response_id="resp_1", created_at=NOW, stores=False)
    ids = itertools.count()
    stream = ResponseStream(response, new_id=lambda prefix: f"{prefix}{next(ids)}", now=lambda: NOW + 1.5, **options)
    made = Transcoder(stream, max_frame=1 << 20, max_document=1 << 20, silent=silent)
    if not fast:
        made._splice = None
    return made


def read(data: bytes, size: int, options: dict[str, Any], *, fast: bool = True, broken: bool = False) -> Any:
    """The events; or the error object, if nothing was written."""
    made = transcoder(options, fast=fast)
    written: list[bytes] = []
    try:
        for piece in pieces(data, size):
            copied = made.copy(piece)
            written.append(made.feed(piece) if copied is None else copied)
            if made.ended:
                break
        written.append(made.finish(UpstreamConnectionError("cut") if broken else None))
    except ResponsesError as error:
        assert not any(written), "an error escapes behind what was written"
        return error.body()
    assert made.ended
    return events_in(b"".join([*written, made.last_frames()]))


def fold(data: bytes, options: dict[str, Any]) -> Any:
    made = transcoder(options, silent=True)
    try:
        assert made.feed(data) + made.finish() == b""
    except ResponsesError as error:
        return error.body()
    assert made.terminal is not None
    return made.terminal["response"]


def judge(events: list[dict[str, Any]]) -> None:
    grammar = Grammar()
    for event in events:
        grammar.accept(event)
    grammar.finish()
    assert [event["type"] for event in events if event["type"] in TERMINAL] == [events[-1]["type"]]


def one_input(data: bytes) -> None:
    choices = Choices(data)
    options = {
        "reasoning": choices.of("summary", "text", "none"),
        "think_tags": choices.of(None, "extract", "extract_implicit_open"),
        "expects_finish": choices.of(None, True),
        "obfuscate": choices.of(False, True),
        "logprobs": choices.of(False, True),
    }
    whole = read(data, 0, options)
    if isinstance(whole, list):
        judge(whole)
    cut = read(data, choices.of(1, 3, 7, 40, 120), options)
    assert cut == whole, "cut elsewhere, other events"
    assert read(data, 60, options, fast=False) == whole, "without the fast path, other events"
    with slow_codec(_json):
        assert read(data, 0, options) == whole, "with the other codec, other events"
    broken = read(data, 50, options, broken=True)
    if isinstance(broken, list):
        judge(broken)
    folded = fold(data, options)
    if isinstance(whole, list) and "id" in folded:
        assert folded["status"] == whole[-1]["response"]["status"]
        assert folded["output"] == whole[-1]["response"]["output"]


if __name__ == "__main__":
    fuzz(one_input)
