"""Whatever there is much of in a request: eight times as much takes about eight times as long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from translating import FUNCTION, USER, call, output, says, thinks, translate

Request = dict[str, Any]
TEXT = "x" * 2000


def system_texts(size: int) -> Request:
    return {"input": [{"role": "developer", "content": TEXT}] * size + [USER]}


def later_system_texts(size: int) -> Request:
    return {"dialect": "vllm", "input": [USER, {"role": "system", "content": TEXT}] * size}


def turns(size: int) -> Request:
    return {"dialect": "deepseek", "input": [USER, thinks(TEXT), says(TEXT), call(), output(text=TEXT)] * size}


def calls_of_one_turn(size: int) -> Request:
    ids = [f"call_{number}" for number in range(size)]
    return {"input": [USER, *map(call, ids), *map(output, ids)]}


def calls_with_one_id(size: int) -> Request:
    return {"input": [USER, *[call()] * size, *[output()] * size]}


def texts_of_one_turn(size: int) -> Request:
    return {"input": [USER, *[thinks(TEXT), says(TEXT)] * size, USER]}


def results_without_ids(size: int) -> Request:
    items = [
        item
        for number in range(size)
        for item in (
            call(f"call_{number}", f"f{number}"),
            {"type": "function_call_output", "name": f"f{number}", "output": "x"},
        )
    ]
    return {"input": [USER, *items]}


def nameless_results(size: int) -> Request:
    nameless = {"type": "function_call_output", "name": "f", "output": "x"}
    return {
        "policy": "ignore",
        "input": [USER, *[call(f"call_{number}") for number in range(size)], *[nameless] * size],
    }


def parts(size: int) -> Request:
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": TEXT}] * size}]}


def brought_tools(size: int) -> Request:
    tools = [{"type": "function", "name": f"f{number}"} for number in range(size)]
    wanted = [{"type": "function", "name": f"f{number}"} for number in range(size)]
    return {
        "input": [USER, {"type": "additional_tools", "role": "developer", "tools": tools}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": wanted},
    }


def allowed_by_bare_names(size: int) -> Request:
    spaces = [
        {"type": "namespace", "name": f"n{number}", "description": "", "tools": [FUNCTION]} for number in range(size)
    ]
    wanted = [{"type": "function", "name": "f"}] * size
    return {
        "input": [USER, {"type": "additional_tools", "role": "developer", "tools": spaces}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": wanted},
    }


def seconds(request: Request) -> float:
    begun = time.perf_counter()
    translate(**request)
    return time.perf_counter() - begun


@pytest.mark.parametrize(
    "much_of",
    [
        system_texts,
        later_system_texts,
        turns,
        calls_of_one_turn,
        calls_with_one_id,
        texts_of_one_turn,
        results_without_ids,
        nameless_results,
        parts,
        brought_tools,
        allowed_by_bare_names,
    ],
)
def test_the_time_is_linear(much_of: Callable[[int], Request]) -> None:
    few, many = much_of(150), much_of(1200)

    least = min(seconds(few) for _ in range(5))
    most = min(seconds(many) for _ in range(3))

    assert most < 30 * least  # linear: 8 times, and noise; quadratic: 64 times
