from __future__ import annotations

from typing import Any

import pytest
from replay import chunk

from responses_middleware.stream.reader import (
    MessageSoFar,
    opaque_of_call,
    read,
    to_annotation,
    to_sources,
)

CALL = {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}
LOGPROBS = {"content": [{"token": "a", "logprob": -0.1}]}


def choice(**members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, **members}]}


SAYS: dict[str, tuple[object, list[tuple[Any, ...]]]] = {
    # choices
    "nothing": ({}, []),
    "null": (None, []),
    "choices null": ({"choices": None}, []),
    "choices empty, as Azure's first chunk": ({"choices": [], "id": ""}, []),
    "choices that are no objects": ({"choices": [None, 5, "a"]}, []),
    "choices that are text": ({"choices": "abc"}, []),
    "one choice, not in a list": ({"choices": {"delta": {"content": "a"}}}, [("text", "a", None)]),
    "a choice of any index": ({"choices": [{"index": 3, "delta": {"content": "a"}}]}, [("text", "a", None)]),
    "several choices that are one turn (Copilot)": (
        {"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]},
        [("text", "a", None), ("text", "b", None)],
    ),
    "an alternative": (
        {"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]},
        [("text", "a", None)],
    ),
    # the delta
    "no delta": (choice(finish_reason="stop"), [("finish", "stop")]),
    "delta null": (choice(delta=None), []),
    "delta a number": (choice(delta=5), []),
    "delta text": (choice(delta="a"), [("text", "a", None)]),
    "text, as of legacy completions": (choice(text="a", logprobs=LOGPROBS), [("text", "a", LOGPROBS)]),
    "a role alone": (chunk({"role": "assistant"}), []),
    "a whole message": (choice(message={"content": "a"}), [("snapshot", {"content": "a"})]),
    "a message beside a delta that speaks": (
        choice(delta={"content": "a"}, message={"content": "ab"}),
        [("text", "a", None)],
    ),
    "a message beside an empty delta": (
        choice(delta={"content": ""}, message={"content": "ab"}),
        [("snapshot", {"content": "ab"})],
    ),
    # content
    "content null": (chunk({"content": None}), []),
    "content empty": (chunk({"content": ""}), []),
    "content a number": (chunk({"content": 5}), []),
    "content with logprobs": (choice(delta={"content": "a"}, logprobs=LOGPROBS), [("text", "a", LOGPROBS)]),
    "content a list of texts": (
        chunk({"content": ["a", {"type": "text", "text": "b"}, None]}),
        [("text", "a", None), ("text", "b", None)],
    ),
    "content a part": (chunk({"content": {"type": "text", "text": "a"}}), [("text", "a", None)]),
    "a part with annotations": (
        chunk({"content": [{"type": "text", "text": "a", "annotations": [{"url": "u"}]}]}),
        [("text", "a", None), ("annotation", {"url": "u"})],
    ),
    "a part whose annotations are none": (
        chunk({"content": [{"type": "text", "text": "a", "annotations": 5}]}),
        [("text", "a", None)],
    ),
    "references (Mistral)": (chunk({"content": [{"type": "reference", "reference_ids": [1]}]}), []),
    "a refusal part": (chunk({"content": [{"type": "refusal", "refusal": "No"}]}), [("refusal", "No")]),
    "a refusal part that is empty": (
        chunk({"content": [{"type": "refusal", "refusal": ["No"]}, {"type": "refusal"}]}),
        [],
    ),
    "thinking in content (Mistral)": (
        chunk(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}, {"text": 5}]},
                    {"type": "text", "text": "a"},
                ]
            }
        ),
        [("reasoning", "hm"), ("text", "a", None)],
    ),
    "thinking in content as text": (
        chunk({"content": [{"type": "thinking", "thinking": "hm"}]}),
        [("reasoning", "hm")],
    ),
    "thinking in content as a number": (chunk({"content": [{"type": "thinking", "thinking": 5}]}), []),
    "a signature in content": (
        chunk({"content": [{"type": "thinking", "thinking": "", "signature": "s"}]}),
        [("opaque", "thinking_blocks", [{"type": "thinking", "thinking": "", "signature": "s"}])],
    ),
    # thinking
    "reasoning_content": (chunk({"reasoning_content": "hm"}), [("reasoning", "hm")]),
    "reasoning": (chunk({"reasoning": "hm"}), [("reasoning", "hm")]),
    "reasoning_text": (chunk({"reasoning_text": "hm"}), [("reasoning", "hm")]),
    "thinking": (chunk({"thinking": "hm"}), [("reasoning", "hm")]),
    "reasoning as an object": (chunk({"reasoning": {"content": "hm"}}), [("reasoning", "hm")]),
    "mirrored fields": (chunk({"reasoning": "hm", "reasoning_content": "hm"}), [("reasoning", "hm")]),
    "one field empty": (chunk({"reasoning_content": "", "reasoning": "hm"}), [("reasoning", "hm")]),
    "thinking in front of content": (
        chunk({"content": "a", "reasoning": "hm"}),
        [("reasoning", "hm"), ("text", "a", None)],
    ),
    "reasoning_details (OpenRouter)": (
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "h"}, {"summary": "m"}, None]}),
        [
            ("reasoning", "hm"),
            ("opaque", "reasoning_details", [{"type": "reasoning.text", "text": "h"}, {"summary": "m"}, None]),
        ],
    ),
    "reasoning_details beside the same text": (
        chunk({"reasoning": "hm", "reasoning_details": [{"text": "hm"}]}),
        [("reasoning", "hm"), ("opaque", "reasoning_details", [{"text": "hm"}])],
    ),
    "encrypted details": (
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}),
        [("opaque", "reasoning_details", [{"type": "reasoning.encrypted", "data": "x"}])],
    ),
    "reasoning of another type": (
        chunk({"reasoning": 5, "thinking": ["x"], "reasoning_details": 7}),
        [("opaque", "reasoning_details", 7)],
    ),
    # calls
    "a call": (chunk({"tool_calls": [CALL]}), [("call", CALL, True)]),
    "a call, not in a list": (chunk({"tool_calls": CALL}), [("call", CALL, True)]),
    "two fragments": (
        chunk({"tool_calls": [CALL, {"index": 1}]}),
        [("call", CALL, True), ("call", {"index": 1}, False)],
    ),
    "calls that are none": (chunk({"tool_calls": [None, 5]}), []),
    "the legacy form": (
        chunk({"function_call": {"name": "f", "arguments": "{}"}}),
        [("call", {"index": "function_call", "name": "f", "arguments": "{}"}, True)],
    ),
    "the legacy form beside the new one": (
        chunk({"tool_calls": [CALL], "function_call": {"name": "f"}}),
        [("call", CALL, True)],
    ),
    # other members
    "a refusal": (chunk({"refusal": "No"}), [("refusal", "No")]),
    "refusal false": (chunk({"refusal": False}), []),
    "refusal an object": (chunk({"refusal": {"a": 1}}), []),
    "an audio transcript": (chunk({"audio": {"id": "a", "data": "xx", "transcript": "Hi"}}), [("text", "Hi", None)]),
    "audio without words": (chunk({"audio": {"data": "xx"}}), []),
    "annotations": (chunk({"annotations": [{"url": "u"}, None]}), [("annotation", {"url": "u"})]),
    "annotations that are none": (chunk({"annotations": 5}), []),
    "opaque data": (
        chunk({"reasoning_opaque": "x", "extra_content": {"g": 1}}),
        [("opaque", "reasoning_opaque", "x"), ("opaque", "extra_content", {"g": 1})],
    ),
    # the end
    "finish_reason null": (chunk({"content": "a"}), [("text", "a", None)]),
    "finish_reason empty": (choice(delta={}, finish_reason=""), []),
    "finish_reason a number": (choice(delta={}, finish_reason=5), []),
    "finish_reason with content": (
        choice(delta={"content": "a"}, finish_reason="stop"),
        [("text", "a", None), ("finish", "stop")],
    ),
    # beside the choices
    "usage": ({"choices": [], "usage": {"prompt_tokens": 1}}, [("usage", {"prompt_tokens": 1})]),
    "usage null": ({"choices": [], "usage": None}, []),
    "a service tier": ({"service_tier": "flex"}, [("tier", "flex")]),
    "a service tier that no Response has (Groq)": ({"service_tier": "on_demand"}, []),
    "a service tier of another type": ({"service_tier": ["flex"]}, []),
    "citations (Perplexity, xAI)": ({"citations": ["u"]}, [("sources", ["u"])]),
    "search results": ({"search_results": [{"url": "u"}], "citations": ["u"]}, [("sources", [{"url": "u"}])]),
    "web_search (GLM)": ({"web_search": [{"link": "u"}]}, [("sources", [{"link": "u"}])]),
    # Cloudflare's own form
    "response": (
        {"response": "a", "usage": {"prompt_tokens": 1}},
        [("text", "a", None), ("usage", {"prompt_tokens": 1})],
    ),
    "response a number": ({"response": 7}, [("text", "7", None)]),
    "response an object": ({"response": {"a": "é", "b": True}}, [("text", '{"a":"é","b":true}', None)]),
    "response a small number": ({"response": 1e-8}, [("text", "1e-08", None)]),
    "response null": ({"response": None, "finish_reason": "stop"}, [("finish", "stop")]),
    "bare calls": ({"tool_calls": [{"name": "f", "arguments": {}}]}, [("call", {"name": "f", "arguments": {}}, True)]),
    # no chunk
    "text": ("a", [("garbage", "a frame of the upstream is no JSON object")]),
    "a list": ([1], [("garbage", "a frame of the upstream is no JSON object")]),
}


@pytest.mark.parametrize(("received", "said"), SAYS.values(), ids=SAYS)
def test_a_chunk_says(received: object, said: list[tuple[Any, ...]]) -> None:
    assert read(received) == said


def test_an_error_says_what_stands_beside_it_first() -> None:
    said = read({**chunk({"content": "a"}, finish="error"), "error": {"message": "No", "code": 502}})

    assert [statement[0] for statement in said] == ["text", "failure"]


def test_a_message_says_what_a_delta_would() -> None:
    said = MessageSoFar().news({"content": "a", "tool_calls": [CALL]}, heard=())

    assert said == [("text", "a", None), ("call", CALL, True)]


def test_a_message_says_only_what_is_new() -> None:
    message = MessageSoFar()
    message.news({"content": "a", "reasoning": "hm"}, heard=())

    assert message.news({"content": "ab", "reasoning": "hm", "refusal": "No"}, heard={"refusal"}) == [
        ("text", "b", None)
    ]


def test_a_call_may_have_opaque_members() -> None:
    call = {**CALL, "extra_content": {"google": 1}, "thought_signature": "s", "provider_specific_fields": None}

    assert opaque_of_call(call) == {"extra_content": {"google": 1}, "thought_signature": "s"}


# -- citations
CITATION = {"type": "url_citation", "url": "u", "title": "t", "start_index": 1, "end_index": 2}


@pytest.mark.parametrize(
    "annotation",
    [
        CITATION,
        {"type": "url_citation", "url_citation": {"url": "u", "title": "t", "start_index": 1, "end_index": 2}},
        {"url": "u", "title": "t", "start_index": 1, "end_index": 2},
    ],
)
def test_a_citation_becomes_a_flat_one(annotation: dict[str, Any]) -> None:
    assert to_annotation(annotation) == CITATION


@pytest.mark.parametrize(
    "annotation",
    [
        {},
        {"type": "file_citation", "file_citation": {}},
        {"type": ["x"]},
        {"type": {}},
        {"url": 5},
        {"type": "url_citation", "url_citation": {}},
    ],
)
def test_other_annotations_are_left_out(annotation: dict[str, Any]) -> None:
    assert to_annotation(annotation) is None


@pytest.mark.parametrize("place", [None, "1", 1.5, True, -1, 10**20])
def test_a_place_that_is_none_is_zero(place: Any) -> None:
    note = to_annotation({"url": "u", "start_index": place, "end_index": place})

    assert note is not None
    assert (type(note["start_index"]), note["start_index"], note["end_index"]) == (int, 0, 0)


@pytest.mark.parametrize(("title", "expected"), [(None, ""), (5, ""), ("\udc00", "\ufffd")])
def test_a_title_is_text(title: Any, expected: str) -> None:
    note = to_annotation({"url": "u", "title": title})

    assert note is not None
    assert note["title"] == expected


@pytest.mark.parametrize("sources", [["u"], [{"url": "u"}], [{"link": "u"}], ["u", None, 5, {}]])
def test_sources_become_citations_that_point_nowhere(sources: Any) -> None:
    assert to_sources(sources) == [{**CITATION, "title": "", "start_index": 0, "end_index": 0}]


@pytest.mark.parametrize("sources", [None, 5, "u", {"url": "u"}, [[]]])
def test_sources_of_another_form_are_none(sources: Any) -> None:
    assert to_sources(sources) == []
