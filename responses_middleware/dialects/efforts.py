"""Ladders of reasoning effort that several servers share. A value that is not in a ladder is not sent."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LOW_MEDIUM_HIGH: Mapping[str, str] = MappingProxyType(
    {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
)
NONE_LOW_MEDIUM_HIGH: Mapping[str, str] = MappingProxyType({"none": "none", **LOW_MEDIUM_HIGH})
LOW_HIGH_MAX: Mapping[str, str] = MappingProxyType(
    {"minimal": "low", "low": "low", "medium": "high", "high": "high", "xhigh": "max", "max": "max"}
)
