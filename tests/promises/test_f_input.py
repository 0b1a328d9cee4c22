"""F. Input: what is no request is refused in time with an error that SDKs read, and the upstream never hears of it."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import anyio
import pytest
import zstandard
from asgi_client import request
from fronts import bridge_of
from misbehaving import completion, streamed, whole
from wire import PATIENCE, calling, fetch, http_request

pytestmark = pytest.mark.anyio


def body(**parameters: Any) -> bytes:
    return json.dumps(request(**parameters)).encode()


def with_member(member: bytes) -> bytes:
    return body()[:-1] + b"," + member + b"}"


def content(part: object) -> bytes:
    return body(input=[{"role": "user", "content": [part]}])


DEEP = b"[" * 100_000 + b"]" * 100_000
FUNCTION = {"type": "function", "name": "f", "parameters": {}}
BAD: dict[str, bytes] = {
    # no JSON
    "empty": b"",
    "blank": b"  \r\n",
    "words": b"hello",
    "cut": body()[:-4],
    "two documents": body() + body(),
    "a form": b"model=m&input=hi",
    "multipart": b"--x\r\n\r\n--x--",
    "not UTF-8": body().replace(b"hi", b"\xff\xfe"),
    "UTF-16": body().decode().encode("utf-16"),
    "UTF-32": body().decode().encode("utf-32"),
    "latin-1": body().replace(b"hi", b"\xe9"),
    "a raw NUL": body().replace(b"hi", b"\0"),
    "a raw line end": body().replace(b"hi", b"\n"),
    "NaN": with_member(b'"temperature":NaN'),
    "Infinity": with_member(b'"top_p":-Infinity'),
    "single quotes": b"{'model':'m','input':'hi'}",
    "a comment": b"/* x */" + body(),
    "a trailing comma": body()[:-1] + b",}",
    # numbers
    "1e999": with_member(b'"temperature":1e999'),
    "an integer that Python refuses": with_member(b'"max_output_tokens":' + b"9" * 5000),
    "a negative count": body(max_output_tokens=-1),
    "a boolean for a number": body(temperature=True),
    # nesting
    "deep metadata": with_member(b'"metadata":' + DEEP),
    "deep unknown": with_member(b'"x":' + DEEP),
    "deep schema": with_member(b'"tools":[{"type":"function","name":"f","parameters":' + DEEP + b"}]"),
    # the wrong thing at the top
    **{f"top {value}": json.dumps(value).encode() for value in (None, True, 5, "x", [], [request()])},
    # the wrong thing in a parameter
    "no model": json.dumps({"input": "hi"}).encode(),
    "empty model": body(model=""),
    "no input": json.dumps({"model": "m"}).encode(),
    "unknown parameter": body(wat=1),
    "a chat parameter": body(messages=[]),
    **{
        f"{name}={value!r}"[:40]: body(**{name: value})
        for name, values in {
            "model": [5, [], {}, None],
            "input": [5, [1], [[]], [{}], [{"type": "wat"}], [None], True],
            "stream": ["yes", 1, {}],
            "store": ["x", 0],
            "tools": ["x", [1], [{}], [{"type": "wat"}], [{"type": "function"}], {"type": "function"}],
            "tool_choice": [5, "wat", {"type": "wat"}, {"type": "function", "name": "nope"}],
            "temperature": ["hot", 99, -1, []],
            "metadata": [[1], "x", {"a": 1}, {str(n): "x" for n in range(17)}, {"a" * 65: "x"}, {"a": "x" * 513}],
            "instructions": [5, {}],
            "reasoning": ["x", {"effort": 5}],
            "text": ["x", {"format": {"type": "wat"}}, {"format": {"type": "json_schema"}}],
            "include": ["x", [5]],
            "previous_response_id": [5, [], {}, "resp_nope", "../../etc/passwd", "resp_" + "a" * 100_000],
            "max_output_tokens": ["5", 1.5, [], 0],
            "top_logprobs": [99, -1, "x"],
            "parallel_tool_calls": ["x"],
            "stream_options": ["x", {"include_obfuscation": 5}],
            "user": [5],
            "truncation": ["wat", 5],
            "background": ["x"],
        }.items()
        for value in values
    },
    # the wrong thing in an item
    "part null": content(None),
    "part of no type": content({"text": "x"}),
    "part of an unknown type": content({"type": "wat"}),
    "text null": content({"type": "input_text", "text": None}),
    "image of no url": content({"type": "input_image"}),
    "image url number": content({"type": "input_image", "image_url": 5}),
    "role number": body(input=[{"role": 5, "content": "x"}]),
    "role unknown": body(input=[{"role": "wat", "content": "x"}]),
    "content number": body(input=[{"role": "user", "content": 5}]),
    "call without a name": body(input=[{"type": "function_call", "call_id": "c", "arguments": "{}"}]),
    "call with object arguments": body(
        input=[{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]
    ),
    "output without a call": body(input=[{"type": "function_call_output", "call_id": "c", "output": "x"}]),
    "tool of parameters in words": body(tools=[{**FUNCTION, "parameters": "x"}]),
    "two tools of one name": body(tools=[FUNCTION, FUNCTION]),
    "129 tools": body(tools=[{**FUNCTION, "name": f"f{n}"} for n in range(129)]),
}  # fmt: skip


# -- F1
async def test_f1_every_bad_request_is_a_4xx_error_object_in_time_without_asking(form: str, subtests: Any) -> None:
    async with bridge_of(form) as bridge:
        for name, data in BAD.items():
            with subtests.test(name):
                with anyio.fail_after(10):
                    reply = await fetch(bridge.responses, data, headers=[("Content-Type", "application/json")])

                assert reply.clean
                assert 400 <= reply.status < 500
                assert reply.error["type"] == "invalid_request_error"
                assert reply.error["message"]
                assert len(reply.body) < 3000
        assert bridge.asked == []


async def test_f1_a_bad_value_is_named_by_its_place(form: str) -> None:
    async with bridge_of(form) as bridge:
        reply = await fetch(bridge.responses, content({"type": "wat"}))

    assert reply.error["param"].startswith("input[0].content[0]")


async def test_f1_odd_but_good_requests_are_served(form: str, subtests: Any) -> None:
    good = {
        "a BOM": b"\xef\xbb\xbf" + body(),
        "blanks around": b" \n" + body() + b"\r\n ",
        "escapes": body().replace(b"hi", b"\\u0068\\u0069"),
        "half of a surrogate pair": body().replace(b"hi", b"\\ud800"),
        "an escaped NUL": body().replace(b"hi", b"\\u0000"),
        "no content type": body(),
        "nulls": body(instructions=None, tools=None, temperature=None, metadata=None, stream=None),
    }
    async with bridge_of(form) as bridge:
        for count, (name, data) in enumerate(good.items(), 1):
            with subtests.test(name):
                reply = await fetch(bridge.responses, data)

                assert reply.outcome == "completed"
                assert len(bridge.asked) == count
                bridge.asked[-1].body.decode()
                assert bridge.asked[-1].payload["model"] == "m"


# -- F2
# Whole JSON in front of blanks: a beginning of it is a request in itself.
BLANKS = json.dumps(request(stream=True)).encode() + b" " * 40


async def test_f2_a_body_that_ends_before_its_length_never_reaches_the_upstream(form: str) -> None:
    async with bridge_of(form) as bridge:

        async def cut(at: int) -> None:
            data = http_request(bridge.responses, BLANKS[:at], length=len(BLANKS))
            async with calling(bridge.url, data) as caller:
                if at % 2:
                    await caller.send_eof()
                    await caller.rest()
                else:
                    await caller.leave(by_reset=at % 4 == 0)

        for first in range(0, len(BLANKS), 20):
            async with anyio.create_task_group() as group:
                for at in range(first, min(first + 20, len(BLANKS))):
                    group.start_soon(cut, at)
        assert (await bridge.ask()).outcome == "completed"

        assert len(bridge.asked) == 1


async def test_f2_a_chunked_body_without_its_end_never_reaches_the_upstream(form: str) -> None:
    head = http_request("http://127.0.0.1/v1/responses", length=-1, headers=[("Transfer-Encoding", "chunked")])
    async with bridge_of(form) as bridge:
        for rest in (b"", b"5\r\n", b"0", b"0\r\n"):
            data = head + b"%x\r\n%b\r\n%b" % (len(BLANKS), BLANKS, rest)
            async with calling(bridge.url, data) as caller:
                await caller.send_eof()
                with anyio.move_on_after(0.3):
                    await caller.rest()
        assert (await bridge.ask()).outcome == "completed"

        assert len(bridge.asked) == 1


async def test_f2_half_of_a_gzip_body_is_no_request(form: str) -> None:
    data = gzip.compress(BLANKS)
    async with bridge_of(form) as bridge:
        for at in (1, 10, len(data) // 2, len(data) - 8, len(data) - 1):
            reply = await fetch(bridge.responses, data[:at], headers=[("Content-Encoding", "gzip")])

            assert reply.status == 400
        assert bridge.asked == []


# -- F3
async def test_f3_of_duplicate_members_the_last_one_wins_everywhere(form: str) -> None:
    tool = b'[{"type":"function","name":"%b","parameters":{}}]'
    data = (
        b'{"model":"first","model":"last","input":"one","input":"two","store":true,"store":false,'
        b'"stream":true,"stream":false,"tools":' + tool % b"first" + b',"tools":' + tool % b"last" + b"}"
    )
    async with bridge_of(form, whole(completion("Hello"))) as bridge:
        reply = await fetch(bridge.responses, data)
        [asked] = bridge.asked
        stored = await bridge.get(f"/{reply.response['id']}")

    assert asked.payload["model"] == reply.response["model"] == "last"
    assert asked.payload["messages"] == [{"role": "user", "content": "two"}]
    assert [tool["function"]["name"] for tool in asked.payload["tools"]] == ["last"]
    assert not asked.payload.get("stream")
    assert (reply.response["store"], stored.status) == (False, 404)
    assert b"first" not in asked.body


async def test_f3_what_is_forwarded_is_written_anew_from_what_was_checked(form: str) -> None:
    data = b'{  "model" : "\\u006d",\n\t"input":"\\u0068i" , "temperature": 1.0e0, "stream" :true }'
    async with bridge_of(form) as bridge:
        await fetch(bridge.responses, data)
        [asked] = bridge.asked

    assert asked.payload["messages"] == [{"role": "user", "content": "hi"}]
    assert b"\\u00" not in asked.body
    assert b"\n" not in asked.body
    assert asked.header(b"content-length") == [b"%d" % len(asked.body)]
    assert asked.header(b"content-type") == [b"application/json"]


async def test_f3_a_second_content_length_or_type_is_not_forwarded(form: str) -> None:
    headers = [("Content-Type", "text/plain"), ("Content-MD5", "x"), ("Expect", "100-continue"), ("Digest", "x")]
    async with bridge_of(form) as bridge:
        reply = await fetch(bridge.responses, body(stream=True), headers=headers)
        [asked] = bridge.asked

    assert reply.outcome == "completed"
    assert asked.header(b"content-type") == [b"application/json"]
    assert not {b"content-md5", b"digest", b"expect"} & dict(asked.headers).keys()


# -- F4
async def test_f4_other_methods_are_405_with_allow(form: str, subtests: Any) -> None:
    async with bridge_of(form) as bridge:
        for method, path in (
            ("HEAD", ""), ("PUT", ""), ("PATCH", ""), ("GET", ""), ("DELETE", ""), ("TRACE", ""),
            ("POST", "/resp_x"), ("PUT", "/resp_x"), ("POST", "/resp_x/input_items"), ("GET", "/resp_x/cancel"),
        ):  # fmt: skip
            with subtests.test(f"{method} {path}"):
                async with calling(bridge.url, http_request(bridge.responses + path, method=method)) as caller:
                    with anyio.fail_after(PATIENCE):
                        reply = await (caller.head() if method == "HEAD" else caller.rest())

                assert reply.status == 405
                assert reply.header("allow")
                if method != "HEAD":
                    assert reply.error["type"] == "invalid_request_error"
        assert bridge.asked == []


async def test_f4_options_is_the_wrapped_apps_and_never_a_server_error(form: str) -> None:
    own = whole(b"", status=204, headers=[(b"access-control-allow-origin", b"https://a.example")])
    async with bridge_of(form, own) as bridge:
        reply = await fetch(bridge.responses, method="OPTIONS", headers=[("Origin", "https://a.example")])

    assert reply.status in (204, 405)
    if form == "app":
        assert reply.header("access-control-allow-origin") == ["https://a.example"]


async def test_f4_expect_100_continue_works(form: str) -> None:
    data = body(stream=True)
    head = http_request("http://127.0.0.1/v1/responses", headers=[("Expect", "100-continue")], length=len(data))
    async with bridge_of(form) as bridge, calling(bridge.url, head) as caller:
        await caller.send(data)
        reply = await caller.rest()

    assert reply.check_stream().outcome == "completed"


async def test_f4_encoded_requests_are_decoded_and_unknown_encodings_are_415(form: str, subtests: Any) -> None:
    data = body(stream=True)
    encoded = {
        "gzip": (gzip.compress(data), 200),
        "x-gzip": (gzip.compress(data), 200),
        "deflate": (zlib.compress(data), 200),
        "zstd": (zstandard.compress(data), 200),
        "identity": (data, 200),
        "br": (b"\x01\x02", 415),
        "zzz": (data, 415),
        "gzip, gzip": (gzip.compress(gzip.compress(data)), 415),
        "GZIP": (data, 400),
    }
    async with bridge_of(form) as bridge:
        for name, (sent, status) in encoded.items():
            with subtests.test(name):
                reply = await fetch(bridge.responses, sent, headers=[("Content-Encoding", name)])

                assert reply.status == status
                if status == 200:
                    assert reply.check_stream().text == "Hello"
                else:
                    assert reply.error["type"] == "invalid_request_error"


async def test_f4_odd_paths_are_4xx(form: str, subtests: Any) -> None:
    odd = (
        "/../../etc/passwd",
        "/%2e%2e%2f%2e%2e%2fetc",
        "/" + "a" * 9000,
        "/a/b/c",
        "/",
        "//",
        "/%00",
        "/resp_x/",
        "/%ff",
        "/é",
    )
    async with bridge_of(form, streamed("never")) as bridge:
        for path in odd:
            with subtests.test(path[:20]):
                reply = await bridge.get(path.encode().decode("latin-1"))

                assert 400 <= reply.status < 500
        assert bridge.asked == []
