"""The heart: chunks of one chat answer in, events of one Response out, in the order that grammar.py lays down.

Rules of the house:

- Items open lazily, when something to say is known, and stand strictly one after the other: see item_line.py.
- One terminal event. `completed` only after a finish reason or the server's own end mark; whatever else happens is
  `failed`, with all output so far kept.
- Nothing is copied per chunk: text grows in lists, snapshots are made where the protocol has them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from typing import Any, ClassVar, Literal

from ..errors import ResponsesError, UpstreamError, UpstreamProtocolError
from ..translate.failure import response_error
from ..translate.finish import outcome_of
from ..translate.tool_names import ToolNames
from ..translate.usage import to_usage
from .citations import Citations
from .events import Event, Flow, Outbox
from .item_line import ItemLine
from .logprobs import to_logprobs
from .open_calls import OpenCall
from .open_image import OpenImage, image_data
from .open_items import OpenMessage, OpenReasoning
from .reader import MessageSoFar, opaque_of_call, read
from .returns import Returns, Seal
from .thinking import Piece, ThinkSplitter
from .toolcalls import ToolCallTracker

_NO_NAMES = ToolNames()  # read, never added to


class ResponseStream:
    """Turn the chunks of one chat answer into the events of one Response.

    `start()` gives the first events, `feed(chunk)` those that a decoded `chat.completion.chunk` makes, `finish()` the
    rest with the terminal event. `response` is the snapshot as of now.

    Args:
        response: the Response object so far, as `translate.echo.to_response` makes it; it becomes the stream's own. Or
            what makes it: called anew for each snapshot, so that a stream that is open doesn't hold it.
        new_id: makes an id with a prefix, `new_id("msg_")`, that nobody else has.
        now: the time in seconds since 1970.
        names: what the upstream's function names stand for.
        reasoning: how thinking is streamed; "none": not at all.
        think_tags: whether thinking stands in content, as `Dialect.think_tags`.
        logprobs: whether the client asked for logprobs; others are dropped.
        obfuscate: pads delta events.
        expects_finish: whether this server always sends a finish reason, so that an end mark without one is a failure.
        taken_call_ids: call ids of the history, which may not be used again.
        seal: makes an `encrypted_content` of what the upstream wants back; None where nothing is sealed.
        max_output: characters of text, thinking and arguments together; citations have as much room again.
    """

    __slots__ = (
        "_expects_finish",
        "_heard",
        "_items",
        "_max_output",
        "_message",
        "_names",
        "_new_id",
        "_now",
        "_reasoning",
        "_response",
        "_returns",
        "_splitter",
        "_tier",
        "_tracker",
        "_usage",
        "_wants_logprobs",
        "ended",
        "failure",
        "finish_reason",
        "outbox",
    )

    def __init__(
        self,
        response: dict[str, Any] | Callable[[], dict[str, Any]],
        *,
        new_id: Callable[[str], str],
        now: Callable[[], float],
        names: ToolNames | None = None,
        reasoning: Literal["summary", "text", "none"] = "summary",
        think_tags: Literal["extract", "extract_implicit_open"] | None = None,
        logprobs: bool = False,
        obfuscate: bool = False,
        expects_finish: bool | None = None,
        taken_call_ids: Collection[str] = (),
        seal: Seal | None = None,
        max_output: int = 64 * 1024 * 1024,
    ) -> None:
        self.ended = False
        self.finish_reason: str | None = None
        self._response = response if callable(response) else lambda: response
        self.outbox = Outbox(max_output=max_output, obfuscate=obfuscate)
        self._new_id = new_id
        self._now = now
        self._names = names or _NO_NAMES
        self._reasoning = reasoning
        self._splitter = ThinkSplitter(implicit_open=think_tags == "extract_implicit_open") if think_tags else None
        self._wants_logprobs = logprobs
        self._expects_finish = expects_finish
        self._returns = Returns(self.outbox, seal)
        self._items = ItemLine(
            self.outbox, new_id=new_id, names=self._names, taken_call_ids=taken_call_ids, returns=self._returns
        )
        self.failure: ResponsesError | None = None  # why the response failed
        self._usage: Any = None
        self._tier: str | None = None
        self._heard: tuple[str, ...] = ()  # kinds of statements that came as deltas
        self._max_output = max_output
        # Many streams are open at once, and most have no calls and no whole message: made when needed.
        self._tracker: ToolCallTracker | None = None
        self._message: MessageSoFar | None = None

    # -- the three verbs
    def start(self) -> list[Event]:
        """`response.created` and `response.in_progress`."""
        response = self.response
        self.outbox.emit("response.created", response=response)
        self.outbox.emit("response.in_progress", response={**response, "output": []})
        return self.outbox.take()

    def feed(self, chunk: object) -> list[Event]:
        """The events that a chunk makes; after a failure in it, all that is left."""
        if self.ended:
            return []
        try:
            for kind, *what in read(chunk):
                self._SAYS[kind](self, *what)
                if kind not in self._heard:
                    self._heard += (kind,)
        except UpstreamProtocolError as error:
            self.failure = error
        except RecursionError:
            self.failure = UpstreamProtocolError("a frame of the upstream is nested too deeply")
        return self.finish() if self.failure else self.outbox.take()

    def finish(self, error: ResponsesError | None = None, *, done: bool = False) -> list[Event]:
        """The rest of the events, the terminal one last; nothing if it has been sent.

        Args:
            error: what broke the answer.
            done: whether the server marked the end itself, with `[DONE]`.
        """
        if self.ended:
            return []
        self.ended = True
        self.outbox.room = sys.maxsize  # all that is left has found room when it came
        self._say_pieces(self._splitter.finish() if self._splitter else [])
        self.failure = self.failure or error or self._fault_of_end(done)
        if self.failure:
            self._end_failed(self.failure)
        else:
            self._end_regular()
        return self.outbox.take()

    @property
    def response(self) -> dict[str, Any]:
        """The Response object as of now: finished items only."""
        return {**self._response(), "output": self._items.output[:]}

    @property
    def live_flow(self) -> Flow | None:
        """The text that grows now, when its next piece needs no thought: see splice.py."""
        items = self._items.waiting
        if len(items) != 1 or (self._splitter and not self._splitter.has_passed):
            return None
        flow = items[0].flow
        return flow if flow and flow.is_plain else None

    def count(self, usage: Any) -> None:
        """Note a usage object of the upstream; the last counts, since they are cumulative where they come with every
        chunk."""
        self._usage = usage or self._usage

    # -- statements of a chunk
    def _text(self, text: str, logprobs: Any) -> None:
        if self._splitter is None or self._splitter.has_passed:
            self._say_text(text, logprobs)
            return
        pieces = self._splitter.feed(text)
        if pieces == [("text", text)]:
            self._say_text(text, logprobs)
        else:  # of logprobs that belong to a part of a text nothing can be said
            self._say_pieces(pieces)
        if self._splitter.waiting > self.outbox.room:
            self.outbox.spend(self._splitter.waiting)

    def _release(self) -> None:
        """Say what a possible tag has held back, in front of what comes now."""
        if self._splitter and not self._splitter.has_passed:
            self._say_pieces(self._splitter.release())

    def _say_pieces(self, pieces: list[Piece]) -> None:
        for kind, piece in pieces:
            if kind == "text":
                self._say_text(piece, None)
            else:
                self._think(piece)

    def _say_text(self, text: str, logprobs: Any) -> None:
        message = self._items.message()
        if self._items.citations:
            self._items.citations.annotate_held(message)
        message.text(text, to_logprobs(logprobs) if logprobs and self._wants_logprobs else None)

    def _think(self, text: str) -> None:
        if self._reasoning == "none":
            self._returns.hide(text)
            return
        thought = self._items.last
        if type(thought) is not OpenReasoning:
            as_summary = self._reasoning == "summary"
            opened = OpenReasoning(self.outbox, self._new_id("rs_"), as_summary=as_summary, seal=self._returns.seal)
            thought = self._items.add(opened)
        thought.text(text)

    def _refuse(self, text: str) -> None:
        self._release()
        self._items.message().refusal(text)

    def _call(self, call_delta: dict[str, Any], first_of_chunk: bool) -> None:
        self._release()
        self._tracker = self._tracker or ToolCallTracker(self._new_call, self._names)
        call = self._tracker.feed(call_delta, first_of_chunk=first_of_chunk)
        if call and self._returns.spend(opaque := opaque_of_call(call_delta)):
            call.opaque |= opaque
        self._items.advance()

    def _new_call(self) -> OpenCall:
        return self._items.add(OpenCall(self.outbox, self._new_id))

    def _draw(self, url: str) -> None:
        data = image_data(url)
        if data is None:
            self._text(f"![image]({url})", None)
            return
        self._release()
        self.outbox.spend(len(data))
        self._items.add(OpenImage(self.outbox, self._new_id("ig_"), data))

    def _annotate(self, annotation: dict[str, Any]) -> None:
        message = self._items.last
        if type(message) is OpenMessage:
            self._cited().annotate(message, annotation)
        else:
            self._cited().hold(annotation)

    def _keep_opaque(self, name: str, value: Any, is_whole: bool = False) -> None:
        self._returns.keep(name, value, is_whole=is_whole)

    def _whole_message(self, message: dict[str, Any]) -> None:
        """A message that is whole, or whole so far: says only what no delta has said."""
        self._message = self._message or MessageSoFar()
        for kind, *what in self._message.news(message, self._heard):
            self._SAYS[kind](self, *what)

    def _finished(self, reason: str) -> None:
        if self.finish_reason and outcome_of(reason) == "completed":
            return  # a second one takes back no cut
        self.finish_reason = reason
        if outcome_of(reason) == "failed":
            self.failure = UpstreamError(f"the upstream ended the answer with '{reason}'", code="server_error")

    def _tiered(self, tier: str) -> None:
        self._tier = tier

    def _cite(self, sources: Any) -> None:
        self._cited().keep(sources)

    def _cited(self) -> Citations:
        self._items.citations = self._items.citations or Citations(room=self._max_output)
        return self._items.citations

    def _fail(self, error: UpstreamError) -> None:
        self.failure = error

    def _garbage(self, why: str) -> None:
        raise UpstreamProtocolError(why)

    _SAYS: ClassVar[dict[str, Callable[..., None]]] = {
        "text": _text,
        "reasoning": _think,
        "refusal": _refuse,
        "call": _call,
        "annotation": _annotate,
        "image": _draw,
        "opaque": _keep_opaque,
        "snapshot": _whole_message,
        "finish": _finished,
        "usage": count,
        "tier": _tiered,
        "sources": _cite,
        "failure": _fail,
        "garbage": _garbage,
    }

    # -- the end
    def _fault_of_end(self, done: bool) -> ResponsesError | None:
        """Why this end is no regular one."""
        if not self.finish_reason and not (done and (self._items.output or self._items.waiting)):
            return UpstreamError("the upstream's answer ended before it was complete", code="server_error")
        if not self.finish_reason and self._expects_finish:
            return UpstreamError("the upstream's answer ended without a finish reason", code="server_error")
        if outcome_of(self.finish_reason or "stop") != "completed":
            return None
        calls = self._items.calls
        if not self.finish_reason and not all(call.is_whole for call in calls):  # llama-cpp-python cuts answers so
            return UpstreamError("the upstream's answer ended before a tool call was complete", code="server_error")
        if any(not call.name for call in calls):
            return UpstreamError("the upstream's answer has a tool call without a name", code="server_error")
        if any(call.was_cut for call in calls):
            return UpstreamError("the upstream's answer ended inside the arguments of a tool call", code="server_error")
        return None

    def _end_regular(self) -> None:
        outcome = outcome_of(self.finish_reason or "stop")
        complete = outcome == "completed"
        self._items.drop_nameless()
        if complete and not (self._items.waiting or self._items.output):
            self._items.message()
        self._items.end(cut=not complete)
        if complete:
            self._end("completed", to_usage(self._usage), completed_at=int(self._now()))
        else:
            self._end("incomplete", to_usage(self._usage), incomplete_details={"reason": outcome})

    def _end_failed(self, error: ResponsesError) -> None:
        self._items.drop_nameless()
        self._items.break_off()
        fields = error.fields()
        self.outbox.emit("error", error={name: fields[name] for name in ("type", "code", "message", "param")})
        self._end("failed", to_usage(self._usage) if self._usage else None, error=response_error(error))

    def _end(self, status: str, usage: dict[str, Any] | None, **members: Any) -> None:
        response = self._response()
        tier = self._tier or _known_tier(response.get("service_tier"))
        response.update(status=status, usage=usage, service_tier=tier, **members)
        self._response = lambda: response
        self.outbox.emit(f"response.{status}", response=self.response)


def _known_tier(requested: Any) -> str:
    """What OpenAI shows at the end: `auto` was the question, not an answer."""
    return requested if isinstance(requested, str) and requested != "auto" else "default"
