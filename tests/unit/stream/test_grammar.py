"""The grammar takes good streams and finds each fault in bad ones: tests that lean on it lean on something."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from replay import call, chunk, events_of, names_of, stop, text

from responses_middleware.stream.grammar import Grammar, GrammarError

Events = list[dict[str, Any]]

NOTE = {"type": "url_citation", "url": "u", "title": "", "start_index": 0, "end_index": 1}
CHUNKS = [
    chunk({"reasoning_content": "hm"}),
    chunk({"content": "Hi"}),
    text(" you"),
    chunk({"annotations": [NOTE]}),
    chunk({"refusal": "No"}),
    call(0, "call_a", "f", '{"a":1}'),
    call(1, "call_b", "patch", '{"input":"x"}'),
]
COMPLETED = events_of(*CHUNKS, stop(), names=names_of(patch="custom"))
INCOMPLETE = events_of(*CHUNKS, stop("length"), names=names_of(patch="custom"))
FAILED = events_of(*CHUNKS, done=False, names=names_of(patch="custom"))
TEXT = events_of(chunk({"reasoning_content": "hm"}), stop(), reasoning="text")


def accept(events: Events) -> None:
    grammar = Grammar()
    for event in events:
        grammar.accept(event)
    grammar.finish()


def place(events: Events, kind: str, nth: int = 0) -> int:
    return [index for index, event in enumerate(events) if event["type"] == f"response.{kind}"][nth]


def find(events: Events, kind: str, nth: int = 0) -> dict[str, Any]:
    return events[place(events, kind, nth)]


def renumber(events: Events) -> Events:
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return events


def without(kind: str, nth: int = 0) -> Callable[[Events], None]:
    def mutate(events: Events) -> None:
        del events[place(events, kind, nth)]
        renumber(events)

    return mutate


def twice(kind: str, nth: int = 0) -> Callable[[Events], None]:
    def mutate(events: Events) -> None:
        index = place(events, kind, nth)
        events.insert(index, copy.deepcopy(events[index]))
        renumber(events)

    return mutate


def changed(kind: str, path: str, value: Any, nth: int = 0) -> Callable[[Events], None]:
    """`path` leads into the event; None as a value deletes."""

    def mutate(events: Events) -> None:
        target: Any = find(events, kind, nth)
        *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in way:
            target = target[step]
        if value is None:
            del target[last]
        else:
            target[last] = value

    return mutate


def swapped(first: str, second: str) -> Callable[[Events], None]:
    def mutate(events: Events) -> None:
        one, other = place(events, first), place(events, second)
        events[one], events[other] = events[other], events[one]
        renumber(events)

    return mutate


@pytest.mark.parametrize(
    "events", [COMPLETED, INCOMPLETE, FAILED, TEXT], ids=["completed", "incomplete", "failed", "text"]
)
def test_a_good_stream_is_accepted(events: Events) -> None:
    accept(events)


FAULTS: dict[str, tuple[Callable[[Events], None], str]] = {
    "no created": (without("created"), "expected"),
    "no in_progress": (without("in_progress"), "an item event may not come here"),
    "in_progress twice": (twice("in_progress"), "may not come here"),
    "a gap in the numbers": (changed("output_text.delta", "sequence_number", 99), "sequence_number"),
    "no terminal event": (without("completed"), "the stream ends running"),
    "two terminal events": (twice("completed"), "may not come here"),
    "an event behind the end": (lambda events: events.append({**events[4], "sequence_number": len(events)}), "ended"),
    "an unknown event": (changed("output_text.delta", "type", "response.text.delta"), "no event of a Responses stream"),
    "an unknown field": (changed("output_text.delta", "response_id", "x"), "has no"),
    "a missing field": (changed("output_text.delta", "logprobs", None), "lacks"),
    "a field of another type": (changed("output_text.delta", "delta", 5), "delta is 5"),
    "an item index that is not dense": (changed("output_item.added", "output_index", 1), "output_index"),
    "an item that was never added": (without("output_item.added", 1), "the item is done|not about the item"),
    "an item that is added twice": (twice("output_item.added"), "output_index"),
    "an item id that is taken": (changed("output_item.added", "item.id", "rs_made0", 1), "taken"),
    "an empty item id": (changed("output_item.added", "item.id", ""), "empty or taken"),
    "a call id that is taken": (changed("output_item.added", "item.call_id", "call_a", 3), "taken"),
    "a call without a name": (changed("output_item.added", "item.name", "", 2), "no name"),
    "an id that is the call id": (changed("output_item.added", "item.id", "call_a", 2), "the same"),
    "another item_id": (changed("output_text.delta", "item_id", "msg_x"), "item_id"),
    "a new item that is not empty": (changed("output_item.added", "item.content", [{}], 1), "content of a new message"),
    "arguments in a new call": (changed("output_item.added", "item.arguments", "{}", 2), "arguments of a new"),
    "a part that was never added": (without("content_part.added"), "may not come here"),
    "a part that is not empty": (changed("content_part.added", "part.text", "x"), "text of a new output_text"),
    "a part index that is not dense": (changed("content_part.added", "content_index", 1), "content_index"),
    "a part that is not done": (without("content_part.done"), "may not come here"),
    "a text that is not done": (without("output_text.done"), "may not come here"),
    "a text that is done twice": (twice("output_text.done"), "may not come here"),
    "a part that is done twice": (twice("content_part.done"), "may not come here"),
    "a delta behind the text": (swapped("output_text.delta", "output_text.done"), "deltas make"),
    "an empty delta": (changed("output_text.delta", "delta", ""), "an empty delta"),
    "a text other than its deltas": (changed("output_text.done", "text", "Hi"), "deltas make"),
    "a part other than its deltas": (changed("content_part.done", "part.text", "Hi"), "another text"),
    "a part with other annotations": (changed("content_part.done", "part.annotations", []), "other annotations"),
    "an annotation index that is not dense": (changed("output_text.annotation.added", "annotation_index", 1), "dense"),
    "arguments other than their deltas": (changed("function_call_arguments.done", "arguments", "{}"), "deltas make"),
    "a call that is done without its arguments": (without("function_call_arguments.done"), "inside its body"),
    "an item without its done": (without("output_item.done", 1), "never done"),
    "an item that is done twice": (twice("output_item.done", 1), "the item is done"),
    "a done item of another id": (changed("output_item.done", "item.id", "x", 1), "id of the item changed"),
    "a done call of another name": (changed("output_item.done", "item.name", "x", 2), "name of the item changed"),
    "a done item still in progress": (changed("output_item.done", "item.status", "in_progress", 1), "status"),
    "a done message of other content": (changed("output_item.done", "item.content", [], 1), "content differs"),
    "done thinking of other text": (changed("output_item.done", "item.summary", [], 0), "summary differs"),
    "a done call of other arguments": (changed("output_item.done", "item.arguments", "{}", 2), "deltas make"),
    "a summary part that was never added": (without("reasoning_summary_part.added"), "may not come here"),
    "an output other than the done items": (changed("completed", "response.output.1.content", []), "differs"),
    "an output without an item": (changed("completed", "response.output.1", None), "4 were added"),
    "an empty output": (changed("completed", "response.output", []), "4 were added"),
    "another response id": (changed("completed", "response.id", "resp_2"), "id of the response changed"),
    "another model": (changed("in_progress", "response.model", "x"), "model of the response changed"),
    "a status that does not fit": (changed("completed", "response.status", "failed"), "status is 'failed'"),
    "an error in a completed response": (changed("completed", "response.error", {"code": "x"}), "error does not fit"),
    "a completed response without its time": (changed("in_progress", "response.completed_at", 1), "completed_at"),
    "no usage": (lambda events: find(events, "completed")["response"].update(usage=None), "no usage"),
    "usage at the beginning": (changed("created", "response.usage", {}), "begins without"),
    "a missing member": (changed("completed", "response.user", None), "lacks"),
    "completed behind an error": (
        lambda events: (
            events.insert(-1, {"type": "error", "error": {}, "sequence_number": len(events) - 1}) or renumber(events)
        ),  # type: ignore[func-returns-value]
        "may not come here .broken.",
    ),
}


@pytest.mark.parametrize(("mutate", "why"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found(mutate: Callable[[Events], None], why: str) -> None:
    events = copy.deepcopy(COMPLETED)
    mutate(events)

    with pytest.raises(GrammarError, match=why):
        accept(events)


def test_an_incomplete_item_is_none_of_a_completed_response() -> None:
    events = copy.deepcopy(COMPLETED)
    for event in (find(events, "output_item.done", 3)["item"], find(events, "completed")["response"]["output"][3]):
        event["status"] = "incomplete"

    with pytest.raises(GrammarError, match="an incomplete item"):
        accept(events)


def test_an_item_that_was_never_done_is_incomplete() -> None:
    events = copy.deepcopy(FAILED)
    find(events, "failed")["response"]["output"][-1]["status"] = "completed"

    with pytest.raises(GrammarError, match="is not incomplete"):
        accept(events)


def test_a_failed_response_needs_no_error_event() -> None:
    events = copy.deepcopy(FAILED)
    del events[-2]

    accept(renumber(events))


def test_reasoning_text_needs_its_part() -> None:
    events = copy.deepcopy(TEXT)
    without("content_part.added")(events)

    with pytest.raises(GrammarError, match=r"response\.content_part\.added reasoning_text"):
        accept(events)
