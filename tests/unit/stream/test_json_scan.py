from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responses_middleware._json import repaired
from responses_middleware.stream.json_scan import JSONScanner, MemberText

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def is_whole(*pieces: str) -> bool:
    scanner = JSONScanner()
    for piece in pieces:
        scanner.feed(piece)
    return scanner.is_whole


def decoded(*pieces: str) -> str:
    member = MemberText()
    return repaired("".join([*(member.feed(piece) for piece in pieces), member.finish()]))


# -- JSONScanner
@given(value=st.dictionaries(st.text(), values), ascii=st.booleans())
def test_an_object_is_whole_at_its_last_character_and_not_before(value: object, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii)

    assert is_whole(*text)
    assert not is_whole(*text[:-1])


@pytest.mark.parametrize(
    "text", ['{"a": "}"', '{"a": "\\"}"', '{"a": "\\\\\\"}', '{"a": {"b": [1]}', '{"a": ["}"', "{"]
)
def test_brackets_inside_strings_and_inner_values_close_nothing(text: str) -> None:
    assert not is_whole(text)
    assert not is_whole(*text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "1", '"{}"', "null", "run {}", "f() { } g()", "}", "]{}", "[[]]", "[ -f x ] && { ls; }", "{ ls; }"],
)
def test_text_that_is_no_object_is_never_whole(text: str) -> None:
    assert not is_whole(text)
    assert not is_whole(*text)


@pytest.mark.parametrize("text", ["{}", " \n{ \n }", '{"a": "\\\\"}'])
def test_small_values_are_whole(text: str) -> None:
    assert is_whole(text)
    assert is_whole(*text)


@pytest.mark.parametrize(
    ("text", "cut"), [("", False), (" {", True), ('{"a"', True), ("{}", False), ("{ ls", False), ("x", False)]
)
def test_an_object_that_did_not_end_is_cut(text: str, cut: bool) -> None:
    scanner = JSONScanner()
    for piece in text:
        scanner.feed(piece)

    assert scanner.is_cut == cut


def test_a_piece_says_where_the_object_ended() -> None:
    scanner = JSONScanner()

    assert [scanner.feed(piece) for piece in ('{"a":', "{}}</x>", "more")] == [5, 3, 4]


def test_a_whole_value_stays_whole() -> None:
    assert is_whole("{}", "{", '"')


def test_scanning_is_linear_in_the_number_of_pieces() -> None:
    began = time.process_time()

    is_whole('{"a": "', *["\\n[{"] * 200_000, '"}')

    assert time.process_time() - began < 5


# -- MemberText
@given(text=st.text(st.characters()), ascii=st.booleans(), data=st.data())
def test_the_member_is_decoded_wherever_it_is_cut(text: str, ascii: bool, data: st.DataObject) -> None:
    written = json.dumps({"input": text}, ensure_ascii=ascii)
    place = data.draw(st.integers(0, len(written)))

    assert decoded(*written) == repaired(text)
    assert decoded(written[:place], written[place:]) == repaired(text)


@given(text=st.text(st.sampled_from('ab\\"u0041dn\ud83d\n'), max_size=30), place=st.integers(0, 40))
def test_broken_escapes_come_out_the_same_wherever_they_are_cut(text: str, place: int) -> None:
    written = '{"input":"' + text

    assert decoded(*written) == decoded(written) == decoded(written[:place], written[place:])


def test_text_comes_out_as_soon_as_it_is_certain() -> None:
    member = MemberText()

    assert [member.feed(piece) for piece in (' {"inp', 'ut" :"a', "b\\", "n", "\\u00", "41c", '"', "}")] == [
        *["", "a", "b", "\n", "", "Ac", "", ""]
    ]


def test_half_a_surrogate_pair_comes_out_alone_for_the_flow_to_join() -> None:
    member = MemberText()
    member.feed('{"input":"')

    assert member.feed("\\ud83d") + member.feed("\\ude00") == "\ud83d\ude00"


@pytest.mark.parametrize("text", ["ls -l", "*** Begin Patch\n}", '"quoted"', "[1]", "0"])
def test_text_that_begins_no_object_passes_as_it_is(text: str) -> None:
    assert decoded(*text) == text


def test_raw_text_passes_at_once() -> None:
    assert MemberText().feed("ls") == "ls"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"cmd": "ls"}', "ls"),  # the one member under another name
        ('{"why": "x", "input": "ls"}', "ls"),
        ('{"in\\u0070ut": "ls"}', "ls"),
        ('{"input": {"a": "é"}}', '{"a": "é"}'),
        ('{"input": 5}', "5"),
        ('{"input": null}', "null"),
        ('{"a": "b", "c": "d"}', '{"a": "b", "c": "d"}'),
        ("{}", ""),
        (" { } ", ""),
        ("{not JSON", "{not JSON"),
        ("{" + " " * 2000 + '"input": "ls"}', "ls"),
        ('{"a": "b"', '{"a": "b"'),
        ('{"input":"a\\qb"}', "a\\qb"),
        ('{"input":"a\nb\tc"}', "a\nb\tc"),
        ('{"input":"a\\n\\q"}', "a\n\\q"),
    ],
)
def test_objects_of_other_shapes_are_read_when_they_have_ended(written: str, text: str) -> None:
    assert decoded(written) == text
    assert decoded(*written) == text


@pytest.mark.parametrize("written", ['{"input":"', '{"input":"\\', '{"input":"\\u00', '{"input":"\\ud83'])
def test_an_escape_that_never_ended_is_left_out(written: str) -> None:
    assert decoded(written) == ""


def test_what_stands_behind_the_member_is_left_out() -> None:
    assert decoded('{"input":"a"', ',"note":"b"}') == "a"


def test_an_object_nested_too_deeply_is_passed_as_text() -> None:
    text = '{"a":' + "[" * 200_000

    assert decoded(text) == text


@pytest.mark.parametrize("piece", ["x", "\\n", '{"a":"b"}', " "])
def test_decoding_is_linear_in_the_number_of_pieces(piece: str) -> None:
    began = time.process_time()

    decoded('{"input":"', *[piece] * 100_000)
    decoded('{"other":"', *[piece] * 100_000)
    decoded("{", *[piece] * 100_000)

    assert time.process_time() - began < 10
