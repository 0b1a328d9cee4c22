"""E7. Quiet logs and errors: no word of what a request holds, or an operator set."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from fronts import bridge_of
from misbehaving import CUT, SECRET, SSE, Answer, Asked, by_model, chunk, ending, frame, refused, says
from wire import fetch

from responses_middleware import ResponsesMiddleware, ResponsesProxy

pytestmark = pytest.mark.anyio
URL_FORMS = pytest.mark.parametrize(
    ("form", "anyio_backend"), [("httpx", "asyncio"), ("httpx", "trio"), ("aiohttp", "asyncio")]
)


CANARIES = {
    "instructions": "CANARY1", "input": "CANARY2", "metadata": {"CANARY3": "CANARY4"}, "user": "CANARY5",
    "model": "CANARY6", "prompt_cache_key": "CANARY7", "safety_identifier": "CANARY8",
    "tools": [{"type": "function", "name": "CANARY9", "description": "CANARY10",
               "parameters": {"type": "object", "properties": {"CANARY11": {"type": "string"}}}}],
}  # fmt: skip
SECRET_HEADERS = [("Authorization", "Bearer CANARY12"), ("Cookie", "sid=CANARY13"), ("X-Api-Key", "CANARY14")]


def loud(asked: Asked) -> Answer:
    """What the model says is as private as what it was asked."""
    call = {"index": 0, "id": "call_CANARY15", "function": {"name": "CANARY9", "arguments": '{"a": "CANARY16"}'}}
    return Answer(
        [
            frame(chunk({"reasoning_content": "CANARY17"})),
            *says("CANARY18"),
            frame(chunk({"tool_calls": [call]})),
            *ending("tool_calls"),
        ],
        headers=[SSE, (b"set-cookie", b"CANARY19"), (b"x-private", b"CANARY20")],
    )


def our_lines(caplog: pytest.LogCaptureFixture) -> str:
    """What we wrote at any level, and from INFO on what the libraries that we call wrote."""
    formatter = logging.Formatter("%(name)s %(message)s")
    servers = ("asyncio", "hypercorn", "uvicorn")
    return "\n".join(
        formatter.format(each)
        for each in caplog.records
        if each.name.startswith("responses_middleware")
        or (each.levelno >= logging.INFO and not each.name.startswith(servers))
    )


async def test_e7_a_request_full_of_secrets_leaves_no_word_of_them_in_the_logs(
    form: str, caplog: pytest.LogCaptureFixture, subtests: Any
) -> None:
    failures = {
        "an error body": refused(500, f"CANARY21 {SECRET}"),
        "a cut": Answer([*says("CANARY22"), CUT]),
        "not JSON": Answer([*says("CANARY22"), b"data: CANARY23\n\n"]),
        "an error in a frame": Answer([*says("CANARY22"), frame({"error": {"message": "CANARY24"}})]),
        "a refusal that teaches": refused(400, "stream_options CANARY25"),
    }
    with caplog.at_level(logging.DEBUG):
        async with bridge_of(form, loud) as bridge:
            for stream in (True, False):
                reply = await bridge.ask(**{**CANARIES, "stream": stream}, headers=SECRET_HEADERS)
                assert reply.outcome == "completed"
            stored = reply.response["id"]
            await bridge.get(f"/{stored}/input_items", headers=SECRET_HEADERS)
            await bridge.ask(stream=False, headers=SECRET_HEADERS, previous_response_id="resp_CANARY26")
            await bridge.ask(stream=False, headers=SECRET_HEADERS, input=[{"type": "CANARY27"}])
            await bridge.ask(stream=False, headers=SECRET_HEADERS, CANARY28=1)
            await fetch(bridge.responses, b'{"CANARY29": ')
        async with bridge_of(form, by_model(failures), api_key=None if form == "app" else "CANARY30") as bridge:
            for name in failures:
                await bridge.ask(**{**CANARIES, "model": name}, headers=SECRET_HEADERS)

    lines = our_lines(caplog)
    assert "CANARY" not in lines
    assert SECRET not in lines
    assert "127.0.0.1" not in "\n".join(
        each.getMessage() for each in caplog.records if each.name.startswith("responses_middleware")
    )


async def test_e7_an_exception_of_the_wrapped_app_is_told_to_no_client(anyio_backend: str, subtests: Any) -> None:
    table = {
        "before": Answer([], before=[RuntimeError(SECRET)]),
        "in the middle": Answer([*says("Hello"), RuntimeError(SECRET)]),
        "os before": Answer([], before=[ConnectionRefusedError(SECRET)]),
        "os in the middle": Answer([*says("Hello"), OSError(SECRET)]),
        "key": Answer([], before=[KeyError(SECRET)]),
    }
    async with bridge_of("app", by_model(table)) as bridge:
        for name in table:
            for stream in (True, False):
                with subtests.test(f"{name}, {stream=}"):
                    reply = await bridge.ask(model=name, stream=stream)

                    assert reply.outcome in ("failed", "http 500")
                    for word in (SECRET, "Traceback", "RuntimeError", "OSError", "KeyError", "Error(", ".py", "0x"):
                        assert word.encode() not in reply.body


@URL_FORMS
async def test_e7_an_upstream_that_cannot_be_reached_is_told_without_its_address(
    form: str, anyio_backend: str, subtests: Any
) -> None:
    async with bridge_of(form, Answer([], before=[CUT]), api_key="sk-upstream") as bridge:
        upstream = bridge.upstream.url  # type: ignore[attr-defined]
        bridge.runtime.upstream._chat_url = "http://no-such-host.invalid:9/v1/chat/completions"
        replies = [await bridge.ask(stream=stream) for stream in (True, False)]
        bridge.runtime.upstream._chat_url = "http://127.0.0.1:1/v1/chat/completions"
        replies += [await bridge.ask(stream=stream) for stream in (True, False)]
        bridge.runtime.upstream._chat_url = f"{upstream}/chat/completions"
        replies += [await bridge.ask(stream=stream) for stream in (True, False)]

    assert [reply.status for reply in replies] == [502] * 6
    for reply in replies:
        for word in ("127.0.0.1", "no-such-host", upstream, "sk-upstream", "Errno", "httpx", "aiohttp"):
            assert word.encode() not in reply.body


def everything_said_of(value: object, depth: int = 0) -> str:
    """repr of an object and of all that its attributes hold, as a debugger or an error tracker collects them."""
    inside = getattr(value, "__dict__", None) or {}
    slots = {
        name: getattr(value, name, None) for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())
    }
    parts = [repr(value)]
    if depth < 1:
        parts += [repr(each) for each in (*inside.values(), *slots.values())]
    return "\n".join(parts)


def test_e7_options_the_middleware_and_the_proxy_show_no_key() -> None:
    key, secret = "sk-CANARY-key", "CANARY-secret-of-16-bytes"
    url = "http://127.0.0.1:9/v1?api-key=CANARY-query"
    proxy = ResponsesProxy(url, api_key=key, secret=secret)
    middleware = ResponsesMiddleware(proxy, upstream=url, api_key=key, secret=secret)
    runtime = middleware._runtime

    for shown in (proxy, middleware, runtime, runtime.options, proxy._app):
        assert "CANARY" not in repr(shown)
    assert "CANARY" not in everything_said_of(runtime.options)


def test_e7_a_wrong_option_is_not_repeated_with_its_secret() -> None:
    for options in ({"api_key": "sk-CANARY\n"}, {"api_key": "sk-CANARY\u00e9"}):
        with pytest.raises(ValueError, match="api_key") as caught:
            ResponsesProxy("http://127.0.0.1:9/v1", **options)
        assert "CANARY" not in str(caught.value)
    with pytest.raises(ValueError, match="user name or password") as caught:
        ResponsesProxy("http://anna:CANARY@127.0.0.1:9/v1")
    assert "CANARY" not in str(caught.value)
