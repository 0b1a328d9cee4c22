"""DELETE /responses/{id}: forget a stored response."""

from __future__ import annotations

from ..engine.runtime import Runtime
from ..engine.turns import Connection
from ..replies import send_json
from .stored import not_found


async def delete(runtime: Runtime, connection: Connection, response_id: str) -> None:
    """Forget this owner's response; those that continued it stay complete."""
    owner = runtime.owner(connection.scope)
    if runtime.store is None or not await runtime.store.delete(owner, response_id):
        raise not_found(response_id)
    await send_json(connection.send, {"id": response_id, "object": "response", "deleted": True})
