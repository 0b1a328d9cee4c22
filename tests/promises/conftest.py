"""A test that asks for `form` runs with each form of upstream, on each event loop that the form works on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fronts import PLACES

sys.path.append(str(Path(__file__).parents[1] / "unit" / "stream"))  # replay.py drives streams without sockets


@pytest.fixture
def anyio_backend() -> str:
    raise AssertionError("parametrized below")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = {name for mark in metafunc.definition.iter_markers("parametrize") for name in _names(mark.args[0])}
    if "anyio_backend" not in metafunc.fixturenames or "anyio_backend" in chosen:
        return
    if "form" in metafunc.fixturenames and "form" not in chosen:
        names = [f"{form}-{loop}" for form, loop in PLACES]
        metafunc.parametrize(("form", "anyio_backend"), PLACES, ids=names)
    else:
        metafunc.parametrize("anyio_backend", ["asyncio", "trio"])


def _names(names: str | list[str] | tuple[str, ...]) -> list[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
