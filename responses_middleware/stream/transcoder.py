"""Bytes of a chat answer in, bytes of a Responses stream out: framing, codec, machine and fast path in one hand."""

from __future__ import annotations

from collections.abc import Callable

from .. import _json
from ..errors import ResponsesError, UpstreamError, UpstreamProtocolError
from ..translate.completion import to_chunk
from ..translate.failure import find_failure, named_failure
from .body import AnswerBody
from .events import Event
from .frames import DONE, to_frame
from .machine import ResponseStream
from .splice import Splice
from .sse import NamedError, NamedOtherwise

_END = b"[DONE]"


class Transcoder:
    """Rewrite the answer of a chat server as it comes; all but the terminal event, which `last_frames` writes.

    Nothing is written before the first frame is understood. An error in it is raised as UpstreamError, so that it can
    still become an HTTP status; every later one becomes `response.failed`.

    Args:
        stream: the machine, not started.
        max_frame, max_document: bytes, as AnswerBody has them.
        done_sentinel: ends the stream with `data: [DONE]`.
        observe: called with each event; the fast path is off then.
        silent: no bytes are wanted; `feed` and `finish` return none.
    """

    __slots__ = (
        "_body",
        "_done_sentinel",
        "_observe",
        "_silent",
        "_splice",
        "begun",
        "copy",
        "frames_read",
        "is_stream",
        "stream",
        "terminal",
    )

    def __init__(
        self,
        stream: ResponseStream,
        *,
        max_frame: int,
        max_document: int,
        done_sentinel: bool = False,
        observe: Callable[[Event], None] | None = None,
        silent: bool = False,
    ) -> None:
        self.stream = stream
        self.begun = False
        # The upstream calls its answer a stream: one that ends without a frame has failed as such.
        self.is_stream = True
        self.frames_read = 0  # data frames; comments are no progress
        # The last event; written by `last_frames`, so that it can be stored before it is told.
        self.terminal: Event | None = None
        self._body = AnswerBody(max_frame=max_frame, max_document=max_document)
        self._splice = None if observe or silent else Splice(stream, max_frame)
        # The fast path: rewrites a read that only adds text as those before it, or answers None; `feed` takes any.
        self.copy: Callable[[bytes], bytes | None] = self._splice.copy if self._splice else _copy_nothing
        self._done_sentinel = done_sentinel
        self._observe = observe
        self._silent = silent

    @property
    def ended(self) -> bool:
        """Whether the terminal event is written: nothing that comes now counts."""
        return self.stream.ended

    def begin(self) -> bytes:
        """The first frames, if they are not written yet; for a server that is silent after its headers."""
        if self.begun:
            return b""
        self.begun = True
        return b"".join(self._frames(self.stream.start()))

    def feed(self, data: bytes) -> bytes:
        """Rewrite what came."""
        out: list[bytes] = []
        at, end, splice, stream = 0, len(data), self._splice, self.stream
        while at < end and not stream.ended:
            if splice is not None and splice.armed:
                copied = splice.copy_many(data, at, out)
                if copied != at:
                    self.frames_read += 1
                    at = copied
                    continue
                splice.disarm()
            cut = data.find(b"\n\n", at) + 2
            piece = data[at : cut if cut > 1 else end] if at or cut > 1 else data
            at += len(piece)
            self._guard(out, self._body.feed, piece)
        return out[0] if len(out) == 1 else b"".join(out)

    def finish(self, error: ResponsesError | None = None) -> bytes:
        """Write the rest: the upstream's answer has ended, or broke."""
        out: list[bytes] = []
        if not self.ended and error is None:
            self._guard(out, self._body.finish)
        if not self.ended:
            if not self.begun and (error or not self.is_stream):
                raise error or UpstreamProtocolError("the upstream's answer is no chat completion")
            self._start(out)
            self._end(out, error=error)
        return b"".join(out)

    def last_frames(self) -> bytes:
        """The terminal event on the wire, once `ended`; what was changed in it is in it."""
        if self.terminal is None or self._silent:
            return b""
        return to_frame(self.terminal) + (DONE if self._done_sentinel else b"")

    def _guard(self, out: list[bytes], payloads: Callable[..., list[bytes]], *data: bytes) -> None:
        """Read payloads; what can't be read fails the response."""
        try:
            for payload in payloads(*data):
                if not self.stream.ended:
                    self._payload(payload, out)
        except UpstreamProtocolError as error:
            if not self.begun:
                raise
            self._end(out, error=error)

    def _payload(self, payload: bytes, out: list[bytes]) -> None:
        if payload[:1] == b":" or (type(payload) is NamedOtherwise and payload.lstrip()[:1] not in (b"{", b"[")):
            return  # a keep-alive sent as data, or under a name of its own: `event: ping`, `data: ping`
        self.frames_read += 1
        if self._splice:
            self._splice.disarm()
        if payload.strip() == _END:
            self._start(out)
            self._end(out, done=True)
            return
        try:
            chunk = _json.loads(payload)
        except ValueError as error:
            if type(payload) is not NamedError:
                raise UpstreamProtocolError("a frame of the upstream is not JSON") from error
            chunk = payload.decode("utf-8", "replace")  # its words, without any JSON
        if self._body.framing == "document":
            chunk = self._whole(chunk)
        if type(payload) is NamedError:
            failure: UpstreamError | None = named_failure(chunk)
        else:
            failure = None if self.begun else find_failure(chunk)  # later ones are the machine's to find
        if failure and not self.begun:
            raise failure
        self._start(out)
        if failure:
            self._end(out, error=failure)
            return
        events = self.stream.feed(chunk)
        out += self._frames(events)
        if self._splice and self._body.between_frames:
            self._splice.learn(payload, events)

    def _whole(self, document: object) -> object:
        failure = find_failure(document)
        return document if failure else to_chunk(document)

    def _start(self, out: list[bytes]) -> None:
        if not self.begun:
            out.append(self.begin())

    def _end(self, out: list[bytes], *, error: ResponsesError | None = None, done: bool = False) -> None:
        if self._splice:
            self._splice.disarm()
        out += self._frames(self.stream.finish(error, done=done))

    def _frames(self, events: list[Event]) -> list[bytes]:
        if self._observe:
            for event in events:
                self._observe(event)
        if self.ended and events:
            *events, self.terminal = events
        return [] if self._silent else [to_frame(event) for event in events]


def _copy_nothing(_data: bytes) -> None:
    return None
