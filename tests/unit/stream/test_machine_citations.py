"""Logprobs, annotations and sources: what stands beside a text."""

from __future__ import annotations

import time
from typing import Any

from replay import chunk, events_of, output_of, stop, stream_of, text


def with_logprobs(words: str) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": words}, "logprobs": {"content": [{"token": words, "logprob": -1}]}}]}


ENTRY = {"token": "a", "logprob": -1, "bytes": [97], "top_logprobs": []}


def test_logprobs_stand_in_delta_and_part() -> None:
    events = events_of(with_logprobs("a"), text("b"), stop(), logprobs=True)

    assert [event["logprobs"] for event in events if event["type"] == "response.output_text.delta"] == [[ENTRY], []]
    assert events[-1]["response"]["output"][0]["content"][0]["logprobs"] == [ENTRY]


def test_logprobs_that_nobody_asked_for_are_dropped() -> None:
    assert output_of(with_logprobs("a"), stop())[0]["content"][0]["logprobs"] == []


def test_logprobs_are_kept_behind_the_thinking() -> None:
    output = output_of(text("<think>hm</think>Yes"), with_logprobs("a"), stop(), logprobs=True, think_tags="extract")

    assert output[1]["content"][0]["logprobs"] == [ENTRY]


def note(url: str, start: int = 0, end: int = 0) -> dict[str, Any]:
    return {"type": "url_citation", "url": url, "title": "", "start_index": start, "end_index": end}


def test_annotations_are_told_and_numbered() -> None:
    events = events_of(text("a"), chunk({"annotations": [note("u", 0, 1), note("v")]}), stop())

    told = [event for event in events if event["type"].endswith("annotation.added")]
    assert [(event["annotation_index"], event["annotation"]["url"]) for event in told] == [(0, "u"), (1, "v")]
    assert events[-1]["response"]["output"][0]["content"][0]["annotations"] == [note("u", 0, 1), note("v")]


def test_annotations_that_are_sent_again_count_once() -> None:
    again = chunk({"annotations": [note("u")]})

    assert len(output_of(text("a"), again, again, stop())[0]["content"][0]["annotations"]) == 1


def test_annotations_without_a_text_are_left_out() -> None:
    assert output_of(chunk({"annotations": [note("u")]}), stop())[0]["content"][0]["annotations"] == []


def test_sources_are_cited_where_the_text_points_to_them() -> None:
    part = output_of(text("A[2], b[1][9]."), {"citations": ["u", "v"]}, stop())[0]["content"][0]

    assert part["annotations"] == [note("v", 1, 4), note("u", 7, 10)]


def test_sources_that_no_text_points_to_are_cited_as_a_whole() -> None:
    part = output_of(text("A."), {"citations": ["u"]}, {"citations": ["u", "v"]}, stop())[0]["content"][0]

    assert part["annotations"] == [note("u"), note("v")]


def test_many_citations_cost_linear_time() -> None:
    began = time.process_time()

    annotations = chunk({"annotations": [note(f"u{number}") for number in range(20_000)]})
    stream = stream_of()
    stream.feed(text("[1]" * 20_000))
    stream.feed(annotations)
    stream.feed({"citations": ["u"]})
    stream.feed(stop())
    stream.finish(done=True)

    assert time.process_time() - began < 5


def test_citations_have_no_more_room_than_the_output() -> None:
    stream = stream_of(max_output=10_000)
    stream.feed(text("[1]" * 1000))
    stream.feed({"citations": ["u" * 1000]})
    stream.feed(stop())
    stream.finish(done=True)

    assert len(stream.response["output"][0]["content"][0]["annotations"]) == 10
