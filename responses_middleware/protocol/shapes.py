"""Shapes: what a JSON value must look like, as small pieces of data that are put together in tables.

A shape has one verb, `check(value)`: it returns when the value fits and raises `Fault` when it doesn't.

Rules that hold everywhere:

- values are those of a JSON codec: their types are exact, a boolean is never an integer;
- unknown keys of an object are accepted: clients send output items back as they got them, with id, status, annotations;
- null in an optional field means that it is absent (openai-agents sends `content: null, status: null`);
- the shapes are as deep as the protocol, never as deep as the value, so that no value can exhaust the stack.
"""

from __future__ import annotations

from typing import Any, Protocol


class Shape(Protocol):
    """What a value must look like."""

    def check(self, value: Any, /) -> None:
        """Return if the value fits, else raise Fault."""
