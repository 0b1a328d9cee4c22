"""E. Isolation and secrets: what belongs to one owner, one origin or one request stays there."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from asgi_client import request
from fronts import bridge_of
from misbehaving import (
    CUT,
    SECRET,
    SSE,
    Answer,
    Asked,
    SocketUpstream,
    Step,
    by_model,
    chunk,
    completion,
    ending,
    frame,
    refused,
    says,
    streamed,
    whole,
)
from wire import PATIENCE, Reply, fetch

from responses_middleware import ResponsesMiddleware, ResponsesProxy

if TYPE_CHECKING:
    from pathlib import Path

    from fronts import Bridge

pytestmark = pytest.mark.anyio

ANNA = [("Authorization", "Bearer sk-anna-0123456789")]
BERTA = [("Authorization", "Bearer sk-berta-9876543210")]
URL_FORMS = pytest.mark.parametrize(
    ("form", "anyio_backend"), [("httpx", "asyncio"), ("httpx", "trio"), ("aiohttp", "asyncio")]
)


@asynccontextmanager
async def canary() -> AsyncIterator[SocketUpstream]:
    """A server that nobody should ever ask."""
    async with SocketUpstream(streamed("STOLEN")).listening() as server:
        yield server
        assert server.asked == []


# -- E1
def same(reply: Reply, stored: str, other: str, missing: str) -> bytes:
    """The answer without the id that was asked for."""
    return reply.body.replace(other.encode(), b"ID").replace(missing.encode(), b"ID").replace(stored.encode(), b"ID")


async def each_endpoint(bridge: Bridge, response_id: str, item_id: str, who: list[tuple[str, str]]) -> dict[str, Reply]:
    """What someone gets who asks for a response and an item by their ids, at every endpoint."""
    reference = [{"type": "item_reference", "id": item_id}, {"role": "user", "content": "x"}]
    return {
        "retrieve": await bridge.get(f"/{response_id}", headers=who),
        "retrieve as stream": await bridge.get(f"/{response_id}?stream=true", headers=who),
        "input items": await bridge.get(f"/{response_id}/input_items", headers=who),
        "cancel": await bridge.get(f"/{response_id}/cancel", method="POST", headers=who),
        "previous": await bridge.ask(previous_response_id=response_id, stream=False, headers=who),
        "previous, streamed": await bridge.ask(previous_response_id=response_id, headers=who),
        "reference": await bridge.ask(input=reference, stream=False, headers=who),
        "delete": await bridge.get(f"/{response_id}", method="DELETE", headers=who),
    }


async def test_e1_a_strangers_id_and_a_missing_id_get_the_same_bytes_at_every_endpoint(
    form: str, subtests: Any
) -> None:
    missing, no_item = "resp_" + "0" * 48, "msg_" + "0" * 48
    strangers = {
        "another key": BERTA,
        "no key": [],
        "the key with a letter less": [("Authorization", ANNA[0][1][:-1])],
        "the key as x-api-key": [("X-Api-Key", "sk-anna-0123456789")],
        "the key twice": [*ANNA, *BERTA],
    }
    async with bridge_of(form) as bridge:
        stored = (await bridge.ask(headers=ANNA)).response
        item = stored["output"][0]["id"]
        for name, who in strangers.items():
            theirs = await each_endpoint(bridge, stored["id"], item, who)
            nobodys = await each_endpoint(bridge, missing, no_item, who)
            for endpoint, reply in theirs.items():
                with subtests.test(f"{name}, {endpoint}"):
                    other = nobodys[endpoint]

                    assert reply.status in (400, 404)
                    assert reply.status == other.status
                    ids = (stored["id"], item, missing), (missing, item, stored["id"])
                    assert same(reply, *ids[0]).replace(no_item.encode(), b"ID") == same(other, *ids[1]).replace(
                        no_item.encode(), b"ID"
                    )
        assert len(bridge.asked) == 1
        assert (await bridge.get(f"/{stored['id']}", headers=ANNA)).json == stored


async def test_e1_what_anonymous_clients_stored_is_for_no_owner_with_a_key(form: str) -> None:
    async with bridge_of(form) as bridge:
        stored = (await bridge.ask()).response
        seen = [(await bridge.get(f"/{stored['id']}", headers=who)).status for who in (ANNA, BERTA, [])]

    assert seen == [404, 404, 200]


async def test_e1_nothing_in_a_body_or_a_header_changes_the_owner(form: str, subtests: Any) -> None:
    owner = "anonymous"
    forged_headers = [("X-Owner", owner), ("OpenAI-Organization", owner), ("X-Forwarded-User", "anna")]
    async with bridge_of(form) as bridge:
        stored = (await bridge.ask(headers=ANNA, user="anna", metadata={"owner": "anna"})).response
        for name, parameters in {
            "user": {"user": "anna"},
            "metadata": {"metadata": {"owner": "anna", "user_id": "anna"}},
            "safety_identifier": {"safety_identifier": "anna"},
            "prompt_cache_key": {"prompt_cache_key": "anna"},
        }.items():
            with subtests.test(name):
                reply = await bridge.ask(
                    stream=False, headers=[*BERTA, *forged_headers], previous_response_id=stored["id"], **parameters
                )

                assert reply.error["code"] == "previous_response_not_found"
        assert (await bridge.get(f"/{stored['id']}", headers=[*BERTA, *forged_headers])).status == 404


async def test_e1_an_owner_function_parts_users_without_keys(form: str) -> None:
    def owner(scope: Any) -> str:
        return dict(scope["headers"]).get(b"x-user", b"").decode()

    async with bridge_of(form, owner=owner) as bridge:
        stored = (await bridge.ask(headers=[("X-User", "anna")])).response
        seen = [(await bridge.get(f"/{stored['id']}", headers=[("X-User", who)])).status for who in ("anna", "berta")]

    assert seen == [200, 404]


async def test_e1_an_owner_function_that_fails_lets_nobody_in(form: str) -> None:
    def owner(scope: Any) -> str:
        if b"x-user" not in dict(scope["headers"]):
            raise KeyError(SECRET)
        return "anna"

    async with bridge_of(form, owner=owner) as bridge:
        stored = (await bridge.ask(headers=[("X-User", "anna")])).response
        replies = [await bridge.get(f"/{stored['id']}"), await bridge.ask(stream=False)]

    assert [reply.status for reply in replies] == [500, 500]
    assert all(SECRET.encode() not in reply.body for reply in replies)


# -- E2
async def test_e2_ids_are_long_random_and_share_no_beginning(form: str) -> None:
    texts = Answer([frame(chunk({"reasoning_content": "hm"})), *says("Hel", "lo"), *ending()])
    async with bridge_of(form, texts) as bridge:
        responses = [(await bridge.ask()).response for _ in range(12)]

    ids = [response["id"] for response in responses] + [item["id"] for each in responses for item in each["output"]]
    random_parts = [name.split("_", 1)[1] for name in ids]
    assert len(set(random_parts)) == len(ids) == 36
    assert all(re.fullmatch("[0-9a-f]{32,}", part) for part in random_parts)
    assert len({part[:10] for part in random_parts}) == len(random_parts)
    columns = [len({part[at] for part in random_parts}) for at in range(32)]
    assert min(columns) > 5  # of 16: no place holds a counter or the time


# -- E3
@URL_FORMS
async def test_e3_no_field_or_header_of_a_request_changes_the_target(
    form: str, anyio_backend: str, subtests: Any
) -> None:
    async with canary() as other, bridge_of(form) as bridge:
        host = other.url.removeprefix("http://").removesuffix("/v1")
        for name, given in {
            "api_base": {"api_base": other.url},
            "base_url": {"base_url": other.url},
            "extra_body": {"extra_body": {"api_base": other.url}},
            "model": {"model": f"{other.url}/m"},
            "metadata": {"metadata": {"base_url": other.url}},
        }.items():
            with subtests.test(name):
                await bridge.ask(stream=False, **given)
        for line in (
            ("X-Api-Base", other.url),
            ("X-Forwarded-Host", host),
            ("Forwarded", f"host={host}"),
            ("X-Original-URL", f"{other.url}/chat/completions"),
            ("Host", host),
            ("X-HTTP-Method-Override", "GET"),
        ):
            with subtests.test(line[0]):
                assert (await bridge.ask(headers=[line])).outcome == "completed"
        for target in (f"{other.url}/responses", f"//{host}/v1/responses", f"/v1/..//{host}/responses"):
            with subtests.test(target):
                await fetch(bridge.url, json.dumps(request()).encode(), path=target)
        assert all(asked.path.startswith("/") for asked in bridge.asked)


@URL_FORMS
async def test_e3_a_request_target_that_is_no_path_leads_nowhere(form: str, anyio_backend: str, subtests: Any) -> None:
    async with canary() as other, bridge_of(form, api_key="sk-upstream") as bridge:
        host = other.url.removeprefix("http://").removesuffix("/v1")
        for target in (
            f"@{host}/v1/x",
            f"x:y@{host}/x",
            f"{other.url}/x",
            f":80@{host}/x",
            ".evil.example/x",
            f"\\@{host}/x",
        ):
            with subtests.test(target):
                reply = await fetch(bridge.url, path=target, method="GET")

                # uvicorn's httptools reads the path out of an absolute URL
                assert reply.status in (400, 404) or (target.startswith("http") and bridge.asked[-1].path == "/v1/x")
        assert all(asked.path.startswith("/") for asked in bridge.asked)


@URL_FORMS
async def test_e3_redirects_are_not_followed(form: str, anyio_backend: str, subtests: Any) -> None:
    async with canary() as other:
        statuses = (301, 302, 303, 307, 308)
        location = (b"location", f"{other.url}/chat/completions".encode())
        table = {str(status): Answer([], status=status, headers=[location]) for status in statuses}
        async with bridge_of(form, by_model(table), api_key="sk-upstream") as bridge:
            for name in table:
                with subtests.test(name):
                    reply = await bridge.ask(model=name)

                    assert reply.status == 502
                    assert "STOLEN" not in str(reply.body)
                    assert reply.header("location") == []


@URL_FORMS
async def test_e3_what_the_client_says_about_itself_and_our_origin_stays_here(form: str, anyio_backend: str) -> None:
    private = [
        ("Cookie", "session=1"), ("Origin", "https://a.example"), ("Referer", "https://a.example/x"),
        ("X-Forwarded-For", "10.0.0.1"), ("X-Forwarded-Proto", "https"), ("X-Real-IP", "10.0.0.1"),
        ("Forwarded", "for=10.0.0.1"), ("Via", "1.1 x"), ("Sec-Fetch-Site", "same-origin"),
    ]  # fmt: skip
    async with bridge_of(form) as bridge:
        await bridge.ask(headers=private)
        await fetch(bridge.url, b"{}", path="/v1/embeddings", headers=private)

        for asked in bridge.asked:
            assert not {name.lower().encode() for name, _ in private} & {name for name, _ in asked.headers}
            assert asked.header(b"host") == [bridge.upstream.url.split("/")[2].encode()]  # type: ignore[attr-defined]


@URL_FORMS
@pytest.mark.parametrize("path", ["/v1/responses", "/v1/embeddings"])
async def test_e3_the_configured_key_replaces_every_credential_of_the_client(
    form: str, anyio_backend: str, path: str
) -> None:
    keys = [*ANNA, ("X-Api-Key", "k"), ("Api-Key", "k")]
    async with bridge_of(form, api_key="sk-upstream") as bridge:
        reply = await fetch(bridge.url, json.dumps(request(stream=True)).encode(), path=path, headers=keys)
        [asked] = bridge.asked

    assert asked.header(b"authorization") == [b"Bearer sk-upstream"]
    assert asked.header(b"x-api-key") == asked.header(b"api-key") == []
    assert b"sk-upstream" not in reply.body
    assert "sk-upstream" not in str(reply.headers)


@URL_FORMS
async def test_e3_without_a_configured_key_the_clients_own_is_passed_on(form: str, anyio_backend: str) -> None:
    async with bridge_of(form) as bridge:
        await bridge.ask(headers=ANNA)

    assert bridge.asked[0].header(b"authorization") == [ANNA[0][1].encode()]


@URL_FORMS
async def test_e3_proxies_and_netrc_of_the_environment_are_left_alone(
    form: str, anyio_backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with canary() as other:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, other.url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        netrc = tmp_path / "netrc"
        netrc.write_text("machine 127.0.0.1 login anna password hunter2\ndefault login anna password hunter2\n")
        netrc.chmod(0o600)
        monkeypatch.setenv("NETRC", str(netrc))
        monkeypatch.setenv("HOME", str(tmp_path))
        async with bridge_of(form) as bridge:
            reply = await bridge.ask()

    assert reply.outcome == "completed"
    assert bridge.asked[0].header(b"authorization") == []


# -- E4
COOKIES = [(b"set-cookie", b"sid=anna; Path=/"), (b"set-cookie", b"b=2; Domain=127.0.0.1"), (b"set-cookie", b"c=3")]


@URL_FORMS
async def test_e4_what_an_upstream_sets_is_never_sent_with_another_request(
    form: str, anyio_backend: str, subtests: Any
) -> None:
    table = {
        "a stream": streamed("Hello", headers=COOKIES),
        "JSON": whole(completion(), headers=COOKIES),
        "an error": whole({"error": "no"}, status=401, headers=COOKIES),
        "a redirect": Answer([], status=302, headers=[(b"location", b"/"), *COOKIES]),
    }
    async with bridge_of(form, by_model(table)) as bridge:
        for name in table:
            with subtests.test(name):
                first = await bridge.ask(model=name, headers=ANNA)
                await bridge.ask(model=name, headers=BERTA, stream=False)
                await fetch(bridge.url, path="/v1/embeddings", body=json.dumps({"model": name}).encode())

                assert first.header("set-cookie") == []
        assert [asked.header(b"cookie") for asked in bridge.asked] == [[]] * len(bridge.asked)


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_e4_neither_with_a_client_of_the_operator_that_has_a_cookie_jar(anyio_backend: str) -> None:
    answer = streamed("Hello", headers=COOKIES)
    async with httpx.AsyncClient(trust_env=False) as client, bridge_of("httpx", answer, client=client) as bridge:
        for who in (ANNA, BERTA):
            await bridge.ask(headers=who)

    assert [asked.header(b"cookie") for asked in bridge.asked] == [[], []]


async def test_e4_the_wrapped_apps_own_cookies_reach_their_client_and_nobody_else(anyio_backend: str) -> None:
    async with bridge_of("app", streamed("Hello", headers=COOKIES), streamed("Hello")) as bridge:
        replies = [await bridge.ask(headers=who) for who in (ANNA, BERTA)]

    assert [len(reply.header("set-cookie")) for reply in replies] == [3, 0]
    assert [asked.header(b"cookie") for asked in bridge.asked] == [[], []]


# -- E5
POISON = json.dumps(completion("POISON")).encode()
TOO_MUCH = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(POISON), POISON)


def talkative(asked: Asked) -> Answer:
    """A right answer on a connection that stays open, and behind it an answer to a question that nobody asked."""
    own = json.dumps(completion(f"for {asked.payload['model']}")).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(own)
    late = asked.payload["model"].startswith("late")  # while the connection lies in a pool
    steps: list[Step] = [head + own, 0.02, TOO_MUCH] if late else [head + own + TOO_MUCH]
    return Answer(steps, framing="raw", keeps_open=True)


@URL_FORMS
async def test_e5_bytes_behind_an_answer_never_become_the_answer_to_another_request(
    form: str, anyio_backend: str, subtests: Any
) -> None:
    async with bridge_of(form, talkative) as bridge:
        for number in range(20):
            reply = await bridge.ask(model=f"m{number}", stream=number % 2 == 0)

            assert reply.text == f"for m{number}"
        for number in range(4):
            reply = await bridge.ask(model=f"late{number}")
            with anyio.fail_after(PATIENCE):
                await bridge.asked[-1].playing.wait()  # its script is over, so the bytes behind the answer are sent

            assert reply.text == f"for late{number}"
        texts: dict[int, str] = {}

        async def one(number: int) -> None:
            texts[number] = (await bridge.ask(model=f"n{number}")).text

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)

    assert texts == {number: f"for n{number}" for number in range(20)}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_e5_the_hazard_is_real_with_an_ordinary_client(anyio_backend: str) -> None:
    answers = []
    async with SocketUpstream(talkative).listening() as server, httpx.AsyncClient(trust_env=False) as client:
        for number in range(20):
            try:
                reply = await client.post(f"{server.url}/chat/completions", json={"model": f"m{number}"})
                answers.append(reply.json()["choices"][0]["message"]["content"])
            except httpx.HTTPError:
                answers.append("an error")

    assert "POISON" in answers


# -- E6
async def test_e6_addresses_in_a_request_are_passed_on_or_refused_never_fetched(form: str, subtests: Any) -> None:
    async with canary() as other, bridge_of(form) as bridge:
        url = f"{other.url}/latest/meta-data"
        parts: dict[str, dict[str, Any]] = {
            "image": {"type": "input_image", "image_url": url},
            "file": {"type": "input_file", "file_url": url},
            "audio": {"type": "input_audio", "input_audio": {"data": url, "format": "wav"}},
        }
        for name, part in parts.items():
            with subtests.test(name):
                reply = await bridge.ask(input=[{"role": "user", "content": [part]}])

                assert reply.status in (200, 400)
        for tool in (
            {"type": "mcp", "server_label": "x", "server_url": url, "require_approval": "never"},
            {"type": "web_search"},
            {"type": "function", "name": "f", "parameters": {"$ref": url}},
        ):
            with subtests.test(tool["type"]):
                reply = await bridge.ask(tools=[tool])

                assert reply.status in (200, 400)


# -- E7
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


# -- E8
EVIL = "x\r\nX-Evil: 1\r\n\r\nHTTP/1.1 200 OK\0"


async def test_e8_line_ends_in_a_request_never_reach_a_header(form: str, subtests: Any) -> None:
    tool = {"type": "function", "name": "f", "parameters": {}}
    given: dict[str, dict[str, Any]] = {
        "model": {"model": EVIL},
        "metadata": {"metadata": {EVIL: EVIL}},
        "user": {"user": EVIL, "safety_identifier": EVIL, "prompt_cache_key": EVIL},
        "tool name": {"tools": [{**tool, "name": EVIL}]},
        "tool type": {"tools": [{"type": EVIL}]},
        "include": {"include": [EVIL]},
        "extension item": {"input": [{"type": f"acme:{EVIL}"}, {"role": "user", "content": "x"}]},
        "call id": {
            "input": [
                {"type": "function_call", "call_id": EVIL, "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": EVIL, "output": "y"},
            ]
        },
        "previous": {"previous_response_id": EVIL},
    }
    for policy in ("warn", "ignore", "error"):
        async with bridge_of(form, unsupported=policy) as bridge:
            for name, parameters in given.items():
                with subtests.test(f"{name}, {policy}"):
                    reply = await bridge.ask(stream=False, **parameters)

                    assert reply.clean
                    assert reply.status in (200, 400)
                    assert reply.header("x-evil") == []
            for asked in bridge.asked:
                assert asked.header(b"x-evil") == []
                assert b"messages" in asked.body


async def test_e8_line_ends_in_a_path_never_reach_a_header(form: str) -> None:
    async with bridge_of(form) as bridge:
        for path in ("/v1/responses/x%0d%0aX-Evil:%201", "/v1/models%0d%0aX-Evil:%201", "/v1/x%00y?a=%0d%0aX-Evil:1"):
            reply = await fetch(bridge.url, path=path, method="GET")

            assert reply.header("x-evil") == []
        for asked in bridge.asked:
            assert asked.header(b"x-evil") == []


async def test_e8_odd_headers_of_the_wrapped_app_never_reach_a_header_line(anyio_backend: str) -> None:
    odd = [
        (b"x-odd", b"1\r\nx-evil: 1"), (b"x-nul", b"1\0"), (b"x evil", b"1"), (b"x-evil:", b"1"), (b"", b"1"),
        (b"x-line\r\nx-evil", b"1"), (b"retry-after", b"7\r\nx-evil: 1"),
    ]  # fmt: skip
    table = {"good": streamed("Hello", headers=odd), "bad": whole({"error": "no"}, status=429, headers=odd)}
    async with bridge_of("app", by_model(table)) as bridge:
        replies = [await bridge.ask(model=name, stream=stream) for name in table for stream in (True, False)]

    assert [reply.status for reply in replies] == [200, 200, 429, 429]
    assert all(reply.clean and reply.header("x-evil") == [] for reply in replies)


# -- E9
HOSTS = [
    *("evil.example/v1/responses?", "x/v1/chat/completions#", "127.0.0.1:80@evil/v1/responses"),
    *("[::1", "a b", "é", "x" * 900),
]


async def test_e9_the_path_decides_whatever_the_host_header_says(form: str, subtests: Any) -> None:
    async with bridge_of(
        form, lambda asked: streamed("Hello") if b"messages" in asked.body else whole({"other": True})
    ) as bridge:
        for host in HOSTS:
            with subtests.test(host[:40]):
                body = json.dumps(request(stream=True)).encode()

                ours = await fetch(bridge.responses, body, headers=[("Host", host)])
                others = await fetch(bridge.url, b"{}", path="/v1/other", headers=[("Host", host)])

                if ours.status != 400:  # a server may refuse the header itself
                    assert ours.check_stream().outcome == "completed"
                    assert others.json == {"other": True}


async def test_e9_nothing_behind_the_path_makes_another_path_ours(form: str, subtests: Any) -> None:
    async with bridge_of(form, whole({"other": True})) as bridge:
        for path in (
            "/v1/other?x=/v1/responses",
            "/other#/v1/responses",
            "/v1/other;/v1/responses",
            "/x//v1/responses",
        ):
            with subtests.test(path):
                reply = await fetch(bridge.url, json.dumps(request()).encode(), path=path)

                assert reply.status == 404 or reply.json == {"other": True}
