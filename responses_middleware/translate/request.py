"""A Responses request → the chat call that answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import Dialect
from ..errors import UnsupportedParameterError
from . import formats
from .left_out import LeftOut
from .messages import to_messages
from .tool_names import ToolNames
from .tools import Tool, choose, offer

Item = dict[str, Any]

# Parameters that some servers take under the same name: sent if Dialect.forward holds them, else left out and named.
# `metadata` and
# `store` are served here in any case, so nothing is lost without them.
_HINTS = (
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "user",
)
_SERVED_ANYWAY = ("metadata", "store")
_NO_LOSS = {"service_tier": ("auto", "default"), "truncation": ("disabled",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall:
    """One call of the chat server, and what is needed to read its answer."""

    payload: dict[str, Any]
    names: ToolNames
    left_out: list[str]  # what the client is told was not carried


def to_chat(
    request: Mapping[str, Any],
    history: Sequence[Item],
    *,
    model: str,
    dialect: Dialect,
    unsupported: LeftOut,
    unseal: Callable[[str], dict[str, Any] | None],
) -> ChatCall:
    """Translate a request.

    Args:
        request: validated; its `input` may be a string.
        history: the items of earlier turns, before the input.
        model: the upstream's name of the model.
        unsupported: what becomes of what can't be carried.
        unseal: opens an `encrypted_content` of ours.

    Raises InvalidRequestError with the exact place of what can't be carried and may not be left out.
    """
    _refuse_unserved(request, dialect)
    items = [*history, *input_items(request)]
    request = _configured(request, items)
    offered = offer(_all_tools(request, items, len(history)), dialect, unsupported)
    choice = choose(request.get("tool_choice"), offered, dialect, unsupported)
    form, words = formats.to_response_format((request.get("text") or {}).get("format"), dialect)
    messages = to_messages(
        items,
        instructions=request.get("instructions"),
        format_words=words,
        dialect=dialect,
        names=offered.names,
        left_out=unsupported,
        place=lambda position: f"input[{max(position - len(history), 0)}]",
        unseal=unseal,
    )
    payload: dict[str, Any] = {"model": model, "messages": messages, **_sampling(request, dialect, unsupported)}
    tools = [tool for name, tool in offered.chat.items() if choice.only is None or name in choice.only]
    if tools:
        payload |= _tool_parameters(request, tools, choice.value, dialect, unsupported)
    if form:
        payload["response_format"] = form
    payload |= _forwarded(request, dialect, unsupported)
    if request.get("stream"):
        payload["stream"] = True
        if dialect.stream_usage:
            payload["stream_options"] = {"include_usage": True}
    return ChatCall(payload=payload, names=offered.names, left_out=unsupported.names)


def input_items(request: Mapping[str, Any]) -> list[Item]:
    """The input as items; a string is one user message."""
    given = request.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given or []


def _refuse_unserved(request: Mapping[str, Any], dialect: Dialect) -> None:
    """What no chat completion can do and nothing here does: never a wrong success."""
    for name, why in (
        ("background", "Background responses are not served here; leave 'background' out"),
        (
            "conversation",
            "Conversations are not served here; send the earlier items as 'input', or use 'previous_response_id'",
        ),
        ("prompt", "Prompt templates are not served here; send their text as 'instructions' and 'input'"),
    ):
        if request.get(name):
            raise UnsupportedParameterError(f"{why}.", param=name)
    if request.get("moderation") and "moderation" not in dialect.forward:
        raise UnsupportedParameterError("The upstream has no moderation; leave 'moderation' out.", param="moderation")


def _configured(request: Mapping[str, Any], items: Iterable[Item]) -> Mapping[str, Any]:
    """The request with the last `configuration_update` item applied; it counts from there on, that is for this
    answer."""
    for item in items:
        if item.get("type") == "configuration_update":
            changes = {
                name: {**(request.get(name) or {}), **item[name]} for name in ("reasoning", "text") if item.get(name)
            }
            request = {**request, **changes}
    return request


def _all_tools(request: Mapping[str, Any], items: Iterable[Item], offset: int) -> Iterable[tuple[str, Tool]]:
    """The tools of the request, and those that items brought; the same tool counts once."""
    seen: set[tuple[Any, ...]] = set()
    listed = [(f"tools[{index}]", tool) for index, tool in enumerate(request.get("tools") or ())]
    for position, item in enumerate(items):
        if item.get("type") in ("additional_tools", "tool_search_output"):
            place = f"input[{max(position - offset, 0)}]"
            listed += [(f"{place}.tools[{index}]", tool) for index, tool in enumerate(item.get("tools") or ())]
    for place, tool in listed:
        inner = tuple(member.get("name") for member in tool.get("tools") or ())
        key = (tool["type"], tool.get("name"), tool.get("server_label"), inner)
        if key not in seen or tool.get("defer_loading"):
            seen.add(key)
            yield place, tool


def _sampling(request: Mapping[str, Any], dialect: Dialect, unsupported: LeftOut) -> dict[str, Any]:
    chat = {name: request[name] for name in ("temperature", "top_p") if request.get(name) is not None}
    if request.get("max_output_tokens") is not None:
        chat[dialect.max_tokens_field] = request["max_output_tokens"]
    if effort := formats.to_effort(request.get("reasoning"), dialect, unsupported):
        chat["reasoning_effort"] = effort
    formats.note_includes(request, unsupported)
    return chat | formats.to_logprobs(request, dialect, unsupported)


def _tool_parameters(
    request: Mapping[str, Any], tools: list[Tool], choice: Any, dialect: Dialect, unsupported: LeftOut
) -> dict[str, Any]:
    """Servers refuse tool_choice and parallel_tool_calls without tools."""
    chat: dict[str, Any] = {"tools": tools}
    if choice is not None:
        chat["tool_choice"] = choice
    parallel, known = request.get("parallel_tool_calls"), dialect.parallel_tool_calls
    if parallel is not None and (known is True or (known == "only_false" and not parallel)):
        chat["parallel_tool_calls"] = parallel
    elif parallel is False:
        unsupported.hint(
            "parallel_tool_calls", param="parallel_tool_calls", why="The upstream takes no 'parallel_tool_calls'"
        )
    return chat


def _forwarded(request: Mapping[str, Any], dialect: Dialect, unsupported: LeftOut) -> dict[str, Any]:
    """What goes up under its own name, and a note of the hints that don't."""
    chat = {name: request[name] for name in dialect.forward - {"verbosity"} if request.get(name) is not None}
    verbosity = (request.get("text") or {}).get("verbosity")
    if verbosity and "verbosity" in dialect.forward:
        chat["verbosity"] = verbosity
    elif verbosity not in (None, "medium"):
        unsupported.hint("text.verbosity", param="text.verbosity", why="The upstream takes no verbosity")
    for name in (*_HINTS, "truncation", "context_management"):
        value = request.get(name)
        if value and name not in chat and value not in _NO_LOSS.get(name, ()):
            unsupported.hint(name, param=name, why=f"The upstream takes no '{name}'")
    return chat
