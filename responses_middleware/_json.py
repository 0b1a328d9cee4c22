"""The one door to a JSON codec: orjson where it is installed, else the standard library. One contract, both tested.

- `loads` reads what an upstream sends. orjson refuses lone surrogates, NaN, Infinity and 1e400 and turns integers past
  64 bit into floats; in these cases the standard library reads, so that both codecs give the same values.
- `loads_exact` reads request bodies: the standard library, integers exact, NaN and Infinity refused (RFC 8259 has no
  such numbers), halves of characters repaired: clients cut texts anywhere, and an event that echoes one would be no
  UTF-8 when it is read.
- `dumps` writes compact UTF-8 and never fails on JSON values: lone surrogates go out as ASCII escapes, numbers that
  JSON can't express as null.

Both readers raise ValueError for what is not JSON or is nested deeper than the codec reads.
"""

from __future__ import annotations

import gc
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

try:
    import orjson

    HAS_ORJSON = True
except ImportError:
    HAS_ORJSON = False

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_AS_NINES = bytes.maketrans(b"012345678", b"999999999")
_LONG_INTEGER = b"9" * 19  # as many digits as 2**63 has


BIG_DOCUMENT = 1024 * 1024
"""Bytes from which Python's garbage collector rests while a document is read."""


@contextmanager
def _unhurried() -> Iterator[None]:
    """Keep the garbage collector from looking through a growing document again and again.

    There is nothing to find, JSON has no circles; and 12 MB of empty lists take 1.5 seconds with it, 0.2 without. They
    are put beside the old objects at the end, unless the app has frozen some of its own: a look through the young ones
    would be due at once.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()


# An escape of half a surrogate pair without the other half; a few others look like one, and do no harm.
# It begins with bytes that stand there as they are, so that most of a body is skipped.
_half_a_character = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F])"
).search


def repaired(text: str) -> str:
    """The same text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _all_repaired(value: Any) -> Any:
    match value:
        case str():
            return repaired(value)
        case dict():
            return {repaired(key): _all_repaired(item) for key, item in value.items()}
        case list():
            return [_all_repaired(item) for item in value]
        case _:
            return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:20]} is no number that can be passed on")
    return value


_decode_exact = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite_float).decode


def loads_exact(data: bytes) -> Any:
    """Read a request body; ValueError for what is not UTF-8 JSON."""
    try:
        with _unhurried() if len(data) >= BIG_DOCUMENT else nullcontext():
            value = _decode_exact(data.decode("utf-8-sig"))
            return _all_repaired(value) if _half_a_character(data) else value
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _stdlib_loads(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _stdlib_dumps(value: Any) -> bytes:
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return _encode_ascii(value).encode()
    except ValueError:  # NaN or infinite
        return _stdlib_dumps(_without_odd_numbers(value))


def _without_odd_numbers(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: _without_odd_numbers(item) for key, item in value.items()}
        case list() | tuple():
            return [_without_odd_numbers(item) for item in value]
        case _:
            return value


def loads(data: bytes) -> Any:
    """Read what an upstream sent; ValueError for what is not JSON."""
    if len(data) < BIG_DOCUMENT:
        return _loads(data)
    with _unhurried():
        return _loads(data)


def _fast_loads(data: bytes) -> Any:
    if _LONG_INTEGER in data.translate(_AS_NINES):  # a tenth of what a regular expression takes
        return _stdlib_loads(data)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _stdlib_loads(data)


def _fast_dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate, or an integer past 64 bit
        return _stdlib_dumps(value)


_loads = _fast_loads if HAS_ORJSON else _stdlib_loads
dumps = _fast_dumps if HAS_ORJSON else _stdlib_dumps
