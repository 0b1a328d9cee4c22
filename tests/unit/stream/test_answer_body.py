from __future__ import annotations

import time

import pytest

from responses_middleware.errors import UpstreamProtocolError
from responses_middleware.stream.body import AnswerBody

PRETTY = b'{\n  "a": [\n    1\n  ]\n}\n'


def body_of(*pieces: bytes, max_frame: int = 1000, max_document: int = 1000) -> tuple[AnswerBody, list[bytes]]:
    body = AnswerBody(max_frame=max_frame, max_document=max_document)
    found = [payload for piece in pieces for payload in body.feed(piece)]
    return body, found + body.finish()


def single_bytes(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]


BODIES = {
    "SSE": (b"data: a\n\ndata: b\n\n", "sse", [b"a", b"b"]),
    "SSE behind blank lines": (b"\r\n\n data: a\n\n", "sse", [b"a"]),
    "SSE behind a comment": (b": {\n\ndata: a\n\n", "sse", [b"a"]),
    "SSE behind a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", "sse", [b"a"]),
    "SSE with a line of JSON in it": (b'event: x\n{"a": 1}\n\ndata: a\n\n', "sse", [b"a"]),
    "a document": (b'{"a": 1}', "document", [b'{"a": 1}']),
    "a document and a line end": (b'{"a": 1}\n', "document", [b'{"a": 1}']),
    "a document and blank lines": (b'{"a": 1}\r\n\r\n \n', "document", [b'{"a": 1}']),
    "a document over several lines": (PRETTY, "document", [PRETTY]),
    "an array over several lines": (b'[\n{"a": 1}\n]', "document", [b'[\n{"a": 1}\n]']),
    "a document behind a byte order mark": (b'\xef\xbb\xbf\n {"a": 1}', "document", [b'{"a": 1}']),
    "a list": (b'[{"error": 1}]', "document", [b'[{"error": 1}]']),
    "documents, one a line": (b'{"a": 1}\n{"a": 2}\r\n\n{"a": 3}', "lines", [b'{"a": 1}', b'{"a": 2}\r', b'{"a": 3}']),
    "nothing": (b"", None, []),
    "blanks": (b" \n\t\r\n", None, []),
    "a byte order mark": (b"\xef\xbb\xbf", None, []),
    "text": (b"Internal Server Error", "sse", []),
}


@pytest.mark.parametrize("cut", [lambda data: [data], single_bytes], ids=["whole", "in single bytes"])
@pytest.mark.parametrize(("data", "framing", "payloads"), BODIES.values(), ids=BODIES)
def test_the_bytes_tell_how_an_answer_is_framed(cut, data: bytes, framing: str | None, payloads: list[bytes]) -> None:  # type: ignore[no-untyped-def]
    body, found = body_of(*cut(data))

    assert (body.framing, [payload.strip() for payload in found]) == (
        framing,
        [payload.strip() for payload in payloads],
    )


def test_one_byte_order_mark_is_dropped_however_the_bytes_come() -> None:
    data = b"\xef\xbb\xbf" * 4 + b"data: a\n\n"

    assert body_of(*single_bytes(data))[1] == body_of(data)[1]


def test_a_document_a_line_comes_out_when_its_line_ends() -> None:
    body, _ = body_of(b'{"a": 1}\n{"a": 2}\n{"a"')

    assert body.feed(b": 3}\n") != []


def test_a_document_beyond_the_limit_is_refused() -> None:
    with pytest.raises(UpstreamProtocolError, match="10 bytes"):
        body_of(b'{"a": ', b'"12345"}', max_document=10)


def test_a_line_beyond_the_limit_of_documents_is_refused() -> None:
    with pytest.raises(UpstreamProtocolError):
        body_of(b'{"a": 1}\n{"a": 2}\n', b'{"a": "1234"', max_document=10)


def test_lines_together_may_be_larger_than_the_limit() -> None:
    assert len(body_of(*[b'{"a": 1}\n'] * 100, max_document=20)[1]) == 100


def test_a_frame_beyond_the_limit_of_frames_is_refused() -> None:
    with pytest.raises(UpstreamProtocolError):
        body_of(b"data: 12345", max_frame=10)


def test_blanks_before_an_answer_cost_no_memory() -> None:
    body = AnswerBody(max_frame=10, max_document=10)

    for _ in range(1000):
        body.feed(b"\n   ")

    assert len(body._head) < 10


def test_the_time_is_linear_in_the_length_of_a_document_over_many_lines() -> None:
    began = time.process_time()

    body_of(b"{\n", *[b'"a": 1,\n'] * 200_000, max_document=1 << 24)

    assert time.process_time() - began < 5


def test_the_time_is_linear_in_the_length_of_a_line() -> None:
    began = time.process_time()

    body_of(b'{"a": 1}\n{"a": "', *[b"x" * 16] * 100_000, max_document=1 << 24)

    assert time.process_time() - began < 5


def test_only_sse_is_ever_between_frames() -> None:
    assert not body_of(b'{"a": 1}\n{"a": 2}\n')[0].between_frames
    assert body_of(b"data: a\n\n")[0].between_frames
