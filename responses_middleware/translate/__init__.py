"""From the Responses API to chat completions and back: pure functions, one verb a file."""

from __future__ import annotations
