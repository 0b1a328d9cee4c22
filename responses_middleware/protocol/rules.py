"""What the parameters of a request say about each other, once each of them fits its own shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..errors import InvalidRequestError, InvalidValueError, MissingParameterError
from .faults import quote, too_long, write_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .create import CreateRequest

# Where the input may come from instead, and what may bring tools of its own.
_CONTEXTS: Final = ("prompt", "previous_response_id", "conversation")
_TOOL_BRINGERS: Final = frozenset({"additional_tools", "tool_search_output"})


def check_depth(body: dict[str, Any] | list[Any], limit: int) -> None:
    """Raise InvalidRequestError where objects and arrays stand deeper in each other than `limit`; the body itself is 1.

    Level by level, without recursion: the depth is the client's choice.
    """
    level: list[Any] = [body]
    for _ in range(limit):
        level = [
            child
            for parent in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return
    raise InvalidRequestError(f"The request body is nested too deeply (limit {limit}).")


def check_context(request: CreateRequest) -> None:
    """There is an input, or something to go on from, and only one such thing."""
    contexts = [name for name in _CONTEXTS if request.get(name) is not None]
    given = request.get("input")
    if given is None and not contexts:
        raise MissingParameterError("input")
    if given == [] and not contexts:
        raise InvalidValueError(
            "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="input",
            code="empty_array",
        )
    if "previous_response_id" in contexts and "conversation" in contexts:
        raise InvalidRequestError(
            "Mutually exclusive parameters: Ensure you are only providing one of: "
            "'previous_response_id' or 'conversation'.",
            param="previous_response_id",
        )


def check_stream(request: CreateRequest) -> None:
    """Options of a stream need one; those that ask for nothing are harmless."""
    options = request.get("stream_options") or {}
    if any(options.values()) and not request.get("stream"):
        raise InvalidRequestError(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )


def check_background(request: CreateRequest) -> None:
    """What runs in the background is fetched later: it must be stored; slow windows are for the background alone."""
    background = request.get("background")
    if background and request.get("store") is False:
        raise InvalidRequestError("A background response must be stored: 'store' can't be false.", param="store")
    window = (request.get("background_options") or {}).get("completion_window")
    if window in {"2h", "8h"} and (not background or request.get("stream")):
        raise InvalidValueError(
            f"Invalid value: '{window}'. This completion window needs 'background' true and 'stream' false.",
            param="background_options.completion_window",
        )


def check_counts(request: CreateRequest, *, max_items: int, max_tools: int) -> None:
    """Not too many items or tools; the tools of a namespace are counted on their own."""
    _check_count(request.get("input"), max_items, "input")
    tools = request.get("tools") or []
    _check_count(tools, max_tools, "tools")
    for index, tool in enumerate(tools):
        if tool["type"] == "namespace":
            _check_count(tool["tools"], max_tools, "tools", index, "tools")


def check_tool_names(request: CreateRequest) -> None:
    """No two tools of a namespace, or outside of all, share a name."""
    seen: set[tuple[str, str]] = set()
    for places, namespace, name in _named_tools(request.get("tools") or []):
        if (namespace, name) in seen:
            raise InvalidValueError(
                f"Invalid value: '{name}'. Another tool has this name; the names of tools must be unique.",
                param=write_path((*places, "name")),
            )
        seen.add((namespace, name))


def check_tool_choice(request: CreateRequest) -> None:
    """What is forced is offered, unless earlier items may offer more than we see here."""
    choice = request.get("tool_choice")
    tools = request.get("tools") or []
    if choice is None or choice in ("none", "auto") or _may_have_other_tools(request):
        return
    if isinstance(choice, str):
        if not tools:
            raise InvalidRequestError(
                "Tool choice 'required' must be specified with 'tools' parameter.", param="tool_choice"
            )
        return
    offered = {name for _, _, name in _named_tools(tools)}
    for wanted in choice["tools"] if choice["type"] == "allowed_tools" else [choice]:
        if wanted["type"] in ("function", "custom") and wanted["name"] not in offered:
            raise InvalidRequestError(
                f"Tool choice '{quote(wanted['name'])}' not found in 'tools' parameter.", param="tool_choice"
            )


def _check_count(elements: object, most: int, *places: str | int) -> None:
    """An array, which stands at that place, has at most so many elements."""
    if isinstance(elements, list) and len(elements) > most:
        raise too_long("array", most, len(elements)).at(*places).error()


def _named_tools(tools: list[dict[str, Any]]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    for index, tool in enumerate(tools):
        if tool["type"] == "namespace":
            for inner, member in enumerate(tool["tools"]):
                yield ("tools", index, "tools", inner), tool["name"], member["name"]
        elif tool["type"] in ("function", "custom"):
            yield ("tools", index), "", tool["name"]


def _may_have_other_tools(request: CreateRequest) -> bool:
    if any(request.get(name) is not None for name in _CONTEXTS):
        return True
    given = request.get("input")
    return isinstance(given, list) and any(item.get("type") in _TOOL_BRINGERS for item in given)
