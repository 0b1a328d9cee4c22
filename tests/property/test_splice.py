"""The fast path against the machine: for the same bytes, the same events.

    HYPOTHESIS_PROFILE=nightly scripts/test tests/property/test_splice.py

tries 50,000 streams of frames that differ little.
"""

from __future__ import annotations

import json
from typing import Any

import replay
from hypothesis import given
from hypothesis import strategies as st

NAMES = {"f": "function", "patch": "custom"}
_letters = st.sampled_from('ab {}[]"\\/\n\t\x00\x1f\x7f%é🎉\u2028\ud83d\ude00\udc00<>')
_texts = st.text(_letters, max_size=6) | st.text(st.characters(codec="utf-8"), max_size=6) | st.just("word")
_tails = st.sampled_from(["", '"}', "}", "]", '{"a":1}', "<think>", "</think>", "\\u00", "\\u005d", "%d"])
_words = st.text(st.sampled_from('abc é🎉\n"'), min_size=1, max_size=4)
texts = st.one_of(_words, _words, _words, _words, _texts, st.builds(lambda text, tail: text + tail, _texts, _tails))


_BEGIN_CALLS = [
    {"index": 0, "id": "call_aaa", "function": {"name": "f", "arguments": '{"a":"'}},
    {"index": 1, "id": "call_bbb", "function": {"name": "patch", "arguments": '{"input":"'}},
    {"index": 2, "id": "call_ccc", "type": "custom", "custom": {"name": "patch", "input": ""}},
]
_BEGIN = {
    kind: [replay.sse(replay.chunk({"tool_calls": [begin]}), done=False)]
    for kind, begin in zip(("call", "named", "freeform", "native"), [_BEGIN_CALLS[0], *_BEGIN_CALLS], strict=True)
}


def _delta(kind: str, text: str) -> dict[str, Any]:
    match kind:
        case "call":
            return {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
        case "freeform":
            return {"tool_calls": [{"index": 1, "function": {"arguments": text}}]}
        case "native":
            return {"tool_calls": [{"index": 2, "type": "custom", "custom": {"input": text}}]}
        case "mirrored":
            return {"reasoning": text, "reasoning_content": text}
        case "hidden":  # only the first field counts
            return {"reasoning_content": "the same", "reasoning": text}
        case "annotated":
            return {"content": text, "annotations": [{"url": text}]}
        case "part":
            return {"content": [{"type": "text", "text": text}]}
        case "both":
            return {"content": "the same", "refusal": text}
        case "named":
            return {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": text}}]}
        case _:
            return {kind: text}


_kinds = st.sampled_from(
    [
        *["content", "content", "content", "reasoning_content", "call", "call", "refusal"],
        *["mirrored", "freeform", "native", "hidden", "annotated", "part", "both", "named"],
    ]
)


_logprobs = st.one_of(
    *[st.floats(-30, 0)] * 3,
    st.sampled_from(
        [
            -1,
            0,
            -1.5,
            -2.5e-05,
            -0.125,
            -3,
            -0.0,
            -9999.0,
            -9999,
            -1e-7,
            1e-30,
            5e-324,
            998.5,
            -10_000,
            1e300,
            None,
            "x",
        ]
    ),
)


_orders = st.sampled_from(
    [*[["token", "logprob", "bytes"]] * 4, *[["token", "bytes", "logprob"]] * 4, ["bytes", "logprob", "token"]]
)


def _logprob(draw: st.DrawFn, keys: list[str], text: str, logprob: Any) -> dict[str, Any]:
    """An entry of a choice's logprobs, most as servers write them."""
    raw = list(text.encode("utf-8", "replace"))
    entry = {"token": text, "logprob": logprob, "bytes": raw}
    entry = {key: entry[key] for key in keys}
    match draw(st.sampled_from([*["usual"] * 30, "null", "odd", "more", "less", "bare"])):
        case "null":
            entry["bytes"] = None
        case "odd":
            entry["bytes"] = draw(st.sampled_from([[256], [-1], [0, 255, 99], [1.5], "x"]))
        case "more":
            entry["id"] = 5
        case "less":
            del entry["token"]
        case "bare":
            return entry
    return {**entry, "top_logprobs": [entry] * draw(st.integers(0, 2))}


_besides = st.sampled_from(["", "", "", "id", "message", "logprobs"])  # where the text stands once more


@st.composite
def frames(
    draw: st.DrawFn, kinds: st.SearchStrategy[str] = _kinds, besides: st.SearchStrategy[str] = _besides
) -> list[bytes]:
    """A run of frames that are the same but for their texts, counts, paddings and logprobs."""
    kind, ensure_ascii = draw(kinds), draw(st.booleans())
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    counts, pads, slashes = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    finish_first, reason = draw(st.booleans()), draw(st.sampled_from([None, None, None, "stop", "length", ""]))
    beside, keys = draw(besides), draw(_orders)
    run = list(_BEGIN.get(kind, ()))
    for number, text in enumerate(draw(st.lists(texts, min_size=3, max_size=12))):
        choice: dict[str, Any] = {"index": 0, "delta": _delta(kind, text), "finish_reason": reason}
        if finish_first:
            choice = dict(reversed(choice.items()))
        chunk: dict[str, Any] = {"id": text if beside == "id" else "c", "choices": [choice]}
        if beside == "message":
            choice["message"] = {"content": text}
        if beside == "logprobs":
            choice["logprobs"] = {"content": [_logprob(draw, keys, text, draw(_logprobs))], "refusal": None}
            if draw(st.sampled_from([False] * 9 + [True])):
                choice["logprobs"]["content"] *= draw(st.integers(0, 2))
        if counts:
            chunk["usage"] = {"prompt_tokens": 7, "completion_tokens": number, "total_tokens": 7 + number}
        if pads:
            chunk["obfuscation"] = "x" * draw(st.integers(0, 5))
        written = json.dumps(chunk, ensure_ascii=ensure_ascii, separators=separators)
        if slashes:  # as PHP writes them
            written = written.replace("/", "\\/")
        run.append(b"data: %b\n\n" % written.encode("utf-8", "surrogatepass"))
    return run


_others: st.SearchStrategy[list[bytes]] = st.sampled_from(
    [
        *_BEGIN.values(),
        [replay.sse(replay.text("between"), done=False)],
        [replay.sse({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 99}}, done=False)],
        [b": a comment\n\n"],
        [b"\n"],
        [b"event: message\n"],
        [b"data: "],
        [replay.sse(replay.stop("length"), done=False)],
        [b'data: {"error":{"message":"no"}}\n\n'],
        [b"data: [DONE]\n\n"],
    ]
)


@st.composite
def damaged(draw: st.DrawFn, run: st.SearchStrategy[list[bytes]]) -> list[bytes]:
    """Frames one of which has a byte replaced."""
    frames = list(draw(run))
    place = draw(st.integers(0, len(frames) - 1))
    frame = bytearray(frames[place])
    frame[draw(st.integers(0, len(frame) - 1))] = draw(st.sampled_from(b'\xff\xc3\x00\n\r"\\}0 a'))
    return [*frames[:place], bytes(frame), *frames[place + 1 :]]


_runs = st.lists(st.one_of(*[frames()] * 5, _others, damaged(frames())), min_size=1, max_size=5)
_options = st.fixed_dictionaries(
    {},
    optional={
        "reasoning": st.sampled_from(["summary", "text"]),
        "think_tags": st.sampled_from([None, None, "extract"]),
        "logprobs": st.booleans(),
        "obfuscate": st.sampled_from([False, False, False, True]),
    },
)


@given(runs=_runs, places=st.lists(st.floats(0, 1), max_size=4), options=_options, by_frame=st.booleans())
def test_the_fast_path_gives_the_events_of_the_machine(
    runs: list[list[bytes]], places: list[float], options: dict[str, Any], by_frame: bool
) -> None:
    frames = [frame for run in runs for frame in run]
    body = b"".join(frames)
    pieces = frames if by_frame else replay.cut_at(body, [int(place * len(body)) for place in places])

    assert outcome(pieces, fast=True, **options) == outcome(pieces, fast=False, **options)


_with_logprobs = frames(st.just("content"), st.just("logprobs"))
_runs_with_logprobs = st.lists(
    st.one_of(*[_with_logprobs] * 5, frames(), _others, damaged(_with_logprobs)), min_size=1, max_size=4
)


@given(
    runs=_runs_with_logprobs,
    places=st.lists(st.floats(0, 1), max_size=4),
    wanted=st.sampled_from([True, True, True, False]),
    options=_options,
    by_frame=st.booleans(),
)
def test_the_fast_path_copies_logprobs_as_the_machine_says_them(
    runs: list[list[bytes]], places: list[float], wanted: bool, options: dict[str, Any], by_frame: bool
) -> None:
    pieces = [frame for run in runs for frame in run]
    if not by_frame:
        body = b"".join(pieces)
        pieces = replay.cut_at(body, [int(place * len(body)) for place in places])
    options = {**options, "logprobs": wanted}

    assert outcome(pieces, fast=True, **options) == outcome(pieces, fast=False, **options)


def outcome(pieces: list[bytes], **options: Any) -> Any:
    try:
        return replay.transcoded(pieces, names=replay.names_of(**NAMES), **options)
    except replay.ResponsesError as error:
        return error.message
