"""Any JSON value is either accepted as it is or answered with one of our errors; what real clients send is accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shape_samples import tagged_example

from responses_middleware._json import dumps
from responses_middleware.errors import ResponsesError
from responses_middleware.protocol import validate
from responses_middleware.protocol.create import PARAMETERS
from responses_middleware.protocol.items import INPUT_ITEMS, ITEMS
from responses_middleware.protocol.tools import TOOL_TYPES, TOOLS

REQUESTS = sorted((Path(__file__).parents[2] / "fixtures" / "requests").glob("*.json"))
WORDS = ["type", "role", "content", "name", "text", "id", "output", "message", "user", "function", "input_text", "auto"]

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from([*WORDS, *ITEMS, *TOOL_TYPES])
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=24,
)
bodies = st.dictionaries(st.sampled_from([*PARAMETERS]) | st.text(max_size=4), values, max_size=8)
items = st.sampled_from([*ITEMS]).map(lambda kind: tagged_example(INPUT_ITEMS.element, kind))
tools = st.sampled_from([*TOOL_TYPES]).map(lambda kind: tagged_example(TOOLS, kind))


def accepted_or_refused(body: Any) -> None:
    before = json.dumps(body)
    error = None
    try:
        assert validate(body) == body
    except ResponsesError as refusal:
        error = refusal
    assert error is None or (error.status, error.type) == (400, "invalid_request_error")
    assert error is None or json.loads(dumps(error.body()))["error"]["message"]
    assert json.dumps(body) == before


@settings(deadline=None)
@given(values | bodies)
def test_any_value_is_accepted_or_refused(body: Any) -> None:
    accepted_or_refused(body)


@settings(deadline=None)
@given(bodies)
def test_any_parameters_are_accepted_or_refused(body: dict[str, Any]) -> None:
    accepted_or_refused({"model": "m", "input": "x"} | body)


@settings(deadline=None)
@given(given_items=st.lists(items, min_size=1, max_size=3), given_tools=st.lists(tools, max_size=3), data=st.data())
def test_a_good_body_with_one_odd_value_is_accepted_or_refused(
    given_items: list[Any], given_tools: list[Any], data: st.DataObject
) -> None:
    body: Any = {"model": "m", "input": given_items, "tools": given_tools}
    body = json.loads(json.dumps(body))
    place: Any = body
    while True:
        key = data.draw(st.sampled_from([*place] if isinstance(place, dict) else range(len(place))))
        if not place[key] or not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(values)
            break
        place = place[key]

    accepted_or_refused(body)


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: path.stem)
def test_what_a_real_client_sends_is_accepted(path: Path) -> None:
    body = json.loads(path.read_text(encoding="utf-8"))

    assert validate(body) == body
