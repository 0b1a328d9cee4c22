"""GET /responses/{id}/input_items: the items that a stored response answered, earlier turns included."""

from __future__ import annotations

from ..engine.runtime import Runtime
from ..engine.turns import Connection
from ..replies import send_json
from .pages import page, parse_query
from .stored import found


async def input_items(runtime: Runtime, connection: Connection, response_id: str) -> None:
    """Answer with one page of the items, the newest first unless `order=asc`."""
    asked = parse_query(connection.scope.get("query_string", b""))
    row = await found(runtime, connection, response_id)
    items = [*row.history, *row.input]
    await send_json(connection.send, page(items, asked))
