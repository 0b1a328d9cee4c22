"""Faults: what is wrong with a value and where, in the words of OpenAI's API.

A fault is told its place by each shape that it passes on its way out, so that a path (`input[2].content[0].type`)
is only written when something is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InvalidRequestError, InvalidTypeError, InvalidValueError, MissingParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_LONGEST_QUOTE = 128  # words of the client in a message; OpenAI's own names stay far below


class Fault(Exception):  # noqa: N818 (it never leaves this package; the error that is made of it does)
    """A value doesn't fit; the error is made when its whole place is known."""

    def __init__(self, make_error: Callable[[str], InvalidRequestError]) -> None:
        super().__init__()
        self._make_error = make_error
        self._places: list[str | int] = []

    def at(self, *places: str | int) -> Fault:
        """Add the place of the value inside the one around it; several: from the outside in."""
        self._places.extend(reversed(places))
        return self

    def error(self) -> InvalidRequestError:
        """The error to raise, `param` being the path from the body."""
        return self._make_error(write_path(reversed(self._places)))


def write_path(places: Iterable[str | int]) -> str:
    """`("input", 2, "role")` → `input[2].role`."""
    written = "".join(f"[{place}]" if isinstance(place, int) else f".{quote(place)}" for place in places)
    return written.removeprefix(".")


def quote(text: str) -> str:
    """Words of the client for a message, shortened where they are longer than any honest ones."""
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def list_values(values: Iterable[str], word: str) -> str:
    """`("a", "b", "c")` → `'a', 'b', and 'c'`, as OpenAI writes it."""
    *others, last = [f"'{value}'" for value in values]
    match others:
        case []:
            return last
        case [first]:
            return f"{first} {word} {last}"
        case _:
            return f"{', '.join(others)}, {word} {last}"


def absent(hint: str = "") -> Fault:
    """A required field isn't there."""

    def make(param: str) -> InvalidRequestError:
        error = MissingParameterError(param)
        error.message += hint
        error.args = (error.message,)
        return error

    return Fault(make)


def wrong_type(expected: str, value: object) -> Fault:
    """The value has another JSON type."""
    return Fault(lambda param: InvalidTypeError(param, expected=expected, value=value))


def wrong_value(value: str, supported: Iterable[str], *, hint: str = "") -> Fault:
    """The value is none of those supported."""
    message = f"Invalid value: '{quote(value)}'. Supported values are: {list_values(supported, 'and')}.{hint}"
    return Fault(lambda param: InvalidValueError(message, param=param))


def invalid(reason: str, *, code: str | None = None, subject: str = "Invalid") -> Fault:
    """The value can't be taken; the message is `Invalid 'path': reason`."""
    return Fault(lambda param: InvalidValueError(f"{subject} '{param}': {reason}", param=param, code=code))


def below(kind: str, value: float, low: int) -> Fault:
    """A number, an "integer" or a "decimal", is too small."""
    reason = f"{kind} below minimum value. Expected a value >= {low}, but got {_number(value)} instead."
    return invalid(reason, code=f"{kind}_below_min_value")


def above(kind: str, value: float, high: int) -> Fault:
    """A number, an "integer" or a "decimal", is too large."""
    reason = f"{kind} above maximum value. Expected a value <= {high}, but got {_number(value)} instead."
    return invalid(reason, code=f"{kind}_above_max_value")


def too_long(kind: str, most: int, count: int) -> Fault:
    """A "string" has more than `most` characters, or an "array" more elements."""
    noun = "an array" if kind == "array" else f"a {kind}"
    reason = f"{kind} too long. Expected {noun} with maximum length {most}, but got {noun} with length {count} instead."
    return invalid(reason, code=f"{kind}_above_max_length")


def too_many_pairs(most: int, count: int) -> Fault:
    """A mapping has more than `most` pairs."""
    reason = (
        f"too many properties. Expected an object with at most {most} properties, "
        f"but got an object with {count} properties instead."
    )
    return invalid(reason, code="object_above_max_properties")


def long_key(key: str, most: int) -> Fault:
    """A mapping has a key of more than `most` characters."""
    reason = (
        f"'{quote(key)}' is too long. Expected a name with maximum length {most}, "
        f"but got one with length {len(key)} instead."
    )
    return invalid(reason, code="property_name_above_max_length", subject="Invalid property name in")


def wrong_pattern(pattern: str) -> Fault:
    """A string doesn't match."""
    return invalid(f"string does not match pattern. Expected a string that matches the pattern '^{pattern}$'.")


def wrong_identifier(value: str) -> Fault:
    """An id has characters that no id has."""
    fact = "contained additional characters" if value else "was empty"
    return invalid(
        f"'{quote(value)}'. Expected an ID that contains letters, numbers, underscores, or dashes, "
        f"but this value {fact}."
    )


def _number(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to write integers of more than 4300 digits
        return "a far larger number"
