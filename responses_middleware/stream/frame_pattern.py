r"""What frames have in common that differ in a few places: bytes that stay, and holes in which something may vary.

    data: {"id":"c1","choices":[{"index":0,"delta":{"content":TEXT},"logprobs":{"content":LOGPROBS}}],"usage":COUNT}

A pattern is learned from one frame that the machine has read. Its text must stand in it exactly once, so that another
text in this place says the same of another text; reading the frame with another text there is the proof. What may stand
in a hole is what the machine would say again without a change, nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Literal

from .. import _json
from .open_calls import arguments_text
from .reader import Said, read

HoleKind = Literal["text", "logprobs", "other"]
Fill = Callable[[bytes, int], re.Match[bytes] | None]
Step = tuple[bytes, Fill, HoleKind]

# One JSON string; no escaped surrogates. Possessive, so that a literal that the read has cut costs no backtracking.
_TEXT = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
# In a call's arguments no closing bracket either: it may complete them.
_ARGUMENTS = (
    rb'"[^"\\\x00-\x1f\]}]*+(?:\\(?:["\\/bfnrt]|u(?!00[57][dD]|[dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\\x00-\x1f\]}]*+)*+"'
)
_COUNT = rb"(?:0|[1-9]\d{0,17}+)(?![\d.eE])"  # as JSON writes an integer; the machine judges all else
_PADDING = rb'"[0-9A-Za-z]*+"'
# Logprobs as OpenAI, vLLM and SGLang write them. The machine changes numbers from 9999 on, and bytes that are none.
_LOGPROB = rb"-?(?:0|[1-9]\d{0,2}+)(?:\.\d++)?+(?:[eE]-\d{1,3}+)?+(?=[,}])|-9999\.0(?=[,}])"
_BYTE = rb"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?!\d)"
_BYTES = rb"\[(?:" + _BYTE + rb"(?:, ?" + _BYTE + rb")*+)?+\]"
_MEMBERS = (
    rb'\{"token": ?' + _TEXT
    + rb', ?(?:"logprob": ?(?:' + _LOGPROB + rb'), ?"bytes": ?' + _BYTES
    + rb'|"bytes": ?' + _BYTES + rb', ?"logprob": ?(?:' + _LOGPROB + rb"))"
)  # fmt: skip
_TOPS = rb"\[(?:" + _MEMBERS + rb"\}(?:, ?" + _MEMBERS + rb"\})*+)?+\]"
_ENTRY = _MEMBERS + rb', ?"top_logprobs": ?' + _TOPS + rb"\}"
_LOGPROBS = rb"\[" + _ENTRY + rb"(?:, ?" + _ENTRY + rb")*+\]"

_text, _arguments, _count, _padding, _logprobs = (
    re.compile(pattern).match for pattern in (_TEXT, _ARGUMENTS, _COUNT, _PADDING, _LOGPROBS)
)
_search_logprobs = re.compile(_LOGPROBS).search
_VARIES = rb'(?:"[a-z]+_tokens":\s*(\d+)|"obfuscation":\s*("[0-9A-Za-z]*"))'
_find_counts = re.compile(_VARIES).finditer
_find_runs = re.compile(_VARIES + rb"(?:[^:]{0,40}" + _VARIES + rb")*").finditer

_PROBE_TEXT = "\u2603 probe"
_PROBE_LOGPROBS = [{"token": "\u2603", "logprob": -0.5, "bytes": [], "top_logprobs": []}]
_REPEATABLE = frozenset({"text", "reasoning", "refusal", "call", "usage", "tier"})
_LONGEST = 4096  # bytes that stay; to look through more costs as much as to read


@dataclass(frozen=True, slots=True)
class FramePattern:
    """Frames of one kind.

    Attributes:
        steps: the bytes in front of each hole, what may fill it, and its kind; the text is one of them.
        end: the bytes after the last hole, blank line included.
        has_counts: whether there are holes beside those of the text and its logprobs.
    """

    steps: tuple[Step, ...]
    end: bytes
    has_counts: bool

    def match(self, data: bytes, at: int) -> tuple[bytes, bytes, int] | None:
        """The text's literal, the logprobs and where the frame ends, if one of this kind begins there."""
        literal = logprobs = b""
        for before, fill, kind in self.steps:
            if not data.startswith(before, at):
                return None
            found = fill(data, at + len(before))
            if found is None:
                return None
            at = found.end()
            if kind == "text":
                literal = found[0]
            elif kind == "logprobs":
                logprobs = found[0]
        return (literal, logprobs, at + len(self.end)) if data.startswith(self.end, at) else None


def pattern_of(payload: bytes, text: str, *, is_call: bool, wants_logprobs: bool) -> FramePattern | None:
    """What frames like this one have in common, or None if that can't be told.

    Args:
        payload: the data of a frame that has added exactly this text to the answer.
        is_call: the text is a piece of a call's arguments.
        wants_logprobs: the frame's logprobs were passed on; else the machine has dropped them.
    """
    for literal in {encode_basestring_ascii(text).encode(), encode_basestring(text).encode("utf-8", "replace")}:
        before, found, behind = payload.partition(literal)
        array_at = _search_logprobs(behind)
        start, end = array_at.span() if array_at else (len(behind), len(behind))
        head, array, tail = behind[:start], behind[start:end], behind[end:]
        if not found or literal in head or literal in tail or len(before) + len(head) + len(tail) > _LONGEST:
            continue
        if _grows_by(payload, text, before, (head, array, tail), wants_logprobs=wants_logprobs):
            return _pattern(before, _arguments if is_call else _text, (head, array, tail))
    return None


def _pattern(before: bytes, fill: Fill, behind: tuple[bytes, bytes, bytes]) -> FramePattern:
    head, array, tail = behind
    steps, rest = _with_counts([], b"data: " + before)
    steps, rest = _with_counts([*steps, (rest, fill, "text")], head)
    if array:
        steps, rest = _with_counts([*steps, (rest, _logprobs, "logprobs")], tail)
    has_counts = any(kind == "other" for _, _, kind in steps)
    return FramePattern(tuple(steps), rest + b"\n\n", has_counts=has_counts)


def _with_counts(steps: list[Step], part: bytes) -> tuple[list[Step], bytes]:
    """The steps, those for the counts and paddings in these bytes after them, and the bytes after the last one."""
    at = 0
    more: list[Step] = []
    for run in _find_runs(part):
        more.append((part[at : run.start()], re.compile(_varying(run[0])).match, "other"))
        at = run.end()
    return [*steps, *more], part[at:]


def _varying(run: bytes) -> bytes:
    """An expression for a run of counts and paddings; the same for all streams of a server, so that `re` has it in its
    cache."""
    pieces, at = [], 0
    for hole in _find_counts(run):
        value = hole.lastindex or 0
        pieces += [re.escape(run[at : hole.start(value)]), _COUNT if value == 1 else _PADDING]
        at = hole.end(value)
    return b"".join(pieces)


def _grows_by(
    payload: bytes, text: str, before: bytes, behind: tuple[bytes, bytes, bytes], *, wants_logprobs: bool
) -> bool:
    """Whether the text that the frame adds, and its logprobs, stand in their holes and all else would be said again."""
    head, array, tail = behind
    logprobs = _json.dumps(_PROBE_LOGPROBS) if array else b""
    probe = before + encode_basestring_ascii(_PROBE_TEXT).encode() + head + logprobs + tail
    try:
        said, probed = read(_json.loads(payload)), read(_json.loads(probe))
    except ValueError:
        return False
    if any(statement[0] not in _REPEATABLE for statement in said):
        return False
    (texts, rest), (probed_texts, probed_rest) = _texts_and_rest(said), _texts_and_rest(probed)
    if wants_logprobs and _logprobs_of(probed) != [_PROBE_LOGPROBS]:
        return False
    return texts == [text] and probed_texts == [_PROBE_TEXT] and rest == probed_rest


def _texts_and_rest(said: list[Said]) -> tuple[list[str], list[Any]]:
    texts: list[str] = []
    rest: list[Any] = []
    for kind, what, *others in said:
        if kind == "call":
            function = what.get("function")
            carrier = function if isinstance(function, dict) else what
            texts.append(arguments_text(carrier.get("arguments")))
            rest.append((kind, {**what, "function": None}, {**carrier, "arguments": None}, others))
        elif kind in ("text", "reasoning", "refusal"):
            texts.append(what)
            rest.append(kind)
        else:
            rest.append((kind, what, others))
    return texts, rest


def _logprobs_of(said: list[Said]) -> list[Any]:
    found = [statement[2] for statement in said if statement[0] == "text"]
    return [logprobs.get("content") if isinstance(logprobs, dict) else None for logprobs in found]
