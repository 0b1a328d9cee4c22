"""The table of promises in README.md and the tests of this folder say the same."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def promised() -> set[str]:
    return set(re.findall(r"^\| ([A-H]\d+) \|", (HERE / "README.md").read_text(), re.MULTILINE))


def with_tests() -> set[str]:
    names = re.findall(
        r"^(?:async )?def test_([a-h]\d+)_",
        "".join(path.read_text() for path in HERE.glob("test_?_*.py")),
        re.MULTILINE,
    )
    return {name.upper() for name in names}


def test_every_promise_has_a_test_and_every_test_a_promise() -> None:
    assert promised() == with_tests()
    assert len(promised()) > 45


def test_each_test_stands_in_the_module_of_its_letter() -> None:
    for path in HERE.glob("test_?_*.py"):
        letters = set(re.findall(r"^(?:async )?def test_([a-h])\d+_", path.read_text(), re.MULTILINE))
        assert letters == {path.name[5]}, path.name
