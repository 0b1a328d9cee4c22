"""The door for what clients send: a parsed JSON body is a `CreateRequest`, or an error that names the place in it.

The tables (create, items, tools, parts, formats) say what each value must look like, rules.py what they say about each
other. Nothing is copied or changed; 1 MB of history takes 2 to 4 ms, as reading its JSON does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..errors import InvalidRequestError, MissingParameterError, UnknownParameterError, UnsupportedParameterError
from . import rules
from .create import GONE, INPUT_TOKENS_PARAMETERS, METADATA, MOVED, PARAMETERS, CreateRequest
from .faults import Fault, quote
from .items import INPUT_ITEMS, Item

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .shapes import Shape


def validate(body: object, *, max_items: int = 10_000, max_tools: int = 128, max_depth: int = 128) -> CreateRequest:
    """Return the same object, checked, or raise InvalidRequestError (or a subclass) that names the exact place.

    Args:
        body: a parsed JSON body of POST /responses or /responses/compact.
        max_items: items of `input`.
        max_tools: tools, and tools of each namespace.
        max_depth: objects and arrays inside each other, the body included.
    """
    request = _open(body, max_depth)
    if request.get("model") in (None, ""):
        raise MissingParameterError("model")
    _check_parameters(request, PARAMETERS)
    _check_rules(request, max_items, max_tools)
    return request


def validate_input_tokens(
    body: object, *, max_items: int = 10_000, max_tools: int = 128, max_depth: int = 128
) -> CreateRequest:
    """As `validate`, for POST /responses/input_tokens: there the model may be left out."""
    request = _open(body, max_depth)
    _check_parameters(request, INPUT_TOKENS_PARAMETERS)
    _check_rules(request, max_items, max_tools)
    return request


def validate_items(items: object, *, param: str = "items", max_items: int = 20, max_depth: int = 128) -> list[Item]:
    """Return the same array of input items, checked, as the conversation endpoints take them."""
    rules.check_depth([items], max_depth)
    try:
        INPUT_ITEMS.check(items)
    except Fault as fault:
        raise fault.at(param).error() from None
    checked = cast("list[Item]", items)
    rules.check_count(checked, max_items, param)
    return checked


def validate_metadata(metadata: object, *, param: str = "metadata") -> dict[str, str]:
    """Return the same mapping, checked: at most 16 pairs, keys of 64 and values of 512 characters."""
    try:
        METADATA.check(metadata)
    except Fault as fault:
        raise fault.at(param).error() from None
    return cast("dict[str, str]", metadata)


def _open(body: object, max_depth: int) -> CreateRequest:
    if type(body) is not dict:
        raise InvalidRequestError("The request body must be a JSON object.")
    rules.check_depth(body, max_depth)
    return cast("CreateRequest", body)


def _check_parameters(request: Mapping[str, Any], parameters: Mapping[str, Shape]) -> None:
    name = ""
    try:
        for name, value in request.items():
            shape = parameters.get(name)
            if shape is None:
                raise _unknown(name)
            if value is not None:
                shape.check(value)
    except Fault as fault:
        raise fault.at(name).error() from None


def _check_rules(request: CreateRequest, max_items: int, max_tools: int) -> None:
    rules.check_counts(request, max_items=max_items, max_tools=max_tools)
    rules.check_context(request)
    rules.check_stream(request)
    rules.check_background(request)
    rules.check_tool_names(request)
    rules.check_tool_choice(request)


def _unknown(name: str) -> InvalidRequestError:
    shown = quote(name)
    if name in GONE:
        return UnsupportedParameterError(
            f"'{name}' is a chat completions parameter; the Responses API has no equivalent.", param=shown
        )
    if name in MOVED:
        hint = f" '{name}' is a chat completions parameter; in the Responses API use '{MOVED[name]}'."
        return UnknownParameterError(shown, hint=hint)
    return UnknownParameterError(shown)
