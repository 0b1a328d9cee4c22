"""One liberal reader for the chunks of every chat server: what a chunk says, as small statements in order.

Nothing here is decided by the name of a server. What a chunk may look like, and who sends it so, stands where it is
read; the fixtures in tests/fixtures/dialects show each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from .._json import repaired
from ..translate.failure import find_failure
from ..translate.usage import find_usage
from .open_calls import arguments_text

Said = tuple[Any, ...]  # ("text", "Hel", None), ("reasoning", "hm"), ("call", {...}, True), ("finish", "stop"), …

# Thinking, by server: DeepSeek, Qwen, llama.cpp, SGLang | vLLM, OpenRouter, Ollama, Groq | Copilot | others. Mirrored
# text counts once.
_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
# What the upstream wants back as it was, whatever it means.
_OPAQUE = ("reasoning_details", "reasoning_opaque", "thinking_blocks", "extra_content")
_OPAQUE_OF_CALL = ("extra_content", "thought_signature", "provider_specific_fields")
# What a Response may name; Groq's `on_demand` and the like mean their usual one.
_TIERS = frozenset({"default", "flex", "scale", "priority", "fast", "ultrafast"})


def read(chunk: object) -> list[Said]:
    """What a chunk says, in the order in which it is to be told."""
    if failure := find_failure(chunk):
        return [*_partial(chunk), ("failure", failure)]
    if not isinstance(chunk, dict):
        return [("garbage", "a frame of the upstream is no JSON object")] if chunk is not None else []
    said: list[Said] = []
    choices = chunk.get("choices")
    if choices:
        for choice in _parts_of_turn(choices):
            _read_choice(choice, said)
    elif "response" in chunk or "tool_calls" in chunk:
        _read_native(chunk, said)
    if usage := find_usage(chunk):
        said.append(("usage", usage))
    tier = chunk.get("service_tier")
    if isinstance(tier, str) and tier in _TIERS:
        said.append(("tier", tier))
    if sources := chunk.get("search_results") or chunk.get("citations") or chunk.get("web_search"):
        said.append(("sources", sources))
    return said


def _partial(chunk: object) -> list[Said]:
    """What stands beside an error: OpenRouter's last frame has both."""
    said: list[Said] = []
    if isinstance(chunk, dict) and chunk.get("choices"):
        for choice in _parts_of_turn(chunk["choices"]):
            _read_choice(choice, said)
    return [statement for statement in said if statement[0] != "finish"]


def _parts_of_turn(choices: Any) -> Iterable[dict[str, Any]]:
    """The choices that are one answer: n is never asked for, so a first choice counts whatever its index.

    Copilot spreads one turn over several choices without an index; entries with another index are alternatives.
    """
    listed = [choice for choice in (choices if isinstance(choices, list) else [choices]) if isinstance(choice, dict)]
    return [choice for choice in listed if choice is listed[0] or choice.get("index") in (None, listed[0].get("index"))]


def _read_choice(choice: dict[str, Any], said: list[Said]) -> None:
    delta, before = choice.get("delta"), len(said)
    if isinstance(delta, dict):
        _read_delta(delta, choice.get("logprobs"), said)
    elif isinstance(text := delta or choice.get("text"), str):  # the legacy completions form
        _say_text(said, text, choice.get("logprobs"))
    message = choice.get("message")
    if isinstance(message, dict) and len(said) == before:  # beside a delta that speaks: the answer so far (Perplexity)
        said.append(("snapshot", message))
    finish = choice.get("finish_reason")
    if isinstance(finish, str) and finish:
        said.append(("finish", finish))


class MessageSoFar:
    """The messages of an answer that comes whole, or whole so far, again and again (Perplexity)."""

    __slots__ = ("_calls", "_texts")

    def __init__(self) -> None:
        self._texts: dict[tuple[str, int], str] = {}  # by kind, and place among those of the kind
        self._calls: dict[int, Any] = {}  # by their place

    def news(self, message: dict[str, Any], heard: Container[str]) -> list[Said]:
        """What a message says that neither the one before it nor deltas have said.

        Args:
            message: as the chunk has it.
            heard: the kinds of statements that came as deltas.
        """
        said: list[Said] = []
        _read_delta(message, None, said)
        places: Counter[str] = Counter()
        news: list[Said] = []
        for kind, what, *more in said:
            place, places[kind] = places[kind], places[kind] + 1
            if kind == "annotation":
                news.append((kind, what))
            elif kind not in heard:
                news += self._new(kind, place, what, more)
        return news

    def _new(self, kind: str, place: int, what: Any, more: list[Any]) -> list[Said]:
        if kind == "opaque":
            return [(kind, what, *more, True)]
        if kind == "call":
            if self._calls.get(place) == what:
                return []
            self._calls[place] = what
            return [(kind, what if what.get("index") is not None else {**what, "index": place}, *more)]
        before = self._texts.get((kind, place), "")
        if before.startswith(what):
            return []
        self._texts[kind, place] = what
        return [(kind, what.removeprefix(before), *more)]


def _read_delta(delta: dict[str, Any], logprobs: Any, said: list[Said]) -> None:
    if (thinking := _thinking_of(delta)) is not None:
        said.append(("reasoning", thinking))
    content = delta.get("content")
    if content:
        _read_content(content, logprobs, said)
    if (refusal := delta.get("refusal")) and isinstance(refusal, str):
        said.append(("refusal", refusal))
    if annotations := delta.get("annotations"):  # of the text; a call ends it
        said += [("annotation", annotation) for annotation in _objects(annotations)]
    if images := delta.get("images"):  # OpenRouter, LiteLLM: what the model has drawn
        _read_images(images, said)
    if calls := delta.get("tool_calls"):
        _read_calls(calls, said)
    elif isinstance(call := delta.get("function_call"), dict):  # the legacy form; beside tool_calls it says the same
        said.append(("call", {"index": "function_call", **call}, True))
    if isinstance(audio := delta.get("audio"), dict) and isinstance(audio.get("transcript"), str):
        _say_text(said, audio["transcript"], None)
    said += [("opaque", name, delta[name]) for name in _OPAQUE if delta.get(name)]


def _thinking_of(delta: dict[str, Any]) -> str | None:
    for name in _REASONING:
        value = delta.get(name)
        if not value:
            continue
        if isinstance(value, str):
            return value
        if isinstance(value, dict):  # Cloudflare | Envoy AI Gateway
            texts = [value.get(member) for member in ("content", "text")]
            return next((text for text in texts if isinstance(text, str) and text), None)
    for name in ("reasoning_details", "thinking_blocks"):  # OpenRouter, MiniMax | LiteLLM: mirrored in a text field
        if isinstance(details := delta.get(name), list) and (text := _details_text(details)):
            return text
    return None


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of what should be a list of objects; one alone is a list of one."""
    return [entry for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, dict)]


def _details_text(details: list[Any]) -> str | None:
    texts = [detail.get("text") or detail.get("summary") or detail.get("thinking") for detail in _objects(details)]
    return "".join(text for text in texts if isinstance(text, str)) or None


def _read_content(content: Any, logprobs: Any, said: list[Said]) -> None:
    if isinstance(content, str):
        _say_text(said, content, logprobs)
        return
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            _say_text(said, part, None)
        elif isinstance(part, dict):
            _read_part(part, said)


def _read_part(part: dict[str, Any], said: list[Said]) -> None:
    """An element of a content list (Mistral, Copilot); references hold ids alone and say nothing."""
    kind = part.get("type")
    if kind in ("thinking", "reasoning"):  # Databricks has its text in `summary`
        inner = part.get("thinking") or part.get("text") or part.get("summary") or ""
        pieces = _objects(inner)
        texts = [inner] if isinstance(inner, str) else [piece.get("text") for piece in pieces]
        said += [("reasoning", text) for text in texts if isinstance(text, str) and text]
        if part.get("signature") or any(piece.get("signature") for piece in pieces):
            said.append(("opaque", "thinking_blocks", [part]))
    elif kind == "image_url":
        _read_images([part], said)
    elif kind == "refusal":
        if (refusal := part.get("refusal")) and isinstance(refusal, str):
            said.append(("refusal", refusal))
    elif isinstance(part.get("text"), str):
        _say_text(said, part["text"], None)
        said += [("annotation", note) for note in _objects(part.get("annotations"))]


def _read_images(images: Any, said: list[Said]) -> None:
    for image in _objects(images):
        carrier = image.get("image_url")
        url = carrier.get("url") if isinstance(carrier, dict) else carrier
        if isinstance(url, str) and url:
            said.append(("image", url))


def _say_text(said: list[Said], text: str, logprobs: Any) -> None:
    if text:
        said.append(("text", text, logprobs))


def _read_calls(calls: Any, said: list[Said]) -> None:
    said += [("call", call, position == 0) for position, call in enumerate(_objects(calls))]


def _read_native(chunk: dict[str, Any], said: list[Said]) -> None:
    """Cloudflare's /ai/run: text in `response`, which may be a number or an object, and bare calls."""
    text = chunk.get("response")
    if isinstance(text, str):
        _say_text(said, text, None)
    elif text is not None and not isinstance(text, bool):
        said.append(("text", arguments_text(text), None))
    if chunk.get("tool_calls"):
        _read_calls(chunk["tool_calls"], said)
    if isinstance(finish := chunk.get("finish_reason"), str):
        said.append(("finish", finish))


def opaque_of_call(call: dict[str, Any]) -> dict[str, Any]:
    """What a server wants back with this very call: Gemini's thought signature above all."""
    return {name: call[name] for name in _OPAQUE_OF_CALL if call.get(name)}


def to_annotation(annotation: dict[str, Any]) -> dict[str, Any] | None:
    """A chat annotation, nested under its type, as the flat one of Responses; None for what no client knows."""
    if (annotation.get("type") or "url_citation") != "url_citation":
        return None
    fields = annotation.get("url_citation")
    fields = fields if isinstance(fields, dict) else annotation
    if not isinstance(fields.get("url"), str):
        return None
    return citation(fields["url"], fields.get("title"), fields.get("start_index"), fields.get("end_index"))


def to_sources(sources: object) -> list[dict[str, Any]]:
    """Sources of the whole answer (Perplexity, xAI, GLM) as citations that point nowhere yet."""
    found = []
    for source in sources if isinstance(sources, list) else []:
        entry = {"url": source} if isinstance(source, str) else source if isinstance(source, dict) else {}
        url = entry.get("url") or entry.get("link")
        if isinstance(url, str):
            found.append(citation(url, entry.get("title"), 0, 0))
    return found


def citation(url: str, title: object, start: object, end: object) -> dict[str, Any]:
    """A url_citation; indexes count characters of the part's text."""
    return {
        "type": "url_citation",
        "start_index": _place(start),
        "end_index": _place(end),
        "url": repaired(url),
        "title": repaired(title) if isinstance(title, str) else "",
    }


def _place(index: object) -> int:
    return index if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < 1 << 31 else 0
