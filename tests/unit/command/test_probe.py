from __future__ import annotations

import pytest

from responses_middleware import ConfigurationError
from responses_middleware.command.probe import probe, shown
from responses_middleware.command.serving import listen
from responses_middleware.upstream.url import parse_base_url


def test_a_dead_upstream_is_a_warning() -> None:
    with listen("127.0.0.1", 0) as bound:  # not listening: connections are refused
        found = probe(parse_base_url(f"http://127.0.0.1:{bound.getsockname()[1]}/v1"), None)

    assert found.warning is not None
    assert "cannot be reached" in found.warning
    assert "Errno" not in found.warning


def test_a_host_that_cannot_be_one_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="URL"):
        probe(parse_base_url("http://a..b/v1"), None)


def test_the_url_is_shown_without_its_query() -> None:
    assert shown(parse_base_url("https://host:8/v1?key=1")) == "https://host:8/v1"
