"""CI's part of the benchmark: no in-process ratio may be 1.5 times worse than the recorded one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "recorded.json").read_text())
WORST = 1.5
BOUNDS = {name: RECORDED[name] * WORST for name in RECORDED if name != "proxy"}
BOUNDS["request"] = 2.5  # times json.loads + json.dumps of 1 MB of history: a promise, whatever was recorded
PATIENCE = 300  # seconds


def measured() -> dict[str, float]:
    """The ratios, of a process of their own: Python's garbage collector looks through all that a test run holds."""
    command = [sys.executable, str(HERE / "bench.py"), "--json"]
    ratios: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE).stdout
    )
    return ratios


@pytest.fixture(scope="module")
def ratios() -> dict[str, float]:
    """Measured once more when one is over its bound: noise only ever adds."""
    first = measured()
    if all(first[name] <= bound for name, bound in BOUNDS.items()):
        return first
    second = measured()
    return {name: min(first[name], second[name]) for name in first}


@pytest.mark.parametrize("name", BOUNDS)
def test_no_ratio_is_much_worse_than_recorded(ratios: dict[str, float], name: str) -> None:
    assert ratios[name] <= BOUNDS[name]
