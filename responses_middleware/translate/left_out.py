"""What a chat completion can't carry: refused, or left out and named, as the operator's `unsupported` says."""

from __future__ import annotations

import re
from typing import Literal

from ..errors import InvalidRequestError, UnsupportedValueError
from ..protocol.faults import write_path

Place = tuple[str | int, ...]
"""Where something stands in the request: `("input", 3, "content", 0)`, for the `param` of an error."""

EARLIER = frozenset({"previous_response_id", "conversation"})  # what brings items that stand nowhere in the request

# Names reach a header, and some are a client's own words (types of extension items).
_ODD = re.compile(r"[^\w.:-]+", re.ASCII)
_LONGEST_NAME = 64
_MOST_NAMES = 50  # servers and proxies take 4 to 8 KB of headers


def param_of(place: Place) -> str:
    """`input[3].content[0]`; for what an earlier turn brought, the parameter that refers to it."""
    return str(place[0]) if place[0] in EARLIER else write_path(place)


class LeftOut:
    """Collect what one request loses on its way.

    Args:
        policy: `error` refuses with 400, `warn` leaves out and names, `ignore` leaves out.
    """

    __slots__ = ("_names", "policy")

    def __init__(self, policy: Literal["error", "warn", "ignore"]) -> None:
        self.policy = policy
        self._names: dict[str, None] = {}

    @property
    def names(self) -> list[str]:
        """What the client is told of, in the order in which it was met: printable ASCII without commas."""
        return list(self._names)

    def hint(self, name: str, *, at: Place, why: str, error: InvalidRequestError | None = None) -> None:
        """A tool nobody runs, a hint, a token of another server: the answer is still an answer without it."""
        if self.policy == "error":
            raise error or _unsupported(f"{why}; set unsupported='warn' to serve without it", at)
        if self.policy == "warn" and len(self._names) < _MOST_NAMES:
            self._names.setdefault(_ODD.sub("_", name)[:_LONGEST_NAME])

    def content(self, *, at: Place, why: str) -> None:
        """A part of the question: without it, it is another question."""
        self.refuse(_unsupported(f"{why}; set unsupported='ignore' to leave it out", at))

    def refuse(self, error: InvalidRequestError) -> None:
        """Raise the error unless everything is to be ignored."""
        if self.policy != "ignore":
            raise error


def _unsupported(message: str, at: Place) -> UnsupportedValueError:
    return UnsupportedValueError(message, param=param_of(at))
