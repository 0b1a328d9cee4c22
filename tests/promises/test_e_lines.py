"""E8, E9. What stands in a header or a request line stays what it is: a value, and a path that decides."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgi_client import request
from fronts import bridge_of
from misbehaving import by_model, streamed, whole
from wire import fetch

pytestmark = pytest.mark.anyio

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
