"""Every seed, and every input that once was a finding, goes through its fuzz target without a complaint."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures"

SEEDS = {
    "sse": [FIXTURES / "corpus" / "sse", FIXTURES / "dialects"],
    "answer": [FIXTURES / "corpus" / "answer", FIXTURES / "dialects", FIXTURES / "captures"],
    "validate": [FIXTURES / "corpus" / "validate", FIXTURES / "requests"],
}
CASES = [
    (target, path)
    for target, folders in SEEDS.items()
    for folder in folders
    for path in sorted(folder.rglob("*"))
    if path.is_file()
]


@pytest.mark.parametrize(("target", "path"), CASES, ids=lambda value: value.name if isinstance(value, Path) else value)
def test_a_seed_is_no_finding(target: str, path: Path) -> None:
    importlib.import_module(f"fuzz_{target}").one_input(path.read_bytes())


@pytest.mark.parametrize("target", SEEDS)
def test_each_target_has_seeds(target: str) -> None:
    assert len([path for name, path in CASES if name == target]) > 5
