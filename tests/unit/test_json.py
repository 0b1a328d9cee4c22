"""One contract, two codecs: what is read and written does not depend on which is installed."""

from __future__ import annotations

import contextlib
import gc
import json
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responses_middleware import _json

CODECS = ["fast", "standard"]
READ = {"fast": _json._fast_loads, "standard": _json._stdlib_loads}
WRITE = {"fast": _json._fast_dumps, "standard": _json._stdlib_dumps}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
odd_text = st.text(st.characters(codec=None), max_size=8)  # lone surrogates, too


def test_the_fast_codec_is_used_where_it_is_installed() -> None:
    assert _json.HAS_ORJSON
    assert (_json._loads, _json.dumps) == (_json._fast_loads, _json._fast_dumps)


def test_without_the_fast_codec_the_standard_library_does_it() -> None:
    program = (
        "import sys; sys.modules['orjson'] = None\n"
        "from responses_middleware import _json\n"
        "assert not _json.HAS_ORJSON and _json._loads is _json._stdlib_loads and _json.dumps is _json._stdlib_dumps\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


@given(values)
def test_both_write_what_both_read(value: Any) -> None:
    for write in WRITE.values():
        for read in READ.values():
            assert read(write(value)) == value


@given(st.lists(odd_text) | st.dictionaries(odd_text, odd_text))
def test_lone_surrogates_are_written_as_escapes_and_read_back(value: Any) -> None:
    for codec in CODECS:
        written = WRITE[codec](value)
        written.decode("utf-8")
        assert READ["fast"](written) == READ["standard"](written)


@given(
    st.recursive(odd_text, lambda inner: st.lists(inner) | st.dictionaries(odd_text, inner), max_leaves=8),
    st.booleans(),
)
def test_a_request_holds_no_half_of_a_character(value: Any, spaced: bool) -> None:
    data = json.dumps(value, separators=(", ", ": ") if spaced else (",", ":")).encode()

    read = _json.loads_exact(data)

    json.dumps(read, ensure_ascii=False).encode()
    assert read == json.loads(data) or b"\\ud" in data


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'"a\\ud800b"', "a\ufffdb"),
        (b'"\\uDFFF"', "\ufffd"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\ud83d\\ud83d\\ude00"', "\ufffd\U0001f600"),
        (b'"\\ude00\\ud83d"', "\ufffd\ufffd"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'{"\\ud800": ["\\ud800", 5, null]}', {"\ufffd": ["\ufffd", 5, None]}),
    ],
)
def test_half_a_character_in_a_request_is_replaced(data: bytes, value: Any) -> None:
    assert _json.loads_exact(data) == value


@given(st.binary(max_size=40) | values.map(lambda value: json.dumps(value).encode()[:-1]))
def test_both_read_the_same_bytes_in_the_same_way(data: bytes) -> None:
    outcomes = []
    for read in READ.values():
        try:
            outcomes.append(repr(read(data)))
        except ValueError:
            outcomes.append("refused")

    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"18446744073709551616", 2**64),
        (b"-9223372036854775809", -(2**63) - 1),
        (b"[123456789012345678901234567890]", [123456789012345678901234567890]),
        (b'"\\ud800"', "\ud800"),
        (b'{"\\udfff": 1}', {"\udfff": 1}),
        (b"1e400", math.inf),
        (b"[Infinity, -Infinity]", [math.inf, -math.inf]),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'"\\u0000"', "\0"),
        (b"1.0", 1.0),
        (b" \n[] ", []),
        ('"é\u2028"'.encode(), "é\u2028"),
        (b'"\xff"', "\ufffd"),
    ],
)
def test_what_upstreams_send_is_read(codec: str, data: bytes, value: Any) -> None:
    assert READ[codec](data) == value


@pytest.mark.parametrize("codec", CODECS)
def test_nan_is_read(codec: str) -> None:
    assert math.isnan(READ[codec](b"[NaN]")[0])


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("data", [b"", b"{", b"[1,]", b"{'a': 1}", b"1 2", b"[" * 200_000, b"nul"])
def test_what_is_not_json_is_a_value_error(codec: str, data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (each codec has its own words)
        READ[codec](data)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"a": [1, None, True]}, b'{"a":[1,null,true]}'),
        ("é\u2028", '"é\u2028"'.encode()),
        ([math.nan, math.inf, {"a": -math.inf}], b'[null,null,{"a":null}]'),
        (["\ud800", math.nan], b'["\\ud800",null]'),
        ("\ud800", b'"\\ud800"'),
        (2**70, b"1180591620717411303424"),
        ({"a": 2**70, "b": math.nan}, b'{"a":1180591620717411303424,"b":null}'),
    ],
)
def test_writing_is_compact_utf_8_and_never_fails(codec: str, value: Any, written: bytes) -> None:
    assert WRITE[codec](value) == written


@pytest.mark.parametrize("codec", CODECS)
def test_writing_goes_deeper_than_requests_may(codec: str) -> None:
    value: Any = 1
    for _ in range(400):
        value = [value]

    assert WRITE[codec](value) == b"[" * 400 + b"1" + b"]" * 400


@pytest.mark.parametrize("codec", CODECS)
def test_a_subclass_of_dict_is_an_object(codec: str) -> None:
    class Event(dict[str, Any]):
        pass

    assert WRITE[codec](Event(a=1)) == b'{"a":1}'


# -- request bodies
@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"18446744073709551617", 18446744073709551617),
        (b"\xef\xbb\xbf[]", []),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_a_body_is_read_exactly(data: bytes, value: Any) -> None:
    assert _json.loads_exact(data) == value


@pytest.mark.parametrize(
    "data",
    [b"NaN", b"[Infinity]", b"-Infinity", b'"\xff"', "[]".encode("utf-16"), b"[" * 200_000, b"9" * 5000, b"", b"[] []"],
)
def test_a_body_that_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        _json.loads_exact(data)


BIG = b"[" + b"[]," * (_json.BIG_DOCUMENT // 3) + b"[]]"


@pytest.mark.parametrize("read", [_json.loads, _json.loads_exact, READ["standard"]])
def test_the_garbage_collector_rests_while_a_big_document_is_read(read: Callable[[bytes], Any]) -> None:
    runs: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            runs.append(phase)

    gc.callbacks.append(note)
    try:
        value = read(BIG)
        seen = len(runs)
    finally:
        gc.callbacks.remove(note)

    assert len(value) == _json.BIG_DOCUMENT // 3 + 1
    if read is READ["standard"]:  # the codec by itself
        assert seen > 10
    else:
        assert seen <= 1  # behind it


@pytest.mark.parametrize("document", [BIG, BIG[:-1]])
@pytest.mark.parametrize("read", [_json.loads, _json.loads_exact])
@pytest.mark.parametrize("was_on", [True, False])
def test_the_garbage_collector_is_left_as_it_was(document: bytes, read: Callable[[bytes], Any], was_on: bool) -> None:
    try:
        if not was_on:
            gc.disable()
        with contextlib.suppress(ValueError):
            read(document)
        assert gc.isenabled() is was_on
    finally:
        gc.enable()
