"""What is kept between requests: responses in a store (`base` is its contract), and tokens that clients keep for us."""

from __future__ import annotations

from ..errors import StoreError
from .base import Store, StoredResponse, owner_from_authorization
from .memory import MemoryStore
from .seal import Sealer

__all__ = [
    "MemoryStore",
    "Sealer",
    "Store",
    "StoreError",
    "StoredResponse",
    "owner_from_authorization",
]
