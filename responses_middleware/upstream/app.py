"""The wrapped app as upstream: called in process, in the task of the client's request, with a scope of its own."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from ..errors import UpstreamProtocolError
from .decoding import push_decoded, start_answer
from .headers import inner_request_headers

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from starlette.types import ASGIApp, Message, Scope

    from .base import Sink, UpstreamCall
    from .decoding import BodyDecoder

MARKER = "responses_middleware"
"""Key of the inner scope that tells that it is ours, so that no request goes round in circles."""

EXTENSIONS_OF_THE_CONNECTION = frozenset(
    {
        "http.response.early_hint",
        "http.response.pathsend",
        "http.response.trailers",
        "http.response.zerocopysend",
    }
)
"""What an app may use to answer past our `send`, or beside the body: not offered to it."""

_MOST_ABSORBED = 100  # messages after `[DONE]`: a comment or a last usage frame is usual, an endless stream is none
_PLAIN_SCHEMES = {"ws": "http", "wss": "https"}


class AbandonedError(OSError):
    """What the app's `send` raises when the rest of its answer goes nowhere; an OSError, as servers raise it."""


class AppUpstream:
    """Ask the wrapped ASGI app.

    Exceptions of the app leave `send` as they are, and so do those of the sink, even if the app replaces them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def send(self, call: UpstreamCall, sink: Sink) -> None:
        """Run the app to its end, background work included; the sink has got `end` long before.

        Raises:
            UpstreamProtocolError: the app returned without an answer, or in the middle of it, or broke its encoding.
        """
        answer = _Exchange(call, sink)
        scope = inner_scope(call)
        del call  # the app has the body once it has asked for it, and nobody else
        try:
            await self._app(scope, answer.receive, answer.send)
        except Exception as error:  # an app may raise anything; it is raised on, but for what we ourselves provoked
            if answer.broken_off:
                return  # told that nobody listens, the app gave up
            answer.raise_failure(error)
            raise
        answer.raise_failure(None)
        answer.check_whole()

    async def aclose(self) -> None:
        """Nothing is open: the app belongs to whoever made it."""


def inner_scope(call: UpstreamCall) -> Scope:
    """The scope of the chat request: a shallow copy of the client's, so that `state` is the same object."""
    outer = call.scope
    scope = dict(outer)
    scope["type"] = "http"
    scope["scheme"] = _PLAIN_SCHEMES.get(outer.get("scheme", "http"), outer.get("scheme", "http"))
    scope["method"] = "POST"
    scope["path"] = call.path
    scope["raw_path"] = _quoted(call.path)
    scope["headers"] = inner_request_headers(outer["headers"], len(call.body))
    if extensions := outer.get("extensions"):
        scope["extensions"] = {
            name: value for name, value in extensions.items() if name not in EXTENSIONS_OF_THE_CONNECTION
        }
    scope[MARKER] = True
    return scope


@lru_cache(maxsize=64)  # an app has one such path, for each place where it is mounted
def _quoted(path: str) -> bytes:
    return quote(path).encode()


class _Exchange:
    """The app's `receive` and `send`: the request for it, and its messages as calls of the sink."""

    __slots__ = (
        "_absorbed",
        "_body",
        "_decoder",
        "_ended",
        "_sink",
        "_started",
        "_wait_for_leave",
        "broken_off",
        "failure",
    )

    def __init__(self, call: UpstreamCall, sink: Sink) -> None:
        self._body: bytes | None = call.body
        self._wait_for_leave = call.receive
        self._sink = sink
        self._decoder: BodyDecoder | None = None
        self._started = False
        self._ended = False
        self.failure: Exception | None = None
        self._absorbed = 0
        self.broken_off = False  # the app went on after the end, and was told

    @property
    def is_over(self) -> bool:
        return self._ended or self._sink.finished

    def receive(self) -> Awaitable[Message]:
        """The app's `receive`: the body once, then what the client does."""
        if self._body is None and not self.is_over:
            return self._wait_for_leave()  # most open streams wait here: with no coroutine of ours in between
        return self._receive()

    async def _receive(self) -> Message:
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        if self.is_over:  # as servers do: a request that was answered has ended
            return {"type": "http.disconnect"}
        return await self._wait_for_leave()

    async def send(self, message: Message) -> None:
        """The app's `send`. After the end, or when the sink wants no more, messages are absorbed."""
        if self.failure is not None:
            raise self.failure
        if self._ended or self._sink.finished:
            self._absorbed += bool(message.get("more_body"))
            if message.get("more_body") and (self._sink.abandoned or self._absorbed > _MOST_ABSORBED):
                self.broken_off = True
                raise AbandonedError("the rest of this answer goes nowhere")
            return
        try:
            kind = message["type"]
            if kind == "http.response.body":
                data = message.get("body", b"")
                if self._decoder is not None or not self._started:
                    await self._unusual_body(data)
                elif data:  # the hot path: a token
                    await self._sink.body(data)
                if not message.get("more_body", False):
                    await self._end()
            elif kind == "http.response.start":
                await self._start(message)
        except Exception as error:  # noted, in case that the app swallows or replaces it; raised on
            self.failure = error
            raise

    async def _start(self, message: Message) -> None:
        if self._started:
            raise UpstreamProtocolError("the wrapped app began its answer twice")
        self._started = True
        headers = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
        self._decoder = await start_answer(self._sink, message["status"], headers)

    async def _unusual_body(self, data: bytes) -> None:
        if self._decoder is None:
            raise UpstreamProtocolError("the wrapped app sent a body before its status")
        await push_decoded(self._sink, self._decoder.feed(data))

    async def _end(self) -> None:
        if self._sink.finished:
            return
        if self._decoder is not None:
            await push_decoded(self._sink, self._decoder.finish())
        self._ended = True
        await self._sink.end()

    def raise_failure(self, error: Exception | None) -> None:
        """Raise what the sink raised, if that is not what the app raised: frameworks replace the OSError of a client
        that left, or swallow it."""
        failure, self.failure = self.failure, None
        try:
            if failure is not None and failure is not error:
                raise failure from error
        finally:
            del failure  # its traceback holds this frame, and with it all that the app has left open

    def check_whole(self) -> None:
        if self.is_over:
            return
        if not self._started:
            raise UpstreamProtocolError("the wrapped app did not answer")
        raise UpstreamProtocolError("the wrapped app ended its answer in the middle")
