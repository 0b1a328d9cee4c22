"""Commands of the client's shells, however a model writes them: a line is run by a shell, words are a program and its
arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from responses_middleware.translate.client_tools import CLIENT_TOOLS, call_fields
from responses_middleware.translate.tool_names import ToolBinding, ToolKind


def action(kind: ToolKind, **arguments: Any) -> Any:
    fields = call_fields(ToolBinding(kind, kind), json.dumps(arguments))
    return fields and fields["action"]


@pytest.mark.parametrize("line", ["ls", "ls -la", "cd src && ls | wc -l", "FOO=1 make", "echo 'a b'", " ls\n"])
def test_a_line_of_the_local_shell_is_run_by_a_shell(line: str) -> None:
    assert action("local_shell", command=line)["command"] == ["bash", "-lc", line]


@pytest.mark.parametrize("words", [["ls"], ["ls", "-la"], ["bash", "-lc", "ls -la"], ["/opt/My App/run"]])
def test_words_of_the_local_shell_stay_as_they_are(words: list[str]) -> None:
    assert action("local_shell", command=words)["command"] == words


@pytest.mark.parametrize("nothing", [[], [["ls"]], 5, None])
def test_a_local_shell_without_a_command_is_no_such_call(nothing: Any) -> None:
    assert action("local_shell", command=nothing) is None


@pytest.mark.parametrize(
    ("commands", "lines"),
    [
        ("ls -la", ["ls -la"]),
        (["ls -la", "pwd"], ["ls -la", "pwd"]),
        ([["ls", "-la"], "pwd"], ["ls -la", "pwd"]),
        ([["echo", "a b", "$HOME"]], ["echo 'a b' '$HOME'"]),
        ([["bash", "-lc", "ls | wc -l"]], ["bash -lc 'ls | wc -l'"]),
        ([["ls"], ["pwd"]], ["ls", "pwd"]),
    ],
)
def test_commands_of_the_shell_are_lines(commands: Any, lines: list[str]) -> None:
    assert action("shell", commands=commands)["commands"] == lines


@pytest.mark.parametrize("nothing", [[], [[]], ["ls", []], ["ls", [["pwd"]]], ["ls", 5], 5, None])
def test_commands_that_are_none_are_no_such_call(nothing: Any) -> None:
    assert action("shell", commands=nothing) is None


def test_a_model_is_shown_how_a_line_is_run() -> None:
    described = CLIENT_TOOLS["local_shell"].parameters["properties"]["command"]["description"]

    assert '["bash", "-lc", "ls | wc -l"]' in described
