"""Formats, verbosity, reasoning effort and logprobs."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from translating import USER, payload, refused, such, translate

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
FORM = {"type": "json_schema", "name": "out", "schema": SCHEMA}
ONE_OBJECT = "Answer with one JSON object and nothing else."
BY_SCHEMA = f"{ONE_OBJECT} It must be valid by this JSON schema:\n{json.dumps(SCHEMA)}"
LOGPROBS = "message.output_text.logprobs"


def asked(form: Any, known: Any = "json_schema", **parameters: Any) -> tuple[Any, str | None]:
    """`response_format`, and what the system message says."""
    made = payload(such(response_format=known), text={"format": form}, **parameters)
    first = made["messages"][0]
    return made.get("response_format"), first["content"] if first["role"] == "system" else None


# -- formats
@pytest.mark.parametrize("form", [None, {"type": "text"}])
@pytest.mark.parametrize("known", ["json_schema", "json_object", "json_object_schema", "none"])
def test_plain_text_is_not_asked_for(form: Any, known: str) -> None:
    assert asked(form, known) == (None, None)


def test_a_schema_is_wrapped_as_chat_wants_it() -> None:
    form = {**FORM, "strict": True, "description": "D"}

    wanted = {"name": "out", "description": "D", "schema": SCHEMA, "strict": True}
    assert asked(form) == ({"type": "json_schema", "json_schema": wanted}, None)


def test_nulls_of_a_schema_stay_away() -> None:
    form = {**FORM, "strict": None, "description": None}

    assert asked(form)[0]["json_schema"] == {"name": "out", "schema": SCHEMA}


def test_a_schema_beside_json_object() -> None:
    assert asked(FORM, "json_object_schema") == ({"type": "json_object", "schema": SCHEMA}, None)


def test_json_object_with_the_schema_in_words() -> None:
    assert asked(FORM, "json_object") == ({"type": "json_object"}, BY_SCHEMA)


def test_a_schema_in_words_alone() -> None:
    assert asked(FORM, "none") == (None, BY_SCHEMA)


def test_what_the_answer_is_stands_in_the_words() -> None:
    assert f"{ONE_OBJECT} It is: A sum It must" in str(asked({**FORM, "description": "A sum"}, "none")[1])


def test_words_follow_the_instructions() -> None:
    assert asked(FORM, "none", instructions="Be brief")[1] == f"Be brief\n\n{BY_SCHEMA}"


@pytest.mark.parametrize("known", ["json_schema", "json_object", "json_object_schema"])
def test_json_object_is_asked_for_as_such(known: str) -> None:
    assert asked({"type": "json_object"}, known) == ({"type": "json_object"}, None)


def test_json_object_in_words_alone() -> None:
    assert asked({"type": "json_object"}, "none") == (None, ONE_OBJECT)


def test_a_later_update_of_the_format_counts() -> None:
    update = {"type": "configuration_update", "text": {"format": FORM}}

    assert asked({"type": "json_object"}, input=[USER, update])[0]["type"] == "json_schema"


def test_an_update_can_go_back_to_text() -> None:
    update = {"type": "configuration_update", "text": {"format": {"type": "text"}}}

    assert asked(FORM, input=[USER, update]) == (None, None)


# -- verbosity
def test_verbosity_goes_up_where_the_server_knows_it() -> None:
    assert payload("openai", text={"verbosity": "low"})["verbosity"] == "low"


def test_verbosity_is_left_out_and_named_elsewhere() -> None:
    made = translate(text={"verbosity": "low"})

    assert ("verbosity" in made.payload, made.left_out) == (False, ["text.verbosity"])


def test_verbosity_is_refused_where_nothing_may_be_lost() -> None:
    assert refused(text={"verbosity": "high"}).param == "text.verbosity"


def test_the_usual_verbosity_is_no_loss() -> None:
    assert translate(policy="error", text={"verbosity": "medium"}).left_out == []


# -- effort
def effort(wanted: str, known: Any) -> str | None:
    sent: str | None = payload(such(reasoning_effort=known), reasoning={"effort": wanted}).get("reasoning_effort")
    return sent


LADDER = {"low": "low", "high": "high", "max": "max"}


@pytest.mark.parametrize("wanted", ["none", "minimal", "low", "medium", "high", "xhigh", "max"])
def test_an_effort_goes_up_as_it_is(wanted: str) -> None:
    assert effort(wanted, known=True) == wanted


def test_an_effort_is_renamed() -> None:
    assert effort("max", known={"max": "xhigh"}) == "xhigh"


@pytest.mark.parametrize(
    ("wanted", "sent"), [("minimal", "low"), ("medium", "high"), ("xhigh", "max"), ("low", "low"), ("max", "max")]
)
def test_an_effort_that_the_server_lacks_is_the_nearest_that_it_has(wanted: str, sent: str) -> None:
    assert effort(wanted, known=LADDER) == sent


def test_no_effort_is_not_some_effort() -> None:
    made = translate(such(reasoning_effort=LADDER), reasoning={"effort": "none"})

    assert ("reasoning_effort" in made.payload, made.left_out) == (False, ["reasoning.effort"])


def test_little_effort_may_be_none() -> None:
    assert effort("minimal", known={"none": "none", "high": "high"}) == "none"


def test_an_effort_is_left_out_and_named_where_the_server_takes_none() -> None:
    made = translate(such(reasoning_effort=False), reasoning={"effort": "low"})

    assert ("reasoning_effort" in made.payload, made.left_out) == (False, ["reasoning.effort"])


def test_an_effort_is_refused_where_nothing_may_be_lost() -> None:
    assert refused(such(reasoning_effort=False), reasoning={"effort": "low"}).param == "reasoning.effort"


def test_a_later_update_of_the_effort_counts() -> None:
    updates = [{"type": "configuration_update", "reasoning": {"effort": word}} for word in ("low", "high")]

    assert payload(input=[USER, *updates], reasoning={"effort": "minimal"})["reasoning_effort"] == "high"


def test_an_update_of_one_setting_keeps_the_other() -> None:
    updates = [
        {"type": "configuration_update", "reasoning": {"effort": "low"}},
        {"type": "configuration_update", "text": {"format": FORM}},
    ]

    assert payload(input=[USER, *updates])["reasoning_effort"] == "low"


def test_the_effort_of_an_update_is_refused_by_its_place() -> None:
    update = {"type": "configuration_update", "reasoning": {"effort": "low"}}

    assert refused(such(reasoning_effort=False), input=[USER, update]).param == "input[1].reasoning.effort"


@pytest.mark.parametrize("reasoning", [None, {}, {"summary": "auto"}, {"context": "all_turns"}, {"mode": "standard"}])
def test_other_wishes_about_reasoning_are_no_loss(reasoning: Any) -> None:
    made = translate(policy="error", reasoning=reasoning)

    assert "reasoning_effort" not in made.payload


def test_another_mode_of_reasoning_is_named() -> None:
    assert translate(reasoning={"mode": "pro"}).left_out == ["reasoning.mode"]
    assert refused(reasoning={"mode": "pro"}).param == "reasoning.mode"


# -- logprobs
@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({}, {}),
        ({"top_logprobs": 0}, {}),
        ({"include": [LOGPROBS]}, {"logprobs": True}),
        ({"top_logprobs": 3}, {"logprobs": True, "top_logprobs": 3}),
        ({"include": [LOGPROBS], "top_logprobs": 3}, {"logprobs": True, "top_logprobs": 3}),
    ],
)
def test_logprobs_are_asked_for_when_they_are_wanted(parameters: dict[str, Any], sent: dict[str, Any]) -> None:
    made = payload(**parameters)

    assert {name: made[name] for name in ("logprobs", "top_logprobs") if name in made} == sent


@pytest.mark.parametrize(
    ("parameters", "param"), [({"top_logprobs": 3}, "top_logprobs"), ({"include": [LOGPROBS]}, "include[0]")]
)
def test_logprobs_that_the_server_has_not_are_named(parameters: dict[str, Any], param: str) -> None:
    dialect = such(logprobs=False)

    assert translate(dialect, **parameters).left_out == ["top_logprobs"]
    assert "logprobs" not in payload(dialect, **parameters)
    assert refused(dialect, **parameters).param == param


Served = Literal["served", "named"]


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ("reasoning.encrypted_content", "served"),
        (LOGPROBS, "served"),
        ("message.input_image.image_url", "served"),
        ("computer_call_output.output.image_url", "served"),
        ("file_search_call.results", "named"),
        ("web_search_call.results", "named"),
        ("web_search_call.action.sources", "named"),
        ("code_interpreter_call.outputs", "named"),
    ],
)
def test_what_can_be_included_is_and_the_rest_is_named(value: str, becomes: Served) -> None:
    assert translate(include=[value]).left_out == ([f"include.{value}"] if becomes == "named" else [])


def test_what_can_not_be_included_is_refused_where_nothing_may_be_lost() -> None:
    assert refused(include=[LOGPROBS, "file_search_call.results"]).param == "include[1]"
