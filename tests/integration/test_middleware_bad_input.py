"""Whatever a client sends: a 4xx with an OpenAI error that names the exact place, and nothing is asked upstream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgi_client import Exchange, ask, request
from chat_app import ChatApp, completion, whole

from responses_middleware import Limits, ResponsesMiddleware

pytestmark = pytest.mark.anyio


async def refused(body: Any, *, status: int = 400, **options: Any) -> dict[str, Any]:
    """The error of a body that must be refused, with the promises that every refusal keeps."""
    app = ChatApp()
    exchange = await Exchange(ResponsesMiddleware(app, **options), body).run()

    assert exchange.status == status
    assert app.scopes == []
    assert list(exchange.error) == ["message", "type", "param", "code"]
    assert exchange.error["type"] == "invalid_request_error"
    assert exchange.header(b"content-type") == [b"application/json"]
    assert exchange.header(b"content-length") == [b"%d" % len(exchange.body)]
    return exchange.error


def nested(depth: int) -> bytes:
    return b'{"model": "m", "input": "hi", "metadata": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"


NOT_JSON = {
    "nothing": b"",
    "blank": b" \n",
    "words": b"hello",
    "cut": b'{"model": "m", "input": "hi"',
    "a cut string": b'{"model": "m", "input": "hi',
    "trailing words": b'{"model": "m", "input": "hi"} x',
    "two objects": b'{"model": "m", "input": "hi"}{"model": "m", "input": "hi"}',
    "a trailing comma": b'{"model": "m", "input": "hi",}',
    "single quotes": b"{'model': 'm', 'input': 'hi'}",
    "a form": b"model=m&input=hi",
    "NaN": b'{"model": "m", "input": "hi", "temperature": NaN}',
    "Infinity": b'{"model": "m", "input": "hi", "temperature": -Infinity}',
    "an integer that Python refuses": b'{"model": "m", "input": "hi", "max_output_tokens": ' + b"9" * 5000 + b"}",
    "UTF-16": json.dumps(request()).encode("utf-16"),
    "UTF-16 without a mark": json.dumps(request()).encode("utf-16-le"),
    "UTF-32": json.dumps(request()).encode("utf-32"),
    "latin-1": '{"model": "m", "input": "é"}'.encode("latin-1"),
    "a lone surrogate as bytes": b'{"model": "m", "input": "\xed\xa0\x80"}',
    "a raw control character": b'{"model": "m", "input": "\x00"}',
    "a hundred thousand brackets": b"[" * 100_000,
    "a hundred thousand braces": b'{"a":' * 100_000,
}


@pytest.mark.parametrize("name", NOT_JSON)
async def test_what_is_not_json_is_refused(name: str) -> None:
    error = await refused(NOT_JSON[name])

    assert (error["param"], error["code"]) == (None, None)
    assert "JSON" in error["message"]


@pytest.mark.parametrize("body", [b"null", b"true", b"5", b'"hi"', b"[]", b'[{"model": "m", "input": "hi"}]'])
async def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    error = await refused(body)

    assert (error["param"], error["code"]) == (None, None)


USER = {"role": "user", "content": "a"}
TEXT = "input[0].content[0].text"

PLACES: list[tuple[dict[str, Any], str, str | None]] = [
    # changes of a good request, the place, the code
    ({"model": ...}, "model", "missing_required_parameter"),
    ({"model": None}, "model", "missing_required_parameter"),
    ({"model": ""}, "model", "missing_required_parameter"),
    ({"model": 5}, "model", "invalid_type"),
    ({"model": ["m"]}, "model", "invalid_type"),
    ({"input": ...}, "input", "missing_required_parameter"),
    ({"input": None}, "input", "missing_required_parameter"),
    ({"input": []}, "input", "empty_array"),
    ({"input": 5}, "input", "invalid_type"),
    ({"input": {"role": "user"}}, "input", "invalid_type"),
    ({"input": ["hi"]}, "input[0]", "invalid_type"),
    ({"input": [USER, {"role": "pirate", "content": "b"}]}, "input[1].role", "invalid_value"),
    ({"input": [{"role": "user", "content": 5}]}, "input[0].content", "invalid_type"),
    ({"input": [{"role": "user"}]}, "input[0].content", "missing_required_parameter"),
    ({"input": [{"type": "nonsense"}]}, "input[0].type", "invalid_value"),
    (
        {"input": [USER, USER, {"role": "user", "content": [{"type": "words", "text": "c"}]}]},
        "input[2].content[0].type",
        "invalid_value",
    ),
    ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, TEXT, "missing_required_parameter"),
    ({"input": [{"role": "user", "content": [{"type": "input_text", "text": 1}]}]}, TEXT, "invalid_type"),
    ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id", "missing_required_parameter"),
    ({"instructions": 5}, "instructions", "invalid_type"),
    ({"stream": "true"}, "stream", "invalid_type"),
    ({"stream": 1}, "stream", "invalid_type"),
    ({"store": "no"}, "store", "invalid_type"),
    ({"temperature": "1"}, "temperature", "invalid_type"),
    ({"temperature": True}, "temperature", "invalid_type"),
    ({"temperature": 2.1}, "temperature", "decimal_above_max_value"),
    ({"temperature": -1}, "temperature", "decimal_below_min_value"),
    ({"top_p": 1.5}, "top_p", "decimal_above_max_value"),
    ({"max_output_tokens": 0}, "max_output_tokens", "integer_below_min_value"),
    ({"max_output_tokens": 1.5}, "max_output_tokens", "invalid_type"),
    ({"top_logprobs": 21}, "top_logprobs", "integer_above_max_value"),
    ({"metadata": {"a": 1}}, "metadata.a", "invalid_type"),
    ({"metadata": []}, "metadata", "invalid_type"),
    ({"tools": {}}, "tools", "invalid_type"),
    ({"tools": [5]}, "tools[0]", "invalid_type"),
    ({"tools": [{"type": "function"}]}, "tools[0].name", "missing_required_parameter"),
    ({"tools": [{"type": "function", "name": "f", "parameters": "x"}]}, "tools[0].parameters", "invalid_type"),
    ({"tools": [{"type": "nonsense"}]}, "tools[0].type", "invalid_value"),
    ({"tool_choice": "sometimes"}, "tool_choice", "invalid_value"),
    ({"tool_choice": {"type": "function", "name": "f"}}, "tool_choice", None),
    ({"text": {"format": {"type": "xml"}}}, "text.format.type", "invalid_value"),
    ({"text": {"format": {"type": "json_schema", "name": "n"}}}, "text.format.schema", "missing_required_parameter"),
    ({"reasoning": {"effort": "heroic"}}, "reasoning.effort", "invalid_value"),
    ({"truncation": "maybe"}, "truncation", "invalid_value"),
    ({"previous_response_id": "../etc"}, "previous_response_id", "invalid_value"),
    ({"previous_response_id": 5}, "previous_response_id", "invalid_type"),
    ({"messages": []}, "messages", "unknown_parameter"),
    ({"max_tokens": 5}, "max_tokens", "unknown_parameter"),
    ({"nonsense": 1}, "nonsense", "unknown_parameter"),
    ({"api_base": "http://evil"}, "api_base", "unknown_parameter"),
    ({"stop": ["x"]}, "stop", "unsupported_parameter"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "param", "code"), PLACES, ids=lambda value: value if isinstance(value, str) else None
)
async def test_the_exact_place_is_named(changes: dict[str, Any], param: str, code: str | None) -> None:
    body = {name: value for name, value in {**request(), **changes}.items() if value is not ...}

    error = await refused(body)

    assert (error["param"], error["code"]) == (param, code)


async def test_a_number_that_overflows_is_refused() -> None:
    error = await refused(b'{"model": "m", "input": "hi", "temperature": 1e999}')

    assert (error["param"], error["code"]) == (None, None)  # as NaN: JSON has no such number


@pytest.mark.parametrize("depth", [200, 900, 50_000])
async def test_deep_nesting_is_refused(depth: int) -> None:
    assert (await refused(nested(depth)))["param"] is None


async def test_too_many_items_are_refused() -> None:
    item = {"role": "user", "content": "a"}

    error = await refused(request(input=[item] * 6), limits=Limits(max_input_items=5))

    assert (error["param"], error["code"]) == ("input", "array_above_max_length")


async def test_too_many_tools_are_refused() -> None:
    tools = [{"type": "function", "name": f"f{number}", "parameters": {}} for number in range(6)]

    assert (await refused(request(tools=tools), limits=Limits(max_tools=5)))["param"] == "tools"


async def test_an_output_without_its_call_is_refused() -> None:
    item = {"type": "function_call_output", "call_id": "call_1", "output": "x"}

    assert (await refused(request(input=[item])))["param"] == "input"


async def test_a_call_without_its_output_is_refused() -> None:
    item = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}

    assert (await refused(request(input=[item, {"role": "user", "content": "?"}])))["param"] == "input"


async def test_the_message_does_not_repeat_what_the_client_sent_at_length() -> None:
    error = await refused(request(truncation="x" * 100_000))

    assert len(error["message"]) < 1000


# -- odd, and fine
async def test_of_duplicate_keys_the_last_counts_for_the_upstream_too() -> None:
    app = ChatApp(whole(completion()))
    body = b'{"model": "bad", "model": "good", "input": "first", "input": "last", "store": true, "store": false}'

    exchange = await Exchange(ResponsesMiddleware(app), body).run()

    assert (app.payloads[0]["model"], app.payloads[0]["messages"]) == ("good", [{"role": "user", "content": "last"}])
    assert (exchange.response["model"], exchange.response["store"]) == ("good", False)
    assert b"bad" not in app.bodies[0]


@pytest.mark.parametrize("stream", [True, False])
async def test_halves_of_characters_are_replaced_in_what_is_asked_and_what_is_echoed(stream: bool) -> None:
    app = ChatApp(whole(completion()))
    body = (
        b'{"model": "m", "input": "a\\ud800b", "stream": %b, "metadata": {"k": "\\udfff"}}'
        % json.dumps(stream).encode()
    )

    exchange = await Exchange(ResponsesMiddleware(app), body).run()

    assert exchange.response["status"] == "completed"
    assert app.payloads[0]["messages"][0]["content"] == "a\ufffdb"
    assert exchange.response["metadata"] == {"k": "\ufffd"}


async def test_a_byte_order_mark_is_no_fault() -> None:
    exchange = await Exchange(ResponsesMiddleware(ChatApp()), b"\xef\xbb\xbf" + json.dumps(request()).encode()).run()

    assert exchange.status == 200


async def test_large_integers_are_exact() -> None:
    app = ChatApp(whole(completion()))
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 2**70 + 1}}}

    await ask(ResponsesMiddleware(app), tools=[{"type": "function", "name": "f", "parameters": schema}])

    assert app.payloads[0]["tools"][0]["function"]["parameters"] == schema


async def test_null_is_absent() -> None:
    app = ChatApp(whole(completion()))
    nulls = dict.fromkeys(
        ["instructions", "tools", "temperature", "metadata", "stream", "previous_response_id", "text"]
    )

    exchange = await ask(ResponsesMiddleware(app), **nulls)

    assert exchange.status == 200
    assert sorted(app.payloads[0]) == ["messages", "model"]


@pytest.mark.parametrize("content_type", [b"text/plain", b"application/x-www-form-urlencoded", b"nonsense", None])
async def test_the_content_type_does_not_decide_what_json_is(content_type: bytes | None) -> None:
    headers = [(b"content-type", content_type)] if content_type else []

    exchange = await ask(ResponsesMiddleware(ChatApp()), exchange={"headers": headers})

    assert exchange.status == 200


@pytest.mark.parametrize("value", ["a\r\nx-evil: 1", "a\nb", "a\0b", "é"])
async def test_no_value_of_the_request_ends_a_header_line(value: str) -> None:
    exchange = await ask(
        ResponsesMiddleware(ChatApp()), model=value, metadata={"k": value}, tools=[{"type": "web_search"}]
    )

    for _, header in exchange.messages[0]["headers"]:
        assert not set(header) & set(b"\r\n\0")


# -- methods and paths
METHODS = [
    ("HEAD", "/v1/responses", "POST"),
    ("GET", "/v1/responses", "POST"),
    ("PUT", "/v1/responses", "POST"),
    ("TRACE", "/v1/responses", "POST"),
    ("PATCH", "/v1/responses", "POST"),
    ("DELETE", "/v1/responses", "POST"),
    ("POST", "/v1/responses/resp_1", "GET, DELETE"),
    ("HEAD", "/v1/responses/resp_1", "GET, DELETE"),
    ("PUT", "/v1/responses/resp_1", "GET, DELETE"),
    ("POST", "/v1/responses/resp_1/input_items", "GET"),
    ("GET", "/v1/responses/resp_1/cancel", "POST"),
    ("GET", "/v1/responses/input_tokens", "POST"),
    ("get", "/v1/responses", "POST"),
]


@pytest.mark.parametrize(("method", "path", "allowed"), METHODS)
async def test_another_method_is_a_405_that_says_which(method: str, path: str, allowed: str) -> None:
    app = ChatApp()

    exchange = await Exchange(ResponsesMiddleware(app), b"", method=method, path=path).run()

    assert (exchange.status, exchange.header(b"allow")) == (405, [allowed.encode()])
    assert method == "HEAD" or exchange.error["type"] == "invalid_request_error"
    assert app.scopes == []


@pytest.mark.parametrize(
    "path",
    ["/v1/responses/resp_1/nonsense", "/v1/responses/resp_1/input_items/x", "/v1/responses/a/b/c", "/v1/responses//"],
)
async def test_an_unknown_path_below_ours_is_a_404(path: str) -> None:
    app = ChatApp()

    exchange = await Exchange(ResponsesMiddleware(app), b"", method="GET", path=path).run()

    assert (exchange.status, exchange.error["type"]) == (404, "invalid_request_error")
    assert app.scopes == []
