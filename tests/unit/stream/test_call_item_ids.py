"""Ids of the items of calls begin as OpenAI's do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from replay import call, events_of, names_of, output_of, stop

FITTING = {
    "function": {},
    "custom": {"input": "x"},
    "local_shell": {"command": ["ls"]},
    "shell": {"commands": ["ls"]},
    "apply_patch": {"type": "delete_file", "path": "a"},
    "computer": {"actions": [{"type": "wait"}]},
    "tool_search": {"query": "mail"},
}


def run(kind: str, arguments: Any) -> list[Any]:
    return [call(0, "call_abcdef", "run", json.dumps(arguments)), stop("tool_calls")]


@pytest.mark.parametrize(
    ("kind", "prefix"),
    [
        ("function", "fc_"),
        ("custom", "ctc_"),
        ("local_shell", "lsh_"),
        ("shell", "sh_"),
        ("apply_patch", "apc_"),
        ("computer", "cu_"),
        ("tool_search", "tsc_"),
    ],
)
def test_the_id_of_a_call_says_what_it_is(kind: str, prefix: str) -> None:
    (item,) = output_of(*run(kind, FITTING[kind]), names=names_of(run=kind))

    assert item["id"] == f"{prefix}made0"


def test_all_events_of_a_call_have_the_id_of_its_item() -> None:
    events = events_of(*run("custom", {"input": "x"}), names=names_of(run="custom"))

    ids = {event.get("item_id") or event["item"]["id"] for event in events if "output_index" in event}
    assert ids == {"ctc_made0"}


@pytest.mark.parametrize("kind", ["local_shell", "shell", "apply_patch", "computer"])
def test_a_call_that_does_not_fit_has_the_id_of_the_function_call_that_it_is(kind: str) -> None:
    (item,) = output_of(*run(kind, {"nothing": "fits"}), names=names_of(run=kind))

    assert (item["type"], item["id"]) == ("function_call", "fc_made0")


def test_each_kind_of_call_of_an_answer_has_ids_of_its_own() -> None:
    chunks = [call(0, "call_aaaaaa", "ask", "{}"), call(1, "call_bbbbbb", "note", '{"input":"x"}'), stop()]

    output = output_of(*chunks, names=names_of(ask="function", note="custom"))

    assert [item["id"] for item in output] == ["fc_made0", "ctc_made0"]
