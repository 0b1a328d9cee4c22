"""A request's body, any bytes: it is refused with one of our errors, or it is a chat request that can be written.

- Only a ResponsesError of a 4xx status escapes, with a message that can be written as JSON.
- Checking changes nothing.
- What was accepted can be translated for every dialect, or is refused likewise.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

from harness import Choices, fuzz, instrumented

with instrumented() if __name__ == "__main__" else nullcontext():
    from responses_middleware import _json
    from responses_middleware.dialects import Dialect
    from responses_middleware.errors import ResponsesError
    from responses_middleware.protocol import validate
    from responses_middleware.translate.echo import to_response
    from responses_middleware.translate.left_out import LeftOut
    from responses_middleware.translate.request import to_chat

DIALECTS = ("auto", "openai", "vllm", "deepseek", "mistral", "anthropic", "gemini", "ollama")


def one_input(data: bytes) -> None:
    try:
        body = _json.loads_exact(data)
    except ValueError:
        return
    before = json.dumps(body)
    try:
        request = validate(body, max_items=50, max_tools=8, max_depth=24)
        assert json.dumps(body) == before, "checking changed the request"
        translate(request, Choices(data))
    except ResponsesError as error:
        judge(error)


def judge(error: ResponsesError) -> None:
    assert 400 <= error.status < 500, error
    told = json.loads(_json.dumps(error.body()))["error"]
    assert told["message"]
    assert set(told) == {"message", "type", "param", "code"}
    assert len(told["message"]) < 2000, "an error that repeats the request"


def translate(request: Any, choices: Choices) -> None:
    to_response(request, response_id="resp_1", created_at=1, stores=True)
    call = to_chat(
        request,
        [],
        model="m",
        dialect=Dialect.named(choices.of(*DIALECTS)),
        unsupported=LeftOut(choices.of("warn", "error", "ignore")),
        unseal=lambda token: None,
    )
    payload = json.loads(_json.dumps(call.payload))
    assert payload["model"] == "m"
    assert payload["messages"]
    assert all(name.isascii() and name.isprintable() and "," not in name for name in call.left_out)


if __name__ == "__main__":
    fuzz(one_input)
