"""What a chat completion can't carry: refused, or left out and named, as the operator's `unsupported` says."""

from __future__ import annotations

from typing import Literal

from ..errors import InvalidRequestError, UnsupportedValueError


class LeftOut:
    """Collect what one request loses on its way.

    Args:
        policy: `error` refuses with 400, `warn` leaves out and names, `ignore` leaves out.
    """

    def __init__(self, policy: Literal["error", "warn", "ignore"]) -> None:
        self.policy = policy
        self._names: dict[str, None] = {}

    @property
    def names(self) -> list[str]:
        """What the client is told of, in the order in which it was met."""
        return list(self._names)

    def hint(self, name: str, *, param: str, why: str, error: InvalidRequestError | None = None) -> None:
        """A tool nobody runs, a hint, a token of another server: the answer is still an answer without it."""
        if self.policy == "error":
            raise error or UnsupportedValueError(f"{why}; set unsupported='warn' to serve without it", param=param)
        if self.policy == "warn":
            self._names.setdefault(name)

    def content(self, *, param: str, why: str) -> None:
        """A part of the question: without it, it is another question."""
        self.refuse(UnsupportedValueError(f"{why}; set unsupported='ignore' to leave it out", param=param))

    def refuse(self, error: InvalidRequestError) -> None:
        """Raise the error unless everything is to be ignored."""
        if self.policy != "ignore":
            raise error
