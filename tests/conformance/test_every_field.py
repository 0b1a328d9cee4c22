"""Every field of a rich request in turn gets a wrong type, null, an empty and an oversize value: the answer is always
an answer or an error of the client's with a place in the request, never a 500 and never the name of a chat parameter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from asgi_client import Exchange
from chat_app import ChatApp
from rich_request import ITEMS, REQUEST, TOOLS

from responses_middleware import ResponsesMiddleware
from responses_middleware.protocol.faults import write_path

Steps = tuple[str | int, ...]

WRITTEN = json.dumps(REQUEST)
DEEP = json.loads("[" * 90 + "]" * 90)
ODD: list[Any] = [None, "\ud800\x00\r\n", -1, [None], {"a": None}, DEEP, True, 10**40, "", "x" * 70_000, [], {}]
CHAT_NAMES = re.compile(r"\b(messages|max_tokens|max_completion_tokens|response_format|reasoning_effort|tool_calls)\b")
# Rules between parameters: what is wrong with the one may be told of the other.
TOLD_ELSEWHERE = {
    "tools": {"tool_choice"},
    "input": {"tool_choice"},
    "stream": {"stream_options"},
    "background": {"store"},
    "store": {"background"},
}


def places(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    """The place of every value inside, objects and arrays themselves included."""
    if steps:
        yield steps
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*steps, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from places(member, (*steps, index))


def with_value(steps: Steps, value: Any) -> dict[str, Any]:
    request: dict[str, Any] = json.loads(WRITTEN)
    inner: Any = request
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = value
    return request


def touches(param: str, steps: Steps) -> bool:
    """Whether a param is the place, around it or inside it; a wrong type makes another thing of its object."""
    path = write_path(steps[:-1] if steps[-1] in ("type", "role") else steps)
    around = path == param or path.startswith((f"{param}.", f"{param}["))
    inside = param.startswith((f"{path}.", f"{path}["))
    return around or inside or param in TOLD_ELSEWHERE.get(str(steps[0]), ())


async def check(app: Any, steps: Steps, value: Any) -> None:
    body = json.dumps(with_value(steps, value)).encode()
    exchange = await Exchange(app, body).run()
    shown = f"{write_path(steps)} = {json.dumps(value)[:60]}: {exchange.body[:300]!r}"
    if exchange.status == 200:
        assert exchange.response["status"] == "completed", shown
        return
    assert exchange.status in (400, 403, 404), shown
    error = exchange.error
    assert error.keys() == {"message", "type", "param", "code"}, shown
    assert error["type"] == "invalid_request_error", shown
    assert error["message"], shown
    assert len(error["message"]) < 1500, shown
    assert error["param"] is None or touches(error["param"], steps), shown
    assert steps[-1] in CHAT_NAMES.findall(error["message"]) or not CHAT_NAMES.search(error["message"]), shown


def check_all(part: list[Steps], odd: list[Any], **options: Any) -> None:
    app = ResponsesMiddleware(ChatApp(), **options)

    async def run() -> None:
        for steps in part:
            for value in odd:
                await check(app, steps, value)

    anyio.run(run)


PARAMETERS = [name for name in REQUEST if name not in ("input", "tools")]
PARTS = {
    **{f"input[{index}] {item.get('type')}": ("input", index) for index, item in enumerate(ITEMS)},
    **{f"tools[{index}] {tool['type']}": ("tools", index) for index, tool in enumerate(TOOLS)},
    **{name: (name,) for name in PARAMETERS},
    "input": ("input",),
    "tools": ("tools",),
}


def of(steps: Steps) -> list[Steps]:
    """The place and all that is inside; of the long lists themselves just the place."""
    inner: Any = REQUEST
    for step in steps:
        inner = inner[step]
    return [steps] if steps in (("input",), ("tools",)) else [steps, *((*steps, *more) for more in places(inner))]


def test_the_rich_request_itself_is_served() -> None:
    exchange = anyio.run(Exchange(ResponsesMiddleware(ChatApp()), REQUEST).run)

    assert (exchange.status, exchange.text) == (200, "Hello")


@pytest.mark.parametrize("name", PARTS)
def test_an_odd_value_is_answered_or_refused_by_its_place(name: str) -> None:
    check_all(of(PARTS[name]), ODD)


@pytest.mark.parametrize("name", PARTS)
def test_an_odd_value_does_no_harm_where_all_is_ignored(name: str) -> None:
    check_all(of(PARTS[name]), ODD[:6], unsupported="ignore", dialect="openai")


# Keys of other items and tools, which nobody checks where they do not belong.
BORROWED = [
    *(
        "action",
        "actions",
        "arguments",
        "call_id",
        "content",
        "defer_loading",
        "description",
        "detail",
        "display_width",
    ),
    *("encrypted_content", "environment", "error", "execution", "file_id", "format", "headers", "id", "image_url"),
    *("input", "name", "namespace", "operation", "output", "outputs", "parameters", "prompt_cache_breakpoint", "role"),
    *("server_label", "skills", "status", "strict", "summary", "tool_calls", "tools"),
]
HOLDERS: dict[str, Steps] = {
    **{name: steps for name, steps in PARTS.items() if len(steps) == 2},
    "a namespace's tool": ("tools", 3, "tools", 0),
    "an allowed function": ("tool_choice", "tools", 0),
    "an allowed shell": ("tool_choice", "tools", 4),
    "a part": ("input", 2, "content", 0),
    "a part of an output": ("input", 6, "output", 0),
    "a screenshot": ("input", 16, "output"),
    "a thought": ("input", 3, "content", 0),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_a_key_that_belongs_elsewhere_does_no_harm(name: str) -> None:
    holder: Any = REQUEST
    for step in HOLDERS[name]:
        holder = holder[step]

    borrowed = [(*HOLDERS[name], key) for key in BORROWED if key not in holder]
    check_all(borrowed, [[1], 5])
