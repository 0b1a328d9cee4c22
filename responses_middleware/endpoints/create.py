"""POST /responses: the answer of the model, streamed or whole."""

from __future__ import annotations

from ..engine.runtime import Runtime
from ..engine.turns import Connection, Run
from ..errors import OverloadedError
from ..protocol import validate
from .exchange import read_json


async def create(runtime: Runtime, connection: Connection) -> None:
    """Read, check and answer one request. Raises ResponsesError as long as nothing was sent."""
    limits = runtime.options.limits
    if limits.max_concurrent is not None and runtime.under_way >= limits.max_concurrent:
        raise OverloadedError(f"{runtime.under_way} requests are under way; try again later.")
    runtime.under_way += 1
    try:
        body = await read_json(connection.scope, connection.receive, limits)
        request = validate(
            body, max_items=limits.max_input_items, max_tools=limits.max_tools, max_depth=limits.max_depth
        )
        await Run(runtime, connection, request).execute()
    finally:
        runtime.under_way -= 1
