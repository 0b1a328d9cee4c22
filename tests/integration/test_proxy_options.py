"""The options of a proxy and of a middleware with an upstream URL: keys, names, dialects, and what is asked again."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import respx
from asgi_client import Exchange, ask
from chat_app import HELLO, ChatApp, chat_server, completion, frames, http, http_stream, whole

from responses_middleware import Dialect, ResponsesMiddleware, ResponsesProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from responses_middleware import Event, RunInfo, Sink, UpstreamCall

pytestmark = pytest.mark.anyio

URL = "http://upstream.test/v1"
CHAT = f"{URL}/chat/completions"
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # making a real one for each client takes longer than all else
KEY = (b"authorization", b"Bearer of-the-client")


@pytest.fixture
async def client(anyio_backend: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=NO_TLS) as client:
        yield client


def refusal(message: str, status: int = 400) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "type": "invalid_request_error"}})


OK = httpx.Response(200, json=completion("Hello"))


# -- keys
async def test_the_clients_key_is_passed_on() -> None:
    async with chat_server(http(completion())) as server:
        await ask(ResponsesProxy(server.url), exchange={"headers": [KEY]})

    assert server.header("authorization") == ["Bearer of-the-client"]


@pytest.mark.parametrize("name", [b"authorization", b"api-key", b"x-api-key"])
async def test_a_key_of_the_operator_takes_the_place_of_the_clients(name: bytes) -> None:
    async with chat_server(http(completion())) as server:
        await ask(ResponsesProxy(server.url, api_key="sk-operator"), exchange={"headers": [(name, b"of-the-client")]})

    assert server.header("authorization") == ["Bearer sk-operator"]
    assert b"of-the-client" not in server.requests[0]


async def test_a_middleware_with_a_url_takes_the_same_key() -> None:
    async with chat_server(http(completion("Hello"))) as server:
        app = ChatApp()
        exchange = await ask(ResponsesMiddleware(app, upstream=server.url, api_key="sk-operator"))

    assert exchange.text == "Hello"
    assert server.header("authorization") == ["Bearer sk-operator"]
    assert app.scopes == []


async def test_the_key_stands_in_no_answer_and_no_representation(client: httpx.AsyncClient) -> None:
    proxy = ResponsesProxy(URL, api_key="sk-operator", client=client)
    with respx.mock() as router:
        router.post(CHAT).mock(return_value=refusal("no such key", 401))
        exchange = await ask(proxy)

    assert b"sk-operator" not in exchange.body
    assert "sk-operator" not in repr(proxy) + repr(vars(proxy)) + repr(vars(proxy._app))


async def test_headers_that_are_of_this_hop_or_origin_are_not_passed_on() -> None:
    given = [
        (b"cookie", b"a=1"),
        (b"x-forwarded-for", b"1.2.3.4"),
        (b"connection", b"x-hop"),
        (b"x-hop", b"1"),
        (b"x-trace", b"t"),
    ]
    async with chat_server(http(completion())) as server:
        await ask(ResponsesProxy(server.url), exchange={"headers": given})

    assert server.header("x-trace") == ["t"]
    for name in ("cookie", "x-forwarded-for", "x-hop"):
        assert server.header(name) == []


async def test_a_cookie_of_an_answer_is_not_sent_with_the_next_request() -> None:
    async with chat_server(http(completion(), headers=[(b"set-cookie", b"who=first; Path=/")])) as server:
        proxy = ResponsesProxy(server.url)
        await ask(proxy)
        await ask(proxy)

    assert server.header("cookie") == []


# -- names of models
ALIASES: list[tuple[Any, str, str]] = [
    (None, "gpt-4o", "gpt-4o"),
    ("qwen", "gpt-4o", "qwen"),
    ({"gpt-4o": "qwen"}, "gpt-4o", "qwen"),
    ({"gpt-4o": "qwen"}, "other", "other"),
    (lambda name: f"org/{name}", "gpt-4o", "org/gpt-4o"),
]


@pytest.mark.parametrize(("model", "asked", "sent"), ALIASES)
async def test_the_model_may_have_another_name_upstream(model: Any, asked: str, sent: str) -> None:
    async with chat_server(http({**completion(), "model": "whatever"})) as server:
        exchange = await ask(ResponsesProxy(server.url, model=model), model=asked)

    assert server.payloads[0]["model"] == sent
    assert exchange.response["model"] == asked


# -- the adaptive question
LESSONS: list[tuple[dict[str, Any], str, int, dict[str, Any], dict[str, Any]]] = [
    # the request, the refusal, its status, what was sent first and then
    (
        {"max_output_tokens": 9},
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        400,
        {"max_tokens": 9},
        {"max_completion_tokens": 9},
    ),
    (
        {"stream": True},
        "stream_options: extra inputs are not permitted",
        422,
        {"stream_options": {"include_usage": True}},
        {},
    ),
    ({"reasoning": {"effort": "low"}}, "unknown parameter reasoning_effort", 400, {"reasoning_effort": "low"}, {}),
    (
        {"reasoning": {"effort": "low"}},
        "TypeError: got an unexpected keyword reasoning_effort",
        500,
        {"reasoning_effort": "low"},
        {},
    ),
]


@pytest.mark.parametrize(("asked", "message", "status", "before", "after"), LESSONS)
async def test_a_refusal_that_names_what_can_be_said_otherwise_is_asked_once_more(
    asked: dict[str, Any], message: str, status: int, before: dict[str, Any], after: dict[str, Any]
) -> None:
    error = http({"error": {"message": message}}, status=status)
    async with chat_server(error, http_stream(*frames("Hello"))) as server:
        exchange = await ask(ResponsesProxy(server.url), **asked)

    first, second = server.payloads
    assert exchange.text == "Hello"
    assert {name: first.pop(name) for name in before} == before
    assert {name: second.pop(name) for name in after} == after
    assert first == second


async def test_the_lesson_is_kept_for_the_model_alone() -> None:
    error = http({"error": {"message": "use max_completion_tokens"}}, status=400)
    async with chat_server(error, http(completion())) as server:
        proxy = ResponsesProxy(server.url)
        for model in ("m", "m", "other"):
            await ask(proxy, model=model, max_output_tokens=9)

    names = [("max_tokens" in payload, "max_completion_tokens" in payload) for payload in server.payloads]
    assert names == [(True, False), (False, True), (False, True), (True, False)]


async def test_it_is_asked_exactly_twice_whatever_the_second_answer_is() -> None:
    error = http({"error": {"message": "use max_completion_tokens, and no stream_options"}}, status=400)
    async with chat_server(error) as server:
        exchange = await ask(ResponsesProxy(server.url), max_output_tokens=9, stream=True)

    assert exchange.status == 400
    assert len(server.requests) == 2


async def test_what_the_client_chose_itself_is_its_own_error() -> None:
    error = http({"error": {"message": "temperature is not supported"}}, status=400)
    async with chat_server(error) as server:
        exchange = await ask(ResponsesProxy(server.url), temperature=1.5)

    assert (exchange.status, exchange.error["message"]) == (400, "temperature is not supported")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [401, 404, 429, 502, 503])
async def test_another_status_teaches_nothing(status: int) -> None:
    async with chat_server(http({"error": {"message": "use max_completion_tokens"}}, status=status)) as server:
        exchange = await ask(ResponsesProxy(server.url), max_output_tokens=9)

    assert exchange.status == status
    assert len(server.requests) == 1


@pytest.mark.parametrize("dialect", ["vllm", Dialect.named("deepseek")])
async def test_a_named_dialect_is_the_operators_word(dialect: Any) -> None:
    async with chat_server(http({"error": {"message": "use max_completion_tokens"}}, status=400)) as server:
        exchange = await ask(ResponsesProxy(server.url, dialect=dialect), max_output_tokens=9)

    assert exchange.status == 400
    assert len(server.requests) == 1


async def test_an_error_in_the_first_frame_is_a_lesson_too() -> None:
    error = b'data: {"error": {"message": "reasoning_effort is unknown", "code": 400}}\n\n'
    async with chat_server(http_stream(error), http_stream(*frames("Hello"))) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True, reasoning={"effort": "low"})

    assert exchange.text == "Hello"
    assert len(server.requests) == 2


async def test_an_error_behind_some_output_is_never_asked_again() -> None:
    error = b'data: {"error": {"message": "reasoning_effort is unknown", "code": 400}}\n\n'
    async with chat_server(http_stream(frames("Hel")[0], error)) as server:
        exchange = await ask(ResponsesProxy(server.url), stream=True, reasoning={"effort": "low"})

    assert (exchange.kinds[-1], exchange.text) == ("response.failed", "Hel")
    assert len(server.requests) == 1


async def test_the_wrapped_app_is_asked_again_in_the_same_way() -> None:
    app = ChatApp(whole({"error": {"message": "use max_completion_tokens"}}, status=400), HELLO)

    exchange = await ask(ResponsesMiddleware(app), stream=True, max_output_tokens=9)

    assert exchange.text == "Hello"
    assert [payload.get("max_completion_tokens") for payload in app.payloads] == [None, 9]


# -- other options
@pytest.mark.parametrize(("sentinel", "ends"), [(True, True), (False, False)])
async def test_a_stream_ends_with_done_only_if_it_is_asked_for(sentinel: bool, ends: bool) -> None:
    async with chat_server(http_stream(*frames("Hello"))) as server:
        exchange = await ask(ResponsesProxy(server.url, done_sentinel=sentinel), stream=True)

    assert exchange.body.endswith(b"data: [DONE]\n\n") is ends


@pytest.mark.parametrize("stream", [True, False])
async def test_what_is_left_out_is_named_in_a_header(stream: bool) -> None:
    async with chat_server(http_stream(*frames("Hello"))) as server:
        exchange = await ask(
            ResponsesProxy(server.url), stream=stream, tools=[{"type": "web_search"}], prompt_cache_key="k"
        )

    (named,) = exchange.header(b"x-responses-unsupported")
    assert set(named.split(b", ")) == {b"web_search", b"prompt_cache_key"}


async def test_a_dialect_forwards_what_its_server_takes() -> None:
    async with chat_server(http(completion())) as server:
        exchange = await ask(ResponsesProxy(server.url, dialect="openai"), prompt_cache_key="k")

    assert server.payloads[0]["prompt_cache_key"] == "k"
    assert exchange.header(b"x-responses-unsupported") == []


async def test_on_event_sees_all_events_of_a_proxy() -> None:
    seen: list[str] = []

    def observe(event: Event, run: RunInfo) -> None:
        seen.append(event["type"])
        raise RuntimeError("of the observer")

    async with chat_server(http_stream(*frames("Hel", "lo"))) as server:
        exchange = await ask(ResponsesProxy(server.url, on_event=observe), stream=True)

    assert seen == exchange.kinds
    assert seen[-1] == "response.completed"


@pytest.mark.parametrize("reasoning", ["summary", "text", "none"])
async def test_thinking_is_streamed_as_configured(reasoning: str) -> None:
    thinking = b'data: {"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]}\n\n'
    async with chat_server(http_stream(thinking, *frames("Hello"))) as server:
        exchange = await ask(ResponsesProxy(server.url, reasoning=reasoning), stream=True)

    kinds = {"response.reasoning_summary_text.delta": "summary", "response.reasoning_text.delta": "text"}
    assert [kinds[kind] for kind in exchange.kinds if kind in kinds] == [reasoning] * (reasoning != "none")
    assert exchange.text == "Hello"


async def test_a_query_of_the_url_goes_with_every_request(client: httpx.AsyncClient) -> None:
    with respx.mock() as router:
        route = router.post(CHAT, params={"api-version": "2024-10-21"}).mock(return_value=OK)
        await ask(ResponsesProxy(f"{URL}?api-version=2024-10-21", client=client))

    assert route.called


@pytest.mark.parametrize("prefix", ["/v1", "/api/x", ""])
async def test_the_prefix_is_ours_and_not_the_upstreams(client: httpx.AsyncClient, prefix: str) -> None:
    with respx.mock() as router:
        router.post(CHAT).mock(return_value=OK)
        exchange = await ask(
            ResponsesProxy(URL, prefix=prefix, client=client), exchange={"path": f"{prefix}/responses"}
        )

    assert exchange.text == "Hello"


async def test_a_client_of_the_callers_is_not_closed(client: httpx.AsyncClient) -> None:
    proxy = ResponsesProxy(URL, client=client)
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        pass

    await proxy({"type": "lifespan"}, receive, send)

    assert not client.is_closed


async def test_an_upstream_may_be_an_object_of_the_callers() -> None:
    class Canned:
        async def send(self, call: UpstreamCall, sink: Sink) -> None:
            await sink.start(200, [(b"content-type", b"text/event-stream")])
            for piece in frames("Hel", "lo"):
                if not sink.finished:
                    await sink.body(piece)
            if not sink.finished:
                await sink.end()

        async def aclose(self) -> None:
            pass

    exchange = await ask(ResponsesMiddleware(ChatApp(), upstream=Canned()), stream=True)

    assert exchange.text == "Hello"


async def test_options_of_a_proxy_say_what_is_served() -> None:
    exchange = await Exchange(ResponsesProxy(URL), b"", method="OPTIONS").run()

    assert (exchange.status, exchange.header(b"allow")) == (204, [b"GET, POST, DELETE, OPTIONS"])


async def test_other_paths_of_a_proxy_are_the_upstreams(client: httpx.AsyncClient) -> None:
    with respx.mock() as router:
        router.get(f"{URL}/models").mock(return_value=httpx.Response(200, json={"data": []}))
        exchange = await Exchange(ResponsesProxy(URL, client=client), b"", method="GET", path="/v1/models").run()

    assert (exchange.status, exchange.json) == (200, {"data": []})
