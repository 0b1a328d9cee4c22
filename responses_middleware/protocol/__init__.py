"""The shapes on the wire, and the check of what clients send."""

from __future__ import annotations

from .chat import ChatChunk, ChatRequest
from .create import CreateRequest, Tool
from .events import Event
from .items import Item
from .response import Response
from .validate import validate, validate_input_tokens, validate_items, validate_metadata

__all__ = [
    "ChatChunk",
    "ChatRequest",
    "CreateRequest",
    "Event",
    "Item",
    "Response",
    "Tool",
    "validate",
    "validate_input_tokens",
    "validate_items",
    "validate_metadata",
]
