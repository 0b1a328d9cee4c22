"""What holds for every stream of chat chunks, whatever is in it.

The short profile runs with the suite; the long one, 50,000 examples a property, by

    HYPOTHESIS_PROFILE=nightly scripts/test tests/property
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import chat_chunks
import pytest
import replay
from hypothesis import given
from hypothesis import strategies as st
from replay import Event

from responses_middleware import _json
from responses_middleware.errors import ResponsesError

TERMINAL = ("response.completed", "response.incomplete", "response.failed")
NAMES = {"get_weather": "function", "patch": "custom", "run": "local_shell"}
ENDS = (b"data: [DONE]\n\n", b"", b"data: {", b"data: nothing\n\n")
LINE_ENDS = (b"\n", b"\r\n", b"\r")


def machine_events(chunks: list[Any], *, done: bool, **options: Any) -> list[Event]:
    stream = replay.stream_of(names=replay.names_of(**NAMES), **options)
    events = stream.start()
    for chunk in chunks:
        events += stream.feed(chunk)
    return events + stream.finish(done=done)


def transcoded(pieces: list[bytes], **options: Any) -> list[Event] | str:
    """The events, or the words of the error that was raised before the first."""
    try:
        return replay.transcoded(pieces, names=replay.names_of(**NAMES), **options)
    except ResponsesError as error:
        return error.message


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """An answer in any framing, maybe broken."""
    payloads = [chat_chunks.to_bytes(chunk) for chunk in draw(chat_chunks.chunk_lists)]
    match draw(st.sampled_from(["sse", "sse", "sse", "lines", "document", "bytes"])):
        case "sse":
            line_end = draw(st.sampled_from(LINE_ENDS))
            space, comment = draw(st.sampled_from([b" ", b""])), draw(st.sampled_from([b"", b": ping\n\n"]))
            frames = [b"data:%b%b\n\n" % (space, payload) for payload in payloads]
            return comment + (comment.join(frames) + draw(st.sampled_from(ENDS))).replace(b"\n", line_end)
        case "lines":
            return b"\n".join(payloads) + draw(st.sampled_from([b"\n", b""]))
        case "document":
            return b"".join(payloads[:1])
        case _:
            return draw(st.binary())


@st.composite
def cut_bodies(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    body = draw(bodies())
    places = draw(st.lists(st.integers(0, len(body)), max_size=8))
    return body, replay.cut_at(body, places)


@given(chunks=chat_chunks.chunk_lists, done=st.booleans(), options=chat_chunks.options)
def test_any_chunks_make_a_legal_stream_with_one_end(chunks: list[Any], done: bool, options: dict[str, Any]) -> None:
    events = machine_events(chunks, done=done, **options)

    replay.check(events)
    assert [event["type"] in TERMINAL for event in events].count(True) == 1


@given(bodies=cut_bodies(), options=chat_chunks.options)
def test_any_bytes_make_a_legal_stream_or_an_error_before_it(
    bodies: tuple[bytes, list[bytes]], options: dict[str, Any]
) -> None:
    events = transcoded(bodies[1], **options)

    if not isinstance(events, str):
        replay.check(events)


@given(bodies=cut_bodies(), options=chat_chunks.options)
def test_bytes_may_be_cut_anywhere(bodies: tuple[bytes, list[bytes]], options: dict[str, Any]) -> None:
    whole, pieces = bodies

    assert transcoded(pieces, **options) == transcoded([whole], **options)


@given(chunks=chat_chunks.chunk_lists, options=chat_chunks.options)
def test_a_stream_folds_to_its_own_last_response(chunks: list[Any], options: dict[str, Any]) -> None:
    body = replay.sse(*chunks)
    names = replay.names_of(**NAMES)

    events = transcoded([body], **options)

    if isinstance(events, str):
        with pytest.raises(ResponsesError):
            replay.folded(body, names=names, **options)
    else:
        assert replay.folded(body, names=names, **options) == events[-1]["response"]


@given(bodies=cut_bodies(), options=chat_chunks.options)
def test_both_codecs_give_the_same_events(bodies: tuple[bytes, list[bytes]], options: dict[str, Any]) -> None:
    with_each = []
    for loads, dumps in codecs():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_json, "loads", loads)
            patch.setattr(_json, "dumps", dumps)
            with_each.append(transcoded(bodies[1], **options))

    assert all(events == with_each[0] for events in with_each)


def codecs() -> list[tuple[Callable[..., Any], Callable[..., Any]]]:
    found = [(_json._stdlib_loads, _json._stdlib_dumps)]
    return [*found, (_json._fast_loads, _json._fast_dumps)] if _json.HAS_ORJSON else found


# -- answers as models give them
_words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
_json_objects = st.dictionaries(_words, st.integers(0, 99) | _words, max_size=3)
_calls = st.lists(st.tuples(st.sampled_from(["get_weather", "patch", "other"]), _json_objects), max_size=3)


@st.composite
def answers(draw: st.DrawFn) -> tuple[dict[str, Any], list[Any]]:
    """The same answer, as a completion and as chunks."""
    message: dict[str, Any] = {"role": "assistant", "content": draw(st.none() | _words)}
    message |= draw(st.fixed_dictionaries({}, optional={"reasoning_content": _words, "refusal": _words}))
    chunks = [
        replay.chunk({name: piece})
        for name in ("reasoning_content", "content", "refusal")
        for piece in draw(pieces_of(message.get(name) or ""))
    ]
    calls = []
    for index, (name, arguments) in enumerate(draw(_calls)):
        written = json.dumps(arguments)
        calls.append({"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": written}})
        chunks.append(replay.call(index, f"call_{index}", name, ""))
        chunks += [replay.call(index, arguments=piece) for piece in draw(pieces_of(written))]
    if calls:
        message["tool_calls"] = calls
    usage = {"prompt_tokens": 3, "completion_tokens": draw(st.integers(0, 9))}
    reason = draw(st.sampled_from(["stop", "length", "content_filter"]))
    chunks += [replay.stop(reason), {"choices": [], "usage": usage}]
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}, chunks


@st.composite
def pieces_of(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(answer=answers(), options=chat_chunks.options.map(lambda options: {**options, "max_output": 100_000}))
def test_a_streamed_answer_and_a_whole_one_are_the_same(
    answer: tuple[dict[str, Any], list[Any]], options: dict[str, Any]
) -> None:
    completion, chunks = answer
    names = replay.names_of(**NAMES)

    whole = replay.folded(json.dumps(completion).encode(), names=names, **options)

    assert machine_events(chunks, done=True, **options)[-1]["response"] == whole
