from __future__ import annotations

import time

import pytest

from responses_middleware.errors import UpstreamProtocolError
from responses_middleware.stream import SSEDecoder
from responses_middleware.stream.sse import NamedError, NamedOtherwise

STREAM = (
    b'\xef\xbb\xbf: a comment\nid: 1\nretry: 10\ndata: {\r\ndata:  "n": 1\rdata:}\n\n'
    b"event: message\ndata:\xe2\x80\xa8\xc2\x85\x00\n\n\ndata: last"
)
PAYLOADS = [b'{\n "n": 1\n}', b"\xe2\x80\xa8\xc2\x85\x00", b"last"]


def payloads(*pieces: bytes, **options: int) -> list[bytes]:
    decoder = SSEDecoder(**options)
    return [payload for piece in pieces for payload in decoder.feed(piece)] + decoder.finish()


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_frame_ends_with_a_blank_line_whatever_ends_lines(line_end: bytes) -> None:
    decoder = SSEDecoder()

    found = decoder.feed(b"data: one\n\ndata: two\n\n".replace(b"\n", line_end))

    assert found == [b"one", b"two"]


@pytest.mark.parametrize("place", range(len(STREAM) + 1))
def test_the_same_bytes_give_the_same_payloads_wherever_they_are_cut(place: int) -> None:
    assert payloads(STREAM[:place], STREAM[place:]) == PAYLOADS


def test_single_bytes_give_the_same_payloads() -> None:
    assert payloads(*(STREAM[place : place + 1] for place in range(len(STREAM)))) == PAYLOADS


def test_an_empty_read_inside_a_line_end_changes_nothing() -> None:
    assert payloads(b"data: a\r", b"", b"\ndata: b\r\n\r\n") == [b"a\nb"]


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert payloads(b"\xef\xbb", b"\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [b"a"]


@pytest.mark.parametrize(
    "line", [b": comment", b":", b"id: 7", b"retry: 3000", b"event: error", b"other: x", b"database: x", b" data: x"]
)
def test_lines_that_are_no_data_are_left_out(line: bytes) -> None:
    assert payloads(b"data: a\n" + line + b"\n\n" + line + b"\n\n") == [b"a"]


@pytest.mark.parametrize(
    ("line", "payload"), [(b"data:a", b"a"), (b"data: a", b"a"), (b"data:  a", b" a"), (b"data:\ta", b"\ta")]
)
def test_one_space_behind_the_colon_is_no_data(line: bytes, payload: bytes) -> None:
    assert payloads(line + b"\n\n") == [payload]


def test_data_lines_of_a_frame_are_joined_with_line_feeds() -> None:
    assert payloads(b"data: a\ndata\ndata:\ndata: b\n\n") == [b"a\n\n\nb"]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x00"])
def test_other_separators_of_text_end_no_line(mark: str) -> None:
    data = f"a{mark}b".encode()

    assert payloads(b"data: " + data + b"\n\n") == [data]


def test_empty_frames_say_nothing() -> None:
    assert payloads(b"\n\ndata:\n\ndata\n\n: c\n\n\n\n") == []


@pytest.mark.parametrize("name", [b"event: error\n", b"event:error\r\n", b"event: message\nevent: error\n"])
def test_a_frame_that_is_named_error_is_told_apart(name: bytes) -> None:
    found = payloads(name + b"data: a\n\ndata: b\n\n")

    assert found == [b"a", b"b"]
    assert [type(payload) for payload in found] == [NamedError, bytes]


def test_the_name_of_a_frame_may_come_behind_its_data() -> None:
    assert [type(payload) for payload in payloads(b"data: a\nevent: error\n\n")] == [NamedError]


def test_the_name_of_an_empty_frame_is_not_that_of_the_next() -> None:
    assert [type(payload) for payload in payloads(b"event: error\n\ndata: a\n\n")] == [bytes]


@pytest.mark.parametrize("name", [b"exception", b"failure"])
def test_other_names_of_errors_are_told_apart_too(name: bytes) -> None:
    assert [type(payload) for payload in payloads(b"event: " + name + b"\ndata: a\n\n")] == [NamedError]


@pytest.mark.parametrize(
    ("name", "kind"),
    [(b"message", bytes), (b"", bytes), (b"errors", NamedOtherwise), (b"ping", NamedOtherwise)],
)
def test_another_name_is_no_error(name: bytes, kind: type[bytes]) -> None:
    assert [type(payload) for payload in payloads(b"event: " + name + b"\ndata: a\n\n")] == [kind]


def test_a_name_that_was_read_alone_counts_for_its_frame_alone() -> None:
    decoder = SSEDecoder()

    found = [
        payload for piece in (b"event: ping\n", b"data: {}\n\n", b"data: {}\n\n") for payload in decoder.feed(piece)
    ]

    assert [type(payload) for payload in found] == [NamedOtherwise, bytes]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_a_last_frame_without_its_blank_line_counts(end: bytes) -> None:
    assert payloads(b"data: a\n\ndata: b" + end) == [b"a", b"b"]


def test_what_stands_in_no_frame_at_the_end_is_nothing() -> None:
    assert payloads(b"data: a\n\nevent: done") == [b"a"]


def test_a_line_may_have_just_as_many_bytes_as_the_limit() -> None:
    assert payloads(b"data: 1234\n\n", max_frame=10) == [b"1234"]


def test_an_unfinished_line_beyond_the_limit_is_refused() -> None:
    decoder = SSEDecoder(max_frame=10)
    decoder.feed(b"data: 1234")

    with pytest.raises(UpstreamProtocolError, match="10 bytes"):
        decoder.feed(b"5")


def test_a_frame_of_many_lines_beyond_the_limit_is_refused() -> None:
    decoder = SSEDecoder(max_frame=10)

    with pytest.raises(UpstreamProtocolError):
        decoder.feed(b"data: 123\n" * 4)


def test_a_frame_of_many_empty_lines_is_bounded_too() -> None:
    decoder = SSEDecoder(max_frame=10)

    with pytest.raises(UpstreamProtocolError):
        decoder.feed(b"data:\n" * 20)


def test_frames_together_may_be_larger_than_the_limit() -> None:
    assert payloads(b"data: 123\n\n" * 100, max_frame=10) == [b"123"] * 100


def test_the_time_is_linear_in_the_length_of_a_line() -> None:
    began = time.process_time()

    found = payloads(b"data: ", *[b"x" * 32] * 100_000, b"\n\n")

    assert len(found[0]) == 3_200_000
    assert time.process_time() - began < 5


@pytest.mark.parametrize("data", [b"", b"data: a", b"data: a\n", b"data: a\r\n\r", b": comment"])
def test_inside_a_frame_nothing_is_between_frames(data: bytes) -> None:
    decoder = SSEDecoder()
    decoder.feed(data)

    assert not decoder.between_frames


@pytest.mark.parametrize("data", [b"data: a\n\n", b"data: a\r\n\r\n", b": comment\n\n"])
def test_behind_a_blank_line_one_is_between_frames(data: bytes) -> None:
    decoder = SSEDecoder()
    decoder.feed(data)

    assert decoder.between_frames
