"""A gateway of the old kind: it checks keys, asks one of several back ends, and answers with a dict or a stream.

One line gives it the Responses API. Its own rules stay in force: its 401 is a 401 for Responses clients, its headers
reach them, its streams get the headers that proxies need, and what a back end says that is no chat completion becomes
a 502 with an OpenAI error object.

    python examples/legacy_gateway.py             # asks five times and ends
    python examples/legacy_gateway.py --serve     # goes on serving; the key is "sesame"
"""

from __future__ import annotations

from typing import Annotated, Any

import httpx
import loopback
import scripted_chat
from fastapi import Depends, FastAPI, Header, HTTPException, Response
from fastapi.responses import StreamingResponse

from responses_middleware import ResponsesMiddleware

app = FastAPI()
app.add_middleware(ResponsesMiddleware)  # the one line


def check_key(authorization: Annotated[str, Header()] = "") -> None:
    """The gateway's own rule, unchanged: it reads the client's header."""
    if authorization != "Bearer sesame":
        raise HTTPException(401, "who are you?")


@app.post("/v1/chat/completions", dependencies=[Depends(check_key)])
async def chat(body: dict[str, Any], response: Response) -> Any:
    """A dict, a stream, or what a broken back end says."""
    if body["model"] == "broken":
        return {"status": "maintenance", "until": "noon"}
    if body.get("stream"):
        return StreamingResponse(scripted_chat.frames(body), headers={"x-backend": "b2"})  # no media type: an old fault
    response.headers["x-backend"] = "b1"
    return scripted_chat.completion(body)


def show(base: str, what: str, key: str = "sesame", **fields: Any) -> None:
    """Ask once, and print the status and the headers that matter."""
    body = {"model": "good", "input": "Hello", **fields}
    headers = {"authorization": f"Bearer {key}"}
    reply = httpx.post(f"{base}/responses", json=body, headers=headers, trust_env=False)
    print(f"{what}: HTTP {reply.status_code}")
    for name in ("content-type", "cache-control", "x-accel-buffering", "x-backend"):
        if name in reply.headers:
            print(f"  {name}: {reply.headers[name]}")
    if not reply.is_success:
        print(f"  {reply.json()['error']}")


if __name__ == "__main__":
    if loopback.is_to_serve():
        loopback.serve(app)
    else:
        with loopback.serving(app) as base:
            show(base, "a plain answer")
            show(base, "a stream", stream=True)
            show(base, "a wrong key", key="guess", stream=True)
            show(base, "an unusable answer", model="broken")
            show(base, "an unusable answer where a stream was asked for", model="broken", stream=True)
