"""A FastAPI app that speaks chat completions, given the Responses API by one line.

python examples/one_line_fastapi.py             # asks once and ends
python examples/one_line_fastapi.py --serve     # goes on serving, as does:
uvicorn --app-dir examples one_line_fastapi:app
"""

from __future__ import annotations

from typing import Any

import loopback
import scripted_chat
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from responses_middleware import ResponsesMiddleware

app = FastAPI()
app.add_middleware(ResponsesMiddleware)  # the one line


@app.post("/v1/chat/completions")
async def chat(body: dict[str, Any]) -> Any:
    """What the app had before: plain and streamed chat completions."""
    if body.get("stream"):
        return StreamingResponse(scripted_chat.frames(body), media_type="text/event-stream")
    return scripted_chat.completion(body)


if __name__ == "__main__":
    loopback.run(app)
