"""POST /responses: the answer of the model, streamed or whole."""

from __future__ import annotations

from ..engine.runtime import Runtime
from ..engine.turns import Connection, Run
from ..options import Limits
from ..protocol import CreateRequest, validate
from .request_body import read_json


async def create(runtime: Runtime, connection: Connection) -> None:
    """Read, check and answer one request. Raises ResponsesError as long as nothing was sent."""
    runtime.admit()
    try:
        run = Run(runtime, connection, await _read(connection, runtime.options.limits))
        if run.refers:
            await run.look_up()
        while await run.ask():
            pass  # once more, otherwise: the upstream's refusal has taught how
    finally:
        runtime.dismiss()


async def _read(connection: Connection, limits: Limits) -> CreateRequest:
    body = await read_json(connection.scope, connection.receive, limits)
    return validate(body, max_items=limits.max_input_items, max_tools=limits.max_tools, max_depth=limits.max_depth)
