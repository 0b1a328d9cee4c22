"""Input items and content parts."""

from __future__ import annotations

from typing import Any

import pytest
from validating import accept_with, refused_with

from responses_middleware.errors import InvalidRequestError

CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def accept(*items: Any) -> None:
    accept_with(input=[*items])


def refused(*items: Any) -> InvalidRequestError:
    return refused_with(input=[*items])


@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer"])
@pytest.mark.parametrize("typed", [{}, {"type": "message"}, {"type": None}])
@pytest.mark.parametrize("content", ["x", "", [], [{"type": "input_text", "text": "x"}]])
def test_a_message_may_leave_out_its_type(role: str, typed: dict[str, Any], content: Any) -> None:
    accept({"role": role, "content": content} | typed)


@pytest.mark.parametrize("role", ["alien", "tool", "function", ""])
def test_an_unknown_role_is_refused(role: str) -> None:
    error = refused({"role": role, "content": "x"})

    assert (error.param, error.code) == ("input[0].role", "invalid_value")


def test_a_tool_message_is_told_what_it_is_here() -> None:
    assert "'function_call_output'" in refused({"role": "tool", "tool_call_id": "c", "content": "x"}).message


def test_a_message_needs_a_role() -> None:
    error = refused({"type": "message", "content": "x"})

    assert (error.param, error.code) == ("input[0].role", "missing_required_parameter")


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": []}])
def test_an_assistant_message_may_be_empty(content: dict[str, Any]) -> None:
    accept({"role": "assistant"} | content)


def test_a_user_message_needs_content() -> None:
    assert refused({"role": "user"}).code == "missing_required_parameter"


def test_a_user_message_with_null_content_is_refused() -> None:
    error = refused({"role": "user", "content": None})

    assert (error.param, error.code) == ("input[0].content", "invalid_type")


def test_chats_tool_calls_inside_a_message_are_refused_rather_than_lost() -> None:
    error = refused({"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]})

    assert error.param == "input[0].tool_calls"
    assert "'function_call'" in error.message


@pytest.mark.parametrize("empty", [None, []])
def test_empty_tool_calls_inside_a_message_are_harmless(empty: Any) -> None:
    accept({"role": "assistant", "content": "x", "tool_calls": empty})


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_text", "text": "x"},
        {"type": "text", "text": "x"},
        {"type": "output_text", "text": "x", "annotations": [], "logprobs": []},
        {"type": "input_image", "image_url": PIXEL},
        {"type": "input_image", "file_id": "f", "detail": "original"},
        {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"},
        {"type": "input_file", "file_id": "f"},
        {"type": "input_file", "file_url": "https://example.com/a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_part_is_accepted(part: dict[str, Any], role: str) -> None:
    accept({"role": role, "content": [part]})


def test_a_refusal_is_the_assistants() -> None:
    part = {"type": "refusal", "refusal": "no"}

    accept({"role": "assistant", "content": [part]})

    assert refused({"role": "user", "content": [part]}).param == "input[0].content[0].type"


@pytest.mark.parametrize("kind", ["wat", "reasoning_text", "summary_text", "computer_screenshot"])
def test_a_part_that_may_not_stand_in_a_message_is_refused(kind: str) -> None:
    error = refused({"role": "user", "content": [{"type": "text", "text": "x"}, {"type": kind, "text": "x"}]})

    assert (error.param, error.code) == ("input[0].content[1].type", "invalid_value")


def test_a_call_inside_the_assistants_content_is_told_its_place() -> None:
    error = refused({"role": "assistant", "content": [{"type": "output_text", "text": "ok"}, CALL]})

    assert error.param == "input[0].content[1].type"
    assert "'function_call' is an item of its own: put it into 'input'" in error.message


def test_a_chat_image_is_told_its_name_here() -> None:
    part = {"type": "image_url", "image_url": {"url": PIXEL}}

    assert "'input_image'" in refused({"role": "user", "content": [part]}).message


def test_an_image_url_is_a_string() -> None:
    error = refused({"role": "user", "content": [{"type": "input_image", "image_url": {"url": PIXEL}}]})

    assert (error.param, error.code) == ("input[0].content[0].image_url", "invalid_type")


@pytest.mark.parametrize(("kind", "field"), [("input_image", "image_url"), ("input_file", "file_data")])
def test_media_need_a_source(kind: str, field: str) -> None:
    error = refused({"role": "user", "content": [{"type": kind}]})

    assert (error.param, error.code) == (f"input[0].content[0].{field}", "missing_required_parameter")


@pytest.mark.parametrize("typed", [{}, {"type": "item_reference"}, {"type": None}])
def test_an_item_reference_may_be_an_id_alone(typed: dict[str, Any]) -> None:
    accept({"id": "msg_1"} | typed)


def test_an_item_without_a_type_is_refused() -> None:
    error = refused({})

    assert (error.param, error.code) == ("input[0].type", "missing_required_parameter")


@pytest.mark.parametrize("item", [1, "x", None, [], True])
def test_an_item_is_an_object(item: Any) -> None:
    error = refused({"role": "user", "content": "x"}, item)

    assert (error.param, error.code) == ("input[1]", "invalid_type")


def test_an_unknown_type_is_refused_by_its_name() -> None:
    error = refused({"type": "weird_item", "id": "x"})

    assert (error.param, error.code) == ("input[0].type", "invalid_value")
    assert "'weird_item'" in error.message


def test_an_extension_type_is_accepted() -> None:
    accept({"role": "user", "content": "x"}, {"type": "acme:note", "anything": [1]})


@pytest.mark.parametrize("field", ["call_id", "name", "arguments"])
def test_a_function_call_needs_its_fields(field: str) -> None:
    error = refused({key: value for key, value in CALL.items() if key != field})

    assert error.message == f"Missing required parameter: 'input[0].{field}'."


def test_the_arguments_of_a_call_are_a_string() -> None:
    error = refused(CALL | {"arguments": {}})

    assert error.message == ("Invalid type for 'input[0].arguments': expected a string, but got an object instead.")


@pytest.mark.parametrize(
    "output",
    ["x", "", [], [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": PIXEL}]],
)
def test_the_output_of_a_call_is_a_string_or_parts(output: Any) -> None:
    accept({"type": "function_call_output", "call_id": "c", "output": output})


@pytest.mark.parametrize("output", [None, 5, {}])
def test_the_output_of_a_call_is_nothing_else(output: Any) -> None:
    assert refused({"type": "function_call_output", "call_id": "c", "output": output}).param == "input[0].output"


@pytest.mark.parametrize("call_id", [{}, {"call_id": None}])
def test_an_output_without_a_call_id_needs_a_name(call_id: dict[str, Any]) -> None:
    output = {"type": "function_call_output", "output": "x"} | call_id

    accept(output | {"name": "f"})

    assert refused(output).param == "input[0].call_id"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"summary": None, "content": None, "status": None},
        {"summary": [], "encrypted_content": "x"},
        {"summary": [{"type": "summary_text", "text": "x"}], "content": [{"type": "reasoning_text", "text": "x"}]},
    ],
)
def test_reasoning_is_accepted_in_every_form(fields: dict[str, Any]) -> None:
    accept({"type": "reasoning", "id": "rs_1"} | fields)


def test_a_part_of_reasoning_is_checked() -> None:
    error = refused({"type": "reasoning", "summary": [{"type": "summary_text"}]})

    assert error.param == "input[0].summary[0].text"


def test_a_compaction_trigger_ends_the_input() -> None:
    message = {"role": "user", "content": "x"}

    accept(message, {"type": "compaction_trigger"})

    assert refused({"type": "compaction_trigger"}, message).param == "input[0].type"


def test_the_type_of_a_screenshot_is_checked() -> None:
    error = refused({"type": "computer_call_output", "call_id": "c", "output": {"type": "input_image"}})

    assert error.param == "input[0].output.type"


def test_tools_inside_an_item_are_checked() -> None:
    error = refused({"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "a b"}]})

    assert error.param == "input[0].tools[0].name"
