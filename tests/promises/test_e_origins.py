"""E3 to E6. Keys, requests, cookies and left-over bytes stay where they belong, and nothing is fetched."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from asgi_client import request
from fronts import bridge_of
from misbehaving import Answer, Asked, SocketUpstream, Step, by_model, completion, streamed, whole
from wire import PATIENCE, fetch

if TYPE_CHECKING:
    from pathlib import Path


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
