"""Instructions, system and developer messages."""

from __future__ import annotations

import pytest
from translating import ASKED, USER, call, chat_call, messages, output, payload, result, says, such, turn

DEVELOPER = {"role": "developer", "content": "B"}
SYSTEM = {"role": "system", "content": "C"}
SINGLE = such(system_messages="single_leading")
IN_PLACE = such(system_messages="in_place")


def system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def test_instructions_lead() -> None:
    assert payload(instructions="Be brief", input=[USER])["messages"] == [system("Be brief"), ASKED]


@pytest.mark.parametrize("instructions", ["", None])
def test_no_instructions_are_no_message(instructions: str | None) -> None:
    assert payload(instructions=instructions, input=[USER])["messages"] == [ASKED]


@pytest.mark.parametrize("item", [DEVELOPER, SYSTEM])
def test_system_and_developer_messages_are_system_messages(item: dict[str, str]) -> None:
    assert messages(item, USER) == [system(item["content"]), ASKED]


@pytest.mark.parametrize("item", [DEVELOPER, SYSTEM])
def test_both_are_developer_messages_where_the_server_knows_the_role(item: dict[str, str]) -> None:
    written = messages(item, USER, dialect=such(developer_role=True))

    assert written[0] == {"role": "developer", "content": item["content"]}


def test_those_that_lead_are_merged() -> None:
    assert payload(instructions="A", input=[DEVELOPER, SYSTEM, USER])["messages"] == [system("A\n\nB\n\nC"), ASKED]


def test_a_later_one_stays_where_it_stands() -> None:
    written = payload(instructions="A", input=[USER, DEVELOPER, USER])["messages"]

    assert written == [system("A"), ASKED, system("B"), ASKED]


def test_all_of_them_are_one_in_front_where_templates_want_it() -> None:
    written = payload(SINGLE, instructions="A", input=[USER, DEVELOPER, says("Hello"), SYSTEM, USER])["messages"]

    assert [message["role"] for message in written] == ["system", "user", "assistant", "user"]
    assert written[0] == system("A\n\nB\n\nC")


def test_a_later_one_comes_to_the_front_without_instructions() -> None:
    assert messages(USER, DEVELOPER, dialect=SINGLE) == [system("B"), ASKED]


def test_none_are_merged_where_they_may_stand_in_place() -> None:
    written = payload(IN_PLACE, instructions="A", input=[DEVELOPER, USER])["messages"]

    assert written == [system("A"), system("B"), ASKED]


def test_an_empty_system_message_stays_one() -> None:
    assert messages({"role": "system", "content": ""}, USER) == [system(""), ASKED]


def test_one_that_comes_to_the_front_does_not_part_a_turn() -> None:
    written = messages(USER, call(), DEVELOPER, says("Looking."), output(), dialect=SINGLE)

    assert written == [system("B"), ASKED, turn(chat_call(), content="Looking."), result()]
