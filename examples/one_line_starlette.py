"""A Starlette app below a mount, with an alias for the model, and a log line for each finished response.

python examples/one_line_starlette.py             # asks once and ends
python examples/one_line_starlette.py --serve     # goes on serving
"""

from __future__ import annotations

import loopback
import scripted_chat
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from responses_middleware import Event, ResponsesMiddleware, RunInfo


def note(event: Event, run: RunInfo) -> None:
    """Called with each event of each response; raising here does not disturb the client."""
    if event["type"] == "response.completed":
        print(f"[{run.model}] used {event['response']['usage']['total_tokens']} tokens")


async def health(request: Request) -> PlainTextResponse:
    """A path that is none of the middleware's passes through it untouched."""
    return PlainTextResponse("well")


app = Starlette(
    routes=[Route("/health", health), Mount("/", scripted_chat.app)],
    middleware=[Middleware(ResponsesMiddleware, model={"any": "parrot-1"}, on_event=note)],  # the one line
)

if __name__ == "__main__":
    loopback.run(app)
