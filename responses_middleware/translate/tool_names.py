"""Names of tools: what the upstream is told, and what it stands for."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

ToolKind = Literal["function", "custom", "local_shell", "shell", "apply_patch", "computer", "tool_search"]

_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what OpenAI and most servers take
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")
_LONGEST = 64
# What models leave around a name: gpt-oss `functions.ls`, `ls<|channel|>commentary`, ` ls ` (vLLM issue 32587), Kimi
# `functions.ls:0`.
_IN_FRONT = "functions."
_MARKED = re.compile(rf"\s*+(?:{re.escape(_IN_FRONT)})?({_LEGAL.pattern})\s*+(?:<\|.*|:\d+\s*)?", re.DOTALL)
_BEGUN = re.compile(r"([a-zA-Z0-9_-]*+)(?:\s*+(?:<(?:\|.*)?|:\d*+\s*)?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ToolBinding:
    """As what a call of an upstream function comes back."""

    kind: ToolKind
    name: str
    namespace: str | None = None

    @property
    def item_type(self) -> str:
        """The type of the call's item."""
        return f"{self.kind}_call" if self.kind != "custom" else "custom_tool_call"


class ToolNames:
    """Chat names, unique and legal, for tools that have a kind, a name and maybe a namespace; the same tools get the
    same names."""

    __slots__ = ("_bindings", "_names")

    def __init__(self) -> None:
        self._bindings: dict[str, ToolBinding] = {}
        self._names: dict[ToolBinding, str] = {}

    def __len__(self) -> int:
        return len(self._bindings)

    def name(self, binding: ToolBinding) -> str:
        """The chat name of this tool."""
        if (known := self._names.get(binding)) is not None:
            return known
        wanted = f"{binding.namespace}__{binding.name}" if binding.namespace else binding.name
        name = wanted if _LEGAL.fullmatch(wanted) and wanted not in self._bindings else self._made(wanted, binding)
        self._bindings[name] = binding
        self._names[binding] = name
        return name

    def binding(self, name: str) -> ToolBinding:
        """What the upstream means by a name; one that it was never told is a function's."""
        return self._bindings.get(self.meant(name)) or ToolBinding("function", name)

    def meant(self, name: str) -> str:
        """The chat name that stands in a name between marks of the model's own; the name itself, if none does."""
        if name in self._bindings:
            return name
        marked = _MARKED.fullmatch(name)
        return marked[1] if marked and marked[1] in self._bindings else name

    def may_begin(self, text: str) -> bool:
        """Whether this can be the beginning of a chat name, marks included."""
        bare = text.lstrip()
        if _IN_FRONT.startswith(bare):
            return bool(self._bindings)
        begun = _BEGUN.fullmatch(bare.removeprefix(_IN_FRONT))
        if begun is None:
            return False
        if begun.end(1) == begun.end():
            return any(known.startswith(begun[1]) for known in self._bindings)
        return begun[1] in self._bindings

    def __contains__(self, name: object) -> bool:
        return name in self._bindings

    def _made(self, wanted: str, binding: ToolBinding) -> str:
        whole = f"{binding.kind}\0{binding.namespace}\0{binding.name}"
        digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]  # JSON has lone surrogates
        head = _ILLEGAL.sub("_", wanted)[: _LONGEST - len(digest) - 1]
        return f"{head}_{digest}"
