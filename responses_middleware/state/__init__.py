from __future__ import annotations

from .base import ANONYMOUS, Store, StoredResponse, StoreError, owner_from_authorization
from .memory import MemoryStore
from .pages import PageQuery, page, parse_query
from .seal import Sealer

__all__ = [
    "ANONYMOUS",
    "MemoryStore",
    "PageQuery",
    "Sealer",
    "Store",
    "StoreError",
    "StoredResponse",
    "owner_from_authorization",
    "page",
    "parse_query",
]
