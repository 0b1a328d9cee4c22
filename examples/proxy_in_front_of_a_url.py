"""The Responses API in front of a chat completions server that runs somewhere else.

    python examples/proxy_in_front_of_a_url.py                               # in front of a scripted server; ends
    python examples/proxy_in_front_of_a_url.py --serve --url http://localhost:8000/v1

The same without Python: responses-middleware http://localhost:8000/v1 --port 9000
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext

import httpx
import loopback
import scripted_chat

from responses_middleware import Limits, ResponsesProxy

parser = argparse.ArgumentParser()
parser.add_argument("--url", help="the chat server, with its /v1; without it, a scripted one is started")
given, _ = parser.parse_known_args()

with nullcontext(given.url) if given.url else loopback.serving(scripted_chat.app) as url:
    app = ResponsesProxy(url, limits=Limits(idle_timeout=120))  # a whole ASGI app, for any ASGI server
    if loopback.is_to_serve():
        loopback.serve(app)
    else:
        with loopback.serving(app) as base:
            loopback.ask(base, "Is anyone there?")
            # Every other path is passed through, so that one address serves old and new clients.
            old = {"model": "any", "messages": [{"role": "user", "content": "the old way"}]}
            reply = httpx.post(f"{base}/chat/completions", json=old, trust_env=False)
            print(reply.json()["choices"][0]["message"]["content"])
