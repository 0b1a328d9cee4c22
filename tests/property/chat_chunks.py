"""Chunks of chat streams, valid, odd and hostile: every member may hold what servers put there, or anything."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

# Characters that mean something to a reader of this room, lone surrogates among them.
_letters = st.characters() | st.sampled_from('abc 1\n\r\t"\\/{}[]<>:,\u2028\x85\ufeff\ud83d\ude00\udc00é🎉')
texts = st.text(_letters, max_size=12) | st.sampled_from(
    [
        "<think>",
        "</think>",
        "<thi",
        "nk>",
        "thought</thought>",
        "[1]",
        "[1][2]",
        "data: x\n\n",
        "\ud83d",
        "\ude00",
        "  ",
    ]
)
_numbers = st.integers() | st.sampled_from([10**400, -1, 2**63, 0]) | st.floats()
any_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _numbers | texts,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(texts, values, max_size=3),
    max_leaves=6,
)


def _usually(expected: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly what belongs here."""
    return st.one_of(expected, expected, expected, any_json)


def _some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


# -- tool calls
names = st.sampled_from(["get_weather", "get_", "weather", "patch", "run", "", "get_weather2", "a\ud83db"])
_arguments = texts | st.sampled_from(
    ['{"a":', "1}", '{"a":1}', "{}", "", '{"input":"', 'x\\n"}', "\\ud83d", "]", '{"command":["ls"]}']
)
_function = _some(name=_usually(names), arguments=_usually(_arguments))
_fragment = _some(
    index=_usually(st.integers(-1, 3)),
    id=_usually(st.sampled_from(["", "0", "call_1", "call_2", "call_3", "c\udc00"])),
    function=_usually(_function),
    custom=_usually(_some(name=names, input=_arguments)),
    name=names,
    arguments=_arguments,
    extra_content=any_json,
    thought_signature=texts,
)
calls = _usually(st.lists(_usually(_fragment), max_size=3) | _fragment)

# -- everything else that a delta or message may say
_citation = _some(
    url=_usually(texts),
    title=_usually(texts),
    start_index=_usually(st.integers(-2, 50)),
    end_index=_usually(st.integers()),
)
_annotation = _some(type=_usually(st.just("url_citation")), url_citation=_usually(_citation), url=texts)
_part = _some(
    type=_usually(st.sampled_from(["text", "thinking", "reasoning", "refusal", "reference"])),
    text=_usually(texts),
    thinking=_usually(texts | st.lists(_some(type=st.just("text"), text=_usually(texts)), max_size=2)),
    refusal=_usually(texts),
    signature=texts,
    annotations=_usually(st.lists(_annotation, max_size=2)),
)
_detail = _some(type=texts, index=st.integers(0, 1), text=_usually(texts), summary=texts, signature=texts)
says: st.SearchStrategy[dict[str, Any]] = _some(
    role=any_json,
    content=_usually(texts | st.lists(_usually(_part), max_size=3)),
    reasoning_content=_usually(texts),
    reasoning=_usually(texts),
    refusal=_usually(texts),
    tool_calls=calls,
    function_call=_usually(_function),
    audio=_usually(_some(transcript=_usually(texts))),
    annotations=_usually(st.lists(_usually(_annotation), max_size=3)),
    reasoning_details=_usually(st.lists(_usually(_detail), max_size=3)),
    thinking_blocks=any_json,
)
_token = _some(
    token=_usually(texts), logprob=_usually(st.floats()), bytes=_usually(st.lists(st.integers(0, 255), max_size=3))
)
_logprob = st.tuples(_token, _usually(st.lists(_usually(_token), max_size=2))).map(
    lambda pair: {**pair[0], "top_logprobs": pair[1]}
)
reasons = st.sampled_from(["stop", "length", "tool_calls", "content_filter", "STOP", "eos", "error", "abort", ""])
_choice = _some(
    index=_usually(st.integers(0, 1)),
    delta=_usually(says),
    message=_usually(says),
    text=texts,
    finish_reason=_usually(st.none() | reasons),
    logprobs=_usually(_some(content=_usually(st.lists(_usually(_logprob), max_size=2)))),
    usage=any_json,
)
_counts = st.fixed_dictionaries({"prompt_tokens": st.integers(0, 99), "completion_tokens": st.integers(0, 99)})
usages = _usually(
    st.none()
    | _counts
    | st.dictionaries(
        st.sampled_from(
            [
                "prompt_tokens",
                "completion_tokens",
                "total_tokens",
                "reasoning_tokens",
                "prompt_tokens_details",
                "completion_tokens_details",
            ]
        ),
        any_json,
    )
)
_beside = {
    "id": any_json,
    "usage": usages,
    "service_tier": _usually(st.sampled_from(["default", "flex", "on_demand"])),
    "citations": _usually(st.lists(_usually(texts), max_size=2)),
    "search_results": _usually(st.lists(_citation, max_size=2)),
}
_errors = _some(
    error=_usually(
        _some(
            message=_usually(texts), code=_usually(texts), type=_usually(texts), param=_usually(texts), status=any_json
        )
    ),
    detail=any_json,
    message=texts,
    object=st.sampled_from(["error", "chat.completion.chunk"]),
    base_resp=_usually(_some(status_code=st.integers(0, 1100), status_msg=_usually(texts))),
)
_native = _some(response=any_json, tool_calls=calls, finish_reason=any_json)

valid_chunks: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda delta, reason: {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]},
    _some(
        content=texts,
        reasoning_content=texts,
        refusal=texts,
        tool_calls=st.lists(
            _some(
                index=st.integers(0, 2),
                id=st.sampled_from(["call_1", "call_2"]),
                function=_some(name=names, arguments=_arguments),
            ),
            max_size=2,
        ),
    ),
    st.sampled_from([None, None, None, None, "stop", "length", "tool_calls"]),
)
odd_chunks: st.SearchStrategy[Any] = _some(
    choices=_usually(st.lists(_usually(_choice), max_size=2) | _choice), **_beside
)
hostile_chunks: st.SearchStrategy[Any] = _errors | _native | any_json
chunks: st.SearchStrategy[Any] = st.one_of(
    valid_chunks, valid_chunks, valid_chunks, odd_chunks, odd_chunks, hostile_chunks
)
chunk_lists = st.lists(chunks, max_size=8)


# -- how the stream is set up
def seal(value: dict[str, Any]) -> str:
    """Stands for the sealing of what an upstream wants back: shows it."""
    return json.dumps(value)


options: st.SearchStrategy[dict[str, Any]] = _some(
    reasoning=st.sampled_from(["summary", "text", "none"]),
    think_tags=st.sampled_from([None, "extract", "extract_implicit_open"]),
    logprobs=st.booleans(),
    obfuscate=st.booleans(),
    expects_finish=st.sampled_from([None, True]),
    seal=st.just(seal),
    max_output=st.integers(0, 60),
    taken_call_ids=st.just(("call_1",)),
)


def to_bytes(chunk: Any) -> bytes:
    return json.dumps(chunk).encode()
