"""Output items while they are open: each owns its id, its index, its parts and its deltas, and closes itself.

Items stand strictly one after the other on the wire. One that has to wait for its turn keeps what comes for it and says
it when it opens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..errors import UpstreamProtocolError
from ..protocol.items import Item
from .events import Flow, Outbox
from .logprobs import Written

ItemStatus = Literal["completed", "incomplete"]
MOST = 10_000  # items of a response, and parts of a message; as many as the items of an input
_SIZE_OF_STEP = 100  # what a piece that waits takes beside its text


class OpenItem:
    """What all open items share: waiting, opening at an index, closing once."""

    __slots__ = ("_waiting", "_waiting_size", "index", "item_id", "outbox")

    def __init__(self, outbox: Outbox, item_id: str) -> None:
        self.outbox = outbox
        self.item_id = item_id
        self.index: int | None = None  # assigned once, when the item opens
        self._waiting: list[tuple[Callable[..., None], tuple[Any, ...]]] | None = None  # steps
        self._waiting_size = 0  # characters of it; they have found room

    @property
    def may_open(self) -> bool:
        """Whether enough is known to announce the item."""
        return True

    @property
    def may_close(self) -> bool:
        """Whether the item can be complete when the next one begins."""
        return True

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing in an answer that was cut after it."""
        return True

    @property
    def flow(self) -> Flow | None:
        """The text that grows now, if one does and its pieces are passed on as they are."""
        return None

    def open(self, index: int) -> None:
        self.index = index
        self.outbox.room += self._waiting_size  # taken again when it is said
        self._waiting_size = 0
        self._announce()
        steps, self._waiting = self._waiting, None
        for step, arguments in steps or ():
            step(*arguments)

    def close(self, status: ItemStatus, *, tell: bool = True) -> Item:
        """Say all that is still to be said; the finished item.

        Args:
            tell: whether the item's own done event is sent. What a failure cut gets none: agents run a call that is
                done, and Codex shows a message that is done and asks again.
        """
        item = self._finish(status)
        if tell:
            self.outbox.emit("response.output_item.done", output_index=self.index, item=item)
        return item

    def _say(self, step: Callable[..., None], what: Any, *more: Any) -> None:
        if self.index is not None:
            step(what, *more)
            return
        size = _SIZE_OF_STEP + (len(what) if isinstance(what, str) else 0)
        self.outbox.spend(size)
        self._waiting_size += size
        self._waiting = self._waiting or []
        self._waiting.append((step, (what, *more)))

    def _place(self, **part: int) -> dict[str, Any]:
        return {"item_id": self.item_id, "output_index": self.index, **part}

    def _added(self, item: Item) -> None:
        self.outbox.emit("response.output_item.added", output_index=self.index, item=item)

    def _announce(self) -> None:
        raise NotImplementedError

    def _finish(self, status: ItemStatus) -> Item:
        raise NotImplementedError


class OpenMessage(OpenItem):
    """An assistant message: parts of text and refusal, one after the other."""

    __slots__ = ("_part", "_parts")

    def __init__(self, outbox: Outbox, item_id: str) -> None:
        super().__init__(outbox, item_id)
        self._part: _TextPart | _RefusalPart | None = None
        self._parts: list[dict[str, Any]] = []

    @property
    def flow(self) -> Flow | None:
        return self._part.flow if self._part else None

    def text(self, text: str, logprobs: list[dict[str, Any]] | None = None) -> None:
        written = Written.of(logprobs) if logprobs else None
        if written:
            self.outbox.spend(len(written.json))
        self._say(self._text, text, written)

    def refusal(self, text: str) -> None:
        self._say(self._refusal, text)

    def annotate(self, annotation: dict[str, Any]) -> None:
        self._say(self._annotate, annotation)

    def text_so_far(self) -> str:
        """The text of the open text part; source markers are looked up in it."""
        return self._part.flow.text() if isinstance(self._part, _TextPart) else ""

    def _text(self, text: str, logprobs: Written | None) -> None:
        self._text_part().flow.append(text, logprobs)

    def _refusal(self, text: str) -> None:
        if not isinstance(self._part, _RefusalPart):
            self._next_part()
            self._part = _RefusalPart(self.outbox, self._place(content_index=len(self._parts)))
        self._part.flow.append(text)

    def _annotate(self, annotation: dict[str, Any]) -> None:
        self._text_part().annotate(annotation)

    def _text_part(self) -> _TextPart:
        if not isinstance(self._part, _TextPart):
            self._next_part()
            self._part = _TextPart(self.outbox, self._place(content_index=len(self._parts)))
        return self._part

    def _next_part(self) -> None:
        self._close_part()
        if len(self._parts) >= MOST:
            raise UpstreamProtocolError(f"the upstream's answer has more than {MOST} parts")

    def _close_part(self) -> None:
        if self._part:
            self._parts.append(self._part.close())
            self._part = None

    def _announce(self) -> None:
        self._added(
            {"id": self.item_id, "type": "message", "status": "in_progress", "role": "assistant", "content": []}
        )

    def _finish(self, status: ItemStatus) -> Item:
        if not self._parts and not self._part:
            self._text_part()  # an empty answer is an empty text, as OpenAI's is
        self._close_part()
        return {"id": self.item_id, "type": "message", "status": status, "role": "assistant", "content": self._parts}


class _TextPart:
    """An open output_text part."""

    __slots__ = ("_annotations", "_outbox", "_place", "flow")

    def __init__(self, outbox: Outbox, place: dict[str, Any]) -> None:
        self._outbox = outbox
        self._place = place
        self._annotations: dict[tuple[Any, ...], dict[str, Any]] | None = None
        self.flow = Flow(outbox, "response.output_text.delta", place, has_logprobs=True)
        outbox.emit("response.content_part.added", **place, part=self._as_part("", []))

    def annotate(self, annotation: dict[str, Any]) -> None:
        identity = tuple(annotation.values())
        self._annotations = self._annotations or {}
        if identity in self._annotations:  # servers send their sources with every chunk
            return
        self._outbox.emit(
            "response.output_text.annotation.added",
            **self._place,
            annotation_index=len(self._annotations),
            annotation=annotation,
        )
        self._annotations[identity] = annotation

    def close(self) -> dict[str, Any]:
        text = self.flow.end()
        logprobs = Written.joined(self.flow.logprobs) if self.flow.logprobs else []
        self._outbox.emit("response.output_text.done", **self._place, text=text, logprobs=logprobs)
        part = self._as_part(text, logprobs)
        self._outbox.emit("response.content_part.done", **self._place, part=part)
        return part

    def _as_part(self, text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
        annotations = [*(self._annotations or {}).values()]
        return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": logprobs}


class _RefusalPart:
    """An open refusal part."""

    __slots__ = ("_outbox", "_place", "flow")

    def __init__(self, outbox: Outbox, place: dict[str, Any]) -> None:
        self._outbox = outbox
        self._place = place
        self.flow = Flow(outbox, "response.refusal.delta", place)
        outbox.emit("response.content_part.added", **place, part={"type": "refusal", "refusal": ""})

    def close(self) -> dict[str, Any]:
        refusal = self.flow.end()
        self._outbox.emit("response.refusal.done", **self._place, refusal=refusal)
        part = {"type": "refusal", "refusal": refusal}
        self._outbox.emit("response.content_part.done", **self._place, part=part)
        return part


class OpenReasoning(OpenItem):
    """The model's thinking, streamed as a summary or as reasoning text.

    As a summary the finished item carries the text in both `summary` and `content`: of seven clients all show the
    summary events, and several read only one of the two members.

    Args:
        as_summary: how the text is streamed.
        seal: makes `encrypted_content` of the whole text; None where nothing is sealed.
    """

    __slots__ = ("_as_summary", "_flow", "_seal")

    def __init__(self, outbox: Outbox, item_id: str, *, as_summary: bool, seal: Callable[[str], str | None]) -> None:
        super().__init__(outbox, item_id)
        self._as_summary = as_summary
        self._seal = seal
        self._flow: Flow | None = None

    @property
    def flow(self) -> Flow | None:
        return self._flow

    def text(self, text: str) -> None:
        self._say(self._text, text)

    def _text(self, text: str) -> None:
        if self._flow is None:
            self._flow = self._open_part()
        self._flow.append(text)

    def _open_part(self) -> Flow:
        if self._as_summary:
            place = self._place(summary_index=0)
            part = {"type": "summary_text", "text": ""}
            self.outbox.emit("response.reasoning_summary_part.added", **place, part=part)
            return Flow(self.outbox, "response.reasoning_summary_text.delta", place)
        place = self._place(content_index=0)
        self.outbox.emit("response.content_part.added", **place, part={"type": "reasoning_text", "text": ""})
        return Flow(self.outbox, "response.reasoning_text.delta", place)

    def _announce(self) -> None:
        self._added(self._item([], [], None))

    def _finish(self, status: ItemStatus) -> Item:
        text = self._flow.end() if self._flow else ""
        content = [{"type": "reasoning_text", "text": text}] if self._flow else []
        summary = [{"type": "summary_text", "text": text}] if self._flow and self._as_summary else []
        if self._flow and self._as_summary:
            self.outbox.emit("response.reasoning_summary_text.done", **self._flow.place, text=text)
            self.outbox.emit("response.reasoning_summary_part.done", **self._flow.place, part=summary[0])
        elif self._flow:
            self.outbox.emit("response.reasoning_text.done", **self._flow.place, text=text)
            self.outbox.emit("response.content_part.done", **self._flow.place, part=content[0])
        item = self._item(summary, content, self._seal(text))
        if status == "incomplete":
            item["status"] = status  # OpenAI's reasoning items have none, and refuse it in input
        return item

    def _item(self, summary: list[dict[str, Any]], content: list[dict[str, Any]], sealed: str | None) -> Item:
        return {
            "id": self.item_id,
            "type": "reasoning",
            "summary": summary,
            "content": content,
            "encrypted_content": sealed,
        }
