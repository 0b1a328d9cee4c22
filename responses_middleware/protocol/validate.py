"""The door for what clients send: a parsed JSON body is a `CreateRequest`, or an error that names the place in it.

The tables (create, items, tools, parts, formats) say what each value must look like, rules.py what they say about each
other. Nothing is copied or changed; 1 MB of history takes 2 to 4 ms, as reading its JSON does.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from ..errors import InvalidRequestError, MissingParameterError, UnknownParameterError, UnsupportedParameterError
from . import rules
from .create import GONE, MOVED, PARAMETERS, CreateRequest
from .faults import Fault, quote

if TYPE_CHECKING:
    from collections.abc import Mapping


def validate(body: object, *, max_items: int = 10_000, max_tools: int = 128, max_depth: int = 128) -> CreateRequest:
    """Return the same values, checked, or raise InvalidRequestError (or a subclass) that names the exact place.

    Args:
        body: a parsed JSON body of POST /responses.
        max_items: items of `input`.
        max_tools: tools, and tools of each namespace.
        max_depth: objects and arrays inside each other, the body included.
    """
    request = _open(body, max_depth)
    if request.get("model") in (None, ""):
        raise MissingParameterError("model")
    _check_parameters(request)
    _check_rules(request, max_items, max_tools)
    # Known names only: all requests that are open share their strings.
    return cast("CreateRequest", {sys.intern(name): value for name, value in request.items()})


def _open(body: object, max_depth: int) -> CreateRequest:
    if type(body) is not dict:
        raise InvalidRequestError("The request body must be a JSON object.")
    rules.check_depth(body, max_depth)
    return cast("CreateRequest", body)


def _check_parameters(request: Mapping[str, Any]) -> None:
    name = ""
    try:
        for name, value in request.items():
            shape = PARAMETERS.get(name)
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
