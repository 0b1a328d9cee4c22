"""A test that asks for `form` runs with each form of upstream; where the promise is about the event loop (C, D, H), on
each loop that the form works on, else on one."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from fronts import ON_ONE_LOOP, PLACES


@pytest.fixture
def anyio_backend() -> str:
    raise AssertionError("parametrized below")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = {name for mark in metafunc.definition.iter_markers("parametrize") for name in _names(mark.args[0])}
    if "anyio_backend" not in metafunc.fixturenames or "anyio_backend" in chosen:
        return
    if "form" in metafunc.fixturenames and "form" not in chosen:
        places = PLACES if metafunc.module.__name__[5] in "cdh" else ON_ONE_LOOP
        metafunc.parametrize(("form", "anyio_backend"), places, ids=[f"{form}-{loop}" for form, loop in places])
    else:
        metafunc.parametrize("anyio_backend", ["asyncio", "trio"])


def _names(names: str | list[str] | tuple[str, ...]) -> list[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


@pytest.fixture(autouse=True, scope="module")
def one_tls_context() -> Iterator[None]:
    """HTTP clients load all certificates when they are made: once is enough, since nothing here speaks TLS."""
    with patch.object(ssl, "create_default_context", functools.cache(ssl.create_default_context)):
        yield
