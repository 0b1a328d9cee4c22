"""What all requests of one middleware share: names, lessons, ids."""

from __future__ import annotations

from typing import Any

import pytest

from responses_middleware import Dialect, Limits, owner_from_authorization
from responses_middleware.engine.runtime import Options, Runtime
from responses_middleware.errors import OverloadedError, UpstreamError
from responses_middleware.state import Sealer

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


def test_a_lesson_changes_how_this_model_is_asked() -> None:
    shared = runtime()

    assert shared.learn("m", refusal("use max_completion_tokens"), PAYLOAD)

    assert shared.dialect("m").max_tokens_field == "max_completion_tokens"
    assert shared.dialect("other").max_tokens_field == "max_tokens"


def test_lessons_add_up() -> None:
    shared = runtime()
    shared.learn("m", refusal("use max_completion_tokens"), PAYLOAD)

    shared.learn("m", refusal("stream_options is unknown"), PAYLOAD)

    assert (shared.dialect("m").max_tokens_field, shared.dialect("m").stream_usage) == ("max_completion_tokens", False)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 502, 503])
def test_other_statuses_teach_nothing(status: int) -> None:
    assert not runtime().learn("m", refusal("use max_completion_tokens", status), PAYLOAD)


def test_what_was_learned_already_is_not_learned_again() -> None:
    shared = runtime()
    shared.learn("m", refusal("stream_options is unknown"), PAYLOAD)

    assert not shared.learn("m", refusal("stream_options is unknown"), PAYLOAD)


def test_a_named_dialect_learns_nothing() -> None:
    assert not runtime(dialect=Dialect.named("vllm")).learn("m", refusal("use max_completion_tokens"), PAYLOAD)


def test_a_lesson_is_logged_without_what_the_client_said(caplog: pytest.LogCaptureFixture) -> None:
    payload = {**PAYLOAD, "messages": [{"role": "user", "content": "my secret"}]}

    runtime().learn("m", refusal("use max_completion_tokens"), payload)

    assert "max_tokens_field='max_completion_tokens'" in caplog.text
    assert "my secret" not in caplog.text


def test_lessons_of_endless_models_are_bounded() -> None:
    shared = runtime()
    for number in range(1100):
        shared.learn(f"m{number}", refusal("use max_completion_tokens"), PAYLOAD)

    assert shared.dialect("m0").max_tokens_field == "max_tokens"
    assert shared.dialect("m1099").max_tokens_field == "max_completion_tokens"


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
