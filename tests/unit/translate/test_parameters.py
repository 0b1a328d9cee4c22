"""Parameters: mapped, forwarded, left out by name, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from translating import FUNCTION, USER, payload, refused, such, translate

from responses_middleware.dialects.base import FORWARDABLE

HINTS: dict[str, Any] = {
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "explicit"},
    "prompt_cache_retention": "24h",
    "safety_identifier": "s",
    "service_tier": "flex",
    "user": "u",
}
NEVER_SENT: dict[str, Any] = {
    "truncation": "auto",
    "context_management": [{"type": "compaction", "compact_threshold": 1}],
}
# Served here, whatever the server does.
SERVED: dict[str, Any] = {
    "metadata": {"a": "b"},
    "store": True,
    "max_tool_calls": 3,
    "previous_response_id": "resp_1",
    "client_metadata": {"turn": 1},
    "background_options": {"completion_window": "soonest"},
    "truncation": "disabled",
    "service_tier": "auto",
    "access_programs": {"cyber": "standard"},
    "image": {"context_compression": "auto"},
    "background": False,
}
# Refused in any case: what a chat completion would answer instead is not what was asked for.
UNSERVED: list[tuple[dict[str, Any], str, int]] = [
    ({"background": True}, "background", 400),
    ({"conversation": "conv_1"}, "conversation", 400),
    ({"prompt": {"id": "pmpt_1"}}, "prompt", 400),
    ({"moderation": {"model": "omni"}}, "moderation", 400),
    ({"prompt_cache_options": {"prewarm": True}}, "prompt_cache_options.prewarm", 400),
    ({"image": {"context_compression": "enabled"}}, "image.context_compression", 400),
    ({"access_programs": {"cyber": "daybreak_red"}}, "access_programs.cyber", 403),
]


def test_the_smallest_request_is_the_smallest_call() -> None:
    assert payload() == {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(("name", "value"), [("temperature", 0), ("temperature", 1.5), ("top_p", 0.5)])
def test_sampling_goes_up_as_it_is(name: str, value: float) -> None:
    assert payload(**{name: value})[name] == value


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_the_token_limit_goes_up_under_the_one_name_that_the_server_reads(field: Any) -> None:
    made = payload(such(max_tokens_field=field), max_output_tokens=5)

    assert {name: value for name, value in made.items() if name.startswith("max_")} == {field: 5}


def test_a_stream_is_asked_for_with_its_usage() -> None:
    made = payload(stream=True)

    assert (made["stream"], made["stream_options"]) == (True, {"include_usage": True})


def test_usage_is_not_asked_for_where_the_server_refuses_that() -> None:
    assert "stream_options" not in payload(such(stream_usage=False), stream=True)


@pytest.mark.parametrize("stream", [False, None])
def test_no_stream_is_not_mentioned(stream: bool | None) -> None:
    assert payload(stream=stream).keys() & {"stream", "stream_options"} == set()


@pytest.mark.parametrize("name", [*HINTS, *NEVER_SENT])
def test_a_hint_is_left_out_and_named(name: str) -> None:
    made = translate(**{name: (HINTS | NEVER_SENT)[name]})

    assert (name in made.payload, made.left_out) == (False, [name])


@pytest.mark.parametrize("name", [*HINTS, *NEVER_SENT])
def test_a_hint_is_refused_by_its_name_where_nothing_may_be_lost(name: str) -> None:
    error = refused(**{name: (HINTS | NEVER_SENT)[name]})

    assert (error.status, error.code, error.param) == (400, "unsupported_value", name)


@pytest.mark.parametrize("name", [*HINTS, *NEVER_SENT])
def test_a_hint_is_left_out_in_silence_where_all_is_ignored(name: str) -> None:
    made = translate(policy="ignore", **{name: (HINTS | NEVER_SENT)[name]})

    assert (name in made.payload, made.left_out) == (False, [])


@pytest.mark.parametrize("name", HINTS)
def test_a_hint_goes_up_where_the_server_takes_it(name: str) -> None:
    made = translate(such(forward=frozenset({name})), policy="error", **{name: HINTS[name]})

    assert (made.payload[name], made.left_out) == (HINTS[name], [])


@pytest.mark.parametrize("name", ["metadata", "store"])
def test_what_is_served_here_goes_up_too_where_the_dialect_says_so(name: str) -> None:
    assert payload(such(forward=frozenset({name})), **{name: SERVED[name]})[name] == SERVED[name]


def test_moderation_goes_up_where_the_server_has_it() -> None:
    assert payload("openai", moderation={"model": "omni"})["moderation"] == {"model": "omni"}


def test_forwarded_parameters_stand_in_one_order() -> None:
    given = {name: (HINTS | SERVED)[name] for name in sorted(FORWARDABLE & (HINTS | SERVED).keys())}

    made = payload(such(forward=FORWARDABLE), **given)

    assert [name for name in made if name in given] == sorted(given)


@pytest.mark.parametrize("name", SERVED)
def test_what_is_served_here_does_not_go_up(name: str) -> None:
    made = translate(policy="error", **{name: SERVED[name]})

    assert (made.payload, made.left_out) == (payload(), [])


def test_a_retention_with_a_dash_is_spelled_as_chat_does() -> None:
    assert payload("openai", prompt_cache_retention="in-memory")["prompt_cache_retention"] == "in_memory"


def test_a_tier_that_chat_does_not_know_is_left_out_and_named() -> None:
    made = translate("openai", service_tier="ultrafast")

    assert ("service_tier" in made.payload, made.left_out) == (False, ["service_tier"])


@pytest.mark.parametrize(("parameters", "param", "status"), UNSERVED)
@pytest.mark.parametrize("policy", ["error", "warn", "ignore"])
def test_what_no_chat_server_can_do_is_refused(
    parameters: dict[str, Any], param: str, status: int, policy: Any
) -> None:
    error = refused(policy=policy, **parameters)

    assert (error.param, error.status) == (param, status)


def test_calls_are_never_counted() -> None:
    made = payload(max_tool_calls=1, tools=[FUNCTION])

    assert "max_tool_calls" not in made


def test_what_is_left_out_is_named_once() -> None:
    tools = [{"type": "web_search"}, {"type": "web_search"}]

    assert translate(tools=tools, user="u").left_out == ["web_search", "user"]


def test_the_request_is_not_changed() -> None:
    request = {"input": [USER, {"role": "system", "content": "S"}], "instructions": "I", "tools": [FUNCTION]}
    before = json.dumps(request)

    payload("vllm", **request)

    assert json.dumps(request) == before
