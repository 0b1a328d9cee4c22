"""CI's part of the benchmark: no in-process ratio may be 1.5 times worse than the recorded one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import bench

RECORDED = json.loads(bench.RECORDED.read_text())
WORST = 1.5


@pytest.fixture(scope="module")
def ratios() -> dict[str, float]:
    return bench.in_process()


@pytest.mark.parametrize("name", [name for name in RECORDED if name != "proxy"])
def test_no_ratio_is_much_worse_than_recorded(ratios: dict[str, float], name: str) -> None:
    assert ratios[name] <= RECORDED[name] * WORST


def test_requests_cost_at_most_two_and_a_half_times_their_json(ratios: dict[str, float]) -> None:
    assert ratios["request"] <= 2.5
