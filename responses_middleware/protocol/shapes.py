"""Shapes: what a JSON value must look like, as small pieces of data that are put together in tables.

A shape has one verb, `check(value)`: it returns when the value fits and raises `Fault` when it doesn't.

Rules that hold everywhere:

- values are those of a JSON codec: their types are exact, a boolean is never an integer;
- unknown keys of an object are accepted: clients send output items back as they got them, with id, status, annotations;
- null in an optional field means that it is absent (openai-agents sends `content: null, status: null`);
- the shapes are as deep as the protocol, never as deep as the value, so that no value can exhaust the stack.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from . import faults
from .faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LONGEST_IDENTIFIER = 512  # our own have under 64 characters; other servers' are taken too


class Shape(Protocol):
    """What a value must look like."""

    def check(self, value: Any, /) -> None:
        """Return if the value fits, else raise Fault."""


class Anything:
    """Any JSON value."""

    def check(self, value: Any, /) -> None:
        pass


class Text:
    """A string, at most `max_length` characters, matching the whole of `pattern`."""

    def __init__(self, *, max_length: int | None = None, pattern: str | None = None) -> None:
        self.max_length = max_length
        self.pattern = pattern

    def check(self, value: Any, /) -> None:
        if type(value) is not str:
            raise faults.wrong_type("a string", value)
        if self.max_length is not None and len(value) > self.max_length:
            raise faults.too_long("string", self.max_length, len(value))
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            raise faults.wrong_pattern(self.pattern)


class Identifier:
    """The id of a stored thing."""

    def check(self, value: Any, /) -> None:
        if type(value) is not str:
            raise faults.wrong_type("a string", value)
        if len(value) > _LONGEST_IDENTIFIER:
            raise faults.too_long("string", _LONGEST_IDENTIFIER, len(value))
        if not re.fullmatch(r"[A-Za-z0-9_-]+", value):
            raise faults.wrong_identifier(value)


class Boolean:
    """true or false."""

    def check(self, value: Any, /) -> None:
        if type(value) is not bool:
            raise faults.wrong_type("a boolean", value)


class Integer:
    """A whole number within bounds; 1.0 is none, as with OpenAI."""

    def __init__(self, *, low: int | None = None, high: int | None = None) -> None:
        self.low = low
        self.high = high

    def check(self, value: Any, /) -> None:
        if type(value) is not int:
            raise faults.wrong_type("an integer", value)
        _check_range("integer", value, self.low, self.high)


class Decimal:
    """A number within bounds."""

    def __init__(self, *, low: int | None = None, high: int | None = None) -> None:
        self.low = low
        self.high = high

    def check(self, value: Any, /) -> None:
        if type(value) is not int and type(value) is not float:
            raise faults.wrong_type("a decimal", value)
        _check_range("decimal", value, self.low, self.high)


class OneOf:
    """One of a few strings."""

    def __init__(self, *values: str) -> None:
        self.values = values
        self._known = frozenset(values)

    def check(self, value: Any, /) -> None:
        if type(value) is not str:
            raise faults.wrong_type(f"one of {faults.list_values(self.values, 'or')}", value)
        if value not in self._known:
            raise faults.wrong_value(value, self.values)


class ListOf:
    """An array whose elements all have one shape."""

    def __init__(self, element: Shape) -> None:
        self.element = element
        self._check = element.check

    def check(self, value: Any, /) -> None:
        if type(value) is not list:
            raise faults.wrong_type("an array", value)
        index = 0
        check = self._check
        try:
            for index, element in enumerate(value):  # noqa: B007 (read where it fails)
                check(element)
        except Fault as fault:
            fault.at(index)
            raise


class Object:
    """An object, whatever is in it."""

    def check(self, value: Any, /) -> None:
        if type(value) is not dict:
            raise faults.wrong_type("an object", value)


class MapOf:
    """An object used as a mapping: any keys, all values of one shape."""

    def __init__(self, element: Shape, *, max_pairs: int | None = None, max_key: int | None = None) -> None:
        self.element = element
        self.max_pairs = max_pairs
        self.max_key = max_key

    def check(self, value: Any, /) -> None:
        if type(value) is not dict:
            raise faults.wrong_type("an object", value)
        if self.max_pairs is not None and len(value) > self.max_pairs:
            raise faults.too_many_pairs(self.max_pairs, len(value))
        for key, element in value.items():
            if self.max_key is not None and len(key) > self.max_key:
                raise faults.long_key(key, self.max_key)
            try:
                self.element.check(element)
            except Fault as fault:
                fault.at(key)
                raise


class Either:
    """One shape for each JSON type that may stand here; `expected` names them in the message."""

    def __init__(self, expected: str, shapes: Mapping[type, Shape]) -> None:
        self.expected = expected
        self.shapes = shapes
        self._checks = {kind: shape.check for kind, shape in shapes.items()}

    def check(self, value: Any, /) -> None:
        check = self._checks.get(type(value))
        if check is None:
            raise faults.wrong_type(self.expected, value)
        check(value)


class Record:
    """An object with known fields.

    Args:
        required: fields that must be there, not null unless their shape allows it.
        optional: fields that may be absent or null.
        any_of: at least one of these must be there and not null; the first one is named where none is.
        wrapped: the key under which chat completions wraps these fields; a client that sends them so is told.
    """

    def __init__(
        self,
        required: Mapping[str, Shape] | None = None,
        optional: Mapping[str, Shape] | None = None,
        *,
        any_of: tuple[str, ...] = (),
        wrapped: str | None = None,
    ) -> None:
        self.required = required or {}
        self.optional = optional or {}
        self.any_of = any_of
        self.wrapped = wrapped
        # In a long history nearly all values are strings where strings may stand: they are looked at without a call.
        self._texts, self._others = _split(self.required)
        self._optional_texts, others = _split(self.optional)
        self._optional_others = tuple((name, self.optional[name].check) for name in others)

    def check(self, value: Any, /) -> None:
        if type(value) is not dict:
            raise faults.wrong_type("an object", value)
        get = value.get
        name = ""
        try:
            for name in self._texts:
                if type(get(name)) is not str:
                    self._check_required(value, name)
            for name in self._optional_texts:
                if (given := get(name)) is not None and type(given) is not str:
                    self.optional[name].check(given)
            for name in self._others:
                self._check_required(value, name)
            for name, check in self._optional_others:
                if (given := get(name)) is not None:
                    check(given)
        except Fault as fault:
            fault.at(name)
            raise
        if self.any_of:
            self._check_any(value)

    def _check_required(self, value: dict[str, Any], name: str) -> None:
        if name in value:
            self.required[name].check(value[name])
        elif self.wrapped is not None and type(value.get(self.wrapped)) is dict:
            hint = f" The fields of '{self.wrapped}' are not wrapped in the Responses API: they stand beside 'type'."
            raise faults.absent(hint)
        else:
            raise faults.absent()

    def _check_any(self, value: dict[str, Any]) -> None:
        for name in self.any_of:
            if value.get(name) is not None:
                return
        raise faults.absent().at(self.any_of[0])


class Tagged:
    """An object whose shape is chosen by one of its fields, from a table.

    Args:
        table: the shape for each value of the field.
        key: the field's name.
        hints: what to say about values that clients of other APIs send.
        untagged: the shape for an object without the field, by its look; None: the field is missing.
        extensions: the shape of extensions (Open Responses): values with a colon, `acme:note`; None: there are none.
    """

    def __init__(
        self,
        table: Mapping[str, Shape],
        *,
        key: str = "type",
        hints: Mapping[str, str] | None = None,
        untagged: Callable[[dict[str, Any]], Shape | None] | None = None,
        extensions: Shape | None = None,
    ) -> None:
        self.table = table
        self.key = key
        self._hints = hints or {}
        self._untagged = untagged
        self._extensions = extensions
        self.checks = {tag: shape.check for tag, shape in table.items()}

    def check(self, value: Any, /) -> None:
        if type(value) is not dict:
            raise faults.wrong_type("an object", value)
        tag = value.get(self.key)
        check = self.checks.get(tag) if type(tag) is str else None
        if check is None:
            self._check_other(value, tag)
        else:
            check(value)

    def _check_other(self, value: dict[str, Any], tag: Any) -> None:
        if tag is None:
            shape = self._untagged and self._untagged(value)
            if not shape:
                raise faults.absent().at(self.key)
            shape.check(value)
        elif type(tag) is not str:
            raise faults.wrong_type("a string", tag).at(self.key)
        elif self._extensions and ":" in tag:
            self._extensions.check(value)
        else:
            raise faults.wrong_value(tag, tuple(self.table), hint=self._hints.get(tag, "")).at(self.key)


class Refused:
    """A field of another API that would be lost in silence; empty values are harmless."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def check(self, value: Any, /) -> None:
        if value:
            raise faults.invalid(self._reason)


def _split(fields: Mapping[str, Shape]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    texts = tuple(name for name, shape in fields.items() if takes_any_text(shape))
    return texts, tuple(name for name in fields if name not in texts)


def takes_any_text(shape: Shape) -> bool:
    """Whether every string fits."""
    if isinstance(shape, Either):
        return str in shape.shapes and takes_any_text(shape.shapes[str])
    return isinstance(shape, Text) and shape.max_length is None and shape.pattern is None


def _check_range(kind: str, value: float, low: int | None, high: int | None) -> None:
    if low is not None and value < low:
        raise faults.below(kind, value, low)
    if high is not None and value > high:
        raise faults.above(kind, value, high)


ANYTHING = Anything()
STRING = Text()
BOOLEAN = Boolean()
INTEGER = Integer()
OBJECT = Object()
STRINGS = ListOf(STRING)
OBJECTS = ListOf(OBJECT)
IDENTIFIER = Identifier()
FUNCTION_NAME = Text(pattern="[a-zA-Z0-9_-]{1,64}")
