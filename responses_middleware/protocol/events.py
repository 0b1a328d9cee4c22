"""Stream events: what stands in one `data:` line of an answered stream."""

from __future__ import annotations

from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]
"""An object with `type` and `sequence_number`; the other keys depend on the type (response_stream_event.py)."""
