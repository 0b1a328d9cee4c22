"""Frames with a name of their own: errors in plain words, and signs of life that are no chunks."""

from __future__ import annotations

from typing import Any

import pytest
from replay import transcoded

from responses_middleware.errors import UpstreamError, UpstreamProtocolError

TEXT = b'data: {"choices": [{"index": 0, "delta": {"content": "Hel"}}]}\n\n'
MORE = b'data: {"choices": [{"index": 0, "delta": {"content": "lo"}}]}\n\n'
STOP = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
SIGNS = {
    "text": b"event: ping\ndata: ping\n\n",
    "a string": b'event: ping\ndata: "ping"\n\n',
    "a time": b"event: heartbeat\ndata: 1796090000\n\n",
    "an object": b'event: ping\ndata: {"type": "ping"}\n\n',
    "nothing": b"event: ping\n\n",
}


def answer(*pieces: bytes) -> dict[str, Any]:
    """The final response."""
    final: dict[str, Any] = transcoded(pieces)[-1]["response"]
    return final


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_a_sign_of_life_with_a_name_changes_nothing(sign: bytes) -> None:
    response = answer(sign, TEXT, sign, MORE, sign, STOP, sign, DONE)

    assert response["status"] == "completed"
    assert response["output"][0]["content"][0]["text"] == "Hello"


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_a_sign_of_life_completes_nothing(sign: bytes) -> None:
    assert answer(TEXT, sign)["status"] == "failed"


@pytest.mark.parametrize("name", [b"", b"event: message\n"])
def test_plain_words_without_a_name_of_their_own_fail_the_response(name: bytes) -> None:
    assert answer(TEXT, name + b"data: ping\n\n", STOP, DONE)["status"] == "failed"


def test_a_chunk_that_is_cut_fails_the_response_whatever_its_name() -> None:
    assert answer(TEXT, b'event: chunk\ndata: {"choices": [{"ind\n\n', STOP, DONE)["status"] == "failed"


def test_a_chunk_and_the_end_may_have_names() -> None:
    response = answer(b"event: chunk\n" + TEXT, b"event: chunk\n" + STOP, b"event: done\n" + DONE)

    assert response["status"] == "completed"


@pytest.mark.parametrize("data", [b"upstream overloaded", b'"upstream overloaded"', b'{"msg": "upstream overloaded"}'])
def test_the_words_of_an_error_need_no_json(data: bytes) -> None:
    response = answer(TEXT, b"event: error\ndata: " + data + b"\n\n", DONE)

    assert (response["status"], response["error"]["message"]) == ("failed", "upstream overloaded")


def test_an_error_in_plain_words_that_comes_first_is_a_status() -> None:
    with pytest.raises(UpstreamError) as raised:
        transcoded([b"event: error\ndata: upstream overloaded\n\n"])

    assert not isinstance(raised.value, UpstreamProtocolError)
    assert (raised.value.status, raised.value.message) == (502, "upstream overloaded")


@pytest.mark.parametrize(
    "words", [b"x" * 100_000, b'Traceback (most recent call last):\ndata:   File "/srv/x.py"', b"<html>nginx</html>"]
)
def test_the_words_are_bounded_and_never_internal(words: bytes) -> None:
    message = answer(TEXT, b"event: error\ndata: " + words + b"\n\n")["error"]["message"]

    assert len(message) <= 2000
    assert not any(internal in message for internal in ("/srv", "nginx"))
