"""What an upstream wants back with the next request, gathered until a reasoning item takes it along, sealed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _json
from .events import Outbox
from .opaque import Opaque

Seal = Callable[[dict[str, Any]], str | None]


class Returns:
    """Opaque data, and thinking that the client is not shown.

    Args:
        seal: makes an `encrypted_content`; None where nothing is sealed, and so nothing is gathered.
    """

    __slots__ = ("_hidden", "_opaque", "_outbox", "_seal")

    def __init__(self, outbox: Outbox, seal: Seal | None) -> None:
        self._outbox = outbox
        self._seal = seal
        self._opaque: Opaque | None = None  # most answers have none
        self._hidden: list[str] | None = None

    @property
    def are_due(self) -> bool:
        """Whether something waits for a reasoning item."""
        return self._seal is not None and bool(self._opaque or self._hidden)

    def keep(self, name: str, value: Any, *, is_whole: bool = False) -> None:
        """Keep a member of the message; `is_whole`: all of it so far."""
        if self._seal is not None:
            self._outbox.spend(len(_json.dumps(value)))
            opaque = self._gathered()
            (opaque.replace if is_whole else opaque.add)(name, value)

    def spend(self, members: dict[str, Any]) -> bool:
        """Take room for what stands beside a call; False if it is not wanted."""
        if self._seal is None or not members:
            return False
        self._outbox.spend(len(_json.dumps(members)))
        return True

    def keep_of_call(self, call_id: str, members: dict[str, Any]) -> None:
        """Keep what belongs to one call; it has found room when it came."""
        self._gathered().add_call(call_id, members)

    def hide(self, text: str) -> None:
        """Keep thinking that the client is not shown."""
        if self._seal is not None:
            self._outbox.spend(len(text))
            self._hidden = self._hidden or []
            self._hidden.append(text)

    def take_hidden(self) -> str:
        """The thinking that was kept."""
        hidden, self._hidden = "".join(self._hidden or ()), None
        return hidden

    def seal(self, text: str) -> str | None:
        """The `encrypted_content` of a text of thinking, with all that was kept."""
        if self._seal is None or not (text or self._opaque):
            return None
        try:
            return self._seal({"text": text, "opaque": self._gathered().take()})
        except RecursionError:  # nested just not too deeply to be read
            return None

    def _gathered(self) -> Opaque:
        self._opaque = self._opaque or Opaque()
        return self._opaque
