"""Input items, by their type: a new type is one row of `ITEMS`.

Required are the required fields of the param types in the openai package, less those that real clients leave out and
nobody needs: `id` and `status` (Codex strips ids, openai-agents sends `status: null`), unless another item refers to
the id.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from . import faults
from .containers import OBJECT, OBJECTS, STRINGS, ListOf, MapOf, Record, Tagged
from .faults import Fault
from .formats import REASONING_EFFORT, TEXT_FORMATS
from .parts import (
    ASSISTANT_PARTS,
    INPUT_PARTS,
    OUTPUT_PARTS,
    REASONING_PARTS,
    SCREENSHOT,
    SUMMARY_PARTS,
    Parts,
    text_or_parts,
)
from .scalars import ANYTHING, BOOLEAN, INTEGER, STRING, OneOf, Refused
from .shapes import Shape
from .tools import TOOLS

Item: TypeAlias = dict[str, Any]
"""An element of `input` or `output`: an object with a `type`; `ITEMS` says which other keys."""

# On every item; read by nobody but the client itself.
_KEPT: Final[dict[str, Shape]] = {"id": STRING, "status": STRING}
_CALLER: Final = Tagged({"direct": Record(), "program": Record({"caller_id": STRING})})
_CALL: Final = _KEPT | {"caller": _CALLER}
_EXECUTION: Final = OneOf("server", "client")


def _message(content: dict[str, Shape], *, required: bool = True) -> Record:
    fields: dict[str, Shape] = {"content": text_or_parts(content)}
    kept = _KEPT | {
        "phase": STRING,
        "tool_calls": Refused("a tool call is an item of type 'function_call' in 'input' in the Responses API."),
    }
    return Record(fields, kept) if required else Record(None, fields | kept)


MESSAGE: Final = Tagged(
    {
        "user": _message(INPUT_PARTS),
        "assistant": _message(ASSISTANT_PARTS, required=False),
        "system": _message(INPUT_PARTS),
        "developer": _message(INPUT_PARTS),
    },
    key="role",
    hints={
        "tool": " A tool's result is an item of type 'function_call_output' in the Responses API.",
        "function": " A function's result is an item of type 'function_call_output' in the Responses API.",
    },
)
ITEM_REFERENCE: Final = Record({"id": STRING})

_ACTION: Final = Record({"type": STRING})
_PATCH: Final = Tagged(
    {
        "create_file": Record({"path": STRING, "diff": STRING}),
        "delete_file": Record({"path": STRING}),
        "update_file": Record({"path": STRING, "diff": STRING}),
    }
)
_OUTCOME: Final = Tagged({"exit": Record({"exit_code": INTEGER}), "timeout": Record()})

ITEMS: Final[dict[str, Shape]] = {
    "message": MESSAGE,
    "item_reference": ITEM_REFERENCE,
    "reasoning": Record(
        None,
        _KEPT
        | {
            "summary": Parts(SUMMARY_PARTS),
            "content": Parts(REASONING_PARTS),
            "encrypted_content": STRING,
        },
    ),
    "function_call": Record({"call_id": STRING, "name": STRING, "arguments": STRING}, _CALL | {"namespace": STRING}),
    "function_call_output": Record(
        {"output": text_or_parts(OUTPUT_PARTS)},
        _CALL | {"call_id": STRING, "name": STRING, "namespace": STRING},
        any_of=("call_id", "name"),
    ),
    "custom_tool_call": Record({"call_id": STRING, "name": STRING, "input": STRING}, _CALL | {"namespace": STRING}),
    "custom_tool_call_output": Record({"call_id": STRING, "output": text_or_parts(OUTPUT_PARTS)}, _CALL),
    "tool_search_call": Record({"arguments": ANYTHING}, _KEPT | {"call_id": STRING, "execution": _EXECUTION}),
    "tool_search_output": Record({"tools": ListOf(TOOLS)}, _KEPT | {"call_id": STRING, "execution": _EXECUTION}),
    "additional_tools": Record({"role": OneOf("developer"), "tools": ListOf(TOOLS)}, _KEPT),
    "configuration_update": Record(
        None,
        _KEPT | {"reasoning": Record(None, {"effort": REASONING_EFFORT}), "text": Record({"format": TEXT_FORMATS})},
    ),
    "compaction": Record({"encrypted_content": STRING}, _KEPT),
    "compaction_trigger": Record(None, _KEPT),
    "local_shell_call": Record(
        {
            "call_id": STRING,
            "action": Record(
                {"type": OneOf("exec"), "command": STRINGS},
                {"env": MapOf(STRING), "timeout_ms": INTEGER, "user": STRING, "working_directory": STRING},
            ),
        },
        _KEPT,
    ),
    # The SDK's type has no call_id: its id is that of the call.
    "local_shell_call_output": Record({"output": STRING}, _KEPT | {"call_id": STRING}, any_of=("id", "call_id")),
    "shell_call": Record(
        {
            "call_id": STRING,
            "action": Record({"commands": STRINGS}, {"timeout_ms": INTEGER, "max_output_length": INTEGER}),
        },
        _CALL | {"environment": OBJECT},
    ),
    "shell_call_output": Record(
        {"call_id": STRING, "output": ListOf(Record({"outcome": _OUTCOME, "stdout": STRING, "stderr": STRING}))},
        _CALL | {"max_output_length": INTEGER},
    ),
    "apply_patch_call": Record({"call_id": STRING, "operation": _PATCH}, _CALL),
    "apply_patch_call_output": Record(
        {"call_id": STRING, "status": OneOf("completed", "failed")},
        {"id": STRING, "caller": _CALLER, "output": STRING},
    ),
    "computer_call": Record(
        {"call_id": STRING},
        _KEPT | {"action": _ACTION, "actions": ListOf(_ACTION), "pending_safety_checks": OBJECTS},
    ),
    "computer_call_output": Record(
        {"call_id": STRING, "output": Tagged({"computer_screenshot": SCREENSHOT})},
        _KEPT | {"acknowledged_safety_checks": OBJECTS},
    ),
    # Codex sends searches without an action back.
    "web_search_call": Record(None, _KEPT | {"action": _ACTION}),
    "file_search_call": Record({"queries": STRINGS}, _KEPT | {"results": OBJECTS}),
    "code_interpreter_call": Record({"container_id": STRING}, _KEPT | {"code": STRING, "outputs": OBJECTS}),
    "image_generation_call": Record(None, _KEPT | {"result": STRING, "revised_prompt": STRING}),
    "mcp_list_tools": Record(
        {"server_label": STRING, "tools": ListOf(Record({"name": STRING, "input_schema": ANYTHING}))}, _KEPT
    ),
    "mcp_approval_request": Record(
        {"id": STRING, "arguments": STRING, "name": STRING, "server_label": STRING}, {"status": STRING}
    ),
    "mcp_approval_response": Record({"approval_request_id": STRING, "approve": BOOLEAN}, _KEPT | {"reason": STRING}),
    "mcp_call": Record(
        {"arguments": STRING, "name": STRING, "server_label": STRING},
        _KEPT | {"approval_request_id": STRING, "output": STRING},
    ),
    "program": Record({"call_id": STRING, "code": STRING, "fingerprint": STRING}, _KEPT),
    "program_output": Record(
        {"call_id": STRING, "result": STRING, "status": OneOf("completed", "incomplete")}, {"id": STRING}
    ),
}


def _untyped(value: dict[str, Any]) -> Shape | None:
    # EasyInputMessage and ItemReference may leave out their type (easy_input_message_param.py).
    if "role" in value or "content" in value:
        return MESSAGE
    return ITEM_REFERENCE if value.keys() <= {"id", "type"} and "id" in value else None


class Items:
    """The array of input items: each fits its row, and a compaction trigger ends it."""

    element: Final = Tagged(ITEMS, untagged=_untyped, extensions=Record(None, _KEPT))

    def check(self, value: Any, /) -> None:
        if type(value) is not list:
            raise faults.wrong_type("an array", value)
        index, last = 0, len(value) - 1
        checks = self.element.checks
        try:
            for index, item in enumerate(value):
                tag = item.get("type") if type(item) is dict else None
                check = checks.get(tag) if type(tag) is str else None
                if check is None:
                    self.element.check(item)
                else:
                    check(item)
                if tag == "compaction_trigger" and index != last:
                    raise faults.invalid("'compaction_trigger' must be the last item.").at("type")
        except Fault as fault:
            fault.at(index)
            raise


INPUT_ITEMS: Final = Items()
