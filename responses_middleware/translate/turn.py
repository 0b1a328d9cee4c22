"""One turn of the assistant in history: what it thought, said and called, and the messages that make it up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..dialects import Dialect
from .parts import Part, joined

Message = dict[str, Any]

# DeepSeek and Kimi refuse a turn with calls whose thinking is missing ("must be passed back"); a blank stands for one
# that is lost, as with litellm (deepseek and moonshot chat transformation).
_LOST_THINKING = " "


@dataclass(frozen=True, slots=True)
class TurnCall:
    """A call of a turn: its chat form, the id of its item, and the position of its output."""

    chat: Message
    call_id: str
    output: int


@dataclass(slots=True)
class Turn:
    """An assistant turn that still grows."""

    texts: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    media: list[Part] = field(default_factory=list)  # an assistant message can't hold them: they follow it
    calls: list[TurnCall] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)  # of its calls
    opaque: Message = field(default_factory=dict)  # what the upstream wants back as it was
    last_output: int = -1  # position of the last output of its calls

    def distinct(self, call_id: str) -> str:
        """An id for a call of this message: servers tell calls and their results apart by it."""
        number, wanted = len(self.calls), call_id or "call"
        while wanted in self.ids:
            number += 1
            wanted = f"{call_id or 'call'}_{number}"
        self.ids.add(wanted)
        return wanted

    def add_call(self, chat: Message, call_id: str, output: int) -> None:
        self.calls.append(TurnCall(chat, call_id, output))
        self.last_output = max(self.last_output, output)

    def ended_before(self, position: int) -> bool:
        """Whether all its calls are answered before: what stands there belongs to the next turn."""
        return bool(self.calls) and self.last_output < position

    def think(self, text: str, opaque: Message) -> None:
        """Add thinking, and opaque data: lists go on, objects are joined, anything else is replaced."""
        if text:
            self.thinking.append(text)
        for name, value in opaque.items():
            before = self.opaque.get(name)
            if isinstance(before, list) and isinstance(value, list):
                self.opaque[name] = before + value
            elif isinstance(before, dict) and isinstance(value, dict):
                self.opaque[name] = before | value
            else:
                self.opaque[name] = value

    def message(self, dialect: Dialect) -> Message:
        """The assistant message."""
        content = joined(self.texts) or ("" if not self.calls else dialect.tool_call_content)
        message: Message = {"role": "assistant", "content": content}
        self._give_back_opaque(message)
        _replay(message, joined(self.thinking), dialect, has_calls=bool(self.calls))
        if self.calls:
            message["tool_calls"] = [call.chat for call in self.calls]
        return message

    def _give_back_opaque(self, message: Message) -> None:
        """Thought signatures on their calls, everything else on the message, as the upstream sent it."""
        opaque = dict(self.opaque)
        by_call = opaque.pop("calls", None)
        message.update(opaque)
        if isinstance(by_call, dict):
            for call in self.calls:
                call.chat.update(by_call.get(call.call_id) or {})


def _replay(message: Message, thinking: str, dialect: Dialect, *, has_calls: bool) -> None:
    """Earlier thinking, under the name that this server reads."""
    match dialect.replay_reasoning:
        case "reasoning_content" if has_calls:
            message.setdefault("reasoning_content", thinking or _LOST_THINKING)
        case None:
            pass
        case _ if not thinking:
            pass
        case "think":
            message["content"] = f"<think>{thinking}</think>\n\n{message['content'] or ''}"
        case "reasoning_details":
            message.setdefault("reasoning_details", [{"type": "reasoning.text", "text": thinking}])
        case name:
            message.setdefault(name, thinking)
