"""Calls of tools that a client runs under an item type of their own: read from arguments, and written back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.responses import (
    ResponseApplyPatchToolCall,
    ResponseComputerToolCall,
    ResponseFunctionShellToolCall,
    ResponseToolSearchCall,
)
from openai.types.responses.response_output_item import LocalShellCall
from translating import USER, messages

from responses_middleware.translate.client_tools import CLIENT_TOOLS, call_fields
from responses_middleware.translate.tool_names import ToolBinding, ToolKind

TYPES: dict[str, Any] = {
    "local_shell": LocalShellCall,
    "shell": ResponseFunctionShellToolCall,
    "apply_patch": ResponseApplyPatchToolCall,
    "computer": ResponseComputerToolCall,
    "tool_search": ResponseToolSearchCall,
}
FITTING: list[tuple[ToolKind, dict[str, Any], dict[str, Any]]] = [
    ("local_shell", {"command": ["ls"]}, {"action": {"type": "exec", "command": ["ls"], "env": {}}}),
    ("local_shell", {"command": "ls"}, {"action": {"type": "exec", "command": ["bash", "-lc", "ls"], "env": {}}}),
    (
        "local_shell",
        {"command": ["ls"], "env": {"A": "1"}, "timeout_ms": "500", "user": "me", "working_directory": "/"},
        {
            "action": {
                "type": "exec",
                "command": ["ls"],
                "env": {"A": "1"},
                "timeout_ms": 500,
                "user": "me",
                "working_directory": "/",
            }
        },
    ),
    (
        "shell",
        {"commands": ["ls", "pwd"], "timeout_ms": 10.0, "max_output_length": 100},
        {
            "action": {"commands": ["ls", "pwd"], "timeout_ms": 10, "max_output_length": 100},
            "environment": None,
        },
    ),
    (
        "shell",
        {"commands": "ls", "timeout_ms": "soon", "max_output_length": True},
        {"action": {"commands": ["ls"], "timeout_ms": None, "max_output_length": None}, "environment": None},
    ),
    (
        "apply_patch",
        {"type": "update_file", "path": "a.py", "diff": "+x"},
        {"operation": {"type": "update_file", "path": "a.py", "diff": "+x"}},
    ),
    (
        "apply_patch",
        {"type": "delete_file", "path": "a.py", "diff": "never mind"},
        {"operation": {"type": "delete_file", "path": "a.py"}},
    ),
    (
        "computer",
        {"actions": [{"type": "click", "x": 1, "y": 2.0}, {"type": "wait"}]},
        {
            "actions": [{"type": "click", "button": "left", "x": 1, "y": 2}, {"type": "wait"}],
            "pending_safety_checks": [],
        },
    ),
    (
        "computer",
        {"action": {"type": "screenshot"}},
        {
            "action": {"type": "screenshot"},
            "actions": [{"type": "screenshot"}],
            "pending_safety_checks": [],
        },
    ),
    (
        "computer",
        {
            "actions": [
                {"type": "double_click", "x": 1, "y": 2, "keys": ["ctrl"]},
                {"type": "drag", "path": [{"x": 1, "y": 2}]},
                {"type": "keypress", "keys": ["a"]},
                {"type": "move", "x": 1, "y": 2},
                {"type": "scroll", "x": 1, "y": 2, "scroll_y": 3},
                {"type": "type", "text": "hi"},
            ]
        },
        {
            "actions": [
                {"type": "double_click", "keys": ["ctrl"], "x": 1, "y": 2},
                {"type": "drag", "path": [{"x": 1, "y": 2}]},
                {"type": "keypress", "keys": ["a"]},
                {"type": "move", "x": 1, "y": 2},
                {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 3},
                {"type": "type", "text": "hi"},
            ],
            "pending_safety_checks": [],
        },
    ),
    ("tool_search", {"query": "mail"}, {"arguments": {"query": "mail"}, "execution": "client"}),
]
NOT_FITTING: list[tuple[ToolKind, str]] = [
    ("shell", "not JSON"),
    ("shell", "[]"),
    ("shell", "{}"),
    ("shell", '{"commands": []}'),
    ("shell", '{"commands": [1]}'),
    ("shell", '{"commands": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    ("local_shell", "{}"),
    ("local_shell", '{"command": ["ls"], "env": ["A"]}'),
    ("local_shell", '{"command": ["ls"], "env": {"A": 1}}'),
    ("local_shell", '{"command": ["ls"], "user": 5}'),
    ("apply_patch", '{"type": "update_file", "path": "a"}'),
    ("apply_patch", '{"type": "rename", "path": "a"}'),
    ("apply_patch", '{"type": ["x"], "path": "a"}'),
    ("apply_patch", '{"type": "delete_file", "path": 5}'),
    ("apply_patch", '{"type": "create_file", "path": "a", "diff": 5}'),
    ("computer", "{}"),
    ("computer", '{"actions": 5}'),
    ("computer", '{"actions": [5]}'),
    ("computer", '{"actions": [{"type": "fly"}]}'),
    ("computer", '{"actions": [{"type": "click", "x": 1}]}'),
    ("computer", '{"actions": [{"type": "click", "x": "left", "y": 1}]}'),
    ("computer", '{"actions": [{"type": "click", "x": 1e999, "y": 1}]}'),
    ("computer", '{"actions": [{"type": "click", "x": true, "y": 1}]}'),
    ("computer", '{"actions": [{"type": "click", "x": 1, "y": 1, "button": "middle"}]}'),
    ("computer", '{"actions": [{"type": "drag", "path": 5}]}'),
    ("computer", '{"actions": [{"type": "type", "text": 5}]}'),
]


def shown(kind: ToolKind, fields: dict[str, Any]) -> dict[str, Any]:
    """The whole item of a call."""
    binding = ToolBinding(kind, kind)
    return {"id": "fc_1", "type": binding.item_type, "call_id": "call_1", "status": "completed", **fields}


@pytest.mark.parametrize(("kind", "arguments", "fields"), FITTING)
def test_arguments_become_the_fields_of_the_call(
    kind: ToolKind, arguments: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert call_fields(ToolBinding(kind, kind), json.dumps(arguments)) == fields


@pytest.mark.parametrize(("kind", "arguments", "fields"), FITTING)
def test_a_call_is_of_the_type_that_the_openai_package_knows(
    kind: ToolKind, arguments: dict[str, Any], fields: dict[str, Any]
) -> None:
    TYPES[kind].model_validate(shown(kind, fields), strict=True)


@pytest.mark.parametrize(("kind", "arguments"), NOT_FITTING)
def test_arguments_that_do_not_fit_are_no_such_call(kind: ToolKind, arguments: str) -> None:
    assert call_fields(ToolBinding(kind, kind), arguments) is None


def test_an_endless_limit_is_none() -> None:
    fields = call_fields(ToolBinding("shell", "shell"), '{"commands": ["ls"], "timeout_ms": 1e999}')

    assert fields is not None
    assert fields["action"]["timeout_ms"] is None


def test_a_lone_surrogate_is_told_as_a_replacement() -> None:
    fields = call_fields(ToolBinding("shell", "shell"), '{"commands": ["a\\ud800", "\\ud83d\\ude00"]}')

    assert fields is not None
    assert fields["action"]["commands"] == ["a\ufffd", "\N{GRINNING FACE}"]


@pytest.mark.parametrize(("kind", "arguments", "fields"), FITTING)
def test_a_call_that_is_sent_back_is_the_same_call(
    kind: ToolKind, arguments: dict[str, Any], fields: dict[str, Any]
) -> None:
    outputs: dict[str, dict[str, Any]] = {
        "local_shell": {"type": "local_shell_call_output", "output": "x"},
        "shell": {"type": "shell_call_output", "output": []},
        "apply_patch": {"type": "apply_patch_call_output", "status": "completed"},
        "computer": {
            "type": "computer_call_output",
            "output": {"type": "computer_screenshot", "image_url": "data:,x"},
        },
        "tool_search": {"type": "tool_search_output", "tools": []},
    }

    written = messages(USER, shown(kind, fields), {**outputs[kind], "call_id": "call_1"})

    sent = written[1]["tool_calls"][0]["function"]
    assert sent["name"] == kind
    assert call_fields(ToolBinding(kind, kind), sent["arguments"]) == fields


@pytest.mark.parametrize("kind", CLIENT_TOOLS)
def test_a_tool_of_the_client_says_what_it_does(kind: str) -> None:
    tool = CLIENT_TOOLS[kind]

    assert tool.description
    assert tool.parameters["type"] == "object"
    assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
