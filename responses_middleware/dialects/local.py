"""Servers that people run themselves: vLLM, SGLang, llama.cpp, llama-cpp-python, Ollama, LM Studio, TGI.

Most of them render the chat template that comes with the model. Those of Qwen 3.5 and later raise "System message must
be at the beginning" for any other place: hence `single_leading` (llama.cpp #20733, #27367; vLLM #41114).
"""

from __future__ import annotations

from .base import Dialect
from .efforts import NONE_LOW_MEDIUM_HIGH

VLLM = Dialect(
    name="vllm",
    # The model's template, see above (vLLM #41114). strict stays away: it is printed into the prompt and tool calling
    # suffers (vLLM #52741).
    system_messages="single_leading",
    # History is read from `reasoning`; releases before PR 42664 drop reasoning_content (vLLM #38488).
    replay_reasoning="reasoning",
    # Its own last chunk; the one report of a missing one could not be reproduced (vLLM #27572).
    finish_reason=True,
)

SGLANG = Dialect(
    name="sglang",
    # The model's template, see above.
    system_messages="single_leading",
    # Field of its message model (sglang, entrypoints/openai/protocol.py; general knowledge).
    replay_reasoning="reasoning_content",
    # A chunk for every choice that ended (sglang, entrypoints/openai/serving_chat.py; general knowledge).
    finish_reason=True,
)

LLAMA_CPP = Dialect(
    name="llama_cpp",
    # The model's template, see above (llama.cpp #20733, reported from Codex; #27367).
    system_messages="single_leading",
    # The object is ignored: "Wrong type supplied for parameter 'tool_choice'" in the log (recorded: b10434, b11549).
    tool_choice="required",
    # Read into the message that the template sees (llama.cpp, common/chat.cpp).
    replay_reasoning="reasoning_content",
    # In all recorded streams but failed ones, which carry an error (llama-server b10434).
    finish_reason=True,
)

LLAMA_CPP_PYTHON = Dialect(
    name="llama_cpp_python",
    # The model's template, see above; its exceptions become a 500.
    system_messages="single_leading",
    # Accepted and ignored (recorded: llama-cpp-python 0.3.36).
    parallel_tool_calls=False,
    # json_schema is a 500: "Input should be 'text' or 'json_object'"; a `schema` beside json_object is a grammar
    # (recorded: llama-cpp-python 0.3.36).
    response_format="json_object_schema",
    # stream_options is ignored, streams have no usage (recorded: llama-cpp-python 0.3.36).
    stream_usage=False,
    # No such field (llama-cpp-python 0.3.36, server/types.py).
    reasoning_effort=False,
    # A second request cuts the first, and chatml-function-calling gives an empty stream: both end in [DONE] without a
    # finish_reason, and neither is an answer (recorded: llama-cpp-python 0.3.36).
    finish_reason=True,
)

OLLAMA = Dialect(
    name="ollama",
    # Not in the request struct; nor are max_completion_tokens and user (openai.go, Aug 2026).
    parallel_tool_calls=False,
    # Not in the request struct: always "auto" (openai.go, Aug 2026).
    tool_choice="auto",
    # The four that every release takes, others are an "invalid reasoning value"; newer ones know max (openai.go).
    reasoning_effort=NONE_LOW_MEDIUM_HIGH,
    # `Message.Reasoning` becomes the thinking of the native API (openai.go, FromChatRequest).
    replay_reasoning="reasoning",
    # Made of done_reason, which closes every stream (openai.go, ToChunk).
    finish_reason=True,
)

LM_STUDIO = Dialect(
    name="lm_studio",
    # The model's template, see above (lmstudio-bug-tracker #2298, reported from Codex).
    system_messages="single_leading",
    # 400 "Invalid tool_choice type: 'object'", it takes none, auto and required (lmstudio-bug-tracker #670).
    tool_choice="required",
)

TGI = Dialect(
    name="tgi",
    # The model's template, see above.
    system_messages="single_leading",
    # Not in ChatRequest, unknown fields are dropped (text-generation-inference, router/src/lib.rs; general knowledge).
    parallel_tool_calls=False,
    # Likewise.
    reasoning_effort=False,
)
