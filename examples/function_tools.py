"""The loop of an agent with the openai SDK: the model calls a function, the program answers, until there is text.

pip install openai
python examples/function_tools.py
"""

from __future__ import annotations

import json

import loopback
import scripted_chat
from openai import OpenAI

from responses_middleware import ResponsesMiddleware


def get_weather(city: str) -> str:
    """What the model may call."""
    return f"sunny in {city}"


FUNCTIONS = {"get_weather": get_weather}
TOOLS = [
    {
        "type": "function",
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    }
]


def answer(client: OpenAI, question: str) -> str:
    """Ask, run the functions that are called, give their outputs back, and return the text at the end."""
    response = client.responses.create(model="any", input=question, tools=TOOLS)
    while calls := [item for item in response.output if item.type == "function_call"]:
        outputs = []
        for call in calls:
            print(f"the model calls {call.name}({call.arguments})")
            output = FUNCTIONS[call.name](**json.loads(call.arguments))
            outputs.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
        # The earlier turns are kept by the middleware, so that only what is new has to be sent.
        response = client.responses.create(model="any", input=outputs, tools=TOOLS, previous_response_id=response.id)
    return response.output_text


if __name__ == "__main__":
    with (
        loopback.serving(ResponsesMiddleware(scripted_chat.app)) as base,
        OpenAI(base_url=base, api_key="none") as client,
    ):
        print(answer(client, "How is the weather in Oslo?"))
