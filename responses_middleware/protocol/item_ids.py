"""How ids of items begin, by their type, as OpenAI's do: clients tell kinds of items apart by them, and OpenAI refuses
an item that is sent back under an id of another kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_PREFIXES: Final[Mapping[str, str]] = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "custom_tool_call": "ctc_",
    "custom_tool_call_output": "ctco_",
    "local_shell_call": "lsh_",
    "local_shell_call_output": "lsho_",
    "shell_call": "sh_",
    "shell_call_output": "sho_",
    "apply_patch_call": "apc_",
    "apply_patch_call_output": "apco_",
    "computer_call": "cu_",
    "computer_call_output": "cuo_",
    "tool_search_call": "tsc_",
    "tool_search_output": "tso_",
    "web_search_call": "ws_",
    "file_search_call": "fs_",
    "code_interpreter_call": "ci_",
    "image_generation_call": "ig_",
    "mcp_list_tools": "mcpl_",
    "mcp_approval_request": "mcpr_",
    "mcp_call": "mcp_",
    "compaction": "cmp_",
}


def id_prefix(kind: str) -> str:
    """The beginning of an id for an item of this type."""
    return _PREFIXES.get(kind, "item_")
