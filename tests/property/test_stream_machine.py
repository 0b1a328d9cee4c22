"""The machine and its fast path under any interleaving of what a stream brings, as a hypothesis state machine.

Two transcoders read the same answer: one with the fast path, as in production, one without. Whatever the order of
frames, cuts, comments, errors and ends, both write the same events, legal ones, and exactly one terminal event.
"""

from __future__ import annotations

import json
from typing import Any

from asgi_client import text_of
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from replay import call, stream_of, text, transcoder_of
from sse_events import events_in

from responses_middleware.errors import ResponsesError, UpstreamConnectionError, UpstreamError
from responses_middleware.stream.grammar import Grammar

WORDS = st.text(max_size=8) | st.sampled_from(
    ["<think>", "</think>", "<thi", "nk>", "]", "}", '"', "\\", "\u2028", "é😀"]
)
REASONS = st.sampled_from(["stop", "length", "tool_calls", "content_filter", "error", None])
FORMS = st.sampled_from(["summary", "text", "none"])
OTHERS = [b": ping\n\n", b"\n\n\n", b"event: x\nid: 1\n\n", b"data:\n\n", b"data: [DONE]\n\n", b"data: {\n\n"]
TAGS = st.sampled_from([None, "extract", "extract_implicit_open"])


class Streams(RuleBasedStateMachine):
    """Feed, copy and finish in any order."""

    @initialize(reasoning=FORMS, think_tags=TAGS, obfuscate=st.booleans())
    def begin(self, reasoning: Any, think_tags: Any, obfuscate: bool) -> None:
        options = {"reasoning": reasoning, "think_tags": think_tags, "obfuscate": obfuscate}
        self.fast = transcoder_of(stream_of(**options), max_frame=4000)
        self.slow = transcoder_of(stream_of(**options), fast=False, max_frame=4000)
        self.written = b""
        self.refused: ResponsesError | None = None
        self.is_over = False

    # -- what comes
    def _bring(self, data: bytes) -> None:
        outs = []
        for transcoder in (self.fast, self.slow):
            try:
                copied = transcoder.copy(data)
                outs.append(transcoder.feed(data) if copied is None else copied)
            except UpstreamError as error:
                outs.append(error)
        self._note(outs)

    def _note(self, outs: list[Any]) -> None:
        fast, slow = outs
        if isinstance(fast, ResponsesError):
            assert isinstance(slow, ResponsesError)
            assert fast.body() == slow.body()
            assert self.written == b"", "an error that may be a status, behind bytes"
            self.refused, self.is_over = fast, True
            return
        assert events_in(fast) == events_in(slow)  # the bytes may differ: escapes are copied as they came
        self.written += fast

    def _frame(self, chunk: Any, *, ensure_ascii: bool = True) -> None:
        data = json.dumps(chunk, ensure_ascii=ensure_ascii).encode("utf-8", "surrogatepass")
        self._bring(b"data: %b\n\n" % data)

    @precondition(lambda self: not self.is_over)
    @rule(words=st.lists(WORDS, min_size=1, max_size=6), ensure_ascii=st.booleans(), extra=st.booleans())
    def say(self, words: list[str], ensure_ascii: bool, extra: bool) -> None:
        for word in words:
            if not self.is_over:
                self._frame(text(word, **({"usage": {"prompt_tokens": 1}} if extra else {})), ensure_ascii=ensure_ascii)

    @precondition(lambda self: not self.is_over)
    @rule(word=WORDS, name=st.sampled_from(["reasoning_content", "reasoning", "refusal"]))
    def think_or_refuse(self, word: str, name: str) -> None:
        self._frame({"choices": [{"index": 0, "delta": {name: word}, "finish_reason": None}]})

    @precondition(lambda self: not self.is_over)
    @rule(
        index=st.sampled_from([0, 1, 5, None]),
        identity=st.sampled_from([None, "call_abcdef", "0", "call_fedcba"]),
        name=st.sampled_from([None, "run", "walk", ""]),
        arguments=st.sampled_from([None, "", "{", "}", "{}", '{"a":', '"]"}', "[", "]"]),
    )
    def ask_for_a_call(self, index: Any, identity: Any, name: Any, arguments: Any) -> None:
        self._frame(call(index, identity, name, arguments))

    @precondition(lambda self: not self.is_over)
    @rule(reason=REASONS)
    def give_a_reason(self, reason: Any) -> None:
        self._frame({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})

    @precondition(lambda self: not self.is_over)
    @rule(
        chunk=st.sampled_from(
            [
                {},
                [],
                None,
                5,
                "x",
                {"choices": []},
                {"choices": None},
                {"choices": [{}]},
                {"usage": {"completion_tokens": 3}},
            ]
        )
    )
    def be_odd(self, chunk: Any) -> None:
        self._frame(chunk)

    @precondition(lambda self: not self.is_over)
    @rule(error=st.sampled_from([{"error": "no"}, {"error": {"message": "no", "code": 429}}, {"detail": "no"}]))
    def report_an_error(self, error: Any) -> None:
        self._frame(error)

    @precondition(lambda self: not self.is_over)
    @rule(data=st.sampled_from(OTHERS))
    def write_something_else(self, data: bytes) -> None:
        self._bring(data)

    @precondition(lambda self: not self.is_over)
    @rule(word=WORDS, at=st.integers(1, 60))
    def cut_a_frame(self, word: str, at: int) -> None:
        data = b"data: %b\n\n" % json.dumps(text(word)).encode()
        self._bring(data[:at])
        if not self.is_over:
            self._bring(data[at:])

    @precondition(lambda self: not self.is_over)
    @rule(words=st.lists(WORDS, min_size=2, max_size=5))
    def say_much_in_one_read(self, words: list[str]) -> None:
        self._bring(b"".join(b"data: %b\n\n" % json.dumps(text(word)).encode() for word in words))

    # -- what the supervisor does
    @precondition(lambda self: not self.is_over)
    @rule()
    def begin_early(self) -> None:
        self._note([self.fast.begin(), self.slow.begin()])

    @precondition(lambda self: not self.is_over)
    @rule(broken=st.booleans())
    def end(self, broken: bool) -> None:
        self._finish(broken)

    def _finish(self, broken: bool) -> None:
        outs: list[Any] = []
        for transcoder in (self.fast, self.slow):
            try:
                out = transcoder.finish(UpstreamConnectionError("the connection broke") if broken else None)
                outs.append(out + transcoder.last_frames())
            except ResponsesError as error:
                outs.append(error)
        self._note(outs)
        self.is_over = True

    # -- what always holds
    @precondition(lambda self: self.is_over)
    @rule(data=st.sampled_from([b"data: [DONE]\n\n", b"data: {}\n\n", b"x"]))
    def bring_more_behind_the_end(self, data: bytes) -> None:
        if self.refused is None:
            assert self.fast.copy(data) is None
            assert self.fast.feed(data) == self.slow.feed(data) == b""

    @invariant()
    def what_is_written_is_whole_frames(self) -> None:
        assert getattr(self, "written", b"")[-2:] in (b"", b"\n\n")

    def teardown(self) -> None:
        if not hasattr(self, "written"):
            return
        if not self.is_over:
            self._finish(False)
        if self.refused is not None:
            return
        events, grammar = events_in(self.written), Grammar()
        for event in events:
            grammar.accept(event)
        grammar.finish()
        assert self.fast.ended
        assert self.fast.feed(b"data: {}\n\n") == self.fast.finish() == b""
        streamed = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        assert text_of(events[-1]["response"]).startswith(streamed)


TestStreams = Streams.TestCase
TestStreams.settings = settings(stateful_step_count=25, suppress_health_check=list(HealthCheck))
