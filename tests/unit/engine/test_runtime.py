"""What all requests of one middleware share: names, lessons, ids."""

from __future__ import annotations

from typing import Any

import pytest

from responses_middleware import Dialect, Limits, owner_from_authorization
from responses_middleware.dialects.lessons import changes
from responses_middleware.engine.runtime import Options, Runtime
from responses_middleware.errors import OverloadedError, UpstreamError
from responses_middleware.state import Sealer
from responses_middleware.translate.left_out import LeftOut

PAYLOAD = {"model": "m", "messages": [], "max_tokens": 5, "stream_options": {"include_usage": True}}


class NoUpstream:
    """Never asked."""

    async def send(self, call: Any, sink: Any) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        pass


def runtime(**changes: Any) -> Runtime:
    options: dict[str, Any] = {
        "prefix": "/v1",
        "dialect": Dialect(),
        "model": None,
        "owner": owner_from_authorization,
        "unsupported": "warn",
        "reasoning": "summary",
        "done_sentinel": False,
        "on_event": None,
        "limits": Limits(),
        "same_origin": False,
        "origin": "http://upstream/v1",
    }
    return Runtime(Options(**{**options, **changes}), upstream=NoUpstream(), store=None, sealer=Sealer(None))


def refusal(message: str, status: int = 400) -> UpstreamError:
    return UpstreamError(message, status=status)


@pytest.mark.parametrize(
    ("model", "upstream_model"),
    [(None, "a"), ("x", "x"), ({"a": "b"}, "b"), ({"c": "d"}, "a"), ({}, "a"), (str.upper, "A")],
)
def test_the_upstream_may_call_the_model_otherwise(model: Any, upstream_model: str) -> None:
    assert runtime(model=model).upstream_model("a") == upstream_model


def test_ids_are_random_all_over() -> None:
    ids = {Runtime.new_id("resp_") for _ in range(200)}

    assert len(ids) == 200
    assert all(len(response_id) == len("resp_") + 48 for response_id in ids)
    assert len({response_id[5:9] for response_id in ids}) > 190


def learned(shared: Runtime, error: UpstreamError) -> dict[str, Any]:
    """What a refusal of the first question changes."""
    before = shared.dialect("m")
    return changes(before, shared.learn(before, error, PAYLOAD) or before)


def test_a_lesson_is_tried_first() -> None:
    shared = runtime()

    tried = learned(shared, refusal("use max_completion_tokens"))

    assert tried == {"max_tokens_field": "max_completion_tokens"}
    assert shared.dialect("m") == Dialect()


def test_a_lesson_that_is_kept_changes_how_this_model_is_asked() -> None:
    shared = runtime()

    shared.keep_lesson("m", {"max_tokens_field": "max_completion_tokens"})

    assert shared.dialect("m").max_tokens_field == "max_completion_tokens"
    assert shared.dialect("other").max_tokens_field == "max_tokens"


def test_lessons_add_up() -> None:
    shared = runtime()

    shared.keep_lesson("m", {"max_tokens_field": "max_completion_tokens"})
    shared.keep_lesson("m", {"stream_usage": False})

    assert (shared.dialect("m").max_tokens_field, shared.dialect("m").stream_usage) == ("max_completion_tokens", False)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 502, 503])
def test_other_statuses_teach_nothing(status: int) -> None:
    assert learned(runtime(), refusal("use max_completion_tokens", status)) == {}


def test_what_was_learned_already_is_not_learned_again() -> None:
    shared = runtime()
    shared.keep_lesson("m", {"stream_usage": False})

    assert learned(shared, refusal("stream_options is unknown")) == {}


def test_a_named_dialect_learns_nothing() -> None:
    assert learned(runtime(dialect=Dialect.named("vllm")), refusal("use max_completion_tokens")) == {}


def test_a_lesson_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    shared = runtime()

    for _ in range(2):
        shared.keep_lesson("m", {"max_tokens_field": "max_completion_tokens"})

    assert caplog.text.count("max_tokens_field='max_completion_tokens'") == 1


def test_lessons_of_endless_models_are_bounded() -> None:
    shared = runtime()
    for number in range(1100):
        shared.keep_lesson(f"m{number}", {"max_tokens_field": "max_completion_tokens"})

    assert shared.dialect("m0").max_tokens_field == "max_tokens"
    assert shared.dialect("m1099").max_tokens_field == "max_completion_tokens"


LOST = [
    # the form that the client asks for, the dialect, whether it is lost
    ("json_schema", "json_object", True),
    ("json_schema", "none", True),
    ("json_object", "json_object", False),
    ("json_object", "none", True),
    ("text", "none", False),
    ("json_schema", "json_schema", False),
]


@pytest.mark.parametrize(("form", "known", "is_lost"), LOST)
def test_a_form_that_a_lesson_has_taken_is_named(form: str, known: Any, is_lost: bool) -> None:
    left_out = LeftOut("warn")

    runtime().note_lost({"text": {"format": {"type": form}}}, Dialect(response_format=known), left_out)

    assert left_out.names == ["text.format"] * is_lost


@pytest.mark.parametrize("text", [None, {}, {"format": None}])
def test_a_request_without_a_form_loses_none(text: Any) -> None:
    left_out = LeftOut("error")

    runtime().note_lost({"text": text}, Dialect(response_format="none"), left_out)

    assert left_out.names == []


def test_what_the_operators_dialect_lacks_is_not_named() -> None:
    left_out, deepseek = LeftOut("error"), Dialect.named("deepseek")

    runtime(dialect=deepseek).note_lost({"text": {"format": {"type": "json_schema"}}}, deepseek, left_out)

    assert left_out.names == []


def test_finish_reasons_are_expected_once_one_was_seen() -> None:
    shared = runtime()
    before = shared.expects_finish

    shared.saw_finish()

    assert (before, shared.expects_finish) == (None, True)


def test_a_dialect_that_sends_none_is_believed() -> None:
    shared = runtime(dialect=Dialect(finish_reason=False))

    shared.saw_finish()

    assert shared.expects_finish is False


def test_no_more_requests_are_admitted_than_may_run() -> None:
    shared = runtime(limits=Limits(max_concurrent=2))

    shared.admit()
    shared.admit()

    with pytest.raises(OverloadedError):
        shared.admit()

    assert shared.under_way == 2


def test_what_is_sealed_opens_again() -> None:
    shared = runtime()
    token = shared.seal({"text": "hm", "opaque": {"a": 1}})

    assert token is not None
    opened = shared.unseal(token)
    assert opened is not None
    assert (opened["text"], opened["opaque"]) == ("hm", {"a": 1})


def test_opaque_data_of_another_upstream_stays_sealed() -> None:
    sealer = Sealer(b"a secret of some length")
    one, other = (
        Runtime(runtime(origin=origin).options, upstream=NoUpstream(), store=None, sealer=sealer) for origin in "ab"
    )
    token = one.seal({"text": "hm", "opaque": {"signature": "s"}})

    assert token is not None
    opened = other.unseal(token)
    assert opened is not None
    assert (opened["text"], opened["opaque"]) == ("hm", {})


def test_a_foreign_token_opens_nothing() -> None:
    assert runtime().unseal("gAAAAnonsense") is None
