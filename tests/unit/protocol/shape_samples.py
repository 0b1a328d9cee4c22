"""Made from the tables: a good value for every shape, and every way in which one place of it has a wrong type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from responses_middleware.protocol import containers, scalars
from responses_middleware.protocol.items import Items
from responses_middleware.protocol.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from responses_middleware.protocol.shapes import Shape

Places = tuple[str | int, ...]

_JSON = {
    str: "\N{WHITE SMILING FACE} no such value",
    int: 5,
    float: 1.5,
    bool: True,
    list: [],
    dict: {},
    type(None): None,
}


def example(shape: Shape) -> Any:
    """A value that fits, with required fields only."""
    match shape:
        case scalars.Text() | scalars.Identifier():
            return "a"
        case scalars.Boolean():
            return True
        case scalars.Integer() | scalars.Decimal():
            return 1
        case scalars.OneOf():
            return shape.values[0]
        case containers.ListOf() | Items() | Parts():
            return [example(shape.element)]
        case containers.MapOf():
            return {"key": example(shape.element)}
        case containers.Object() | scalars.Anything():
            return {}
        case scalars.Refused():
            return None
        case containers.Either():
            return example(next(iter(shape.shapes.values())))
        case containers.Record():
            fields = {name: example(field) for name, field in shape.required.items()}
            return fields | {name: example(shape.optional[name]) for name in shape.any_of[:1]}
        case containers.Tagged():
            return tagged_example(shape, next(iter(shape.table)))
    raise AssertionError(shape)


def tagged_example(shape: containers.Tagged, tag: str) -> Any:
    """A value of that row."""
    return {shape.key: tag, **example(shape.table[tag])}


def wrong_types(shape: Shape) -> Iterator[tuple[Places, Any]]:
    """Values that have a wrong type in one place, each with the place; deep inside too."""
    yield from (((), value) for kind, value in _JSON.items() if kind not in _kinds(shape))
    match shape:
        case containers.ListOf() | Items() | Parts():
            good = example(shape.element)
            for places, bad in wrong_types(shape.element):
                yield (1, *places), [good, bad]
        case containers.MapOf():
            for places, bad in wrong_types(shape.element):
                yield ("other", *places), {"key": example(shape.element), "other": bad}
        case containers.Either():
            for inner in shape.shapes.values():
                yield from ((places, bad) for places, bad in wrong_types(inner) if places)
        case containers.Record():
            yield from _wrong_fields(shape)
        case containers.Tagged():
            for tag, row in shape.table.items():
                good = tagged_example(shape, tag)
                yield (shape.key,), good | {shape.key: 5}
                yield from ((places, good | bad) for places, bad in _wrong_rows(row))


def _wrong_rows(row: Shape) -> Iterator[tuple[Places, Any]]:
    return ((places, bad) for places, bad in wrong_types(row) if places and isinstance(bad, dict))


def _wrong_fields(record: containers.Record) -> Iterator[tuple[Places, Any]]:
    good = example(record)
    for name, shape in (*record.required.items(), *record.optional.items()):
        for places, bad in wrong_types(shape):
            if bad is not None or name in record.required:
                yield (name, *places), good | {name: bad}


def missing_fields(shape: Shape) -> Iterator[tuple[str, Any]]:
    """Values of a record that lack one required field, each with its name."""
    if isinstance(shape, containers.Record):
        good = example(shape)
        for name in shape.required:
            yield name, {key: value for key, value in good.items() if key != name}
        if shape.any_of:
            yield shape.any_of[0], {key: value for key, value in good.items() if key not in shape.any_of}


def _kinds(shape: Shape) -> set[type]:
    match shape:
        case scalars.Text() | scalars.Identifier() | scalars.OneOf():
            return {str}
        case scalars.Boolean():
            return {bool}
        case scalars.Integer():
            return {int}
        case scalars.Decimal():
            return {int, float}
        case containers.ListOf() | Items() | Parts():
            return {list}
        case containers.Either():
            return set(shape.shapes)
        case containers.MapOf() | containers.Object() | containers.Record() | containers.Tagged():
            return {dict}
        case _:
            return set(_JSON)
