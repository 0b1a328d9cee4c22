"""What a store of responses keeps, what it promises, and whose rows they are."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

ANONYMOUS: Final = "anonymous"  # the one owner without a credential; no digest (64 hex digits) can be equal to it

# OpenAI's; Azure's; that of gateways and Anthropic.
_CREDENTIAL_HEADERS: Final = (b"authorization", b"api-key", b"x-api-key")
# Keeps our digests apart from other hashes of the same credential.
_PUBLIC_KEY: Final = b"responses-middleware owner v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResponse:
    """One stored response with everything that continuing it needs; only JSON values, all read-only (see `Store`).

    A child holds its own expanded history, so that deleting a parent breaks nothing.

    Args:
        response: the Response object as it was sent last; it has `id` and `output`.
        input: the items of this request, each with an `id`.
        history: the items before them, from earlier responses: their input and output, in order.
    """

    response: dict[str, Any] = field(repr=False)  # prompts and outputs stay out of logs and tracebacks
    input: list[dict[str, Any]] = field(repr=False)
    history: list[dict[str, Any]] = field(repr=False)

    @property
    def id(self) -> str:
        """The id of the response."""
        response_id: str = self.response["id"]
        return response_id

    def items(self) -> list[dict[str, Any]]:
        """A new list of all items in order: history, input, output. It is the history of the next response."""
        output: list[dict[str, Any]] = self.response["output"]
        return self.history + self.input + output


class Store(Protocol):
    """Keeps responses by owner and id. This text is the contract; all methods may be called concurrently.

    - Rows belong to the owner who put them. Another owner's id, an id that never was, one that expired, was evicted or
      was deleted are all the same: nothing is found, and nothing is raised.
    - The same response id put by two owners makes two rows that know nothing of each other.
    - Rows are values. Who puts a row doesn't change it, its lists or its items afterwards (put a copy of what is still
      growing); who gets a row or an item doesn't change it either. A store may therefore hand out the objects it keeps.
    - Rows hold JSON values only. A store that serialises gives back equal rows, not the same objects.
    - Rows can disappear at any time (life over, room needed), between any two calls.
    - Every method may raise StoreError when the store itself fails, and nothing else. Cancellation leaves the old
      or the new row, never a mixture.
    - Whoever made a store closes it: the middleware those that it made from a name or URL, the operator one passed in.
    """

    async def put(self, owner: str, row: StoredResponse) -> None:
        """Keep the row, in place of one with the same id.

        - When it returns, the row is as durable as the store's documentation says.
        - Its life starts anew.
        - A store with bounds may drop other rows, or not keep one that is larger than all its room.
        """
        ...

    async def get(self, owner: str, response_id: str) -> StoredResponse | None:
        """Return the row, or None if unknown, expired, deleted or another owner's. Never raise for those."""
        ...

    async def delete(self, owner: str, response_id: str) -> bool:
        """Forget the row; True if there was one to be found.

        - Afterwards neither `get` nor `find_item` finds it or its own items.
        - Rows that continued it stay complete, since they hold their history themselves.
        """
        ...

    async def find_item(self, owner: str, item_id: str) -> dict[str, Any] | None:
        """Return the item that an `item_reference` of this owner means, or None.

        - Looked up are the input and the output of the rows that `get` would find, not their histories.
        - Of several with this id, the one of the row that was put last; within a row the last.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and files. Never raises; a second call does nothing; no other call follows it."""
        ...


def owner_from_authorization(scope: Mapping[str, Any], *, key: bytes = _PUBLIC_KEY) -> str:
    """Name the owner of a request by its credential: 64 hex digits, or "anonymous" for a request without one.

    The digest is an HMAC-SHA256 over all values of `Authorization`, `api-key` and `x-api-key`, so that two requests
    have one owner only if they show exactly the same credentials. All three count, since OpenAI's SDKs always send an
    `Authorization`, often a dummy beside a gateway's own key. The credential itself is neither kept nor logged.

    The default key is a public constant: owners are then the same in every worker and after every restart, which
    persistent stores need. What keeps owners apart is the credential, not this key. A random API key can't be found
    from its digest; where credentials can be guessed (Basic with passwords) and the store might be read by others, give
    a secret one: `owner=functools.partial(owner_from_authorization, key=secret)`. Where users are known by something
    else (a cookie, a client certificate, a short-lived token), pass an `owner` of your own.

    Args:
        scope: the ASGI scope of the request; only its headers are read.
        key: the HMAC key; with another key, all owners are others.
    """
    credentials = [
        (name.lower(), value.strip())
        for name, value in scope.get("headers", ())
        if name.lower() in _CREDENTIAL_HEADERS and value.strip()
    ]
    if not credentials:
        return ANONYMOUS
    # Lengths in front: no two different lists of headers make the same bytes.
    shown = b"".join(b"%d %b %d %b" % (len(name), name, len(value), value) for name, value in sorted(credentials))
    return hmac.digest(key, shown, "sha256").hex()
