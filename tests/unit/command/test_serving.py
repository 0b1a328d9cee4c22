from __future__ import annotations

import pytest

from responses_middleware import Limits, ResponsesProxy
from responses_middleware.command.serving import Place, listen, server_config

URL = "http://localhost:8000/v1"


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


@pytest.mark.parametrize(("grace", "seconds"), [(0.2, 1), (8.0, 8)])
def test_the_server_waits_as_long_as_grace_says(grace: float, seconds: int) -> None:
    config = server_config(ResponsesProxy(URL), Limits(grace=grace), "info")

    assert config.timeout_graceful_shutdown == seconds


def test_the_server_does_not_name_itself() -> None:
    assert not server_config(ResponsesProxy(URL), Limits(), "info").server_header
