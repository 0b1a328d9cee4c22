"""Shapes that look at a value as a whole, never inside it."""

from __future__ import annotations

import re
from typing import Any, Final

from . import faults

_LONGEST_IDENTIFIER = 512  # our own have under 64 characters; other servers' are taken too


class Anything:
    """Any JSON value."""

    def check(self, value: Any, /) -> None:
        pass


ANYTHING: Final = Anything()


class Refused:
    """A field of another API that would be lost in silence; empty values are harmless."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def check(self, value: Any, /) -> None:
        if value:
            raise faults.invalid(self._reason)


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


STRING: Final = Text()
FUNCTION_NAME: Final = Text(pattern="[a-zA-Z0-9_-]{1,64}")


class Identifier:
    """The id of a stored thing."""

    def check(self, value: Any, /) -> None:
        if type(value) is not str:
            raise faults.wrong_type("a string", value)
        if len(value) > _LONGEST_IDENTIFIER:
            raise faults.too_long("string", _LONGEST_IDENTIFIER, len(value))
        if not re.fullmatch(r"[A-Za-z0-9_-]+", value):
            raise faults.wrong_identifier(value)


IDENTIFIER: Final = Identifier()


class Boolean:
    """true or false."""

    def check(self, value: Any, /) -> None:
        if type(value) is not bool:
            raise faults.wrong_type("a boolean", value)


BOOLEAN: Final = Boolean()


class Integer:
    """A whole number within bounds; 1.0 is none, as with OpenAI."""

    def __init__(self, *, low: int | None = None, high: int | None = None) -> None:
        self.low = low
        self.high = high

    def check(self, value: Any, /) -> None:
        if type(value) is not int:
            raise faults.wrong_type("an integer", value)
        _check_range("integer", value, self.low, self.high)


INTEGER: Final = Integer()


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


def _check_range(kind: str, value: float, low: int | None, high: int | None) -> None:
    if low is not None and value < low:
        raise faults.below(kind, value, low)
    if high is not None and value > high:
        raise faults.above(kind, value, high)
