"""Items of a Responses request → messages of a chat request.

One assistant message holds a turn: its thinking, its text and all its parallel calls. The results stand directly behind
it, in call order, wherever they stand in the input. Chat servers refuse anything else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dialects import Dialect
from ..errors import InvalidEncryptedContentError, NotFoundError, UnsupportedValueError
from . import history, parts
from .client_tools import CLIENT_TOOLS
from .left_out import LeftOut
from .tool_names import ToolBinding, ToolKind, ToolNames

Item = dict[str, Any]
Message = dict[str, Any]
Unseal = Callable[[str], dict[str, Any] | None]

_BINDING_KINDS: Mapping[str, ToolKind] = {
    "function_call": "function",
    "custom_tool_call": "custom",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "tool_search_call": "tool_search",
}
# Items of tools that another server ran: what they found is in the text behind them.
_FOREIGN = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "image_generation_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
    }
)
_NINE = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass(slots=True)
class _Turn:
    """An assistant turn that still grows."""

    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[Message] = field(default_factory=list)
    call_ids: list[str] = field(default_factory=list)  # of the items, in order
    opaque: Message = field(default_factory=dict)  # what the upstream wants back as it was
    answered_by: int = -1  # position of the last output


def to_messages(
    items: Sequence[Item],
    *,
    instructions: str | None,
    format_words: str = "",
    dialect: Dialect,
    names: ToolNames,
    left_out: LeftOut,
    place: Callable[[int], str],
    unseal: Unseal,
) -> list[Message]:
    """The messages of a chat request.

    Args:
        items: the effective input: earlier turns, then the items of the request.
        instructions: of this request; they lead.
        format_words: what the server must be told in words about the form of the answer.
        place: the name of an item's position, for errors: `input[3]`.
        unseal: opens an `encrypted_content` of ours; None for any other.
    """
    walk = _Walk(items, dialect=dialect, names=names, left_out=left_out, place=place, unseal=unseal)
    for text in (instructions, format_words):
        if text:
            walk.system(text)
    for position, item in enumerate(items):
        walk.item(position, item)
    walk.flush()
    return walk.messages


class _Walk:
    """One pass over the items."""

    def __init__(
        self,
        items: Sequence[Item],
        *,
        dialect: Dialect,
        names: ToolNames,
        left_out: LeftOut,
        place: Callable[[int], str],
        unseal: Unseal,
    ) -> None:
        self.messages: list[Message] = []
        self._items = items
        self._dialect = dialect
        self._names = names
        self._left_out = left_out
        self._place = place
        self._unseal = unseal
        self._pairs = history.pair(items, left_out)
        self._turn: _Turn | None = None
        self._pending = _Turn()  # thinking of the turn that follows

    def item(self, position: int, item: Item) -> None:
        kind = item.get("type") or ("message" if "role" in item else "item_reference")
        if kind == "message":
            self._message(position, item)
        elif kind in history.CALLS:
            self._call(position, item)
        elif kind in history.OUTPUTS:
            self._output(position, item)
        elif kind == "reasoning":
            self._reasoning(position, item)
        else:
            self._other(position, item, kind)

    # -- messages
    def system(self, text: str) -> None:
        """A system-like text: merged with those that lead, or where it stands."""
        self.flush()
        role, merge = "developer" if self._dialect.developer_role else "system", self._dialect.system_messages
        only_leading = len(self.messages) == 1 and merge == "merge_leading"
        if self.messages and self.messages[0]["role"] == role and (only_leading or merge == "single_leading"):
            self.messages[0]["content"] += "\n\n" + text
        else:
            place = 0 if merge == "single_leading" else len(self.messages)
            self.messages.insert(place, {"role": role, "content": text})

    def _message(self, position: int, item: Item) -> None:
        place = f"{self._place(position)}.content"
        content = parts.to_content(item.get("content"), place, self._dialect, self._left_out)
        if item["role"] == "user":
            self.flush()
            self.messages.append({"role": "user", "content": content})
            return
        text = parts.text_of(content)
        if item["role"] != "assistant":
            self.system(text)
        elif text:  # strict servers refuse empty assistant messages
            self._assistant(position).texts.append(text)

    # -- turns
    def _assistant(self, position: int) -> _Turn:
        """The turn that what stands here belongs to."""
        if (
            self._turn
            and self._turn.call_ids
            and max(self._output_of(call_id) for call_id in self._turn.call_ids) < position
        ):
            self.flush()  # all its calls are answered: the next turn begins
        if self._turn is None:
            self._turn, self._pending = self._pending, _Turn()
        return self._turn

    def _output_of(self, call_id: str) -> int:
        return self._pairs.outputs.get(call_id, -1)

    def _call(self, position: int, item: Item) -> None:
        if position in self._pairs.orphans:
            return
        kind = _BINDING_KINDS[item["type"]]
        binding = ToolBinding(kind, item.get("name") or kind, item.get("namespace"))
        name, call_id = self._names.name(binding), history.call_id_of(item)
        turn = self._assistant(position)
        turn.call_ids.append(call_id)
        if kind == "custom" and self._dialect.custom_tools == "native":
            call: Message = {"type": "custom", "custom": {"name": name, "input": item["input"]}}
        else:
            call = {"type": "function", "function": {"name": name, "arguments": _arguments(kind, item)}}
        turn.calls.append({"id": self._chat_id(call_id), **call})

    def _output(self, position: int, item: Item) -> None:
        if position in self._pairs.orphans:
            self.flush()
            text, _ = self._output_content(position, item)
            self.messages.append({"role": "user", "content": f"Output of an earlier tool call:\n{text}"})

    def _reasoning(self, position: int, item: Item) -> None:
        text, opaque = self._thinking(position, item)
        turn = self._turn
        if turn is None or (turn.call_ids and max(self._output_of(call_id) for call_id in turn.call_ids) < position):
            turn = self._pending
        if text:
            turn.thinking.append(text)
        for name, value in opaque.items():
            _merge_opaque(turn.opaque, name, value)

    def _thinking(self, position: int, item: Item) -> tuple[str, dict[str, Any]]:
        sealed = item.get("encrypted_content")
        opened = self._unseal(sealed) if sealed else None
        if sealed and opened is None:
            param = f"{self._place(position)}.encrypted_content"
            why = "The encrypted content could not be verified: it was not made here, or it was changed"
            error = InvalidEncryptedContentError(f"{why}.", param=param)
            self._left_out.hint("reasoning.encrypted_content", param=param, why=why, error=error)
        if opened is not None:
            return str(opened.get("text") or ""), opened.get("opaque") or {}
        shown = item.get("content") or item.get("summary") or []
        return parts.joined(part["text"] for part in shown if part.get("text")), {}

    def flush(self) -> None:
        """Write the open turn: its assistant message, then the results of its calls, then their pictures."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        message: Message = {
            "role": "assistant",
            "content": parts.joined(turn.texts) or ("" if not turn.calls else self._dialect.tool_call_content),
        }
        _give_back_opaque(message, turn)
        _replay(message, parts.joined(turn.thinking), self._dialect)
        if turn.calls:
            message["tool_calls"] = turn.calls
        self.messages.append(message)
        pictures: list[parts.Part] = []
        for call_id in turn.call_ids:
            self._write_output(self._output_of(call_id), call_id, pictures)
        if pictures:
            self.messages.append({"role": "user", "content": pictures})

    def _write_output(self, position: int, call_id: str, pictures: list[parts.Part]) -> None:
        text, media = self._output_content(position, self._items[position])
        content: parts.Content = text
        if media and self._dialect.tool_result_images == "tool_message":
            content = ([{"type": "text", "text": text}] if text else []) + media
        elif media:
            what = "See the next user message for the image or file that this tool returned."
            content = f"{text}\n{what}" if text else what
            pictures += [{"type": "text", "text": f"Returned by tool call {self._chat_id(call_id)}:"}, *media]
        self.messages.append({"role": "tool", "tool_call_id": self._chat_id(call_id), "content": content})

    def _output_content(self, position: int, item: Item) -> tuple[str, list[parts.Part]]:
        place = f"{self._place(position)}.output"
        match item["type"]:
            case "shell_call_output":
                return parts.shell_text(item["output"]), []
            case "apply_patch_call_output":
                return item.get("output") or f"The patch {item.get('status') or 'completed'}.", []
            case "computer_call_output":
                part = parts.to_part(item["output"], place, self._left_out)
                return "", [part] if part else []
            case "tool_search_output":
                return json.dumps(sorted(name for tool in item["tools"] for name in _tool_names(tool))), []
            case _:
                return parts.split_output(item["output"], place, self._left_out)

    # -- the rest
    def _other(self, position: int, item: Item, kind: str) -> None:
        place = self._place(position)
        if kind in ("mcp_call", "code_interpreter_call"):
            self._foreign_call(item, kind)
        elif kind in _FOREIGN or ":" in kind:
            self._left_out.hint(
                kind, param=f"{place}.type", why=f"An item of type '{kind}' can't be carried by a chat completion"
            )
        elif kind == "item_reference":
            raise NotFoundError(
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false: "
                "send the item itself.",
                param=f"{place}.id",
            )
        elif kind not in ("additional_tools", "configuration_update"):  # both are read before
            self._left_out.refuse(
                UnsupportedValueError(f"Input items of type '{kind}' are not supported here.", param=f"{place}.type")
            )

    def _foreign_call(self, item: Item, kind: str) -> None:
        """A call that another server ran, with its result: the model sees it as any call and its result."""
        self.flush()
        if kind == "mcp_call":
            name, arguments = (
                self._names.name(ToolBinding("function", item["name"], item.get("server_label"))),
                item.get("arguments") or "{}",
            )
            result = item.get("output") or item.get("error") or ""
        else:
            name, arguments = "code_interpreter", json.dumps({"code": item.get("code") or ""}, ensure_ascii=False)
            result = parts.joined(output["logs"] for output in item.get("outputs") or () if output.get("logs"))
        call_id = self._chat_id(item.get("id") or f"call_{len(self.messages)}")
        call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        self.messages.append({"role": "assistant", "content": self._dialect.tool_call_content, "tool_calls": [call]})
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": text})

    def _chat_id(self, call_id: str) -> str:
        if self._dialect.tool_call_ids is None or _NINE.fullmatch(call_id):
            return call_id
        return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:9]


def _arguments(kind: ToolKind, item: Item) -> str:
    match kind:
        case "function":
            return item["arguments"] or "{}"
        case "custom":
            return json.dumps({"input": item["input"]}, ensure_ascii=False)
        case _:
            return json.dumps(CLIENT_TOOLS[kind].to_arguments(item), ensure_ascii=False)


def _tool_names(tool: Item) -> list[str]:
    if tool.get("type") == "namespace":
        return [f"{tool['name']}__{inner['name']}" for inner in tool["tools"]]
    return [tool.get("name") or tool["type"]]


def _merge_opaque(opaque: Message, name: str, value: Any) -> None:
    """Lists go on (reasoning_details), objects are joined (extra_content by call), anything else is replaced."""
    before = opaque.get(name)
    if isinstance(before, list) and isinstance(value, list):
        opaque[name] = before + value
    elif isinstance(before, dict) and isinstance(value, dict):
        opaque[name] = before | value
    else:
        opaque[name] = value


def _give_back_opaque(message: Message, turn: _Turn) -> None:
    """Thought signatures on their calls, everything else on the message, as the upstream sent it."""
    opaque = dict(turn.opaque)
    by_call = opaque.pop("calls", None)
    message.update(opaque)
    if isinstance(by_call, dict):
        for call, call_id in zip(turn.calls, turn.call_ids, strict=True):
            call.update(by_call.get(call_id) or {})


def _replay(message: Message, thinking: str, dialect: Dialect) -> None:
    """Earlier thinking, under the name that this server reads."""
    if not thinking or dialect.replay_reasoning is None:
        return
    match dialect.replay_reasoning:
        case "think":
            message["content"] = f"<think>{thinking}</think>\n\n{message['content'] or ''}"
        case "reasoning_details":
            message.setdefault("reasoning_details", [{"type": "reasoning.text", "text": thinking}])
        case name:
            message.setdefault(name, thinking)
