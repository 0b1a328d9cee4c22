"""Items → messages → an answer → items sent back → messages: texts, calls, ids, images and thinking stay what they are,
in their order, however the answer was cut.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from responses_middleware.dialects import Dialect
from responses_middleware.protocol import validate
from responses_middleware.stream import ResponseStream
from responses_middleware.translate.echo import to_response
from responses_middleware.translate.left_out import LeftOut
from responses_middleware.translate.request import ChatCall, to_chat

Item = dict[str, Any]
Message = dict[str, Any]

DIALECTS = ["openai", "deepseek", "vllm", "mistral", "sglang", "auto"]
TOOLS: list[Item] = [
    {"type": "function", "name": "f"},
    {"type": "custom", "name": "c"},
    {"type": "namespace", "name": "n", "description": "", "tools": [{"type": "function", "name": "f"}]},
    {"type": "shell"},
    {"type": "apply_patch"},
]

# Characters that JSON and UTF-8 can say; halves of surrogate pairs are the stream's own tests.
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
ids = st.from_regex(r"call_[a-zA-Z0-9]{4,12}", fullmatch=True)
images = st.from_regex(r"data:image/png;base64,[A-Za-z0-9]{1,8}", fullmatch=True)
objects = st.dictionaries(words, words | st.integers(-9, 9) | st.lists(st.booleans(), max_size=2), max_size=3)


def image_part(url: str) -> Item:
    return {"type": "input_image", "image_url": url}


def text_part(text: str) -> Item:
    return {"type": "input_text", "text": text}


parts = words.map(text_part) | images.map(image_part)
outputs = words | st.lists(parts, min_size=1, max_size=3)
users = st.builds(lambda content: {"role": "user", "content": content}, words | st.lists(parts, min_size=1, max_size=3))

# A call as the model makes it: the chat name of the tool, and its arguments.
model_calls = st.one_of(
    st.tuples(st.just("f"), objects),
    st.tuples(st.just("c"), words.map(lambda text: {"input": text})),
    st.tuples(st.just("n__f"), objects),
    st.tuples(st.just("shell"), words.map(lambda text: {"commands": [text]})),
    st.tuples(st.just("apply_patch"), words.map(lambda path: {"type": "delete_file", "path": path})),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Item]:
    """Questions and turns, as a client would send them; results stand in any order behind the calls of their turn."""
    items: list[Item] = [draw(users)]
    fresh = (f"call_h{number:07}" for number in itertools.count())
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()):
            items.append(
                {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": draw(words)}]}
            )
        text = draw(words)
        items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        names = [next(fresh) for _ in range(draw(st.integers(0, 3)))]
        for call_id in names:
            arguments = json.dumps(draw(objects))
            items.append({"type": "function_call", "call_id": call_id, "name": "f", "arguments": arguments})
        items += [
            {"type": "function_call_output", "call_id": call_id, "output": draw(outputs)}
            for call_id in draw(st.permutations(names))
        ]
        items.append(draw(users))
    return items


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """What the model says: thinking, text, calls with their ids and maybe signatures."""
    calls = draw(st.lists(model_calls, max_size=3))
    return {
        "thinking": draw(st.just("") | words),
        "text": draw(words if not calls else st.just("") | words),
        "calls": [
            {"id": call_id, "name": name, "arguments": json.dumps(arguments), "signature": draw(st.none() | words)}
            for call_id, (name, arguments) in zip(
                draw(st.lists(ids, min_size=len(calls), max_size=len(calls), unique=True)), calls, strict=True
            )
        ],
    }


class Vault:
    """Seals by keeping."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def seal(self, value: dict[str, Any]) -> str:
        token = f"token_{len(self._kept)}"
        self._kept[token] = json.loads(json.dumps(value))
        return token

    def open(self, token: str) -> dict[str, Any] | None:
        return self._kept.get(token)


def written(items: list[Item], dialect: str, unseal: Callable[[str], Any]) -> ChatCall:
    request = validate(json.loads(json.dumps({"model": "m", "input": items, "tools": TOOLS})))
    named = Dialect.named(dialect)
    return to_chat(request, [], model="m", dialect=named, unsupported=LeftOut("error"), unseal=unseal)


def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """The same text, cut anywhere."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    return [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)]) if start != end]


def chunks_of(draw: st.DrawFn, answer: dict[str, Any]) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"reasoning_content": piece} for piece in pieces(draw, answer["thinking"])]
    deltas += [{"content": piece} for piece in pieces(draw, answer["text"])]
    for index, call in enumerate(answer["calls"]):
        signed = {"extra_content": {"google": {"thought_signature": call["signature"]}}} if call["signature"] else {}
        head = {
            "index": index,
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": ""},
        }
        deltas.append({"tool_calls": [head | signed]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in pieces(draw, call["arguments"])
        ]
    return [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas] + [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if answer["calls"] else "stop"}]}
    ]


def answered(draw: st.DrawFn, answer: dict[str, Any], call: ChatCall, vault: Vault, reasoning: Any) -> list[Item]:
    """The output items of a response."""
    numbers = itertools.count()
    stream = ResponseStream(
        to_response({"model": "m"}, response_id="resp_1", created_at=0, stores=True),
        new_id=lambda prefix: f"{prefix}{next(numbers)}",
        now=lambda: 0.0,
        names=call.names,
        reasoning=reasoning,
        seal=vault.seal,
    )
    stream.start()
    for chunk in chunks_of(draw, answer):
        stream.feed(chunk)
    stream.finish(done=True)
    assert stream.response["status"] == "completed"
    items: list[Item] = json.loads(json.dumps(stream.response["output"]))
    return items


OUTPUTS = {
    "function_call": lambda output: {"type": "function_call_output", "output": output},
    "custom_tool_call": lambda output: {"type": "custom_tool_call_output", "output": output},
    "shell_call": lambda output: {"type": "shell_call_output", "output": []},
    "apply_patch_call": lambda output: {"type": "apply_patch_call_output", "status": "completed"},
}


def flat(message: Message) -> tuple[Any, ...]:
    """What an assistant message says, blanks in arguments aside."""
    calls = [
        (
            call["id"],
            inner["name"],
            inner.get("input") or json.loads(inner.get("arguments", "{}")),
            call.get("extra_content"),
        )
        for call in message.get("tool_calls", [])
        for inner in [call[call["type"]]]
    ]
    thinking = (message.get("reasoning_content") or message.get("reasoning") or "").strip(" ")
    return message["role"], message["content"], thinking, calls


def wanted(answer: dict[str, Any], call: ChatCall, dialect: str) -> tuple[Any, ...]:
    """The same of an answer, as this dialect gives it back."""
    custom = Dialect.named(dialect).custom_tools == "native"
    calls = [
        (
            made["id"],
            made["name"],
            json.loads(made["arguments"])["input"] if custom and made["name"] == "c" else json.loads(made["arguments"]),
            {"google": {"thought_signature": made["signature"]}} if made["signature"] else None,
        )
        for made in answer["calls"]
    ]
    replays = Dialect.named(dialect).replay_reasoning is not None
    return "assistant", answer["text"], (answer["thinking"] if replays else "").strip(" "), calls


def content_of(message: Message) -> list[str]:
    """Texts and images of a message."""
    content = message["content"]
    if isinstance(content, str):
        return [content] if content else []
    return [part["text"] if part["type"] == "text" else part["image_url"]["url"] for part in content]


def said_by(item: Item) -> list[str]:
    """Texts and images of an item; its thinking may be left away."""
    listed = "" if item.get("type") == "reasoning" else item.get("content") or item.get("output") or ""
    return [listed] if isinstance(listed, str) else [part.get("text") or part["image_url"] for part in listed]


@given(histories(), st.sampled_from(DIALECTS))
def test_all_that_the_items_say_is_said_by_the_messages(items: list[Item], dialect: str) -> None:
    messages = written(items, dialect, lambda token: None).payload["messages"]

    told = "\0".join(text for message in messages for text in content_of(message))
    assert [text for item in items for text in said_by(item) if text not in told] == []
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    given_calls = [item for item in items if item.get("type") == "function_call"]
    assert [call["function"]["arguments"] for call in calls] == [item["arguments"] for item in given_calls]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert results == [call["id"] for call in calls]


@given(histories(), st.sampled_from(DIALECTS))
def test_results_stand_directly_behind_their_calls(items: list[Item], dialect: str) -> None:
    messages = written(items, dialect, lambda token: None).payload["messages"]

    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert waiting == []
            waiting = [call["id"] for call in message.get("tool_calls", [])]
    assert waiting == []


@given(st.data())
def test_an_answer_that_is_sent_back_is_the_same_answer(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from([name for name in DIALECTS if name != "mistral"]))  # it makes ids of its own
    reasoning = data.draw(st.sampled_from(["summary", "text", "none"]))
    items, answer, vault = data.draw(histories()), data.draw(answers()), Vault()
    first = written(items, dialect, vault.open)

    output = answered(data.draw, answer, first, vault, reasoning)
    results = [
        {"call_id": item["call_id"], **OUTPUTS[item["type"]](data.draw(outputs))}
        for item in output
        if item["type"].endswith("_call")
    ]
    again = written([*items, *output, *results, {"role": "user", "content": "Go on"}], dialect, vault.open)

    before, after = first.payload["messages"], again.payload["messages"]
    assert after[: len(before)] == before
    assert flat(after[len(before)]) == wanted(answer, first, dialect)
    assert [message["tool_call_id"] for message in after[len(before) + 1 :] if message["role"] == "tool"] == [
        call["id"] for call in answer["calls"]
    ]
    assert content_of(after[-1]) == ["Go on"]
