"""The shapes on the wire, and the check of what clients send."""

from __future__ import annotations

from .chat import ChatRequest
from .create import CreateRequest
from .items import Item
from .response import Response
from .tools import Tool
from .validate import validate

__all__ = [
    "ChatRequest",
    "CreateRequest",
    "Item",
    "Response",
    "Tool",
    "validate",
]
