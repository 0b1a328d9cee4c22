"""GET /responses/{id}: a stored response."""

from __future__ import annotations

from urllib.parse import parse_qs

from ..engine.runtime import Runtime
from ..engine.turns import Connection
from ..errors import InvalidRequestError
from ..replies import send_json
from .stored import found


async def retrieve(runtime: Runtime, connection: Connection, response_id: str) -> None:
    """Answer with the Response object as it was sent last. Raises NotFoundError; InvalidRequestError for `stream`."""
    query = parse_qs(connection.scope.get("query_string", b"").decode("latin-1"))
    if query.get("stream", ["false"])[-1].lower() == "true":
        raise InvalidRequestError(
            "Only background responses can be streamed again, and they are not served here.", param="stream"
        )
    row = await found(runtime, connection, response_id)
    await send_json(connection.send, row.response)
