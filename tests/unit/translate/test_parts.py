"""Content parts, in messages of every role and in what tools return."""

from __future__ import annotations

from typing import Any

import pytest
from translating import (
    CHAT_IMAGE,
    IMAGE,
    PIXEL,
    USER,
    call,
    messages,
    output,
    payload,
    refused,
    result,
    such,
    translate,
)

OPENAI = such(text_parts=True, forward=frozenset({"prompt_cache_options"}))
AUDIO = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
FILE = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}
CHAT_FILE = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}}
MARK = {"mode": "explicit"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "input_text", "text": words, **more}


def content_of(*parts: dict[str, Any], **options: Any) -> Any:
    return messages({"role": "user", "content": list(parts)}, **options)[0]["content"]


def unsupported(*parts: dict[str, Any], role: str = "user") -> str | None:
    error = refused(policy="warn", input=[USER, {"role": role, "content": list(parts)}])
    assert (error.status, error.code) == (400, "unsupported_value")
    return error.param


@pytest.mark.parametrize("kind", ["input_text", "output_text", "text"])
def test_text_is_text_under_all_its_names(kind: str) -> None:
    assert content_of({"type": kind, "text": "Hi"}) == "Hi"


def test_several_texts_are_joined_with_a_newline() -> None:
    assert content_of(text("one"), text("two")) == "one\ntwo"


def test_texts_stay_a_list_where_the_server_takes_one() -> None:
    assert content_of(text("one"), dialect=such(text_parts=True)) == [{"type": "text", "text": "one"}]


def test_no_parts_are_an_empty_text() -> None:
    assert [content_of(), content_of(dialect=such(text_parts=True))] == ["", ""]


def test_texts_beside_an_image_are_parts() -> None:
    assert content_of(text("See"), IMAGE) == [{"type": "text", "text": "See"}, CHAT_IMAGE]


@pytest.mark.parametrize(
    ("detail", "sent"),
    [("low", {"detail": "low"}), ("high", {"detail": "high"}), ("auto", {"detail": "auto"}), (None, {})],
)
def test_the_detail_of_an_image_is_kept(detail: Any, sent: dict[str, str]) -> None:
    assert content_of({**IMAGE, "detail": detail}) == [{"type": "image_url", "image_url": {"url": PIXEL, **sent}}]


def test_the_original_detail_is_asked_for_as_high() -> None:
    assert content_of({**IMAGE, "detail": "original"})[0]["image_url"]["detail"] == "high"


def test_an_image_by_file_id_is_refused() -> None:
    assert unsupported(text("See"), {"type": "input_image", "file_id": "file_1"}) == "input[1].content[1].file_id"


def test_an_empty_image_url_is_refused() -> None:
    assert unsupported({"type": "input_image", "image_url": ""}) == "input[1].content[0].image_url"


def test_a_file_with_its_data_is_carried() -> None:
    assert content_of(FILE) == [CHAT_FILE]


def test_a_file_by_id_is_carried() -> None:
    assert content_of({"type": "input_file", "file_id": "file_1"}) == [{"type": "file", "file": {"file_id": "file_1"}}]


def test_a_file_by_url_is_refused() -> None:
    assert unsupported({"type": "input_file", "file_url": "http://example.org/a"}) == "input[1].content[0].file_url"


def test_a_file_without_anything_in_it_is_refused() -> None:
    assert unsupported({"type": "input_file", "file_data": ""}) == "input[1].content[0].file_data"


@pytest.mark.parametrize("part", [{"type": "input_image", "file_id": "f"}, {"type": "input_file", "file_url": "u"}])
def test_what_can_not_be_carried_is_left_out_where_all_is_ignored(part: dict[str, Any]) -> None:
    call_made = translate(policy="ignore", input=[{"role": "user", "content": [text("See"), part]}])

    assert (call_made.payload["messages"][0]["content"], call_made.left_out) == ("See", [])


def test_the_detail_of_a_file_is_left_out_and_named() -> None:
    call_made = translate(input=[{"role": "user", "content": [{**FILE, "detail": "low"}]}])

    assert (call_made.payload["messages"][0]["content"], call_made.left_out) == ([CHAT_FILE], ["input_file.detail"])


def test_audio_is_carried() -> None:
    assert content_of(AUDIO) == [AUDIO]


def test_a_refusal_is_text_of_the_assistant() -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}

    assert messages(USER, item, USER)[1] == {"role": "assistant", "content": "No."}


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize(("part", "chat_part"), [(IMAGE, CHAT_IMAGE), (FILE, CHAT_FILE), (AUDIO, AUDIO)])
def test_media_of_a_system_message_follow_it_in_one_of_the_user(
    role: str, part: dict[str, Any], chat_part: dict[str, Any]
) -> None:
    written = messages({"role": role, "content": [text("Look"), part]}, USER)

    assert written[0] == {"role": "system", "content": "Look"}
    assert written[1] == {
        "role": "user",
        "content": [{"type": "text", "text": "Given with the system message:"}, chat_part],
    }


def test_a_system_message_of_media_alone_is_no_system_message() -> None:
    assert [message["role"] for message in messages({"role": "system", "content": [IMAGE]}, USER)] == ["user", "user"]


def test_media_of_the_assistant_follow_its_turn() -> None:
    item = {"role": "assistant", "content": [{"type": "output_text", "text": "There"}, IMAGE]}

    written = messages(USER, item, call(), output(), USER)

    assert [message["role"] for message in written] == ["user", "assistant", "tool", "user", "user"]
    assert written[3]["content"] == [{"type": "text", "text": "Shown by the assistant:"}, CHAT_IMAGE]


def test_an_image_that_no_system_message_can_hold_is_refused_by_its_place() -> None:
    assert unsupported({"type": "input_image", "file_id": "f"}, role="developer") == "input[1].content[0].file_id"


# -- what tools return
def test_texts_of_a_tool_are_joined() -> None:
    assert messages(USER, call(), output(text=[text("one"), text("two")]))[-1] == result(content="one\ntwo")


def test_an_image_of_a_tool_follows_in_a_user_message() -> None:
    written = messages(USER, call(), output(text=[text("shot"), IMAGE]))

    told = "shot\nSee the next user message for the image or file that this tool returned."
    assert written[2] == result(content=told)
    assert written[3]["content"] == [{"type": "text", "text": "Returned by tool call call_1:"}, CHAT_IMAGE]


def test_images_of_parallel_calls_stand_behind_all_results() -> None:
    items = [call("call_1"), call("call_2"), output("call_1", [IMAGE]), output("call_2", [FILE])]

    written = messages(USER, *items)

    assert [message["role"] for message in written] == ["user", "assistant", "tool", "tool", "user"]
    assert [part["type"] for part in written[4]["content"]] == ["text", "image_url", "text", "file"]


def test_an_image_of_a_tool_stays_in_its_message_where_the_server_takes_it() -> None:
    written = messages(
        USER, call(), output(text=[text("shot"), IMAGE]), dialect=such(tool_result_images="tool_message")
    )

    assert written[2:] == [result(content=[{"type": "text", "text": "shot"}, CHAT_IMAGE])]


def test_a_part_of_a_tool_that_can_not_be_carried_is_refused_by_its_place() -> None:
    error = refused(
        policy="warn", input=[USER, call(), output(text=[text("x"), {"type": "input_image", "file_id": "f"}])]
    )

    assert error.param == "input[2].output[1].file_id"


def test_a_result_of_nothing_is_an_empty_text() -> None:
    assert messages(USER, call(), output(text=[]))[-1] == result(content="")


# -- cache breakpoints
@pytest.mark.parametrize("part", [text("Long"), IMAGE, FILE])
def test_a_cache_breakpoint_goes_up_where_the_server_knows_them(part: dict[str, Any]) -> None:
    assert content_of({**part, "prompt_cache_breakpoint": MARK}, dialect=OPENAI)[0]["prompt_cache_breakpoint"] == MARK


def test_a_cache_breakpoint_of_a_system_message_goes_up() -> None:
    written = messages({"role": "developer", "content": [text("Long", prompt_cache_breakpoint=MARK)]}, dialect=OPENAI)

    assert written[0]["content"] == [{"type": "text", "text": "Long", "prompt_cache_breakpoint": MARK}]


def test_a_cache_breakpoint_is_left_out_and_named_elsewhere() -> None:
    call_made = translate(input=[{"role": "user", "content": [text("Long", prompt_cache_breakpoint=MARK)]}])

    assert call_made.payload["messages"][0]["content"] == "Long"
    assert call_made.left_out == ["prompt_cache_breakpoint"]


def test_a_cache_breakpoint_is_refused_where_nothing_may_be_lost() -> None:
    error = refused(input=[{"role": "user", "content": [text("Long", prompt_cache_breakpoint=MARK)]}])

    assert error.param == "input[0].content[0].prompt_cache_breakpoint"


def test_a_cache_breakpoint_is_lost_in_the_result_of_a_tool() -> None:
    items = [USER, call(), output(text=[text("Long", prompt_cache_breakpoint=MARK)])]

    call_made = translate(OPENAI, input=items)

    assert (call_made.payload["messages"][-1]["content"], call_made.left_out) == ("Long", ["prompt_cache_breakpoint"])


def test_a_cache_breakpoint_of_a_wrong_type_is_the_clients_fault() -> None:
    error = refused(policy="ignore", input=[{"role": "user", "content": [text("Long", prompt_cache_breakpoint=5)]}])

    assert (error.param, error.code) == ("input[0].content[0].prompt_cache_breakpoint", "invalid_type")


def test_merged_system_texts_keep_their_breakpoints() -> None:
    dialect = such(text_parts=True, forward=frozenset({"prompt_cache_options"}), system_messages="merge_leading")
    marked = {"role": "system", "content": [text("Long", prompt_cache_breakpoint=MARK)]}

    written = payload(dialect, instructions="First", input=[marked, USER])["messages"]

    assert written[0]["content"] == [
        {"type": "text", "text": "First"},
        {"type": "text", "text": "Long", "prompt_cache_breakpoint": MARK},
    ]
