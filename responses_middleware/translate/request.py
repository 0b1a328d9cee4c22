"""A Responses request → the chat call that answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ..dialects import Dialect
from ..errors import InvalidRequestError, UnsupportedParameterError, UnsupportedValueError
from ..protocol.chat import ChatRequest
from ..protocol.items import Item
from . import formats
from .choice import ToolChoice, choose
from .left_out import LeftOut, Place
from .messages import MessageWriter
from .tool_names import ToolNames
from .tools import ListedTool, OfferedTools, offer

# Parameters that some servers take under the same name: sent if Dialect.forward holds them, else left out and named.
# `metadata` and `store` are not among them: both are served here in any case, so that nothing is lost.
_HINTS = (
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "user",
)
_NO_LOSS = {"service_tier": ("auto", "default"), "truncation": ("disabled",)}
# Chat knows all tiers but this one (openai-python 3.57, completion_create_params.py).
_NOT_IN_CHAT = {"service_tier": "ultrafast"}
_RESPELLED = {"prompt_cache_retention": {"in-memory": "in_memory"}}  # openai-python 2 wrote it with a dash
_NOT_SERVED = {
    "background": "Background responses are not served here; leave 'background' out.",
    "conversation": (
        "Conversations are not served here; send the earlier items as 'input', or use 'previous_response_id'."
    ),
    "prompt": "Prompt templates are not served here; send their text as 'instructions' and 'input'.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall:
    """One call of the chat server, and what is needed to read its answer."""

    payload: ChatRequest
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
    place = _places(request, len(history))
    settings = _settings(request, items, place)
    offered = offer(_all_tools(request, items, place), dialect, unsupported)
    choice = choose(request.get("tool_choice"), offered, dialect, unsupported)
    form, words = formats.to_response_format(settings.form, dialect)
    writer = MessageWriter(
        items,
        dialect=dialect,
        names=offered.names,
        left_out=unsupported,
        place=place,
        unseal=unseal,
        thinking_since=_thinking_since(settings.reasoning, items),
    )
    messages = writer.write(notes=(request.get("instructions"), words, choice.words))
    if not messages:
        raise InvalidRequestError("The input holds nothing that a model could answer.", param="input")
    parameters = _parameters(request, settings, offered, choice, form, dialect, unsupported)
    payload = cast("ChatRequest", {"model": model, "messages": messages, **parameters})
    return ChatCall(payload=payload, names=offered.names, left_out=unsupported.names)


def input_items(request: Mapping[str, Any]) -> list[Item]:
    """The input as items; a string is one user message."""
    given = request.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given or []


def _places(request: Mapping[str, Any], earlier: int) -> Callable[[int], Place]:
    """The place of each item; those of earlier turns stand nowhere in the request, but something refers to them."""
    source = "previous_response_id" if request.get("previous_response_id") else "conversation"
    return lambda position: (source,) if position < earlier else ("input", position - earlier)


def _refuse_unserved(request: Mapping[str, Any], dialect: Dialect) -> None:
    """What no chat completion can do and nothing here does: never a wrong success."""
    for name, why in _NOT_SERVED.items():
        if request.get(name):
            raise UnsupportedParameterError(why, param=name)
    if request.get("moderation") and "moderation" not in dialect.forward:
        raise UnsupportedParameterError("The upstream has no moderation; leave 'moderation' out.", param="moderation")
    if (request.get("prompt_cache_options") or {}).get("prewarm"):
        why = "A chat server can't warm its cache without an answer; leave 'prewarm' out."
        raise UnsupportedParameterError(why, param="prompt_cache_options.prewarm")
    if (request.get("image") or {}).get("context_compression") == "enabled":
        why = "The upstream has no compression of images; leave 'context_compression' out."
        raise UnsupportedValueError(why, param="image.context_compression")
    if (program := (request.get("access_programs") or {}).get("cyber")) not in (None, "standard"):
        error = UnsupportedValueError(f"There is no access to '{program}' here.", param="access_programs.cyber")
        error.status = 403  # as OpenAI answers (openai-python 3.57, response_create_params.py, AccessPrograms)
        raise error


@dataclass(slots=True)
class _Settings:
    """What `configuration_update` items may change, and where the effort was asked for."""

    reasoning: Mapping[str, Any]
    form: Mapping[str, Any] | None
    effort_place: Place = ("reasoning", "effort")


def _settings(request: Mapping[str, Any], items: Iterable[Item], place: Callable[[int], Place]) -> _Settings:
    """Each setting of the last update that has it: an update counts until another one replaces it."""
    settings = _Settings(request.get("reasoning") or {}, (request.get("text") or {}).get("format"))
    for position, item in enumerate(items):
        if item.get("type") == "configuration_update":
            if (effort := (item.get("reasoning") or {}).get("effort")) is not None:
                settings.reasoning = {**settings.reasoning, "effort": effort}
                settings.effort_place = (*place(position), "reasoning", "effort")
            if item.get("text"):
                settings.form = item["text"]["format"]
    return settings


def _thinking_since(reasoning: Mapping[str, Any], items: Sequence[Item]) -> int:
    """From which item on thinking is given back: from the last question on, where the client wants only this turn's."""
    if reasoning.get("context") != "current_turn":
        return 0
    return max((position for position, item in enumerate(items) if item.get("role") == "user"), default=0)


def _all_tools(
    request: Mapping[str, Any], items: Iterable[Item], place: Callable[[int], Place]
) -> Iterator[ListedTool]:
    """The tools of the request, and those that items brought."""
    for index, tool in enumerate(request.get("tools") or ()):
        yield ListedTool(("tools", index), tool)
    for position, item in enumerate(items):
        if item.get("type") in ("additional_tools", "tool_search_output"):
            for index, tool in enumerate(item.get("tools") or ()):
                yield ListedTool((*place(position), "tools", index), tool, found=True)


def _parameters(
    request: Mapping[str, Any],
    settings: _Settings,
    offered: OfferedTools,
    choice: ToolChoice,
    form: dict[str, Any] | None,
    dialect: Dialect,
    unsupported: LeftOut,
) -> dict[str, Any]:
    """All of the payload but the model and the messages."""
    return {
        **_sampling(request, settings, dialect, unsupported),
        **_tool_parameters(request, offered, choice, dialect, unsupported),
        **({"response_format": form} if form else {}),
        **_forwarded(request, dialect, unsupported),
        **_streaming(request, dialect),
    }


def _sampling(
    request: Mapping[str, Any], settings: _Settings, dialect: Dialect, unsupported: LeftOut
) -> dict[str, Any]:
    chat = {name: request[name] for name in ("temperature", "top_p") if request.get(name) is not None}
    if request.get("max_output_tokens") is not None:
        chat[dialect.max_tokens_field] = request["max_output_tokens"]
    if effort := formats.to_effort(settings.reasoning, dialect, unsupported, at=settings.effort_place):
        chat["reasoning_effort"] = effort
    if settings.reasoning.get("mode") not in (None, "standard"):
        unsupported.hint("reasoning.mode", at=("reasoning", "mode"), why="The upstream has no modes of reasoning")
    formats.note_includes(request, unsupported)
    return chat | formats.to_logprobs(request, dialect, unsupported)


def _tool_parameters(
    request: Mapping[str, Any], offered: OfferedTools, choice: ToolChoice, dialect: Dialect, unsupported: LeftOut
) -> dict[str, Any]:
    """The tools and what is said of them: servers refuse tool_choice and parallel_tool_calls without tools."""
    tools = [tool for name, tool in offered.chat.items() if choice.only is None or name in choice.only]
    if not tools:
        return {}
    chat: dict[str, Any] = {"tools": tools}
    if choice.value is not None:
        chat["tool_choice"] = choice.value
    parallel, known = request.get("parallel_tool_calls"), dialect.parallel_tool_calls
    if parallel is not None and (known is True or (known == "only_false" and not parallel)):
        chat["parallel_tool_calls"] = parallel
    elif parallel is False:
        why = "The upstream takes no 'parallel_tool_calls'"
        unsupported.hint("parallel_tool_calls", at=("parallel_tool_calls",), why=why)
    return chat


def _forwarded(request: Mapping[str, Any], dialect: Dialect, unsupported: LeftOut) -> dict[str, Any]:
    """What goes up under its own name, and a note of the hints that don't."""
    chat = {
        name: _RESPELLED.get(name, {}).get(str(value), value)
        for name in sorted(dialect.forward - {"verbosity"})
        if (value := request.get(name)) is not None and value != _NOT_IN_CHAT.get(name)
    }
    verbosity = (request.get("text") or {}).get("verbosity")
    if verbosity and "verbosity" in dialect.forward:
        chat["verbosity"] = verbosity
    elif verbosity not in (None, "medium"):
        unsupported.hint("text.verbosity", at=("text", "verbosity"), why="The upstream takes no verbosity")
    for name in (*_HINTS, "truncation", "context_management"):
        value = request.get(name)
        if value and name not in chat and value not in _NO_LOSS.get(name, ()):
            unsupported.hint(name, at=(name,), why=f"The upstream takes no '{name}'")
    return chat


def _streaming(request: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    if not request.get("stream"):
        return {}
    return {"stream": True} | ({"stream_options": {"include_usage": True}} if dialect.stream_usage else {})
