from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responses_middleware.endpoints.pages import PageQuery, page, parse_query
from responses_middleware.errors import InvalidRequestError

ITEMS = [{"id": name} for name in "abcde"]


def walk(items: list[dict[str, Any]], *, limit: int, order: Literal["asc", "desc"]) -> list[list[dict[str, Any]]]:
    pages = [page(items, PageQuery(limit=limit, order=order))]
    while pages[-1]["has_more"]:
        pages.append(page(items, PageQuery(after=pages[-1]["last_id"], limit=limit, order=order)))
    return [each["data"] for each in pages]


@given(names=st.lists(st.text(max_size=3), unique=True), limit=st.integers(1, 100))
def test_walking_up_gives_all_items_once_oldest_first(names: list[str], limit: int) -> None:
    items = [{"id": name} for name in names]

    assert [item for data in walk(items, limit=limit, order="asc") for item in data] == items


@given(names=st.lists(st.text(max_size=3), unique=True), limit=st.integers(1, 100))
def test_walking_down_gives_all_items_once_newest_first(names: list[str], limit: int) -> None:
    items = [{"id": name} for name in names]

    assert [item for data in walk(items, limit=limit, order="desc") for item in data] == items[::-1]


@given(names=st.lists(st.sampled_from("abc")), limit=st.integers(1, 3), order=st.sampled_from(["asc", "desc"]))
def test_ids_that_repeat_are_listed_once_and_end(names: list[str], limit: int, order: Literal["asc", "desc"]) -> None:
    walked = [item["id"] for data in walk([{"id": name} for name in names], limit=limit, order=order) for item in data]

    assert sorted(walked) == sorted(set(names))


@given(names=st.lists(st.text(max_size=3), unique=True, min_size=1), limit=st.integers(1, 5))
def test_all_pages_but_the_last_are_full_and_none_is_empty(names: list[str], limit: int) -> None:
    sizes = [len(data) for data in walk([{"id": name} for name in names], limit=limit, order="asc")]

    assert set(sizes[:-1]) <= {limit}
    assert sizes[-1] > 0


def test_a_page_is_a_list_object() -> None:
    assert page(ITEMS, PageQuery(after="b", limit=2, order="asc")) == {
        "object": "list",
        "data": [{"id": "c"}, {"id": "d"}],
        "first_id": "c",
        "last_id": "d",
        "has_more": True,
    }


def test_an_empty_page_has_no_ids() -> None:
    assert page([], PageQuery(limit=20, order="desc")) == {
        "object": "list",
        "data": [],
        "first_id": None,
        "last_id": None,
        "has_more": False,
    }


def test_of_items_with_one_id_the_newest_is_listed() -> None:
    listed = page([{"id": "a", "text": "old"}, {"id": "a", "text": "new"}], PageQuery(limit=20, order="asc"))

    assert listed["data"] == [{"id": "a", "text": "new"}]


def test_paging_leaves_the_items_as_they_are() -> None:
    items = list(ITEMS)

    page(items, PageQuery(limit=2, order="desc"))

    assert items == ITEMS


def test_an_unknown_after_is_refused() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        page(ITEMS, PageQuery(after="unknown", limit=20, order="asc"))

    assert (caught.value.status, caught.value.param) == (400, "after")


def test_no_query_asks_for_the_twenty_newest() -> None:
    assert parse_query(b"") == PageQuery(after=None, limit=20, order="desc")


def test_all_three_parameters_are_read() -> None:
    assert parse_query(b"after=msg_1&limit=100&order=asc") == PageQuery(after="msg_1", limit=100, order="asc")


@given(after=st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_an_escaped_after_is_read_exactly(after: str) -> None:
    assert parse_query(urlencode({"after": after}).encode()).after == after


@pytest.mark.parametrize("query", [b"after=", b"include=x&include[]=y", b"&&=&;", b"limit=5&limit=20"])
def test_odd_queries_are_read_as_the_defaults(query: bytes) -> None:
    assert parse_query(query) == PageQuery()


@pytest.mark.parametrize(
    ("query", "param", "code"),
    [
        (b"limit=0", "limit", "integer_below_min_value"),
        (b"limit=-5", "limit", "integer_below_min_value"),
        (b"limit=101", "limit", "integer_above_max_value"),
        (b"limit=" + b"9" * 10_000, "limit", "integer_above_max_value"),
        (b"limit=-" + b"9" * 10_000, "limit", "integer_below_min_value"),
        (b"limit=", "limit", "invalid_type"),
        (b"limit=ten", "limit", "invalid_type"),
        (b"limit=1.5", "limit", "invalid_type"),
        (b"limit=1_0", "limit", "invalid_type"),
        (b"limit=%D9%A3", "limit", "invalid_type"),
        (b"limit=5%0A", "limit", "invalid_type"),
        (b"order=up", "order", "invalid_value"),
        (b"order=", "order", "invalid_value"),
        (b"order=DESC", "order", "invalid_value"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(query: bytes, param: str, code: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        parse_query(query)

    assert (caught.value.status, caught.value.param, caught.value.code) == (400, param, code)


@given(query=st.binary())
def test_any_bytes_are_read_or_refused_as_the_clients_fault(query: bytes) -> None:
    try:
        asked = parse_query(query)
    except InvalidRequestError:
        return

    assert 1 <= asked.limit <= 100
