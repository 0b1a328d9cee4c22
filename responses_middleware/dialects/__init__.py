"""What each family of chat servers takes: the fields are in `base`, the table of presets in `registry`."""

from __future__ import annotations

from .base import Dialect
from .registry import PRESETS

__all__ = ["PRESETS", "Dialect"]
