"""What users may rely on: every public name is listed and explained. That README shows them all: test_examples.py."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import responses_middleware

ROOMS = ["responses_middleware", "responses_middleware.stream"]  # the documented doors

HEAVY = ["httpx", "httpx_aiohttp", "aiohttp", "cryptography", "uvicorn", "fastapi", "zstandard", "openai", "pydantic"]


@pytest.mark.parametrize("room", ROOMS)
def test_the_list_is_sorted_and_has_no_name_twice(room: str) -> None:
    names = importlib.import_module(room).__all__

    assert names == sorted(set(names))


@pytest.mark.parametrize("room", ROOMS)
def test_the_list_is_complete(room: str) -> None:
    module = importlib.import_module(room)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and name not in ("annotations", "TYPE_CHECKING")
    }

    assert public == set(module.__all__)


@pytest.mark.parametrize("name", responses_middleware.__all__)
def test_every_class_and_function_says_what_it_promises(name: str) -> None:
    member = getattr(responses_middleware, name)

    if inspect.isclass(member) or inspect.isfunction(member):
        assert (member.__doc__ or "").strip()


def test_there_is_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", responses_middleware.__version__)


def test_the_package_is_typed() -> None:
    assert (Path(responses_middleware.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize(
    "program",
    [
        "import responses_middleware",
        "from responses_middleware import ResponsesMiddleware; ResponsesMiddleware(None)",
        "from responses_middleware import ResponsesProxy; ResponsesProxy('http://localhost/v1')",
    ],
)
def test_importing_and_making_it_loads_nothing_heavy(program: str) -> None:
    program += f"\nimport sys; print([name for name in {HEAVY} if name in sys.modules])"

    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout

    assert printed.strip() == "[]"
