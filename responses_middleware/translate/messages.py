"""Items of a Responses request → messages of a chat request.

One assistant message holds a turn: its thinking, its text and all its parallel calls. The results stand directly after
it, in call order, wherever they stand in the input. Chat servers refuse anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..dialects import Dialect
from ..errors import InvalidEncryptedContentError, NotFoundError, UnsupportedValueError
from ..protocol.faults import quote
from ..protocol.items import Item
from . import history
from .calls import CALL_KINDS, FOREIGN_CALLS, shortened, to_call, to_call_and_result
from .left_out import LeftOut, Place, param_of
from .outputs import read_output
from .parts import Content, Part, PartWriter, joined
from .tool_names import ToolNames
from .turn import Message, Turn

Unseal = Callable[[str], dict[str, Any] | None]

# Items of tools that another server ran: what they found is in the text that follows.
_NOT_CARRIED = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "image_generation_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
    }
)
_READ_BEFORE = frozenset({"additional_tools", "configuration_update"})  # by request.py


class MessageWriter:
    """The messages of a chat request, in one pass over the items.

    Args:
        items: the effective input: earlier turns, then the items of the request.
        place: of the item at a position, for errors.
        unseal: opens an `encrypted_content` of ours; None for any other.
        thinking_since: thinking at earlier positions is not given back.
    """

    def __init__(
        self,
        items: Sequence[Item],
        *,
        dialect: Dialect,
        names: ToolNames,
        left_out: LeftOut,
        place: Callable[[int], Place],
        unseal: Unseal,
        thinking_since: int,
    ) -> None:
        self._messages: list[Message] = []
        self._leading: list[Content] = []  # system texts that become one message in front
        self._items = items
        self._dialect = dialect
        self._names = names
        self._left_out = left_out
        self._place = place
        self._unseal = unseal
        self._thinking_since = thinking_since
        self._parts = PartWriter(dialect, left_out)
        self._pairs = history.pair(items, left_out)
        self._turn: Turn | None = None
        self._pending: Turn | None = None  # thinking of the turn that follows

    def write(self, notes: Iterable[str | None]) -> list[Message]:
        """All messages; to be called once.

        The notes lead as system text: the instructions of this request, and what the server must be told in words.
        """
        for note in notes:
            if note:
                self._system(note)
        for position, item in enumerate(self._items):
            self._item(position, item)
        self._flush()
        return [*([self._system_message(_merged(self._leading))] if self._leading else []), *self._messages]

    def _item(self, position: int, item: Item) -> None:
        kind = item.get("type") or ("message" if "role" in item else "item_reference")
        if kind == "message":
            self._message(position, item)
        elif kind in CALL_KINDS:
            self._call(position, item)
        elif kind in history.OUTPUTS:
            self._output(position, item)
        elif kind == "reasoning":
            self._reasoning(position, item)
        elif kind not in _READ_BEFORE:
            self._other(position, item, kind)

    # -- messages
    def _system(self, content: Content) -> None:
        """A system-like text: merged with those that lead, or where it stands."""
        merge = self._dialect.system_messages
        if merge != "single_leading":
            self._flush()
        if merge == "single_leading" or (merge == "merge_leading" and not self._messages):
            self._leading.append(content)
        else:
            self._messages.append(self._system_message(content))

    def _system_message(self, content: Content) -> Message:
        return {"role": "developer" if self._dialect.developer_role else "system", "content": content}

    def _message(self, position: int, item: Item) -> None:
        content, place = item.get("content"), (*self._place(position), "content")
        match item["role"]:
            case "user":
                written = self._parts.content(content, place)
                self._flush()
                self._pending = None  # thinking that no turn followed
                self._messages.append({"role": "user", "content": written})
            case "assistant":
                text, media = self._parts.split(content, place)
                if text or media:  # strict servers refuse empty assistant messages
                    turn = self._assistant(position)
                    turn.texts += [text] if text else []
                    turn.media += media
            case _:
                words, media = self._parts.system(content, place)
                if words or not media:
                    self._system(words)
                self._show(media, "Given with the system message:")

    def _show(self, media: list[Part], caption: str) -> None:
        """Pictures and files that their own message can't hold, in one of the user's."""
        if media:
            self._flush()
            self._messages.append({"role": "user", "content": [{"type": "text", "text": caption}, *media]})

    # -- turns
    def _assistant(self, position: int) -> Turn:
        """The turn that what stands here belongs to."""
        if self._turn and self._turn.ended_before(position):
            self._flush()
        if self._turn is None:
            self._turn, self._pending = self._pending or Turn(), None
        return self._turn

    def _call(self, position: int, item: Item) -> None:
        if position in self._pairs.orphans:
            return
        call = to_call(item, self._dialect, self._names)
        call_id, turn = history.call_id_of(item), self._assistant(position)
        turn.add_call({"id": self._chat_id(turn.distinct(call_id)), **call}, call_id, self._pairs.outputs[position])

    def _output(self, position: int, item: Item) -> None:
        if position in self._pairs.orphans:
            text, media = read_output(item, self._place(position), self._parts, self._names)
            self._flush()
            self._messages.append({"role": "user", "content": f"Output of an earlier tool call:\n{text}"})
            self._show(media, "Returned by an earlier tool call:")

    def _reasoning(self, position: int, item: Item) -> None:
        text, opaque = self._thinking(position, item)
        turn = self._turn
        if turn is None or turn.ended_before(position):
            turn = self._pending = self._pending or Turn()
        turn.think(text if position >= self._thinking_since else "", opaque)

    def _thinking(self, position: int, item: Item) -> tuple[str, dict[str, Any]]:
        sealed = item.get("encrypted_content")
        opened = self._unseal(sealed) if sealed else None
        if opened is not None:
            return str(opened.get("text") or ""), opened.get("opaque") or {}
        if sealed:
            at = (*self._place(position), "encrypted_content")
            why = "The encrypted content could not be verified: it was not made here, or it was changed"
            error = InvalidEncryptedContentError(f"{why}.", param=param_of(at))
            self._left_out.hint("reasoning.encrypted_content", at=at, why=why, error=error)
        shown = item.get("content") or item.get("summary") or []
        return joined(part["text"] for part in shown if part.get("text")), {}

    def _flush(self) -> None:
        """Write the open turn: its assistant message, then the results of its calls, then their pictures."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        if turn.texts or turn.calls:
            self._messages.append(turn.message(self._dialect))
        pictures: list[Part] = []
        if turn.media:
            pictures += [{"type": "text", "text": "Shown by the assistant:"}, *turn.media]
        for call in turn.calls:
            self._write_output(call.output, call.chat["id"], pictures)
        if pictures:
            self._messages.append({"role": "user", "content": pictures})

    def _write_output(self, position: int, chat_id: str, pictures: list[Part]) -> None:
        text, media = read_output(self._items[position], self._place(position), self._parts, self._names)
        content: Content = text
        if media and self._dialect.tool_result_images == "tool_message":
            content = ([{"type": "text", "text": text}] if text else []) + media
        elif media:
            what = "See the next user message for the image or file that this tool returned."
            content = f"{text}\n{what}" if text else what
            pictures += [{"type": "text", "text": f"Returned by tool call {chat_id}:"}, *media]
        self._messages.append({"role": "tool", "tool_call_id": chat_id, "content": content})

    # -- the rest
    def _other(self, position: int, item: Item, kind: str) -> None:
        at = (*self._place(position), "type")
        if kind in FOREIGN_CALLS:
            self._foreign_call(item)
        elif kind in _NOT_CARRIED or ":" in kind:
            self._left_out.hint(
                kind, at=at, why=f"An item of type '{quote(kind)}' can't be carried by a chat completion"
            )
        elif kind == "item_reference":
            raise NotFoundError(
                f"Item with id '{quote(item['id'])}' not found. Items are not persisted when `store` is set to false: "
                "send the item itself.",
                param=param_of((*self._place(position), "id")),
            )
        else:
            why = f"Input items of type '{kind}' are not supported here."
            self._left_out.refuse(UnsupportedValueError(why, param=param_of(at)))

    def _foreign_call(self, item: Item) -> None:
        """A call that another server ran, with its result: the model sees it as any call and its result."""
        self._flush()
        call, result = to_call_and_result(item, self._names)
        call_id = self._chat_id(item.get("id") or f"call_{len(self._messages)}")
        message = {"role": "assistant", "content": self._dialect.tool_call_content}
        self._messages.append({**message, "tool_calls": [{"id": call_id, **call}]})
        self._messages.append({"role": "tool", "tool_call_id": call_id, "content": result})

    def _chat_id(self, call_id: str) -> str:
        return shortened(call_id) if self._dialect.tool_call_ids else call_id


def _merged(contents: list[Content]) -> Content:
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return "\n\n".join(texts)
    return [part for content in contents for part in _as_parts(content)]


def _as_parts(content: Content) -> list[Part]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
