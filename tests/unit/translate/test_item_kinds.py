"""Items other than messages, functions and thinking: what the model sees of each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from translating import CHAT_IMAGE, PIXEL, USER, chat_call, messages, payload, refused, result, translate, turn

SCREENSHOT = {"type": "computer_screenshot", "image_url": PIXEL}
FOREIGN: list[dict[str, Any]] = [
    {"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "x"}},
    {"type": "file_search_call", "id": "fs_1", "queries": ["x"]},
    {"type": "image_generation_call", "id": "ig_1", "result": "AAAA"},
    {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
    {"type": "mcp_approval_request", "id": "a_1", "arguments": "{}", "name": "n", "server_label": "s"},
    {"type": "mcp_approval_response", "approval_request_id": "a_1", "approve": True},
    {"type": "acme:note", "anything": 1},
]
NOT_CARRIED: list[dict[str, Any]] = [
    {"type": "compaction", "encrypted_content": "x"},
    {"type": "program", "call_id": "c", "code": "x", "fingerprint": "f"},
    {"type": "program_output", "call_id": "c", "result": "x", "status": "completed"},
    {"type": "compaction_trigger"},
]


def replayed(call: dict[str, Any], output: dict[str, Any], **parameters: Any) -> list[dict[str, Any]]:
    """The messages of a call and its output."""
    return messages(USER, {"call_id": "call_1", **call}, {"call_id": "call_1", **output}, **parameters)[1:]


def test_a_freeform_call_is_a_call_with_one_text() -> None:
    written = replayed(
        {"type": "custom_tool_call", "name": "c", "input": 'say "hi"'},
        {"type": "custom_tool_call_output", "output": "said"},
    )

    assert written == [turn(chat_call(name="c", arguments='{"input": "say \\"hi\\""}')), result(content="said")]


def test_a_freeform_call_is_itself_where_the_server_knows_them() -> None:
    written = replayed(
        {"type": "custom_tool_call", "name": "c", "input": "hi"},
        {"type": "custom_tool_call_output", "output": "said"},
        dialect="openai",
    )

    assert written[0]["tool_calls"] == [{"id": "call_1", "type": "custom", "custom": {"name": "c", "input": "hi"}}]


def test_what_a_shell_printed_is_told_with_its_outcome() -> None:
    output = [
        {"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "", "stderr": "slow", "outcome": {"type": "timeout"}},
    ]
    written = replayed(
        {"type": "shell_call", "action": {"commands": ["ls", "sleep"]}},
        {"type": "shell_call_output", "output": output},
    )

    assert json.loads(written[1]["content"]) == [
        {"stdout": "a.txt", "outcome": {"type": "exit", "exit_code": 0}},
        {"stderr": "slow", "outcome": {"type": "timeout"}},
    ]


LOCAL_SHELL = {"type": "local_shell_call", "id": "lsh_1", "action": {"type": "exec", "command": ["ls"], "env": {}}}


@pytest.mark.parametrize("named", [{"id": "call_1"}, {"id": "lsh_1"}, {"id": "x", "call_id": "call_1"}])
def test_the_output_of_a_local_shell_names_its_call_by_any_id(named: dict[str, str]) -> None:
    output = {"type": "local_shell_call_output", "output": "a.txt", **named}

    written = messages(USER, {**LOCAL_SHELL, "call_id": "call_1"}, output)

    assert written[1:] == [
        turn(chat_call(name="local_shell", arguments='{"command": ["ls"]}')),
        result(content="a.txt"),
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"status": "completed"}, "The patch completed."),
        ({"status": "completed", "output": "1 file"}, "1 file"),
        ({"status": "failed"}, "The patch failed."),
        ({"status": "failed", "output": "no such line"}, "The patch failed: no such line"),
    ],
)
def test_a_patch_is_told_with_its_end(given: dict[str, str], told: str) -> None:
    written = replayed(
        {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}},
        {"type": "apply_patch_call_output", **given},
    )

    assert written == [
        turn(chat_call(name="apply_patch", arguments='{"type": "delete_file", "path": "a"}')),
        result(content=told),
    ]


def test_a_screenshot_follows_in_a_user_message() -> None:
    written = replayed(
        {"type": "computer_call", "actions": [{"type": "screenshot"}]},
        {"type": "computer_call_output", "output": SCREENSHOT},
    )

    assert [message["role"] for message in written] == ["assistant", "tool", "user"]
    assert written[2]["content"] == [{"type": "text", "text": "Returned by tool call call_1:"}, CHAT_IMAGE]


def test_a_screenshot_by_file_id_is_refused() -> None:
    items = [
        USER,
        {"type": "computer_call", "call_id": "call_1", "action": {"type": "screenshot"}},
        {
            "type": "computer_call_output",
            "call_id": "call_1",
            "output": {**SCREENSHOT, "image_url": None, "file_id": "f"},
        },
    ]

    assert refused(policy="warn", input=items).param == "input[2].output.file_id"


def test_searches_without_ids_are_answered_in_their_order() -> None:
    call, found = {"type": "tool_search_call"}, {"type": "tool_search_output"}
    items = [
        {**call, "arguments": {"query": "a"}},
        {**found, "tools": [{"type": "function", "name": "a"}]},
        {**call, "arguments": "b"},
        {**found, "tools": [{"type": "function", "name": "b"}]},
    ]

    written = messages(USER, *items)[1:]

    assert [message["role"] for message in written] == ["assistant", "tool", "assistant", "tool"]
    assert [message["content"] for message in written[1::2]] == ['["a"]', '["b"]']


def test_a_call_of_another_servers_tool_is_a_call_with_its_result() -> None:
    item = {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "read",
        "server_label": "docs",
        "arguments": "{}",
        "output": "text",
    }

    assert messages(USER, item)[1:] == [turn(chat_call("mcp_1", "docs__read")), result("mcp_1", "text")]


@pytest.mark.parametrize("error", ["broken", {"type": "http", "code": 500}])
def test_a_failed_call_of_another_servers_tool_tells_its_error(error: Any) -> None:
    item = {"type": "mcp_call", "name": "read", "server_label": "docs", "arguments": "", "error": error}

    told = messages(USER, item)[-1]["content"]

    assert told == (error if isinstance(error, str) else json.dumps(error))


def test_a_code_interpreter_is_told_by_its_code_and_logs() -> None:
    outputs = [{"type": "logs", "logs": "4"}, {"type": "image", "url": "u"}, {"type": "logs", "logs": 5}]
    item = {"type": "code_interpreter_call", "id": "ci_1", "container_id": "c", "code": "2+2", "outputs": outputs}

    written = messages(USER, item)[1:]

    assert written == [
        turn(chat_call("ci_1", "code_interpreter", '{"code": "2+2"}')),
        result("ci_1", "4"),
    ]


@pytest.mark.parametrize("item", FOREIGN, ids=lambda item: item["type"])
def test_what_another_servers_tool_did_is_left_out_and_named(item: dict[str, Any]) -> None:
    made = translate(input=[USER, item])

    assert (made.payload["messages"], made.left_out) == (messages(USER), [item["type"]])


@pytest.mark.parametrize("item", FOREIGN, ids=lambda item: item["type"])
def test_what_another_servers_tool_did_is_refused_where_nothing_may_be_lost(item: dict[str, Any]) -> None:
    error = refused(input=[USER, item])

    assert (error.status, error.code, error.param) == (400, "unsupported_value", "input[1].type")


@pytest.mark.parametrize("item", NOT_CARRIED, ids=lambda item: item["type"])
def test_content_that_no_chat_completion_can_hold_is_refused(item: dict[str, Any]) -> None:
    error = refused(policy="warn", input=[USER, item])

    assert (error.status, error.code, error.param) == (400, "unsupported_value", "input[1].type")


@pytest.mark.parametrize("item", NOT_CARRIED, ids=lambda item: item["type"])
def test_content_that_no_chat_completion_can_hold_is_dropped_where_all_is_ignored(item: dict[str, Any]) -> None:
    assert payload(policy="ignore", input=[USER, item])["messages"] == messages(USER)


@pytest.mark.parametrize("kind", ["a:b\r\nx-evil: 1", "a:" + "b" * 1000, "a:\N{BULLET},b"])
def test_a_name_in_the_header_is_short_and_plain(kind: str) -> None:
    (name,) = translate(input=[USER, {"type": kind}]).left_out

    assert name.isascii()
    assert name.isprintable()
    assert "," not in name
    assert len(name) <= 64


def test_the_header_does_not_grow_without_end() -> None:
    items = [{"type": f"acme:{number}"} for number in range(1000)]

    assert len(translate(input=[USER, *items]).left_out) == 50
