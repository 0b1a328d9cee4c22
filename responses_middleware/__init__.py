"""The OpenAI Responses API for any app or server that speaks chat completions.

app.add_middleware(ResponsesMiddleware)                  # FastAPI, Starlette
app = ResponsesMiddleware(app)                           # any ASGI app
app = ResponsesProxy("http://localhost:8000/v1")         # in front of a URL
"""

from __future__ import annotations

import logging

from .dialects import Dialect
from .engine.runtime import RunInfo
from .errors import (
    ConfigurationError,
    InvalidRequestError,
    ResponsesError,
    UpstreamConnectionError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamTimeoutError,
)
from .middleware import ResponsesMiddleware
from .options import Limits
from .proxy import ResponsesProxy
from .state import MemoryStore, Store, StoredResponse, StoreError, owner_from_authorization
from .stream import Event
from .upstream.base import Headers, Sink, Upstream, UpstreamCall

__all__ = [
    "ConfigurationError",
    "Dialect",
    "Event",
    "Headers",
    "InvalidRequestError",
    "Limits",
    "MemoryStore",
    "ResponsesError",
    "ResponsesMiddleware",
    "ResponsesProxy",
    "RunInfo",
    "Sink",
    "Store",
    "StoreError",
    "StoredResponse",
    "Upstream",
    "UpstreamCall",
    "UpstreamConnectionError",
    "UpstreamError",
    "UpstreamProtocolError",
    "UpstreamTimeoutError",
    "owner_from_authorization",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a library is quiet until the app sets up logging

__version__ = "0.1.0"
