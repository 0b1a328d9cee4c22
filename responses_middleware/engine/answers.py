"""The two forms in which a client gets its answer: a stream of events, and one JSON object. Both take the upstream's
answer as it comes.

Nothing is sent before the upstream's status is known and its first frame understood, so that its 401 stays a 401 and
its 429 a 429.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from .. import _json
from ..errors import ResponsesError, UpstreamError, UpstreamProtocolError
from ..options import Limits
from ..replies import send_error
from ..stream.frames import KEEPALIVE
from ..stream.transcoder import Transcoder
from ..translate.failure import from_error_body
from ..upstream.headers import answer_headers
from .watch import Pulse

if TYPE_CHECKING:
    from starlette.types import Message, Send

    from ..upstream.base import Headers

_now = time.monotonic


class Keeper(Protocol):
    """Who stores what is finished."""

    async def keep(self, response: dict[str, Any]) -> None:
        """Store a response; where that fails it becomes `store: false`, and nothing is raised."""


class Answer:
    """What both forms share: the upstream's status, its error body, and the end. It is the Sink of one turn.

    Args:
        transcoder: reads the answer.
        headers: of ours, sent beside those of the upstream.
        keeper: stores the finished response, before the client can learn that it is finished.
        judge: what the client is told of a refusal, at once, whatever the app still does; it answers None where the
            same is asked otherwise. None: every refusal as it is.
    """

    __slots__ = (
        "_copy",
        "_error_body",
        "_error_room",
        "_headers",
        "_judge",
        "_keeper",
        "_own_headers",
        "_same_origin",
        "_send",
        "_status",
        "abandoned",
        "begun",
        "client_gone",
        "error",
        "finished",
        "is_asked_again",
        "pulse",
        "transcoder",
    )

    def __init__(
        self,
        transcoder: Transcoder,
        send: Send,
        *,
        headers: Iterable[tuple[bytes, bytes]],
        same_origin: bool,
        limits: Limits,
        keeper: Keeper,
        judge: Callable[[UpstreamError], UpstreamError | None] | None,
    ) -> None:
        self.transcoder = transcoder
        self.pulse = Pulse()
        self.error: UpstreamError | None = None  # instead of an answer
        self.is_asked_again = False
        self.begun = False  # something was sent
        self.finished = False
        self.abandoned = False
        self.client_gone = False  # our own send said so
        self._send = send
        self._own_headers = headers
        self._same_origin = same_origin
        self._keeper = keeper
        self._judge = judge
        self._status = 0
        self._headers: Sequence[tuple[bytes, bytes]] = ()
        self._error_body: list[bytes] | None = None
        self._error_room = limits.max_error_bytes
        self._copy = transcoder.copy

    # -- the Sink
    async def start(self, status: int, headers: Headers) -> None:
        self.pulse.received = now = time.monotonic()
        self._status = status
        self._headers = answer_headers(headers, same_origin=self._same_origin)
        self.transcoder.is_stream = any(
            name == b"content-type" and b"event-stream" in value.lower() for name, value in headers
        )
        if not 200 <= status < 300:
            self._error_body = []
            self.pulse.error_since = now

    async def body(self, data: bytes) -> None:
        self.pulse.received = now = time.monotonic()
        if self._error_body is None:
            await self._answer(data, now)
        elif self._error_room > 0:
            self._error_body.append(data[: self._error_room])
            self._error_room -= len(data)
            if self._error_room <= 0:
                self.abandoned = True
                await self.refuse()

    async def end(self) -> None:
        if self._error_body is not None:
            await self.refuse()
        else:
            await self.conclude(None)

    # -- for the engine
    async def refuse(self) -> None:
        """Take what was read of the upstream's refusal as the error."""
        body = b"".join(self._error_body or [])
        await self._refused(from_error_body(self._status, body, list(self._headers)))

    async def _refused(self, error: UpstreamError) -> None:
        """There is no answer: tell the client, unless the same is asked otherwise."""
        error.headers = error.headers or list(self._headers)
        told = self._judge(error) if self._judge is not None else error
        self.error, self.finished, self.is_asked_again = told or error, True, told is None
        if told is not None:
            self.begun = self.pulse.finished = True
            await send_error(self._deliver, told)

    @property
    def is_refused(self) -> bool:
        """Whether the upstream's status says that there is no answer."""
        return self._error_body is not None

    @property
    def is_answered(self) -> bool:
        """Whether the upstream has answered to the end, and did not fail."""
        return self.error is None and self.transcoder.ended and self.transcoder.stream.failure is None

    async def keepalive(self) -> None:
        """Keep a quiet connection open."""

    async def conclude(self, error: ResponsesError | None) -> None:
        """The upstream's answer has ended, or broke."""
        raise NotImplementedError

    async def _answer(self, data: bytes, now: float) -> None:
        raise NotImplementedError

    async def _keep_response(self) -> None:
        """Store what is finished before the client learns of it; a store that fails is told as `store: false`."""
        terminal = self.transcoder.terminal
        if terminal is not None:
            await self._keeper.keep(terminal["response"])

    async def _deliver(self, message: Message) -> None:
        """Send to the client; OSError is how servers of ASGI 2.4 tell that it is gone."""
        try:
            await self._send(message)
        except OSError:
            self.client_gone = True
            raise

    def _all_headers(self, *more: tuple[bytes, bytes]) -> Headers:
        headers = [*self._headers, *self._own_headers, *more]
        if any(name == b"x-request-id" for name, _ in headers):
            return headers
        return [*headers, (b"x-request-id", f"req_{secrets.token_hex(16)}".encode())]  # the SDKs' `_request_id`


class StreamedAnswer(Answer):
    """Server-sent events, one send for each read of the upstream."""

    __slots__ = ("_commenting", "_sending")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._sending = False  # two sends never overlap
        self._commenting: anyio.Event | None = None  # the supervisor's comment is on its way

    async def body(self, data: bytes) -> None:
        # By far the most reads are one frame that only adds text: one call, one send.
        out = self._copy(data) if self._commenting is None else None
        if out is None:
            await super().body(data)
            return
        self.pulse.passed = _now()
        self._sending = True
        try:
            await self._send({"type": "http.response.body", "body": out, "more_body": True})
        except OSError:
            self.client_gone = True
            raise
        self._sending = False

    async def _answer(self, data: bytes, now: float) -> None:
        transcoder, pulse = self.transcoder, self.pulse
        read = transcoder.frames_read
        try:
            out = transcoder.feed(data)
        except UpstreamError as error:  # in the first frame: it can still be a status
            await self._refused(error)
            return
        if transcoder.frames_read != read:
            pulse.progress = now
        if transcoder.ended:
            await self._finish(out)
        elif out:
            await self._write(out)

    async def conclude(self, error: ResponsesError | None) -> None:
        if self.finished:
            return
        try:
            out = self.transcoder.finish(error)
        except UpstreamError as failure:
            await self._refused(failure)
            return
        await self._finish(out)

    async def keepalive(self) -> None:
        if self.finished or self._sending or self._status == 0 or self.is_refused:
            return  # never before the upstream's status: an error must still be able to be one
        self._commenting = anyio.Event()
        try:
            await self._write_now(self.transcoder.begin() or KEEPALIVE)
        finally:
            commenting, self._commenting = self._commenting, None
            commenting.set()

    async def _finish(self, out: bytes) -> None:
        await self._keep_response()
        self.finished = self.pulse.finished = True
        self.abandoned = self.transcoder.stream.failure is not None
        await self._write(out + self.transcoder.last_frames(), more=False)

    async def _write(self, data: bytes, *, more: bool = True) -> None:
        if self._commenting is not None:
            await self._commenting.wait()
        self._sending = True
        await self._write_now(data, more=more)
        self._sending = False

    async def _write_now(self, data: bytes, *, more: bool = True) -> None:
        if not self.begun:
            self.begun = True
            await self._deliver({"type": "http.response.start", "status": 200, "headers": self._stream_headers()})
            self._headers, self._judge = (), None  # there is no refusal now; judging holds the whole chat request
        self.pulse.sent = time.monotonic()
        await self._deliver({"type": "http.response.body", "body": data, "more_body": more})

    def _stream_headers(self) -> Headers:
        return self._all_headers(
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-cache"),
            (b"x-accel-buffering", b"no"),  # nginx would collect the stream
        )


class WholeAnswer(Answer):
    """One JSON object; a stream of the upstream is folded into it."""

    __slots__ = ()

    async def _answer(self, data: bytes, now: float) -> None:
        read = self.transcoder.frames_read
        try:
            self.transcoder.feed(data)
        except UpstreamError as error:
            await self._refused(error)
            return
        if self.transcoder.frames_read != read:
            self.pulse.progress = now
        if self.transcoder.ended:
            await self._finish()

    async def conclude(self, error: ResponsesError | None) -> None:
        if self.finished:
            return
        try:
            self.transcoder.finish(error)
        except UpstreamError as failure:
            await self._refused(failure)
            return
        await self._finish()

    async def _finish(self) -> None:
        terminal, failure = self.transcoder.terminal, self.transcoder.stream.failure
        if isinstance(failure, UpstreamError):  # nothing was sent: it can still be a status, which clients act on
            await self._refused(failure)
            return
        if failure is not None or terminal is None:
            raise failure or UpstreamProtocolError("the upstream's answer is empty")
        await self._keep_response()
        self.begun = self.finished = self.pulse.finished = True
        body = _json.dumps(terminal["response"])
        headers = self._all_headers((b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)))
        await self._deliver({"type": "http.response.start", "status": 200, "headers": headers})
        await self._deliver({"type": "http.response.body", "body": body, "more_body": False})
