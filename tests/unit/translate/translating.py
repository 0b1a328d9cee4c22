"""One call for the tests of this room: a request goes through `validate` and `to_chat`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from responses_middleware.dialects import Dialect
from responses_middleware.errors import InvalidRequestError
from responses_middleware.protocol import validate
from responses_middleware.translate.left_out import LeftOut
from responses_middleware.translate.request import ChatCall, to_chat

Policy = Literal["error", "warn", "ignore"]
Item = dict[str, Any]

USER: Item = {"role": "user", "content": "Hi"}
ASKED: Item = {"role": "user", "content": "Hi"}  # the chat message that USER becomes
PIXEL = "data:image/png;base64,iVBORw0KGgo="
IMAGE: Item = {"type": "input_image", "image_url": PIXEL}
CHAT_IMAGE: Item = {"type": "image_url", "image_url": {"url": PIXEL}}
FUNCTION: Item = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
CUSTOM: Item = {"type": "custom", "name": "c"}

SEARCH = {"type": "tool_search", "execution": "client"}
INNER = {"type": "function", "name": "lookup"}
NAMESPACE = {
    "type": "namespace",
    "name": "crm",
    "description": "Customers",
    "tools": [INNER, {"type": "custom", "name": "note"}],
}
LARK = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}
HOSTED: list[dict[str, Any]] = [
    {"type": "web_search"},
    {"type": "web_search_2025_08_26"},
    {"type": "web_search_preview"},
    {"type": "web_search_preview_2025_03_11"},
    {"type": "file_search", "vector_store_ids": ["vs_1"]},
    {"type": "code_interpreter", "container": {"type": "auto"}},
    {"type": "image_generation"},
    {"type": "mcp", "server_label": "s", "server_url": "https://example.org"},
    {"type": "programmatic_tool_calling"},
    {"type": "shell", "environment": {"type": "container_auto"}},
    {"type": "shell", "environment": {"type": "container_reference", "container_id": "c"}},
]
EVERY_TOOL: list[Item] = [
    FUNCTION,
    CUSTOM,
    {"type": "custom", "name": "g", "format": {"type": "grammar", "syntax": "lark", "definition": "start: /a/"}},
    NAMESPACE,
    SEARCH,
    {"type": "local_shell"},
    {"type": "shell", "environment": {"type": "local"}},
    {"type": "apply_patch"},
    {"type": "computer"},
    {"type": "computer_use_preview", "display_height": 6, "display_width": 8, "environment": "linux"},
    *HOSTED,
]


def seals_nothing(token: str) -> dict[str, Any] | None:
    return None


def translate(
    dialect: str | Dialect = "auto",
    *,
    policy: Policy = "warn",
    history: Sequence[Item] = (),
    unseal: Callable[[str], dict[str, Any] | None] = seals_nothing,
    **parameters: Any,
) -> ChatCall:
    """The chat call of a valid request with these parameters."""
    request = validate({"model": "m", "input": "Hi", **parameters})
    named = Dialect.named(dialect) if isinstance(dialect, str) else dialect
    return to_chat(request, history, model="m", dialect=named, unsupported=LeftOut(policy), unseal=unseal)


def payload(dialect: str | Dialect = "auto", **parameters: Any) -> dict[str, Any]:
    return translate(dialect, **parameters).payload


def messages(*items: Item, dialect: str | Dialect = "auto", **parameters: Any) -> list[Item]:
    """The messages that these input items become."""
    written: list[Item] = payload(dialect, input=list(items), **parameters)["messages"]
    return written


def refused(dialect: str | Dialect = "auto", *, policy: Policy = "error", **parameters: Any) -> InvalidRequestError:
    """The error that such a request is answered with."""
    with pytest.raises(InvalidRequestError) as caught:
        translate(dialect, policy=policy, **parameters)
    return caught.value


def such(**fields: Any) -> Dialect:
    """The dialect "auto" with other fields."""
    return replace(Dialect.named("auto"), **fields)


def call(call_id: str = "call_1", name: str = "f", arguments: str = "{}", **more: Any) -> Item:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def output(call_id: str = "call_1", text: Any = "done", **more: Any) -> Item:
    return {"type": "function_call_output", "call_id": call_id, "output": text, **more}


def says(text: str) -> Item:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def thinks(text: str, **more: Any) -> Item:
    return {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": text}], **more}


def chat_call(call_id: str = "call_1", name: str = "f", arguments: str = "{}", **more: Any) -> Item:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def turn(*calls: Item, content: str | None = "", **more: Any) -> Item:
    return {"role": "assistant", "content": content, **more, "tool_calls": list(calls)}


def result(call_id: str = "call_1", content: Any = "done") -> Item:
    return {"role": "tool", "tool_call_id": call_id, "content": content}
