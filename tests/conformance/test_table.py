"""The compatibility table against the openai package, against the tests that it names, and against the docs."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from package_names import known_names
from table import STATUSES, TABLE, Row

ROOT = Path(__file__).parents[2]
GROUPS = known_names()
ROWS = [row for rows in TABLE.values() for row in rows]


@cache
def defined_in(path: str) -> frozenset[str]:
    """The tests that a module defines."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_the_groups_are_those_of_the_package() -> None:
    assert list(TABLE) == list(GROUPS)


@pytest.mark.parametrize("group", GROUPS)
def test_every_name_of_the_package_has_a_row(group: str) -> None:
    assert sorted(GROUPS[group] - {row.name for row in TABLE[group]}) == []


@pytest.mark.parametrize("group", GROUPS)
def test_every_row_is_a_name_of_the_package(group: str) -> None:
    assert sorted({row.name for row in TABLE[group]} - GROUPS[group]) == []


@pytest.mark.parametrize("group", GROUPS)
def test_no_name_has_two_rows(group: str) -> None:
    listed = [row.name for row in TABLE[group]]

    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_test_that_shows_a_row_exists(row: Row) -> None:
    path, name = row.test.split("::")

    assert name in defined_in(path)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_says_briefly_what_happens(row: Row) -> None:
    assert row.status in STATUSES
    assert row.what.endswith(".")
    assert len(row.what) <= 120
    assert "|" not in row.what


def run_script(option: str) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, str(ROOT / "scripts" / "compatibility"), option]
    return subprocess.run(script, check=False, capture_output=True, text=True)


def test_the_document_is_that_of_the_table() -> None:
    done = run_script("--check")

    assert done.returncode == 0, done.stderr


def test_the_script_knows_no_other_option() -> None:
    assert run_script("--wat").returncode == 2
