"""Chat chunks and bytes in, checked events out: what tests of streams are driven with."""

from __future__ import annotations

import functools
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pydantic
from openai.types.responses import Response, ResponseStreamEvent
from sse_events import events_in, refuse_constant

from responses_middleware import _json
from responses_middleware.errors import ResponsesError
from responses_middleware.stream import ResponseStream
from responses_middleware.stream.grammar import Grammar
from responses_middleware.stream.transcoder import Transcoder
from responses_middleware.translate.echo import to_response
from responses_middleware.translate.tool_names import ToolBinding, ToolNames

Event = dict[str, Any]
NOW = 1_790_000_000


# -- chunks of a chat stream
def chunk(delta: Any = None, finish: Any = None, **members: Any) -> dict[str, Any]:
    """A `chat.completion.chunk`; `members` stand beside its choices."""
    return {"id": "c1", "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **members}


def text(content: Any, **members: Any) -> dict[str, Any]:
    return chunk({"content": content}, **members)


def call(index: int | None = 0, identity: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    """A chunk with one fragment of a tool call; None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fragment = {"index": index, "id": identity, "function": function}
    return chunk({"tool_calls": [{key: value for key, value in fragment.items() if value is not None}]})


def stop(reason: str = "stop") -> dict[str, Any]:
    return chunk(finish=reason)


def sse(*chunks: Any, done: bool = True) -> bytes:
    """The chunks as the bytes of a chat server."""
    frames = [
        b"data: %b\n\n" % json.dumps(chunk, ensure_ascii=False).encode("utf-8", "surrogatepass") for chunk in chunks
    ]
    return b"".join([*frames, b"data: [DONE]\n\n" if done else b""])


# -- streams
def names_of(**kinds: Any) -> ToolNames:
    """Tools by name: `names_of(patch="custom", run="local_shell")`."""
    names = ToolNames()
    for name, kind in kinds.items():
        names.name(ToolBinding(kind, name))
    return names


def new_id() -> Callable[[str], str]:
    """Ids that are the same in each run: `msg_made0`, `fc_made0`, `msg_made1`, …"""
    counters: Counter[str] = Counter()

    def make(prefix: str) -> str:
        counters[prefix] += 1
        return f"{prefix}made{counters[prefix] - 1}"

    return make


def stream_of(**options: Any) -> ResponseStream:
    response = to_response({"model": "m"}, response_id="resp_1", created_at=NOW, stores=False)
    return ResponseStream(response, new_id=new_id(), now=lambda: NOW + 1.5, **options)


def transcoder_of(stream: ResponseStream, *, fast: bool = True, **options: Any) -> Transcoder:
    transcoder = Transcoder(stream, **{"max_frame": 1 << 20, "max_document": 1 << 22, **options})
    if not fast:
        transcoder._splice = None
    return transcoder


def events_of(*chunks: Any, done: bool = True, error: ResponsesError | None = None, **options: Any) -> list[Event]:
    """The checked events that the machine makes of these chunks."""
    stream = stream_of(**options)
    events = stream.start()
    for each in chunks:
        events += stream.feed(each)
    events += stream.finish(error, done=done)
    check(events)
    return events


def response_of(*chunks: Any, **options: Any) -> dict[str, Any]:
    """The final Response that the machine makes of these chunks."""
    response: dict[str, Any] = events_of(*chunks, **options)[-1]["response"]
    return response


def output_of(*chunks: Any, **options: Any) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = response_of(*chunks, **options)["output"]
    return output


def texts(output: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Type and text of each item."""
    found = []
    for item in output:
        parts = item.get("content", [])
        found.append((item["type"], "".join(part.get("text", part.get("refusal")) for part in parts)))
    return found


def transcoded(pieces: Iterable[bytes], *, fast: bool = True, limits: Any = None, **options: Any) -> list[Event]:
    """The events in the bytes that a Transcoder makes of these bytes; ResponsesError if it refuses the first frame."""
    transcoder = transcoder_of(stream_of(**options), fast=fast, **(limits or {}))
    out = [_pushed(transcoder, piece) for piece in pieces if not transcoder.ended]
    out += [transcoder.finish(), transcoder.last_frames()]
    return events_in(b"".join(out))


def _pushed(transcoder: Transcoder, piece: bytes) -> bytes:
    """As the engine does it."""
    copied = transcoder.copy(piece)
    return transcoder.feed(piece) if copied is None else copied


def folded(body: bytes, **options: Any) -> dict[str, Any]:
    """The final Response that a silent Transcoder makes; ResponsesError if it refuses the first frame."""
    transcoder = transcoder_of(stream_of(**options), silent=True)
    assert transcoder.feed(body) + transcoder.finish() + transcoder.last_frames() == b""
    assert transcoder.terminal is not None
    response: dict[str, Any] = transcoder.terminal["response"]
    return response


def cut(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


def cut_at(body: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(edges)]


# -- checks
def check(events: Sequence[Event]) -> None:
    """Hold events to the grammar and to the types of the openai package, as a client reads them."""
    events = [json.loads(_json.dumps(event).decode(), parse_constant=refuse_constant) for event in events]
    grammar = Grammar()
    for event in events:
        grammar.accept(event)
    grammar.finish()
    for event in events:
        validate(event)


@functools.cache
def _event_adapter() -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(ResponseStreamEvent)


@functools.cache
def _response_adapter() -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(Response)


def validate(event: Event) -> None:
    """Hold an event to the openai package's type; the wire nests the fields of `error`, the type is flat."""
    if event["type"] == "error":
        event = {**event, **{name: event["error"][name] for name in ("code", "message", "param")}}
    _event_adapter().validate_python(event)
    if "response" in event:
        _response_adapter().validate_python(event["response"])
    assert_no_surrogates(event)


def assert_no_surrogates(value: object) -> None:
    json.dumps(value, ensure_ascii=False).encode()
