"""What becomes of every name of the Responses API that the openai package knows.

`docs/compatibility.md` is written from it (scripts/compatibility), and test_table.py holds it against the package and
against the tests that it names. A row is (name, status, what happens, the test that shows it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Status = Literal["served", "approximated", "refused"]

STATUSES: Final[dict[Status, str]] = {
    "served": "works as documented by OpenAI",
    "approximated": "works otherwise, in part, or is left out and named in the `x-responses-unsupported` header",
    "refused": "a 400 that names the place (403 and 404 where it says so); of output and events: never sent",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One name: what becomes of it, and the id of the test that shows it."""

    name: str
    status: Status
    what: str
    test: str


_UNIT = "tests/unit/translate/test_"
_PARAMETERS = f"{_UNIT}parameters.py::test_"
_FORM = f"{_UNIT}answer_form.py::test_"
_TOOLS = f"{_UNIT}tools.py::test_"
_CHOICE = f"{_UNIT}tool_choice.py::test_"
_ITEMS = f"{_UNIT}item_kinds.py::test_"
_HISTORY = f"{_UNIT}history.py::test_"
_PARTS = f"{_UNIT}parts.py::test_"
_THINKING = f"{_UNIT}thinking.py::test_"
_ECHO = f"{_UNIT}echo.py::test_"
_STATE = "tests/conformance/test_state.py::test_"
_ANSWERS = "tests/conformance/test_answers.py::test_"
_EVERY_TOOL = "tests/conformance/test_every_tool.py::test_"

_HINT = f"{_PARAMETERS}a_hint_is_left_out_and_named"
_UNSERVED = f"{_PARAMETERS}what_no_chat_server_can_do_is_refused"
_NAMED = "Left out and named, unless the dialect forwards it"
_HOSTED_TOOL = f"{_TOOLS}a_hosted_tool_is_left_out_and_named"
_FOREIGN = f"{_ITEMS}what_another_servers_tool_did_is_left_out_and_named"
_NOT_CARRIED = f"{_ITEMS}content_that_no_chat_completion_can_hold_is_refused"
_CLIENT_TOOL = f"{_TOOLS}a_tool_that_the_client_runs_is_a_function"
_FORCED_TYPE = f"{_CHOICE}a_tool_of_the_client_is_forced_by_its_type"
_NOT_FORCED = f"{_CHOICE}a_tool_that_can_not_be_offered_can_not_be_forced"
_INCLUDED = f"{_FORM}what_can_be_included_is_and_the_rest_is_named"
_COMES = f"{_ANSWERS}a_served_item_comes_back"
_NEVER_COMES = f"{_ANSWERS}no_other_item_comes_back"
_SENT = f"{_ANSWERS}a_served_event_is_sent"
_NEVER_SENT = f"{_ANSWERS}no_other_event_is_sent"

_LEFT_OUT = "Left out and named: nobody here runs it. Forced by `tool_choice` it is refused."
_HISTORY_OF_OTHERS = "Left out and named: what another server's tool did. Its findings are in the text behind it."
_OF_CLIENTS = "Made by clients alone: never in an answer."
_OF_HOSTED = "Made by hosted tools alone: never sent."
_AS_FUNCTION = "Offered as a function; its calls come back in an item type of their own."

TABLE: Final[dict[str, tuple[Row, ...]]] = {
    "parameter": (
        Row(
            "model",
            "served",
            "Sent, through the alias map if there is one.",
            f"{_STATE}the_model_is_renamed_for_the_server_alone",
        ),
        Row("input", "served", "Text or items, see below.", f"{_HISTORY}an_item_without_type_and_id_is_a_message"),
        Row(
            "instructions",
            "served",
            "The first message, of the role that the server knows.",
            f"{_UNIT}system_text.py::test_instructions_lead",
        ),
        Row(
            "previous_response_id",
            "served",
            "The stored items of the whole chain stand in front.",
            f"{_STATE}a_response_goes_on_from_the_previous_one",
        ),
        Row("conversation", "refused", "Not served.", _UNSERVED),
        Row("conversation.id", "refused", "Not served.", _UNSERVED),
        Row(
            "store",
            "served",
            "Kept in our store unless false; never sent to the chat server.",
            f"{_STATE}a_response_that_is_not_stored_can_not_be_fetched",
        ),
        Row("background", "refused", "true is refused, false accepted.", _UNSERVED),
        Row("background_options", "refused", "Accepted as long as it asks for nothing in the background.", _UNSERVED),
        Row(
            "background_options.completion_window",
            "refused",
            "`soonest` is accepted, the others need `background`.",
            _UNSERVED,
        ),
        Row(
            "background_options.continuation_id",
            "approximated",
            "Without effect.",
            f"{_PARAMETERS}what_is_served_here_does_not_go_up",
        ),
        Row(
            "stream",
            "served",
            "Server-sent events as the chat server's chunks come.",
            f"{_PARAMETERS}a_stream_is_asked_for_with_its_usage",
        ),
        Row("stream_options", "served", "See its member.", f"{_ANSWERS}deltas_are_padded_when_that_is_asked_for"),
        Row(
            "stream_options.include_obfuscation",
            "served",
            "Pads delta events when true.",
            f"{_ANSWERS}deltas_are_padded_when_that_is_asked_for",
        ),
        Row(
            "max_output_tokens",
            "served",
            "Sent as max_tokens or max_completion_tokens, one of them.",
            f"{_PARAMETERS}the_token_limit_goes_up_under_the_one_name_that_the_server_reads",
        ),
        Row(
            "max_tool_calls",
            "served",
            "It counts calls of tools that we run: there are none.",
            f"{_PARAMETERS}calls_are_never_counted",
        ),
        Row("temperature", "served", "Sent.", f"{_PARAMETERS}sampling_goes_up_as_it_is"),
        Row("top_p", "served", "Sent.", f"{_PARAMETERS}sampling_goes_up_as_it_is"),
        Row(
            "top_logprobs",
            "served",
            "Sent with logprobs; left out and named where the server has none.",
            f"{_FORM}logprobs_are_asked_for_when_they_are_wanted",
        ),
        Row("include", "served", "See its values.", _INCLUDED),
        Row(
            "metadata",
            "served",
            "Kept and shown with the response; never sent to the chat server.",
            f"{_ECHO}what_was_given_is_repeated",
        ),
        Row(
            "parallel_tool_calls",
            "served",
            "Sent with tools where the server takes it.",
            f"{_TOOLS}parallel_calls_are_asked_for_as_the_server_takes_it",
        ),
        Row("tools", "served", "See their types.", f"{_EVERY_TOOL}each_call_comes_back_as_its_own_item"),
        Row("tool_choice", "served", "See its forms.", f"{_CHOICE}a_word_is_sent_as_it_is"),
        Row("text", "served", "See its members.", f"{_FORM}a_schema_is_wrapped_as_chat_wants_it"),
        Row("text.format", "served", "See its types.", f"{_FORM}a_schema_is_wrapped_as_chat_wants_it"),
        Row(
            "text.verbosity",
            "approximated",
            f"{_NAMED}; `medium` is what is so anyway.",
            f"{_FORM}verbosity_is_left_out_and_named_elsewhere",
        ),
        Row("reasoning", "served", "See its members.", f"{_FORM}an_effort_goes_up_as_it_is"),
        Row(
            "reasoning.effort",
            "served",
            "Sent in the server's words; of a value that it lacks, the nearest that it has.",
            f"{_FORM}an_effort_that_the_server_lacks_is_the_nearest_that_it_has",
        ),
        Row(
            "reasoning.summary",
            "approximated",
            "Thinking is shown as the `reasoning` option of the middleware says, whatever is asked for.",
            f"{_FORM}other_wishes_about_reasoning_are_no_loss",
        ),
        Row(
            "reasoning.generate_summary",
            "approximated",
            "As `reasoning.summary`, whose older name it is.",
            f"{_FORM}other_wishes_about_reasoning_are_no_loss",
        ),
        Row(
            "reasoning.context",
            "served",
            "`current_turn` gives back this turn's thinking alone; else all of it, where the dialect gives it back.",
            f"{_THINKING}thinking_of_earlier_turns_stays_away_where_only_this_turn_counts",
        ),
        Row(
            "reasoning.mode",
            "approximated",
            "`standard`; others are left out and named.",
            f"{_FORM}another_mode_of_reasoning_is_named",
        ),
        Row(
            "truncation",
            "approximated",
            "`disabled`; `auto` is left out and named: a context that is full is the server's error.",
            _HINT,
        ),
        Row("context_management", "approximated", "Left out and named.", _HINT),
        Row(
            "context_management.type", "approximated", "Left out and named; only `compaction` is a valid value.", _HINT
        ),
        Row("context_management.compact_threshold", "approximated", "Left out and named.", _HINT),
        Row("service_tier", "approximated", f"{_NAMED}; `auto` and `default` are what is so anyway.", _HINT),
        Row("prompt_cache_key", "approximated", f"{_NAMED}.", _HINT),
        Row("prompt_cache_options", "approximated", f"{_NAMED}.", _HINT),
        Row("prompt_cache_options.mode", "approximated", f"{_NAMED}.", _HINT),
        Row("prompt_cache_options.ttl", "approximated", f"{_NAMED}.", _HINT),
        Row("prompt_cache_options.comparison_response_id", "approximated", f"{_NAMED}.", _HINT),
        Row(
            "prompt_cache_options.prewarm",
            "refused",
            "true is refused: a chat server can't warm its cache without an answer.",
            _UNSERVED,
        ),
        Row("prompt_cache_retention", "approximated", f"{_NAMED}.", _HINT),
        Row("safety_identifier", "approximated", f"{_NAMED}.", _HINT),
        Row("user", "approximated", f"{_NAMED}.", _HINT),
        Row("moderation", "refused", "Refused, unless the dialect forwards it.", _UNSERVED),
        Row("moderation.model", "refused", "Refused, unless the dialect forwards it.", _UNSERVED),
        Row("moderation.policy", "refused", "Refused, unless the dialect forwards it.", _UNSERVED),
        Row("prompt", "refused", "There are no templates here.", _UNSERVED),
        Row("prompt.id", "refused", "There are no templates here.", _UNSERVED),
        Row("prompt.variables", "refused", "There are no templates here.", _UNSERVED),
        Row("prompt.version", "refused", "There are no templates here.", _UNSERVED),
        Row("image", "refused", "See its member.", _UNSERVED),
        Row("image.context_compression", "refused", "`enabled` is refused, the others are accepted.", _UNSERVED),
        Row("access_programs", "refused", "See its member.", _UNSERVED),
        Row("access_programs.cyber", "refused", "`standard` is accepted, others are a 403.", _UNSERVED),
    ),
    "input item": (
        Row(
            "message",
            "served",
            "A message; without `type`, `id` and `status` too.",
            f"{_HISTORY}what_clients_send_back_with_an_item_does_not_go_up",
        ),
        Row(
            "item_reference",
            "served",
            "The stored item that it means; 404 where there is none.",
            f"{_STATE}a_reference_means_the_stored_item",
        ),
        Row(
            "reasoning",
            "served",
            "Belongs to the turn that follows; goes back where and how the dialect says.",
            f"{_THINKING}thinking_belongs_to_the_turn_that_follows",
        ),
        Row(
            "function_call",
            "served",
            "All parallel calls of a turn, and its text, are one message; cut ones without output are left out, named.",
            f"{_HISTORY}parallel_calls_are_one_message",
        ),
        Row(
            "function_call_output",
            "served",
            "Directly behind its call, wherever it stands; images follow in a user message.",
            f"{_HISTORY}results_stand_in_the_order_of_the_calls",
        ),
        Row(
            "custom_tool_call",
            "served",
            "A call with one text, or itself where the dialect knows freeform tools.",
            f"{_ITEMS}a_freeform_call_is_a_call_with_one_text",
        ),
        Row(
            "custom_tool_call_output",
            "served",
            "As a function's output.",
            f"{_ITEMS}a_freeform_call_is_a_call_with_one_text",
        ),
        Row(
            "local_shell_call",
            "served",
            "A call of the function that the tool is offered as.",
            f"{_ITEMS}the_output_of_a_local_shell_names_its_call_by_any_id",
        ),
        Row(
            "local_shell_call_output",
            "served",
            "Its `id` may be the call's, or that of the call's item.",
            f"{_ITEMS}the_output_of_a_local_shell_names_its_call_by_any_id",
        ),
        Row(
            "shell_call",
            "served",
            "A call of the function that the tool is offered as.",
            f"{_ITEMS}what_a_shell_printed_is_told_with_its_outcome",
        ),
        Row(
            "shell_call_output",
            "served",
            "What each command printed, and how it ended.",
            f"{_ITEMS}what_a_shell_printed_is_told_with_its_outcome",
        ),
        Row(
            "apply_patch_call",
            "served",
            "A call of the function that the tool is offered as.",
            f"{_ITEMS}a_patch_is_told_with_its_end",
        ),
        Row(
            "apply_patch_call_output",
            "served",
            "Its words, and whether the patch failed.",
            f"{_ITEMS}a_patch_is_told_with_its_end",
        ),
        Row(
            "computer_call",
            "served",
            "A call of the function that the tool is offered as.",
            f"{_ITEMS}a_screenshot_follows_in_a_user_message",
        ),
        Row(
            "computer_call_output",
            "served",
            "The screenshot follows in a user message.",
            f"{_ITEMS}a_screenshot_follows_in_a_user_message",
        ),
        Row(
            "tool_search_call",
            "served",
            "A call of the function that the tool is offered as.",
            f"{_ITEMS}searches_without_ids_are_answered_in_their_order",
        ),
        Row(
            "tool_search_output",
            "served",
            "Its tools can be called from then on; the model is told their names.",
            f"{_TOOLS}a_tool_that_was_found_can_be_called_from_then_on",
        ),
        Row(
            "additional_tools",
            "served",
            "Its tools can be called from then on.",
            f"{_TOOLS}additional_tools_can_be_called",
        ),
        Row(
            "configuration_update",
            "served",
            "Changes the effort and the format; the last one counts.",
            f"{_FORM}a_later_update_of_the_effort_counts",
        ),
        Row("compaction", "refused", "No token of ours; send the earlier items.", _NOT_CARRIED),
        Row("compaction_trigger", "refused", "Not served.", _NOT_CARRIED),
        Row(
            "mcp_call",
            "approximated",
            "A call and its result, as of any function.",
            f"{_ITEMS}a_call_of_another_servers_tool_is_a_call_with_its_result",
        ),
        Row(
            "code_interpreter_call",
            "approximated",
            "A call with its code, and its logs as the result.",
            f"{_ITEMS}a_code_interpreter_is_told_by_its_code_and_logs",
        ),
        Row("web_search_call", "approximated", _HISTORY_OF_OTHERS, _FOREIGN),
        Row("file_search_call", "approximated", _HISTORY_OF_OTHERS, _FOREIGN),
        Row(
            "image_generation_call", "approximated", "Left out and named; send the image as an `input_image`.", _FOREIGN
        ),
        Row("mcp_list_tools", "approximated", "Left out and named.", _FOREIGN),
        Row("mcp_approval_request", "approximated", "Left out and named.", _FOREIGN),
        Row("mcp_approval_response", "approximated", "Left out and named.", _FOREIGN),
        Row("program", "refused", "Programs of the model run at OpenAI alone.", _NOT_CARRIED),
        Row("program_output", "refused", "Programs of the model run at OpenAI alone.", _NOT_CARRIED),
    ),
    "content part": (
        Row(
            "input_text",
            "served",
            "Text; several are one string, unless the dialect takes lists.",
            f"{_PARTS}several_texts_are_joined_with_a_newline",
        ),
        Row(
            "output_text",
            "served",
            "Text of the assistant; annotations and logprobs stay here.",
            f"{_PARTS}text_is_text_under_all_its_names",
        ),
        Row(
            "input_image",
            "served",
            "By URL, with its detail (`original` as `high`); by `file_id` it is refused.",
            f"{_PARTS}the_detail_of_an_image_is_kept",
        ),
        Row(
            "input_file",
            "served",
            "By `file_data` or `file_id`; by `file_url` it is refused: nothing is fetched.",
            f"{_PARTS}a_file_with_its_data_is_carried",
        ),
        Row(
            "input_audio",
            "served",
            "Carried; the package knows the part, but not in its input union.",
            f"{_PARTS}audio_is_carried",
        ),
        Row("refusal", "served", "Text of the assistant.", f"{_PARTS}a_refusal_is_text_of_the_assistant"),
        Row(
            "summary_text",
            "served",
            "Thinking, where nothing better is known of it.",
            f"{_THINKING}a_summary_stands_for_lost_content",
        ),
        Row("reasoning_text", "served", "Thinking.", f"{_THINKING}content_counts_before_the_summary"),
        Row(
            "computer_screenshot",
            "served",
            "An image by URL; by `file_id` it is refused.",
            f"{_ITEMS}a_screenshot_by_file_id_is_refused",
        ),
    ),
    "tool": (
        Row(
            "function",
            "served",
            "`strict` is sent where the dialect says so.",
            f"{_TOOLS}a_function_is_wrapped_as_chat_wants_it",
        ),
        Row(
            "custom",
            "served",
            "A function with one text, its grammar in the description; itself where the dialect knows freeform tools.",
            f"{_TOOLS}a_freeform_tool_is_a_function_with_one_text",
        ),
        Row(
            "namespace",
            "served",
            "Flat functions, `namespace__name`, that tell its description; calls come back with namespace and name.",
            f"{_TOOLS}a_namespace_is_flat_functions",
        ),
        Row(
            "tool_search",
            "served",
            "By the client: a function; deferred tools wait until found. By the server: all are offered at once.",
            f"{_TOOLS}a_deferred_tool_waits_for_the_clients_search",
        ),
        Row("local_shell", "served", _AS_FUNCTION, _CLIENT_TOOL),
        Row(
            "shell",
            "served",
            "As the others of the client; in a container it is a hosted tool: left out and named.",
            _CLIENT_TOOL,
        ),
        Row("apply_patch", "served", _AS_FUNCTION, _CLIENT_TOOL),
        Row("computer", "served", _AS_FUNCTION, _CLIENT_TOOL),
        Row("computer_use_preview", "served", f"{_AS_FUNCTION} The size of the screen is told.", _CLIENT_TOOL),
        Row("web_search", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("web_search_2025_08_26", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("web_search_preview", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("web_search_preview_2025_03_11", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("file_search", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("code_interpreter", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("image_generation", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("mcp", "approximated", _LEFT_OUT, _HOSTED_TOOL),
        Row("programmatic_tool_calling", "approximated", _LEFT_OUT, _HOSTED_TOOL),
    ),
    "tool_choice": (
        Row("auto", "served", "Sent, or left away where it is so anyway.", f"{_CHOICE}a_word_is_sent_as_it_is"),
        Row(
            "none",
            "served",
            "Sent; no tools are offered where the server knows no choice.",
            f"{_CHOICE}none_offers_no_tools_where_there_is_no_choice",
        ),
        Row(
            "required",
            "served",
            "Sent as the server says it; told in words, and named, where it knows no choice.",
            f"{_CHOICE}required_is_told_in_words_where_there_is_no_choice",
        ),
        Row(
            "function",
            "served",
            "Sent by name, or as the only tool with `required`.",
            f"{_CHOICE}a_forced_tool_is_offered_alone_where_it_can_not_be_named",
        ),
        Row("custom", "served", "As a function.", f"{_CHOICE}a_freeform_tool_is_named_as_the_function_that_it_is"),
        Row(
            "allowed_tools",
            "served",
            "A hard constraint: only the allowed tools are offered.",
            f"{_CHOICE}only_the_allowed_tools_are_offered",
        ),
        Row("shell", "served", "As the function that the tool is offered as.", _FORCED_TYPE),
        Row("apply_patch", "served", "As the function that the tool is offered as.", _FORCED_TYPE),
        Row("computer", "served", "As the function that the tool is offered as.", _FORCED_TYPE),
        Row("computer_use", "served", "As the function that the tool is offered as.", _FORCED_TYPE),
        Row("computer_use_preview", "served", "As the function that the tool is offered as.", _FORCED_TYPE),
        Row("web_search_preview", "refused", "Nobody here runs it.", _NOT_FORCED),
        Row("web_search_preview_2025_03_11", "refused", "Nobody here runs it.", _NOT_FORCED),
        Row("file_search", "refused", "Nobody here runs it.", _NOT_FORCED),
        Row("code_interpreter", "refused", "Nobody here runs it.", _NOT_FORCED),
        Row("image_generation", "refused", "Nobody here runs it.", _NOT_FORCED),
        Row("mcp", "refused", "Nobody here runs it.", _NOT_FORCED),
        Row("programmatic_tool_calling", "refused", "Nobody here runs it.", _NOT_FORCED),
    ),
    "text format": (
        Row("text", "served", "Nothing is asked for.", f"{_FORM}plain_text_is_not_asked_for"),
        Row(
            "json_schema",
            "served",
            "Sent; as json_object or in words where the server knows no schemas.",
            f"{_FORM}json_object_with_the_schema_in_words",
        ),
        Row(
            "json_object",
            "served",
            "Sent; in words where the server has no formats.",
            f"{_FORM}json_object_is_asked_for_as_such",
        ),
    ),
    "include": (
        Row(
            "message.output_text.logprobs",
            "served",
            "Logprobs are asked for and shown.",
            f"{_FORM}logprobs_are_asked_for_when_they_are_wanted",
        ),
        Row(
            "reasoning.encrypted_content",
            "served",
            "Always there where sealing is installed: a token of ours, null without it.",
            _INCLUDED,
        ),
        Row("message.input_image.image_url", "served", "Input items are listed as they came.", _INCLUDED),
        Row("computer_call_output.output.image_url", "served", "Input items are listed as they came.", _INCLUDED),
        Row("file_search_call.results", "approximated", "Left out and named.", _INCLUDED),
        Row("web_search_call.results", "approximated", "Left out and named.", _INCLUDED),
        Row("web_search_call.action.sources", "approximated", "Left out and named.", _INCLUDED),
        Row("code_interpreter_call.outputs", "approximated", "Left out and named.", _INCLUDED),
    ),
    "output item": (
        Row("message", "served", "Text and refusals.", _COMES),
        Row("reasoning", "served", "The model's thinking, under whatever name the server sends it.", _COMES),
        Row("function_call", "served", "A call of a function.", _COMES),
        Row("custom_tool_call", "served", "A call of a freeform tool, its input decoded.", _COMES),
        Row("local_shell_call", "served", "A call of that tool.", _COMES),
        Row("shell_call", "served", "A call of that tool.", _COMES),
        Row("apply_patch_call", "served", "A call of that tool.", _COMES),
        Row("computer_call", "served", "A call of that tool; `action` too where it is one alone.", _COMES),
        Row("tool_search_call", "served", "A search by the client.", _COMES),
        Row("image_generation_call", "served", "An image that the model itself drew.", _COMES),
        Row("function_call_output", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("custom_tool_call_output", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("local_shell_call_output", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("shell_call_output", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("apply_patch_call_output", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("computer_call_output", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("tool_search_output", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("additional_tools", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("mcp_approval_response", "refused", _OF_CLIENTS, _NEVER_COMES),
        Row("web_search_call", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("file_search_call", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("code_interpreter_call", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("mcp_call", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("mcp_list_tools", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("mcp_approval_request", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("program", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("program_output", "refused", _OF_HOSTED, _NEVER_COMES),
        Row("compaction", "refused", "Not served.", _NEVER_COMES),
    ),
    "stream event": (
        Row("response.created", "served", "The first event.", _SENT),
        Row("response.in_progress", "served", "The second event.", _SENT),
        Row("response.completed", "served", "The end, once the server said how the answer ended.", _SENT),
        Row("response.incomplete", "served", "The end of an answer that a limit or a filter cut.", _SENT),
        Row("response.failed", "served", "The end of an answer that broke, with all output so far.", _SENT),
        Row("error", "served", "Stands before `response.failed`.", _SENT),
        Row("response.output_item.added", "served", "An item begins.", _SENT),
        Row("response.output_item.done", "served", "An item is whole.", _SENT),
        Row("response.content_part.added", "served", "A part of a message or of thinking begins.", _SENT),
        Row("response.content_part.done", "served", "A part is whole.", _SENT),
        Row("response.output_text.delta", "served", "Text, as it comes.", _SENT),
        Row("response.output_text.done", "served", "A text is whole.", _SENT),
        Row("response.output_text.annotation.added", "served", "A source that the server names.", _SENT),
        Row("response.refusal.delta", "served", "A refusal, as it comes.", _SENT),
        Row("response.refusal.done", "served", "A refusal is whole.", _SENT),
        Row("response.reasoning_summary_part.added", "served", "Thinking begins.", _SENT),
        Row("response.reasoning_summary_part.done", "served", "Thinking is whole.", _SENT),
        Row("response.reasoning_summary_text.delta", "served", "Thinking, as it comes.", _SENT),
        Row("response.reasoning_summary_text.done", "served", "Thinking is whole.", _SENT),
        Row("response.reasoning_text.delta", "served", 'Thinking, with `reasoning="text"`.', _SENT),
        Row("response.reasoning_text.done", "served", 'Thinking is whole, with `reasoning="text"`.', _SENT),
        Row("response.function_call_arguments.delta", "served", "Arguments, as they come.", _SENT),
        Row("response.function_call_arguments.done", "served", "Arguments are whole.", _SENT),
        Row(
            "response.custom_tool_call_input.delta", "served", "Input of a freeform tool, decoded, as it comes.", _SENT
        ),
        Row("response.custom_tool_call_input.done", "served", "The input is whole.", _SENT),
        Row("response.image_generation_call.in_progress", "served", "An image that the model drew.", _SENT),
        Row("response.image_generation_call.completed", "served", "The image is whole.", _SENT),
        Row("response.queued", "refused", "Background responses are not served.", _NEVER_SENT),
        Row("response.compaction.compacting", "refused", "Not served.", _NEVER_SENT),
        Row(
            "response.shell_call_command.added",
            "approximated",
            "Not sent: the item of the call is told whole.",
            _NEVER_SENT,
        ),
        Row(
            "response.shell_call_command.delta",
            "approximated",
            "Not sent: the item of the call is told whole.",
            _NEVER_SENT,
        ),
        Row(
            "response.shell_call_command.done",
            "approximated",
            "Not sent: the item of the call is told whole.",
            _NEVER_SENT,
        ),
        Row("response.audio.delta", "refused", "No audio comes back; its transcript is text.", _NEVER_SENT),
        Row("response.audio.done", "refused", "No audio comes back; its transcript is text.", _NEVER_SENT),
        Row("response.audio.transcript.delta", "approximated", "Not sent: the transcript is text.", _NEVER_SENT),
        Row("response.audio.transcript.done", "approximated", "Not sent: the transcript is text.", _NEVER_SENT),
        *(
            Row(f"response.{name}", "refused", _OF_HOSTED, _NEVER_SENT)
            for name in (
                "shell_call_output_content.delta",
                "shell_call_output_content.done",
                "web_search_call.in_progress",
                "web_search_call.searching",
                "web_search_call.completed",
                "file_search_call.in_progress",
                "file_search_call.searching",
                "file_search_call.completed",
                "code_interpreter_call.in_progress",
                "code_interpreter_call.interpreting",
                "code_interpreter_call.completed",
                "code_interpreter_call_code.delta",
                "code_interpreter_call_code.done",
                "image_generation_call.generating",
                "image_generation_call.partial_image",
                "mcp_call.in_progress",
                "mcp_call.completed",
                "mcp_call.failed",
                "mcp_call_arguments.delta",
                "mcp_call_arguments.done",
                "mcp_list_tools.in_progress",
                "mcp_list_tools.completed",
                "mcp_list_tools.failed",
            )
        ),
    ),
}
