"""SSEDecoder against a reading of the rules that is as plain as can be, wherever the bytes are cut."""

from __future__ import annotations

import re
from contextlib import nullcontext

from harness import Choices, fuzz, instrumented, pieces

with instrumented() if __name__ == "__main__" else nullcontext():
    from responses_middleware.errors import UpstreamProtocolError
    from responses_middleware.stream.sse import SSEDecoder


def plainly(data: bytes) -> list[bytes]:
    """WHATWG HTML, section 9.2; an end without a blank line counts as one, empty data is left out."""
    payloads: list[bytes] = []
    lines: list[bytes] = []
    for line in [*re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf")), b""]:
        if line.startswith(b"data:"):
            lines.append(line[5:].removeprefix(b" "))
        elif line == b"data":
            lines.append(b"")
        elif not line:
            payloads.append(b"\n".join(lines))
            lines = []
    return [payload for payload in payloads if payload.strip(b"\n")]


def decoded(data: bytes, size: int, max_frame: int = 1 << 20) -> list[bytes]:
    decoder = SSEDecoder(max_frame=max_frame)
    return [bytes(payload) for piece in pieces(data, size) for payload in decoder.feed(piece)] + [
        bytes(payload) for payload in decoder.finish()
    ]


def one_input(data: bytes) -> None:
    expected = plainly(data)
    assert decoded(data, 0) == expected
    assert decoded(data, Choices(data).of(1, 2, 3, 5, 17)) == expected
    try:
        bounded = decoded(data, 16, max_frame=64)
    except UpstreamProtocolError:
        return
    assert bounded == expected
    assert all(len(payload) < 64 * 2 for payload in bounded)


if __name__ == "__main__":
    fuzz(one_input)
