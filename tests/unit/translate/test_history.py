"""Earlier items: one assistant message for each turn, and the results of its calls directly behind it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from translating import (
    ASKED,
    USER,
    call,
    chat_call,
    messages,
    output,
    payload,
    refused,
    result,
    says,
    such,
    thinks,
    translate,
    turn,
)

NEXT = {"role": "user", "content": "And now?"}


def replayed(*items: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages behind the first question."""
    return messages(USER, *items)[1:]


def test_parallel_calls_are_one_message() -> None:
    written = replayed(call("call_1"), call("call_2"), output("call_1", "1"), output("call_2", "2"))

    assert written == [turn(chat_call("call_1"), chat_call("call_2")), result("call_1", "1"), result("call_2", "2")]


def test_results_stand_in_the_order_of_the_calls() -> None:
    written = replayed(call("call_1"), call("call_2"), output("call_2", "2"), output("call_1", "1"))

    assert written[1:] == [result("call_1", "1"), result("call_2", "2")]


def test_text_before_a_call_is_in_its_message() -> None:
    assert replayed(says("Looking."), call(), output()) == [turn(chat_call(), content="Looking."), result()]


def test_text_between_a_call_and_its_result_is_in_its_message() -> None:
    assert replayed(call(), says("Looking."), output()) == [turn(chat_call(), content="Looking."), result()]


def test_text_behind_a_result_begins_a_turn() -> None:
    assert replayed(call(), output(), says("Done."))[2:] == [{"role": "assistant", "content": "Done."}]


def test_a_call_behind_a_result_begins_a_turn() -> None:
    written = replayed(call("call_1"), output("call_1"), call("call_2"), output("call_2"))

    assert [message["role"] for message in written] == ["assistant", "tool", "assistant", "tool"]


def test_a_call_belongs_to_the_turn_whose_results_are_still_to_come() -> None:
    written = replayed(
        call("call_1"), call("call_2"), output("call_1"), call("call_3"), output("call_2"), output("call_3")
    )

    assert [each["id"] for each in written[0]["tool_calls"]] == ["call_1", "call_2", "call_3"]


def test_two_texts_in_a_row_are_one_message() -> None:
    assert replayed(says("One"), says("Two"), NEXT) == [{"role": "assistant", "content": "One\nTwo"}, NEXT]


def test_a_result_behind_the_next_question_stands_behind_its_call() -> None:
    assert replayed(call(), NEXT, output()) == [turn(chat_call()), result(), NEXT]


def test_a_result_before_its_call_stands_behind_it() -> None:
    assert replayed(output(), call()) == [turn(chat_call()), result()]


def test_a_system_text_between_call_and_result_stands_behind_them() -> None:
    written = replayed(call(), {"role": "developer", "content": "Be brief"}, output())

    assert written == [turn(chat_call()), result(), {"role": "system", "content": "Be brief"}]


def test_the_last_of_two_results_counts() -> None:
    assert replayed(call(), output(text="old"), output(text="new")) == [turn(chat_call()), result(content="new")]


def test_an_id_that_comes_again_in_a_later_turn_is_another_call() -> None:
    written = replayed(call("0", "f"), output("0", "one"), call("0", "g"), output("0", "two"))

    assert written == [turn(chat_call("0", "f")), result("0", "one"), turn(chat_call("0", "g")), result("0", "two")]


def test_calls_of_one_turn_with_one_id_are_told_apart() -> None:
    written = replayed(call("0", "f"), call("0", "g"), output("0", "one"), output("0", "two"))

    assert [each["id"] for each in written[0]["tool_calls"]] == ["0", "0_2"]
    assert written[1:] == [result("0", "one"), result("0_2", "two")]


def test_a_result_without_a_call_id_belongs_to_the_one_open_call_of_its_name() -> None:
    nameless = {"type": "function_call_output", "name": "g", "output": "g's"}

    written = replayed(call("call_1", "f"), call("call_2", "g"), output("call_1"), nameless)

    assert written[-1] == result("call_2", "g's")


def test_a_result_without_a_call_id_is_refused_when_two_calls_are_open() -> None:
    nameless = {"type": "function_call_output", "name": "f", "output": "x"}

    error = refused(policy="warn", input=[USER, call("call_1"), call("call_2"), nameless, output("call_1")])

    assert (error.status, error.param) == (400, "input")


def test_a_call_without_a_result_is_refused_as_openai_refuses_it() -> None:
    error = refused(policy="warn", input=[USER, call()])

    assert (error.message, error.param, error.code) == ("No tool output found for function call call_1.", "input", None)


def test_a_result_without_a_call_is_refused_as_openai_refuses_it() -> None:
    error = refused(policy="warn", input=[USER, output()])

    wanted = "No tool call found for function call output with call_id call_1."
    assert (error.message, error.param, error.code) == (wanted, "input", None)


def test_a_very_long_id_is_not_repeated_whole() -> None:
    assert len(refused(policy="warn", input=[USER, output("x" * 100_000)]).message) < 400


def test_a_call_without_a_result_is_left_out_where_all_is_ignored() -> None:
    assert payload(policy="ignore", input=[USER, call()])["messages"] == [ASKED]


def test_a_result_without_a_call_is_told_by_the_user_where_all_is_ignored() -> None:
    written = payload(policy="ignore", input=[USER, output(text="42")])["messages"]

    assert written[1:] == [{"role": "user", "content": "Output of an earlier tool call:\n42"}]


def test_nothing_is_left_out_by_name_when_an_orphan_is_ignored() -> None:
    assert translate(policy="ignore", input=[USER, call()]).left_out == []


def test_content_beside_calls_is_what_the_dialect_says() -> None:
    written = messages(USER, call(), output(), dialect=such(tool_call_content=None))

    assert written[1]["content"] is None


def test_an_empty_assistant_message_is_dropped() -> None:
    assert replayed({"role": "assistant", "content": ""}, {"role": "assistant", "content": []}, NEXT) == [NEXT]


def test_an_assistant_message_without_content_is_dropped() -> None:
    assert replayed({"type": "message", "role": "assistant", "content": None}, NEXT) == [NEXT]


def test_empty_arguments_are_an_empty_object() -> None:
    assert replayed(call(arguments=" "), output())[0] == turn(chat_call(arguments="{}"))


@pytest.mark.parametrize("arguments", ['{"city": "Pa', "[1]", '"x"', "not JSON", "[" * 100_000])
def test_arguments_that_are_no_object_are_wrapped_in_one(arguments: str) -> None:
    written = replayed(call(arguments=arguments), output())[0]["tool_calls"][0]["function"]["arguments"]

    assert json.loads(written) == {"arguments": arguments}


def test_arguments_that_are_an_object_stay_as_they_are() -> None:
    text = '{ "a" : 1.50 }'

    assert replayed(call(arguments=text), output())[0] == turn(chat_call(arguments=text))


def test_what_clients_send_back_with_an_item_does_not_go_up() -> None:
    sent_back = {**says("Hello"), "id": "msg_1", "status": "completed", "phase": "final_answer"}

    assert replayed(sent_back, NEXT)[0] == {"role": "assistant", "content": "Hello"}


def test_an_item_without_type_and_id_is_a_message() -> None:
    assert messages({"role": "user", "content": "Hi"}) == [ASKED]


def test_items_of_earlier_turns_stand_in_front() -> None:
    written = payload(history=[USER, says("Hello")], input=[NEXT], previous_response_id="resp_1")["messages"]

    assert written == [ASKED, {"role": "assistant", "content": "Hello"}, NEXT]


def test_a_result_may_answer_a_call_of_an_earlier_turn() -> None:
    written = payload(history=[USER, call()], input=[output()], previous_response_id="resp_1")["messages"]

    assert written == [ASKED, turn(chat_call()), result()]


def test_what_an_earlier_turn_brought_is_blamed_on_what_refers_to_it() -> None:
    item = {"type": "web_search_call", "id": "ws_1"}

    assert refused(history=[item], previous_response_id="resp_1", input=[USER]).param == "previous_response_id"


def test_a_reference_to_nothing_is_not_found() -> None:
    error = refused(policy="ignore", input=[USER, {"type": "item_reference", "id": "msg_9"}])

    assert (error.status, error.param) == (404, "input[1].id")
    assert error.message.startswith("Item with id 'msg_9' not found.")


def test_a_bare_id_is_a_reference() -> None:
    assert refused(policy="ignore", input=[USER, {"id": "msg_9"}]).param == "input[1].id"


@pytest.mark.parametrize("dialect", ["mistral", such(tool_call_ids="mistral9")], ids=["preset", "field"])
def test_ids_become_nine_letters_and_digits_where_the_server_takes_no_others(dialect: Any) -> None:
    first, second = (messages(USER, call("call_abc"), output("call_abc"), dialect=dialect) for _ in range(2))

    made = first[1]["tool_calls"][0]["id"]
    assert (len(made), made.isalnum(), first) == (9, True, second)
    assert first[2]["tool_call_id"] == made


def test_nine_letters_and_digits_stay_as_they_are() -> None:
    assert messages(USER, call("abcDEF123"), output("abcDEF123"), dialect="mistral")[2] == result("abcDEF123")


def test_an_input_that_says_nothing_is_refused() -> None:
    error = refused(policy="warn", input=[thinks("Hm"), {"type": "configuration_update"}])

    assert (error.status, error.param) == (400, "input")
