"""What a refusal teaches about a server: the same request, said otherwise.

A lesson is one row: the name of what is refused, what must be said of it, whether the request held it at all, and how
the dialect changes. Only what we can say otherwise, or do without and name to the client, is a lesson; whatever else
the server refuses stays the client's error. That is also so for a value that the client can mend: a schema that breaks
the server's rules, a tool that is not there, a number out of range.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .base import Dialect
from .refusals import ClientTexts, Span, Statement, statements

Payload = Mapping[str, Any]


def _named(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE | re.DOTALL)


# What servers say of a parameter, a role or a type that they don't take.
_NOT_TAKEN = _named(
    r"\b(un|in)supported|not (yet |currently |being )?(be )?(support|accept|allow|permit|implement|enabled|recogni)",
    r"n't (yet |currently )?(support|accept|allow)|no longer|deprecated|in?compatible",
    r"\bun(known|expected|available)|\bunrecogni[sz]ed|not (available|valid|compatible|one of)",
    r"\bonly (accept|allow|available|permit|support|valid)|not match any of the expected",
    r"\bextra (inputs|fields)|cannot (find|be (used|set|specified))|can't be (used|set|specified)",
    r"(input should|must( either)?) be (['\"`]|an?\b|one of|null)|supported (string )?values|expected one of",
    r"invalid (argument|field|parameter|role|type)\b",
)
# What they say of a value that the client chose, and can choose otherwise.
_BAD_VALUE = _named(
    r"too (large|long|big|high|many|small|few|short)|context length|out of range|\brange\b|\bexceeds?\b|\bbetween\b",
    r"(less|greater|more|fewer) than|at (most|least)|\b(maximum|minimum)\b",
)
_BAD_CHOICE = _named(
    r"not (found |present |defined |listed |one )?(in|of|among) (the )?((list of|given|provided|specified) )?\W?tools",
    r"no such (tool|function)|(tool|function)\b.{0,80}(not found|does not exist|is not (defined|provided|available))",
    r"not match any of the (specified|provided|given) \W?tools|not been passed|(when|without) \W?tools",
)
_BAD_SCHEMA = _named(
    r"(in|un)(valid|supported) (json )?schema|\badditionalProperties\b|in context ?=|\bkeyword|\$ref\b",
    r"json_schema(\.|\]?\[['\"]?)(name|description|schema)",
    r"schema (contains|has|is (not )?(valid|invalid|too)|must|should|exceeds|uses)|schema\b.{0,40}\bfeature",
)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing that a server may refuse and that can be said otherwise.

    Args:
        words: name it in the refusal.
        applies: whether the request held what the words name.
        field: of the dialect, which changes.
        value: that it gets; or what makes it of the statement and the request.
        said: what the refusal must say of it; None: to be named is enough, since nobody but us has chosen it, unless
            the client's texts name it too.
        but_not: what says that the client can mend it.
    """

    words: re.Pattern[str]
    applies: Callable[[Payload], bool]
    field: str
    value: Any
    said: re.Pattern[str] | None = _NOT_TAKEN
    but_not: re.Pattern[str] = _BAD_VALUE

    def told_by(self, statement: Statement, client: ClientTexts) -> bool:
        """Whether a statement of the server, not an echo of the request, teaches this."""
        if self.but_not.search(statement.text):
            return False
        return any(
            self._is_told(statement, name, client) and not statement.is_echo(name, client)
            for name in statement.spans(self.words)
        )

    def _is_told(self, statement: Statement, name: Span, client: ClientTexts) -> bool:
        if self.said is None and not statement.is_quoted(name) and not statement.is_known(name, client):
            return True
        return any(statement.are_near(name, said) for said in statement.spans(self.said or _NOT_TAKEN))


def _holds(name: str) -> Callable[[Payload], bool]:
    return lambda payload: name in payload


def _has_role(role: str) -> Callable[[Payload], bool]:
    return lambda payload: any(message["role"] == role for message in payload["messages"])


def _has_later_system(payload: Payload) -> bool:
    return any(message["role"] == "system" for message in payload["messages"][1:])


def _function_has(member: str) -> Callable[[Payload], bool]:
    return lambda payload: any(member in tool.get("function", {}) for tool in payload.get("tools", ()))


def _turn_with_calls(fits: Callable[[Mapping[str, Any]], bool]) -> Callable[[Payload], bool]:
    """Whether an earlier turn called tools and fits."""
    return lambda payload: any(message.get("tool_calls") and fits(message) for message in payload["messages"])


def _asks_for(kind: str) -> Callable[[Payload], bool]:
    return lambda payload: bool(payload.get("response_format", {}).get("type") == kind)


def _has(name: str, *values: Any) -> Callable[[Payload], bool]:
    return lambda payload: payload.get(name) in values


def _forces_by_name(payload: Payload) -> bool:
    return isinstance(payload.get("tool_choice"), dict)


_EFFORT = re.compile(r"['\"`](none|minimal|low|medium|high|xhigh|max)['\"`]")


def _efforts(statement: str, payload: Payload) -> Mapping[str, str] | bool:
    """The efforts that the statement lists instead of ours; False: it knows none."""
    listed = {effort: effort for effort in _EFFORT.findall(statement) if effort != payload["reasoning_effort"]}
    return listed or False


_PARALLEL = _named(r"\bparallel[_ ]tool[_ ]calls?\b")
_CHOICE = _named(r"\btool_choice\b")
_PLACE = _named("must (be|come|appear|precede)", "only", "unexpected", "not (supported|allowed|permitted)", "invalid")
_EMPTY = _named("non-?empty", "must not be empty", "can(no|')t be empty", "empty (text|content)")
_FORMAT = r"\bresponse[_ ]format\b"

LESSONS = (
    # OpenAI's reasoning models: "Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead."
    Lesson(
        _named(r"\bmax_completion_tokens\b"), _holds("max_tokens"), "max_tokens_field", "max_completion_tokens", None
    ),
    Lesson(_named(r"\bmax_tokens\b"), _holds("max_tokens"), "max_tokens_field", "max_completion_tokens"),
    Lesson(_named(r"\bmax_completion_tokens\b"), _holds("max_completion_tokens"), "max_tokens_field", "max_tokens"),
    # Mistral, older FastAPI servers with extra="forbid"
    Lesson(_named(r"\bstream_options\b", r"\binclude_usage\b"), _holds("stream_options"), "stream_usage", False, None),
    # Cerebras refuses false only; Gemini, Mistral: "Parallel tool calls are not supported"
    Lesson(_PARALLEL, _has("parallel_tool_calls", True), "parallel_tool_calls", "only_false"),
    Lesson(_PARALLEL, _has("parallel_tool_calls", False), "parallel_tool_calls", False),
    # Templates of Qwen 3.5 and others: "System message must be at the beginning."
    Lesson(
        _named(r"\bsystem (message|prompt)", r"\brole.{0,20}\bsystem\b", r"\bsystem\b.{0,20}\brole\b"),
        _has_later_system,
        "system_messages",
        "single_leading",
        _PLACE,
        _named("too long"),
    ),
    Lesson(
        _named(r"['\"`]developer['\"`]", r"\bdeveloper (role|message)", r"\brole\W{1,3}developer\b"),
        _has_role("developer"),
        "developer_role",
        False,
    ),
    # OpenAI: "Supported values are: 'low', 'medium', and 'high'."; vLLM: "Input should be 'low', 'medium' or 'high'"
    Lesson(_named(r"\breasoning[_. ]effort\b"), _holds("reasoning_effort"), "reasoning_effort", _efforts),
    Lesson(_named(r"\bstrict\b"), _function_has("strict"), "strict_tools", False, but_not=_BAD_SCHEMA),
    # Mistral and Fireworks say "any"
    Lesson(
        _named(r"\btool_choice\b.{0,160}['\"`]any['\"`]"),
        _has("tool_choice", "required"),
        "tool_choice",
        "any",
        but_not=_BAD_CHOICE,
    ),
    Lesson(_CHOICE, _forces_by_name, "tool_choice", "required", but_not=_BAD_CHOICE),
    # Kimi and DeepSeek while thinking: "does not support this tool_choice"
    Lesson(_CHOICE, _has("tool_choice", "required", "any"), "tool_choice", "auto", but_not=_BAD_CHOICE),
    # DeepSeek: "This response_format type is unavailable now"; LM Studio takes json_schema and text only
    Lesson(
        _named(_FORMAT, r"\bjson_schema\b"),
        _asks_for("json_schema"),
        "response_format",
        "json_object",
        but_not=_BAD_SCHEMA,
    ),
    Lesson(
        _named(_FORMAT, r"\bjson_object\b"), _asks_for("json_object"), "response_format", "none", but_not=_BAD_SCHEMA
    ),
    Lesson(_named(r"\b(top_)?logprobs\b"), _holds("logprobs"), "logprobs", False),
    # Mistral: "Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9."
    Lesson(
        _named(r"tool.?call.?id.{0,120}length of 9"),
        _turn_with_calls(lambda message: any(len(call["id"]) != 9 for call in message["tool_calls"])),
        "tool_call_ids",
        "mistral9",
        _named("length of 9"),
    ),
    # DeepSeek: "The reasoning_content in the thinking mode must be passed back"; Kimi: "reasoning_content is missing"
    Lesson(
        _named(r"\breasoning_content\b"),
        _turn_with_calls(lambda message: "reasoning_content" not in message),
        "replay_reasoning",
        "reasoning_content",
        _named("must", "missing", "required", "needs?", "expected"),
    ),
    # Claude behind gateways: "text content blocks must be non-empty"
    Lesson(_EMPTY, _turn_with_calls(lambda message: message["content"] == ""), "tool_call_content", None, _EMPTY),
)


def learn(refusal: str, payload: Payload, dialect: Dialect) -> Dialect | None:
    """The dialect that says otherwise all that the refusal names, or None if nothing that we chose is named.

    Args:
        refusal: what the server says of its own accord, a line for each fault.
        payload: the chat request that was refused.
        dialect: by which it was written.
    """
    lessons: dict[str, Any] = {}
    said, client = statements(refusal), ClientTexts(payload)
    for lesson in LESSONS:
        if lesson.field in lessons or not lesson.applies(payload):
            continue
        statement = next((each for each in said if lesson.told_by(each, client)), None)
        if statement is None:
            continue
        value = lesson.value(statement.text, payload) if callable(lesson.value) else lesson.value
        if getattr(dialect, lesson.field) != value:
            lessons[lesson.field] = value
    return replace(dialect, **lessons) if lessons else None


def changes(before: Dialect, after: Dialect) -> dict[str, Any]:
    """The fields in which a dialect differs from another, as it has them."""
    names = Dialect.__dataclass_fields__
    return {name: getattr(after, name) for name in names if getattr(before, name) != getattr(after, name)}
