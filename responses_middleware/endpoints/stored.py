"""Looking up what this owner stored; a stranger's id and a missing one get the same answer."""

from __future__ import annotations

from ..engine.runtime import Runtime
from ..engine.turns import Connection
from ..errors import NotFoundError
from ..state import StoredResponse


async def found(runtime: Runtime, connection: Connection, response_id: str) -> StoredResponse:
    """The row of a response; NotFoundError if this owner has none with this id."""
    owner = runtime.owner(connection.scope)
    row = await runtime.store.get(owner, response_id) if runtime.store else None
    if row is None:
        raise not_found(response_id)
    return row


def not_found(response_id: str) -> NotFoundError:
    """The error for an id that does not exist, or not for this owner."""
    return NotFoundError(f"Response with id '{response_id}' not found.")
