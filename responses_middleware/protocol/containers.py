"""Shapes of arrays and objects, and the choice between shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from . import faults
from .faults import Fault
from .scalars import STRING, Text
from .shapes import Shape


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


STRINGS: Final = ListOf(STRING)


class Object:
    """An object, whatever is in it."""

    def check(self, value: Any, /) -> None:
        if type(value) is not dict:
            raise faults.wrong_type("an object", value)


OBJECT: Final = Object()
OBJECTS: Final = ListOf(OBJECT)


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


def _split(fields: Mapping[str, Shape]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    texts = tuple(name for name, shape in fields.items() if _takes_any_text(shape))
    return texts, tuple(name for name in fields if name not in texts)


def _takes_any_text(shape: Shape) -> bool:
    """Whether every string fits."""
    if isinstance(shape, Either):
        return str in shape.shapes and _takes_any_text(shape.shapes[str])
    return isinstance(shape, Text) and shape.max_length is None and shape.pattern is None
