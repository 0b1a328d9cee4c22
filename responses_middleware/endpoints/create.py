"""POST /responses: the answer of the model, streamed or whole."""

from __future__ import annotations

from ..engine.runtime import Runtime
from ..engine.turns import Connection, Run
from ..protocol import validate
from .exchange import read_json


async def create(runtime: Runtime, connection: Connection) -> None:
    """Read, check and answer one request. Raises ResponsesError as long as nothing was sent."""
    limits = runtime.options.limits
    with runtime.admitted():
        body = await read_json(connection.scope, connection.receive, limits)
        request = validate(
            body, max_items=limits.max_input_items, max_tools=limits.max_tools, max_depth=limits.max_depth
        )
        await Run(runtime, connection, request).execute()
