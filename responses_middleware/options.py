"""What an operator may set: frozen, checked once, at construction."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from .errors import ConfigurationError

Unsupported = Literal["error", "warn", "ignore"]
ReasoningForm = Literal["summary", "text", "none"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The bounds of every wait, buffer and count, on by default.

    Seconds are floats, sizes are bytes, `None` means no limit. A wrong value raises ConfigurationError.

    Args:
        connect_timeout: making a connection to the upstream.
        idle_timeout: waiting for the upstream's headers, and every gap between two reads of its body.
        progress_timeout: the gap between two data frames, however many comments come.
        error_body_timeout: reading the body of an upstream error; after it the status alone is used.
        body_timeout: every gap in the client's request body (408).
        keepalive: silence towards the client before a comment is sent.
        grace: finishing on shutdown.
        tool_timeout: one call of a tool that we run; not served yet, without effect.
        max_request_bytes: a request body, decoded (413).
        max_frame_bytes: one line or one SSE frame of the upstream.
        max_answer_bytes: a JSON answer of the upstream, decoded.
        max_error_bytes: an error body of the upstream.
        max_output_bytes: text, reasoning and arguments of one response, in characters; logprobs and images in bytes.
        max_tool_output_bytes: the output of one call of a tool that we run; not served yet, without effect.
        max_depth: nesting of request and upstream JSON.
        max_input_items: items of `input`.
        max_tools: tools of a request.
        max_turns: upstream calls of one response; not served yet, without effect.
        max_concurrent: requests under way (503 with Retry-After).
        max_background: background responses under way (429 with Retry-After); not served yet, without effect.
        store_ttl: life of a stored response.
        store_bytes: memory store, all responses together.
        store_rows: memory store, number of responses.
    """

    connect_timeout: float = 5.0
    idle_timeout: float | None = 600.0  # the OpenAI SDKs' own default
    progress_timeout: float | None = 1800.0
    error_body_timeout: float = 5.0
    body_timeout: float | None = 60.0
    keepalive: float | None = 15.0  # proxies cut silence: nginx and ALB after 60 s, Cloudflare 100 s
    grace: float = 8.0  # below the 10 s of `docker stop`
    tool_timeout: float | None = 60.0
    max_request_bytes: int = 32 * 1024 * 1024
    max_frame_bytes: int = 8 * 1024 * 1024
    max_answer_bytes: int = 32 * 1024 * 1024
    max_error_bytes: int = 64 * 1024
    max_output_bytes: int = 64 * 1024 * 1024
    max_tool_output_bytes: int = 1024 * 1024
    max_depth: int = 128
    max_input_items: int = 10_000
    max_tools: int = 128
    max_turns: int = 32
    max_concurrent: int | None = None
    max_background: int | None = 100
    store_ttl: float | None = 30 * 24 * 3600.0
    store_bytes: int | None = 256 * 1024 * 1024
    store_rows: int | None = 10_000

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check_limit(field.name, str(field.type), getattr(self, field.name))


def _check_limit(name: str, kind: str, value: object) -> None:
    optional = "None" in kind
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int if kind.startswith("int") else int | float):
        wanted = "a whole number" if kind.startswith("int") else "a number of seconds"
        raise ConfigurationError(
            f"Limits.{name} must be {wanted}{' or None' if optional else ''}, not {value!r}", param=name
        )
    if not math.isfinite(value) or value <= 0:
        none = "; None means no limit" if optional else ""
        raise ConfigurationError(f"Limits.{name} must be greater than zero, not {value!r}{none}", param=name)
