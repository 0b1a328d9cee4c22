from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from responses_middleware.state import StoredResponse, owner_from_authorization
from responses_middleware.state.base import ANONYMOUS


def scope(*headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http", "headers": list(headers)}


def owner(*headers: tuple[bytes, bytes]) -> str:
    return owner_from_authorization(scope(*headers))


def test_one_credential_is_always_the_same_owner() -> None:
    header = (b"authorization", b"Bearer sk-alice")

    assert owner(header, (b"user-agent", b"a")) == owner((b"cookie", b"x"), header)


def test_the_owner_is_the_same_in_every_process() -> None:
    assert owner((b"authorization", b"Bearer sk-alice")) == (
        "eb6ebedc1696ccbf02a6a77afe9eeb2ec92f328d93e5fc81eef9c11e485af6b2"
    )


@pytest.mark.parametrize("name", [b"authorization", b"api-key", b"x-api-key"])
def test_two_credentials_are_two_owners(name: bytes) -> None:
    assert owner((name, b"alice")) != owner((name, b"bob"))


def test_requests_without_a_credential_are_one_owner() -> None:
    assert owner((b"user-agent", b"a")) == owner() == owner_from_authorization({"type": "http"}) == ANONYMOUS


@pytest.mark.parametrize("value", [b"", b"  "])
def test_an_empty_header_is_no_credential(value: bytes) -> None:
    assert owner((b"authorization", value)) == ANONYMOUS


@pytest.mark.parametrize("value", [b"anonymous", b"Bearer anonymous"])
def test_no_credential_names_the_anonymous_owner(value: bytes) -> None:
    assert re.fullmatch("[0-9a-f]{64}", owner((b"authorization", value)))


def test_the_same_value_in_another_header_is_another_owner() -> None:
    assert owner((b"api-key", b"k")) != owner((b"x-api-key", b"k"))


def test_a_dummy_authorization_does_not_hide_the_real_key() -> None:
    dummy = (b"authorization", b"Bearer dummy")

    assert owner(dummy, (b"x-api-key", b"alice")) != owner(dummy, (b"x-api-key", b"bob"))


def test_all_authorization_headers_count() -> None:
    first = (b"authorization", b"Bearer a")

    assert len({owner(first), owner(first, (b"authorization", b"Bearer b")), owner(first, first)}) == 3


def test_values_are_never_glued_together() -> None:
    one = owner((b"authorization", b"a"), (b"authorization", b"b13 authorization1 c"))

    assert one != owner((b"authorization", b"a13 authorization1 b"), (b"authorization", b"c"))


def test_header_names_may_be_written_in_any_case() -> None:
    assert owner((b"Authorization", b"Bearer a")) == owner((b"authorization", b"Bearer a"))


def test_a_secret_key_gives_other_owners() -> None:
    secret_owner = partial(owner_from_authorization, key=b"secret")

    assert secret_owner(scope((b"authorization", b"Bearer a"))) != owner((b"authorization", b"Bearer a"))


def test_the_credential_is_not_in_the_owner() -> None:
    assert "sk-alice" not in owner((b"authorization", b"Bearer sk-alice"))


def test_a_stored_response_prints_none_of_its_content() -> None:
    row = StoredResponse(response={"id": "r", "output": [{"text": "private"}]}, input=[{"text": "private"}], history=[])

    assert "private" not in repr(row)


def test_the_items_of_a_row_are_history_input_output() -> None:
    row = StoredResponse(response={"id": "r", "output": [{"id": "o"}]}, input=[{"id": "i"}], history=[{"id": "h"}])

    assert [item["id"] for item in row.items()] == ["h", "i", "o"]


def test_the_list_of_items_is_new_each_time() -> None:
    row = StoredResponse(response={"id": "r", "output": []}, input=[{"id": "i"}], history=[])

    row.items().clear()

    assert row.items() == [{"id": "i"}]
