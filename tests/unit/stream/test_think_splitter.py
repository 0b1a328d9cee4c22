from __future__ import annotations

import time

import pytest

from responses_middleware.stream.thinking import ThinkSplitter


def split(*pieces: str, implicit_open: bool = False) -> tuple[str, str]:
    """Thinking and answer."""
    splitter = ThinkSplitter(implicit_open=implicit_open)
    found = [each for piece in pieces for each in splitter.feed(piece)] + splitter.finish()
    return tuple("".join(text for kind, text in found if kind == wanted) for wanted in ("reasoning", "text"))  # type: ignore[return-value]


SAMPLES = {
    "tags": ("<think>hm</think>Yes", "hm", "Yes"),
    "blanks around": ("\n <think>\nhm\n</think>\n\n Yes ", "\nhm\n", "Yes "),
    "other tags": ("<thinking>hm</thinking>Yes", "hm", "Yes"),
    "Gemini's tags": ("<thought>hm</thought>Yes", "hm", "Yes"),
    "no tags": ("Yes", "", "Yes"),
    "a tag inside the answer": ("Yes <think>no</think>", "", "Yes <think>no</think>"),
    "something like a tag": ("<b>Yes</b>", "", "<b>Yes</b>"),
    "half a tag at the end": ("<thin", "", "<thin"),
    "half a closing tag at the end": ("<think>hm</thi", "hm</thi", ""),
    "less-than signs in thinking": ("<think>a<b</x></think>Yes", "a<b</x>", "Yes"),
    "no closing tag": ("<think>hm", "hm", ""),
    "empty thinking": ("<think></think>Yes", "", "Yes"),
    "thinking alone": ("<think>hm</think>\n\n", "hm", ""),
    "blanks alone": (" \n", "", " \n"),
}


@pytest.mark.parametrize(("text", "thinking", "answer"), SAMPLES.values(), ids=SAMPLES)
def test_thinking_and_answer_are_told_apart(text: str, thinking: str, answer: str) -> None:
    assert split(text) == (thinking, answer)
    assert split(*text) == (thinking, answer)


IMPLICIT = {
    "only the closing tag": ("hm</think>Yes", "hm", "Yes"),
    "both tags": ("\n<think>hm</think>Yes", "hm", "Yes"),
    "no tag": ("Yes <b>", "", "Yes <b>"),
    "half a closing tag": ("Yes </thi", "", "Yes </thi"),
    "an opening tag later": ("hm <think> hm</think>Yes", "hm <think> hm", "Yes"),
    "blanks alone": (" \n", "", " \n"),
}


@pytest.mark.parametrize(("text", "thinking", "answer"), IMPLICIT.values(), ids=IMPLICIT)
def test_the_opening_tag_may_stand_in_the_prompt(text: str, thinking: str, answer: str) -> None:
    assert split(text, implicit_open=True) == (thinking, answer)
    assert split(*text, implicit_open=True) == (thinking, answer)


def test_no_more_is_held_back_than_what_may_be_a_tag() -> None:
    splitter = ThinkSplitter()

    assert splitter.feed("<think>a</b") == [("reasoning", "a</b")]
    assert splitter.feed("c</th") == [("reasoning", "c")]
    assert splitter.feed("ink> Yes") == [("text", "Yes")]


def test_what_waits_is_released_in_front_of_something_else() -> None:
    splitter = ThinkSplitter(implicit_open=True)
    splitter.feed("Let me look")

    assert splitter.release() == [("text", "Let me look")]
    assert splitter.has_passed


def test_released_thinking_goes_on() -> None:
    splitter = ThinkSplitter()
    splitter.feed("<think>a</thi")

    assert splitter.release() == [("reasoning", "</thi")]
    assert splitter.feed("b</think>Yes") == [("reasoning", "b"), ("text", "Yes")]


@pytest.mark.parametrize("implicit_open", [False, True])
def test_the_answer_passes_when_it_has_begun(implicit_open: bool) -> None:
    splitter = ThinkSplitter(implicit_open=implicit_open)
    splitter.feed("<think>hm</think>Yes")

    assert splitter.has_passed
    assert splitter.feed(" no") == [("text", " no")]


def test_text_that_waits_for_a_closing_tag_is_counted() -> None:
    splitter = ThinkSplitter(implicit_open=True)
    splitter.feed("12345")
    splitter.feed("678")

    assert splitter.waiting == 8


@pytest.mark.parametrize("begin", ["", "<think>", " ", "<think>hm</think>"])
@pytest.mark.parametrize("piece", [" ", "<", "</", "x", "\n<"])
def test_splitting_is_linear_in_the_number_of_pieces(begin: str, piece: str) -> None:
    began = time.process_time()

    split(begin, *[piece] * 50_000)
    split(begin, *[piece] * 50_000, implicit_open=True)

    assert time.process_time() - began < 10
