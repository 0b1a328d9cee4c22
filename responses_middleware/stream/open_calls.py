"""Tool calls while they are open: of functions, of freeform tools, and of tools that a client runs under an item type
of their own.

Most upstreams know functions only; the call's `ToolBinding` says as what it comes back.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

from .. import _json
from .._json import repaired
from ..errors import UpstreamProtocolError
from ..protocol.item_ids import id_prefix
from ..protocol.items import Item
from ..translate.client_tools import call_fields
from ..translate.tool_names import ToolBinding
from .events import Flow, Outbox
from .json_scan import JSONScanner, MemberText
from .open_items import ItemStatus, OpenItem

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class OpenCall(OpenItem):
    """A call that comes in fragments: its name late or in pieces, its arguments before the name, whole, or twice."""

    def __init__(self, outbox: Outbox, new_id: Callable[[str], str]) -> None:
        super().__init__(outbox, "")
        self._new_id = new_id
        self.name = ""
        self.upstream_id = ""
        self.opaque: dict[str, Any] = {}  # what the upstream wants back with this call
        self.begun = False  # a fragment of arguments has come
        self.has_none = False  # an empty object has come, and no more
        self.is_verbatim = False  # what comes is the input of a freeform tool, as the server has it
        self._scanner = JSONScanner()
        self._unscanned: list[str] = []
        self._checksum = 0
        self._body: _Body | None = None

    @property
    def may_open(self) -> bool:
        return bool(self.name) and self.begun  # until then the name may still grow

    @property
    def may_close(self) -> bool:
        return self._scanner.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing, as far as one can see."""
        return self._scanner.is_whole or (self.has_none and not self.begun)

    @property
    def was_cut(self) -> bool:
        """Whether the arguments began as JSON and did not end as such."""
        self._settle()
        self._look()
        body = self._body
        text = body.flow.text() if isinstance(body, _FunctionBody) and self.index is not None else ""
        return self._scanner.is_cut or (text.lstrip()[:1] in ('"', "[") and not _is_json(text))

    @property
    def flow(self) -> Flow | None:
        body = self._body
        return body.flow if isinstance(body, _FunctionBody) and self.begun and not self._scanner.is_whole else None

    def arguments(self, text: str) -> None:
        """Add a fragment. Behind a complete object only repeats come (some servers send the whole again) and left-overs
        of templates: they are dropped."""
        self._settle()
        if not text or self._scanner.is_whole:
            return
        if not self.begun:
            if text.strip() in ("", "{}"):  # a placeholder: arguments may follow
                self.has_none = self.has_none or "{" in text
                return
            self.begun = True
        self._say(self._arguments, text[: self._scan(text)])

    def input(self, text: str) -> None:
        """Add a piece of a freeform input: it is what it is, and nothing in it tells where it ends."""
        self.is_verbatim = True
        if text:
            self.begun = True
            self._say(self._arguments, text)

    def differs_from(self, arguments: str) -> bool:
        """Whether these are other complete arguments than the call's own."""
        scanner = JSONScanner()
        end = scanner.feed(arguments)
        return scanner.is_whole and _checksum(arguments[:end], 0) != self._checksum

    def bind(self, call_id: str, binding: ToolBinding) -> None:
        """Say what the call is; once, before it opens."""
        match binding.kind:
            case "function":
                self._body = _FunctionBody(self, call_id, binding)
            case "custom":
                self._body = _FreeformBody(self, call_id, binding)
            case _:
                self._body = _ClientBody(self, call_id, binding)

    def identify(self, kind: str) -> None:
        """Give the call's item an id, once its type is known."""
        self.item_id = self._new_id(id_prefix(kind))

    def _settle(self) -> None:
        if self._body and self._body.flow:
            self._body.flow.settle()

    def observe(self, text: str) -> None:
        """Take note of arguments that were copied unread."""
        self._scan(text)

    def _scan(self, text: str) -> int:
        """Look whether the arguments are whole now; how much of the text belongs to them."""
        self._unscanned.append(text)
        return self._look() if "}" in text else len(text)  # nothing else completes an object

    def _look(self) -> int:
        end = 0
        for piece in self._unscanned:
            end = self._scanner.feed(piece)
            self._checksum = _checksum(piece[:end], self._checksum)
        self._unscanned.clear()
        return end

    def _arguments(self, text: str) -> None:
        assert self._body is not None, "a call is bound before it opens"
        self._body.append(text)

    def _announce(self) -> None:
        assert self._body is not None, "a call is bound before it opens"
        self._body.announce()

    def _finish(self, status: ItemStatus) -> Item:
        assert self._body is not None, "a call is bound before it opens"
        return self._body.finish(status)


class _Body:
    """The form in which a call comes back: its item and its events."""

    def __init__(self, call: OpenCall, call_id: str, binding: ToolBinding) -> None:
        self.call = call
        self.call_id = call_id
        self.binding = binding
        self.flow: Flow | None = None

    @property
    def outbox(self) -> Outbox:
        return self.call.outbox

    @property
    def place(self) -> dict[str, Any]:
        return {"item_id": self.call.item_id, "output_index": self.call.index}

    def added(self, item: Item) -> None:
        self.outbox.emit("response.output_item.added", output_index=self.call.index, item=item)

    def announce(self) -> None:
        raise NotImplementedError

    def append(self, text: str) -> None:
        raise NotImplementedError

    def finish(self, status: ItemStatus) -> Item:
        raise NotImplementedError


class _FunctionBody(_Body):
    flow: Flow

    def announce(self) -> None:
        self.call.identify("function_call")
        self.added(function_item(self, "", "in_progress"))
        self.flow = Flow(self.outbox, "response.function_call_arguments.delta", self.place, observe=self.call.observe)

    def append(self, text: str) -> None:
        self.flow.append(text)

    def finish(self, status: ItemStatus) -> Item:
        if not self.call.begun and (self.call.has_none or status == "completed"):
            self.flow.append("{}")  # clients JSON.parse the arguments
        arguments = self.flow.end()
        self.outbox.emit(
            "response.function_call_arguments.done", **self.place, name=self.binding.name, arguments=arguments
        )
        return function_item(self, arguments, status)


class _FreeformBody(_Body):
    """Input that the upstream writes as it is, or as the one string argument of a function."""

    def announce(self) -> None:
        self.call.identify("custom_tool_call")
        self.added(self._item("", "in_progress"))
        self._member = MemberText()
        self._input = Flow(self.outbox, "response.custom_tool_call_input.delta", self.place)

    def append(self, text: str) -> None:
        if self.call.is_verbatim:
            self._input.append(text)
        elif decoded := self._member.feed(text):
            self._input.append(decoded)
        else:
            self.outbox.spend(len(text))

    def finish(self, status: ItemStatus) -> Item:
        if not self.call.is_verbatim:
            self._input.append(self._member.finish())
        text = self._input.end()
        self.outbox.emit("response.custom_tool_call_input.done", **self.place, input=text)
        return self._item(text, status)

    def _item(self, text: str, status: str) -> Item:
        return _named(self, {"type": "custom_tool_call", "status": status, "input": text})


class _ClientBody(_Body):
    """A call whose item shows its arguments as fields: it is told as a whole when they are."""

    def announce(self) -> None:
        self._pieces: list[str] = []

    def append(self, text: str) -> None:
        self.outbox.spend(len(text))
        self._pieces.append(text)

    def finish(self, status: ItemStatus) -> Item:
        arguments = repaired("".join(self._pieces))
        fields = call_fields(self.binding, arguments)
        if fields is None:  # not what the tool takes: the client's answer to the plain call lets the model mend it
            return self._as_function(arguments, status)
        self.call.identify(self.binding.item_type)
        base = {"id": self.call.item_id, "type": self.binding.item_type, "call_id": self.call_id}
        self.added({**base, "status": "in_progress", **fields})
        return {**base, "status": status, **fields}

    def _as_function(self, arguments: str, status: ItemStatus) -> Item:
        body = _FunctionBody(self.call, self.call_id, self.binding)
        body.announce()
        body.append(arguments)
        return body.finish(status)


def function_item(body: _Body, arguments: str, status: str) -> Item:
    return _named(body, {"type": "function_call", "status": status, "arguments": arguments})


def _named(body: _Body, fields: Item) -> Item:
    item = {"id": body.call.item_id, **fields, "call_id": body.call_id, "name": body.binding.name}
    if body.binding.namespace:
        item["namespace"] = body.binding.namespace
    return item


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _checksum(text: str, start: int) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"), start)


def arguments_text(value: object) -> str:
    """Arguments as a fragment of text; servers send them as an object or null, too.

    Always written by the same codec: the text is the client's.
    """
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else _encode(json.loads(_json.dumps(value)))
    except RecursionError as error:
        raise UpstreamProtocolError("the arguments of a tool call are nested too deeply") from error
