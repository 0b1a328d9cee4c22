from __future__ import annotations

import time
from typing import Any

import pytest

from responses_middleware.stream.opaque import Opaque


def taken(*added: tuple[str, Any]) -> dict[str, Any]:
    opaque = Opaque()
    for name, value in added:
        opaque.add(name, value)
    return opaque.take()


def test_lists_go_on() -> None:
    assert taken(("blocks", [1]), ("blocks", [2])) == {"blocks": [1, 2]}


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ([1], "b"), ("a", [1]), ({"a": 1}, {"b": 1})])
def test_anything_else_is_replaced(first: Any, second: Any) -> None:
    assert taken(("data", first), ("data", second)) == {"data": second}


def test_what_is_whole_so_far_replaces_a_list() -> None:
    opaque = Opaque()
    opaque.add("blocks", [1])
    opaque.replace("blocks", [1, 2])

    assert opaque.take() == {"blocks": [1, 2]}


def test_the_given_values_stay_as_they_are() -> None:
    given = [{"type": "t", "text": "a"}]

    taken(("details", given), ("details", [{"type": "t", "text": "b"}]))

    assert given == [{"type": "t", "text": "a"}]


@pytest.mark.parametrize("member", ["text", "summary"])
def test_pieces_of_one_detail_are_joined(member: str) -> None:
    pieces = [[{"type": "t", "index": 0, member: piece}] for piece in "abc"]

    assert taken(*[("details", piece) for piece in pieces]) == {"details": [{"type": "t", "index": 0, member: "abc"}]}


def test_the_signature_of_a_later_piece_is_kept() -> None:
    pieces = [{"type": "t", "text": "a", "signature": None}, {"type": "t", "text": "", "signature": "s"}]

    assert taken(("details", pieces)) == {"details": [{"type": "t", "text": "a", "signature": "s"}]}


@pytest.mark.parametrize(
    "other",
    [
        {"type": "u", "text": "b"},
        {"type": "t", "index": 1, "text": "b"},
        {"type": "t", "summary": "b"},
        {"type": "t", "data": "b"},
        "b",
        None,
    ],
)
def test_other_details_stand_for_themselves(other: Any) -> None:
    first = {"type": "t", "text": "a"}

    assert taken(("details", [first, other])) == {"details": [first, other]}


def test_what_belongs_to_a_call_is_kept_by_its_id() -> None:
    opaque = Opaque()
    opaque.add_call("call_a", {"s": 1})
    opaque.add_call("call_a", {"t": 2})
    opaque.add_call("call_b", {"s": 3})

    assert opaque.take() == {"calls": {"call_a": {"s": 1, "t": 2}, "call_b": {"s": 3}}}


def test_what_was_taken_is_gone() -> None:
    opaque = Opaque()
    opaque.add("data", "x")
    opaque.take()

    assert not opaque
    assert opaque.take() == {}


def test_joining_is_linear_in_the_number_of_pieces() -> None:
    began = time.process_time()

    taken(*[("details", [{"type": "t", "text": "x" * 50}])] * 100_000)

    assert time.process_time() - began < 5
