"""POST /responses/{id}/cancel: only background responses can be cancelled, and none are served yet."""

from __future__ import annotations

from ..engine.runtime import Runtime
from ..engine.turns import Connection
from ..errors import InvalidRequestError
from .stored import found


async def cancel(runtime: Runtime, connection: Connection, response_id: str) -> None:
    """Refuse, as OpenAI refuses it for a response that was made in the foreground."""
    await found(runtime, connection, response_id)
    raise InvalidRequestError("Cannot cancel a synchronous response.")
