from __future__ import annotations

import json
import shlex

import pytest

from responses_middleware.command.flags import build_parser
from responses_middleware.command.greeting import start_lines, usage_lines
from responses_middleware.command.probe import ProbeResult
from responses_middleware.command.serving import Place
from responses_middleware.upstream.url import parse_base_url

URL = "http://localhost:8000/v1"
PLACE = Place(base="http://127.0.0.1:9000/v1", local="http://127.0.0.1:9000/v1")


def test_the_curl_line_is_safe_to_paste_whatever_the_model_is_called() -> None:
    line = usage_lines(PLACE, "it's\n$(evil)\x1b[2J")[1]

    assert "\x1b" not in line
    assert json.loads(shlex.split(line)[-1])["model"] == "it's\n$(evil)\x1b[2J"


def test_the_curl_line_asks_for_a_key_where_the_upstream_does() -> None:
    assert "$OPENAI_API_KEY" in usage_lines(PLACE, "m", wants_key=True)[1]


def test_the_start_names_upstream_curl_line_and_base_url() -> None:
    given = build_parser().parse_args([URL, "--model", "alias=real"])

    text = "\n".join(start_lines(PLACE, parse_base_url(URL), given, ProbeResult(model="other")))

    assert f"at {PLACE.base} for the chat completions of {URL}" in text
    assert f"curl -N {PLACE.base}/responses" in text
    assert '"model": "alias"' in text
    assert f"OPENAI_BASE_URL={PLACE.base}" in text


def test_a_warning_of_the_probe_is_one_line_of_the_start() -> None:
    given = build_parser().parse_args([URL])

    lines = start_lines(PLACE, parse_base_url(URL), given, ProbeResult(warning="not there"))

    assert "responses-middleware: warning: not there" in lines


def test_the_start_says_whose_key_is_sent_upstream() -> None:
    given = build_parser().parse_args([URL])

    assert "the client's own" in start_lines(PLACE, parse_base_url(URL), given, ProbeResult())[1]
    assert "the one given here" in start_lines(PLACE, parse_base_url(URL), given, ProbeResult(), has_key=True)[1]


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

    lines = start_lines(PLACE, parse_base_url(URL), given, ProbeResult(), has_key=has_key)

    assert any("whoever can reach" in line for line in lines) is warns
