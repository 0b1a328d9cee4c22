"""The legal orders of events, as tables. The tests hold every stream to them; nothing reads them while serving.

grammar = Grammar()
for event in events:
    grammar.accept(event)  # GrammarError names the event, what is wrong and what may stand there
grammar.finish()

The order is that of 38 recorded streams of OpenAI's API. Where these and the official clients leave a choice it is
ours: items stand one after the other, since some clients keep a single item open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..protocol.response import Response

Event = Mapping[str, Any]
Follow = Mapping[str, Mapping[str, str]]  # state → what may come → the state then


class GrammarError(Exception):
    """An event that may not stand where it stands, or not in this form."""


# -- the response
_BREAKS = {"error": "broken", "response.failed": "ended"}
RESPONSE: Follow = {
    "before": {"response.created": "created"},
    "created": {"response.queued": "queued", "response.in_progress": "running", **_BREAKS},
    "queued": {"response.in_progress": "running", **_BREAKS},
    "running": {"response.completed": "ended", "response.incomplete": "ended", **_BREAKS},
    "broken": {"response.failed": "ended"},
    "ended": {},
}
STATUSES: Mapping[str, Sequence[str]] = {
    "response.created": ("in_progress", "queued"),
    "response.queued": ("queued",),
    "response.in_progress": ("in_progress",),
    "response.completed": ("completed",),
    "response.incomplete": ("incomplete",),
    "response.failed": ("failed", "cancelled"),
}
RESPONSE_MEMBERS = Response.__optional_keys__ - {"conversation", "moderation", "prompt"}
SET_WHEN = {"error": "failed", "incomplete_details": "incomplete", "completed_at": "completed"}  # else null


# -- the items: a body begins "open" and may end in any state of WHOLE
def _part(state: str, text: str, behind: str, *others: str, done: str = "content_part.done") -> dict[str, Any]:
    inside = {f"response.{event}": state for event in (f"{text}.delta", *others)}
    return {
        state: {**inside, f"response.{text}.done": f"{state} done"},
        f"{state} done": {f"response.{done}": behind},
    }


def _text(text: str) -> Follow:
    return {"open": {f"response.{text}.delta": "open", f"response.{text}.done": "whole"}}


WHOLE = frozenset({"whole", "parts", "texts"})
_PARTS = {"response.content_part.added output_text": "text", "response.content_part.added refusal": "refusal"}
_TEXTS = {"response.content_part.added reasoning_text": "text"}
BODIES: Mapping[str, Follow] = {
    "message": {
        "open": _PARTS,
        "parts": _PARTS,
        **_part("text", "output_text", "parts", "output_text.annotation.added"),
        **_part("refusal", "refusal", "parts"),
    },
    "reasoning": {
        "parts": {"response.reasoning_summary_part.added summary_text": "summary", **_TEXTS},
        "texts": _TEXTS,
        **_part("summary", "reasoning_summary_text", "parts", done="reasoning_summary_part.done"),
        **_part("text", "reasoning_text", "texts"),
    },
    "function_call": _text("function_call_arguments"),
    "custom_tool_call": _text("custom_tool_call_input"),
    "image_generation_call": {
        "open": {"response.image_generation_call.in_progress": "drawing"},
        "drawing": {"response.image_generation_call.completed": "whole"},
    },
}  # items of other types are told whole
BEGINS: Mapping[str, str] = {"reasoning": "parts"}  # and "open" or, told whole, "whole"

# -- the fields
_ITEM = ("item_id", "output_index")
_CONTENT = (*_ITEM, "content_index")
_SUMMARY = (*_ITEM, "summary_index")
FIELDS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(STATUSES, ("response",)),
    "error": ("error",),
    "response.output_item.added": ("output_index", "item"),
    "response.output_item.done": ("output_index", "item"),
    "response.content_part.added": (*_CONTENT, "part"),
    "response.content_part.done": (*_CONTENT, "part"),
    "response.output_text.delta": (*_CONTENT, "delta", "logprobs"),
    "response.output_text.done": (*_CONTENT, "text", "logprobs"),
    "response.output_text.annotation.added": (*_CONTENT, "annotation_index", "annotation"),
    "response.refusal.delta": (*_CONTENT, "delta"),
    "response.refusal.done": (*_CONTENT, "refusal"),
    "response.reasoning_text.delta": (*_CONTENT, "delta"),
    "response.reasoning_text.done": (*_CONTENT, "text"),
    "response.reasoning_summary_part.added": (*_SUMMARY, "part"),
    "response.reasoning_summary_part.done": (*_SUMMARY, "part"),
    "response.reasoning_summary_text.delta": (*_SUMMARY, "delta"),
    "response.reasoning_summary_text.done": (*_SUMMARY, "text"),
    "response.function_call_arguments.delta": (*_ITEM, "delta"),
    "response.function_call_arguments.done": (*_ITEM, "arguments", "name"),
    "response.custom_tool_call_input.delta": (*_ITEM, "delta"),
    "response.custom_tool_call_input.done": (*_ITEM, "input"),
    "response.image_generation_call.in_progress": _ITEM,
    "response.image_generation_call.completed": _ITEM,
}
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("item_id", "delta", "text", "refusal", "arguments", "input", "name", "obfuscation"), str),
    **dict.fromkeys(("output_index", "content_index", "summary_index", "annotation_index", "sequence_number"), int),
    **dict.fromkeys(("response", "item", "part", "annotation", "error"), dict),
    "logprobs": list,
}
_OPTIONAL = {"type", "sequence_number", "obfuscation"}
_TEXT_OF = {"output_text": "text", "reasoning_text": "text", "summary_text": "text", "refusal": "refusal"}
SKELETONS: Mapping[str, Mapping[str, Any]] = {
    # items when they are added
    "message": {"status": "in_progress", "role": "assistant", "content": []},
    "reasoning": {"summary": []},
    "function_call": {"status": "in_progress", "arguments": ""},
    "custom_tool_call": {"status": "in_progress", "input": ""},
    # parts when they are added
    "output_text": {"text": "", "annotations": [], "logprobs": []},
    "refusal": {"refusal": ""},
    "reasoning_text": {"text": ""},
    "summary_text": {"text": ""},
}
_CONSTANT_OF_ITEM = ("id", "type", "call_id", "name", "namespace")
_CONSTANT_OF_RESPONSE = ("id", "object", "created_at", "model")


def _require(holds: object, why: str) -> None:
    if not holds:
        raise GrammarError(why)


class _Item:
    """An item that was added: the state of its body, and what was said in it."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        self.added = item
        self.done: Mapping[str, Any] | None = None
        self.body = BODIES.get(item["type"], {})
        self.state = BEGINS.get(item["type"], "open" if self.body else "whole")
        self.text = ""  # of the open part, or of the call
        self.logprobs: list[Any] = []
        self.annotations: list[Any] = []
        self.parts: dict[str, list[Mapping[str, Any]]] = {"content_index": [], "summary_index": []}

    def accept(self, event: Event) -> None:
        kind = event["type"]
        key = f"{kind} {event['part'].get('type')}" if kind.endswith("_part.added") else kind
        follow = self.body.get(self.state, {})
        _require(key in follow, f"{key} may not come here ({self.state}); expected {sorted(follow) or 'its end'}")
        self.state = follow[key]
        for index in ("content_index", "summary_index"):
            if index in event:
                _require(
                    event[index] == len(self.parts[index]), f"{index} is {event[index]}, not {len(self.parts[index])}"
                )
        self._follow_text(kind.rpartition(".")[2], event)

    def _follow_text(self, step: str, event: Event) -> None:
        match step:
            case "delta":
                _require(event["delta"], "an empty delta")
                self.text += event["delta"]
                self.logprobs += event.get("logprobs", [])
            case "added" if "part" in event:
                _holds_skeleton(event["part"])
                self.text, self.logprobs, self.annotations = "", [], []
            case "added":
                _require(event["annotation_index"] == len(self.annotations), "annotation_index is not dense")
                self.annotations.append(event["annotation"])
            case "done" if "part" in event:
                self._end_part(event["part"], "summary_index" if "summary_index" in event else "content_index")
            case "done":
                whole = next(event[name] for name in ("text", "refusal", "arguments", "input") if name in event)
                _require(whole == self.text, f"the whole text is {whole!r}, its deltas make {self.text!r}")
                _require(event.get("logprobs", self.logprobs) == self.logprobs, "logprobs differ from their deltas")

    def _end_part(self, part: Mapping[str, Any], index: str) -> None:
        _require(part[_TEXT_OF[part["type"]]] == self.text, "the done part has another text than its deltas")
        if part["type"] == "output_text":
            _require(part["annotations"] == self.annotations, "the done part has other annotations than were told")
            _require(part["logprobs"] == self.logprobs, "the done part has other logprobs than were told")
        self.parts[index].append(part)

    def end(self, item: Mapping[str, Any]) -> None:
        """Check the item when it is whole."""
        _require(self.state in WHOLE, f"the item ends inside its body ({self.state})")
        for name in _CONSTANT_OF_ITEM:
            _require(item.get(name) == self.added.get(name), f"{name} of the item changed")
        statuses = ("completed", "incomplete", None) if item["type"] == "reasoning" else ("completed", "incomplete")
        _require(item.get("status") in statuses, f"a done item has the status {item.get('status')!r}")
        match item["type"]:
            case "message":
                _require(item["content"] == self.parts["content_index"], "content differs from the done parts")
            case "reasoning":
                _require(item["summary"] == self.parts["summary_index"], "summary differs from the done parts")
                texts = [{"type": "reasoning_text", "text": part["text"]} for part in item["summary"]]  # shown in both
                _require(item["content"] == self.parts["content_index"] or item["content"] == texts, "content differs")
            case "function_call" | "custom_tool_call":
                told = item["arguments" if item["type"] == "function_call" else "input"]
                _require(told == self.text, f"the item has {told!r}, its deltas make {self.text!r}")


def _holds_skeleton(value: Mapping[str, Any]) -> None:
    for name, empty in SKELETONS.get(value["type"], {}).items():
        _require(value.get(name) == empty, f"{name} of a new {value['type']} is {value.get(name)!r}, not {empty!r}")


class Grammar:
    """Follow one stream of events; GrammarError for the first that is not legal."""

    def __init__(self) -> None:
        self._state = "before"
        self._sequence = 0
        self._items: list[_Item] = []
        self._names: set[tuple[str, str]] = set()  # ids and call ids
        self._constant: dict[str, Any] = {}

    def accept(self, event: Event) -> None:
        """Check the next event."""
        try:
            self._accept(event)
        except GrammarError as error:
            raise GrammarError(f"event {self._sequence}, {event.get('type')}: {error}") from None
        self._sequence += 1

    def finish(self) -> None:
        """Check that the stream is over."""
        _require(self._state == "ended", f"the stream ends {self._state}; expected {sorted(RESPONSE[self._state])}")

    def _accept(self, event: Event) -> None:
        kind = event["type"]
        _check_fields(event)
        _require(event["sequence_number"] == self._sequence, f"sequence_number is {event['sequence_number']}")
        if kind in STATUSES or kind == "error":
            follow = RESPONSE[self._state]
            _require(kind in follow, f"may not come here ({self._state}); expected {sorted(follow)}")
            self._state = follow[kind]
            if kind != "error":
                self._check_response(kind, event["response"])
            return
        _require(self._state == "running", f"an item event may not come here ({self._state})")
        if kind == "response.output_item.added":
            self._add(event["output_index"], event["item"])
            return
        _require(event["output_index"] == len(self._items) - 1, "the event is not about the item that is open")
        item = self._items[-1]
        _require(item.done is None, "the item is done")
        if kind == "response.output_item.done":
            item.end(event["item"])
            item.done = event["item"]
        else:
            _require(event["item_id"] == item.added["id"], f"item_id is {event['item_id']!r}, not {item.added['id']!r}")
            item.accept(event)

    def _add(self, index: int, item: Mapping[str, Any]) -> None:
        _require(index == len(self._items), f"output_index is {index}, not {len(self._items)}")
        _require(not self._items or self._items[-1].state in WHOLE, "the item before is not whole")
        for name in ("id", "call_id"):
            if name == "id" or name in item:
                _require(
                    item[name] and (name, item[name]) not in self._names, f"{name} {item[name]!r} is empty or taken"
                )
                self._names.add((name, item[name]))
        _require(item["id"] != item.get("call_id"), "id and call_id are the same")
        _require(item.get("name") != "", "the call has no name")
        _holds_skeleton(item)
        self._items.append(_Item(item))

    def _check_response(self, kind: str, response: Mapping[str, Any]) -> None:
        _require(
            response.keys() >= RESPONSE_MEMBERS, f"the response lacks {sorted(RESPONSE_MEMBERS - response.keys())}"
        )
        _require(response["status"] in STATUSES[kind], f"the response's status is {response['status']!r}")
        for name in _CONSTANT_OF_RESPONSE:
            _require(
                self._constant.setdefault(name, response[name]) == response[name], f"{name} of the response changed"
            )
        for name, status in SET_WHEN.items():
            _require((response[name] is not None) == (response["status"] == status), f"{name} does not fit the status")
        if not RESPONSE[self._state]:
            self._check_output(response)
        else:
            _require(response["output"] == [] and response["usage"] is None, "a response begins without output, usage")

    def _check_output(self, response: Mapping[str, Any]) -> None:
        output, items = response["output"], self._items
        regular = response["status"] in ("completed", "incomplete")
        _require(len(output) == len(items), f"the output has {len(output)} items, {len(items)} were added")
        _require(not regular or response["usage"] is not None, "the response has no usage")
        for told, item in zip(output, items, strict=True):
            if item.done is None:
                _require(not regular, "an item was never done")
                item.end(told)
                _require(told.get("status") == "incomplete", "an item that was never done is not incomplete")
            _require(item.done in (None, told), "an item of the output differs from its done event")
            if response["status"] == "completed":
                _require(told.get("status") != "incomplete", "an incomplete item in a completed response")


def _check_fields(event: Event) -> None:
    kind = event.get("type")
    _require(kind in FIELDS, "no event of a Responses stream")
    required = {"type", "sequence_number", *FIELDS[str(kind)]}
    _require(event.keys() >= required, f"lacks {sorted(required - event.keys())}")
    _require(event.keys() <= required | _OPTIONAL, f"has no {sorted(event.keys() - required - _OPTIONAL)}")
    for name, value in event.items():
        wanted = _TYPES.get(name, object)
        _require(isinstance(value, wanted) and not isinstance(value, bool), f"{name} is {value!r}")
