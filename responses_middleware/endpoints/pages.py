"""Lists in pages, as every list endpoint of the API gives them: the query asks, `page` answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from urllib.parse import parse_qsl

from ..errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

Order = Literal["asc", "desc"]

_LARGEST_LIMIT: Final = 100
_is_integer = re.compile(r"-?[0-9]+").fullmatch


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuery:
    """What a client asked of a list; the defaults are OpenAI's (`input_item_list_params.py` of its SDK)."""

    after: str | None = None
    limit: int = 20
    order: Order = "desc"


def parse_query(query: bytes) -> PageQuery:
    """Read the query string of a list endpoint; of repeated parameters the last counts, others are ignored.

    An empty `after` is none. Raises InvalidRequestError with `param` limit or order.
    """
    given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    asked = PageQuery(after=given.get("after") or None)
    return PageQuery(
        after=asked.after,
        limit=_limit(given["limit"]) if "limit" in given else asked.limit,
        order=_order(given["order"]) if "order" in given else asked.order,
    )


def page(items: Sequence[dict[str, Any]], asked: PageQuery) -> dict[str, Any]:
    """Return the list object with the items that are asked for.

    Items come oldest first, each with an `id`. Of several with one id only the newest is listed, in the place of the
    first: a client that goes on from the last id of each page sees every item once and comes to the end.

    Raises InvalidRequestError with `param` after if no item has this id.
    """
    listed = list({item["id"]: item for item in items}.values())
    if asked.order == "desc":
        listed.reverse()
    start = 0 if asked.after is None else _position(listed, asked.after) + 1
    data = listed[start : start + asked.limit]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": start + asked.limit < len(listed),
    }


def _position(items: list[dict[str, Any]], item_id: str) -> int:
    for position, item in enumerate(items):
        if item["id"] == item_id:
            return position
    raise InvalidValueError(f"Invalid 'after': no item with id '{item_id}' found.", param="after")


def _limit(text: str) -> int:
    if not _is_integer(text):
        raise InvalidTypeError("limit", expected="an integer", value=text)
    limit = int(text[:20])  # Python refuses to read thousands of digits; 20 of them are too large all the same
    if limit < 1:
        raise _out_of_range("below minimum", f">= 1, but got {limit}", code="integer_below_min_value")
    if limit > _LARGEST_LIMIT:
        raise _out_of_range("above maximum", f"<= {_LARGEST_LIMIT}, but got {limit}", code="integer_above_max_value")
    return limit


def _out_of_range(how: str, expected: str, *, code: str) -> InvalidValueError:
    message = f"Invalid 'limit': integer {how} value. Expected a value {expected} instead."
    return InvalidValueError(message, param="limit", code=code)


def _order(text: str) -> Order:
    if text not in ("asc", "desc"):
        raise InvalidValueError(f"Invalid value: '{text}'. Supported values are: 'asc' and 'desc'.", param="order")
    return cast("Order", text)
