"""The Response object: what GET /responses/{id} answers and what the events of a stream carry as a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from .items import Item
    from .tools import Tool

ResponseStatus: TypeAlias = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]


class ResponseError(TypedDict):
    """Why a response failed."""

    code: str
    message: str


class IncompleteDetails(TypedDict):
    """Why a response is incomplete: `max_output_tokens`, `content_filter`, `steered`, …"""

    reason: str


class InputTokensDetails(TypedDict):
    cached_tokens: int
    cache_write_tokens: int


class OutputTokensDetails(TypedDict):
    reasoning_tokens: int


class Usage(TypedDict):
    """All counts are tokens; the total is the sum of input and output."""

    input_tokens: int
    input_tokens_details: InputTokensDetails
    output_tokens: int
    output_tokens_details: OutputTokensDetails
    total_tokens: int


class Response(TypedDict, total=False):
    """All keys are always sent, null where there is nothing, but for `conversation`, `moderation` and `prompt`."""

    id: str
    object: Literal["response"]
    created_at: int  # Unix seconds
    completed_at: int | None  # Unix seconds; null unless completed
    status: ResponseStatus
    background: bool
    error: ResponseError | None
    incomplete_details: IncompleteDetails | None
    instructions: str | None
    max_output_tokens: int | None
    max_tool_calls: int | None
    model: str
    output: list[Item]
    parallel_tool_calls: bool
    previous_response_id: str | None
    conversation: dict[str, Any] | None
    moderation: dict[str, Any] | None
    prompt: dict[str, Any] | None
    prompt_cache_key: str | None
    prompt_cache_retention: str | None
    reasoning: dict[str, Any]
    safety_identifier: str | None
    service_tier: str
    store: bool
    temperature: float
    top_p: float
    frequency_penalty: float
    presence_penalty: float
    text: dict[str, Any]
    tool_choice: str | dict[str, Any]
    tools: list[Tool]
    top_logprobs: int
    truncation: str
    usage: Usage | None
    user: str | None
    metadata: dict[str, str]
