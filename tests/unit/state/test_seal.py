from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responses_middleware.errors import ConfigurationError
from responses_middleware.state import Sealer

SECRET = "a-secret-of-some-length"
OTHER = "another-secret-of-length"
VALUE = {"text": "thinking … \ud800", "n": [1, 2**70, None, {}]}

needs_cryptography = pytest.mark.skipif(
    importlib.util.find_spec("cryptography") is None, reason="the extra `seal` is not installed"
)
json_objects = st.dictionaries(
    st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5), max_size=5
)


@pytest.fixture
def without_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)


def sealed(sealer: Sealer, value: dict[str, Any]) -> str:
    token = sealer.seal(value)
    assert token is not None
    return token


@needs_cryptography
@given(value=json_objects)
def test_what_was_sealed_opens_again(value: dict[str, Any]) -> None:
    sealer = Sealer(SECRET)

    assert sealer.open(sealed(sealer, value)) == value


@needs_cryptography
def test_odd_text_and_large_numbers_survive() -> None:
    assert Sealer(SECRET).open(sealed(Sealer(SECRET), VALUE)) == VALUE


@needs_cryptography
def test_a_token_is_url_safe_text_with_its_version() -> None:
    assert re.fullmatch(r"rm1\.[A-Za-z0-9_=-]+", sealed(Sealer(SECRET), VALUE))


@needs_cryptography
def test_a_token_does_not_show_the_text() -> None:
    import base64

    token = sealed(Sealer(SECRET), {"text": "private"})

    assert b"private" not in base64.urlsafe_b64decode(token.removeprefix("rm1."))


@needs_cryptography
def test_the_same_value_gives_another_token_each_time() -> None:
    sealer = Sealer(SECRET)

    assert sealer.seal(VALUE) != sealer.seal(VALUE)


@needs_cryptography
def test_a_change_of_any_character_is_noticed() -> None:
    sealer = Sealer(SECRET)
    token = sealed(sealer, VALUE)

    opened = [
        sealer.open(token[:place] + other + token[place + 1 :])
        for place in range(len(token))
        for other in "AB_=. \n\x00é"
        if token[place] != other
    ]

    assert opened == [None] * len(opened)


@needs_cryptography
@pytest.mark.parametrize("extra", [" ", "\n", "=", "A", "!", "é"])
def test_an_inserted_character_is_noticed_anywhere(extra: str) -> None:
    sealer = Sealer(SECRET)
    token = sealed(sealer, VALUE)

    opened = {sealer.open(token[:place] + extra + token[place:]) is None for place in range(len(token) + 1)}

    assert opened == {True}


@needs_cryptography
def test_spare_bits_of_the_last_character_can_not_be_changed() -> None:
    sealer = Sealer(SECRET)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    tokens = [sealed(sealer, {"text": "x" * 16 * blocks}) for blocks in range(4)]

    for token in tokens:
        body = token.rstrip("=")
        padding = token[len(body) :]
        assert [last for last in alphabet if sealer.open(body[:-1] + last + padding)] == [body[-1]]


@needs_cryptography
def test_a_cut_token_is_noticed_anywhere() -> None:
    sealer = Sealer(SECRET)
    token = sealed(sealer, VALUE)

    assert {sealer.open(token[:place]) is None for place in range(len(token))} == {True}


@needs_cryptography
@given(token=st.text(st.characters()) | st.text().map("rm1.{}".format))
def test_no_foreign_text_opens_or_raises(token: str) -> None:
    assert Sealer(SECRET).open(token) is None


@needs_cryptography
@pytest.mark.parametrize("version", ["", "rm2.", "RM1.", "rm1"])
def test_another_version_does_not_open(version: str) -> None:
    token = sealed(Sealer(SECRET), VALUE)

    assert Sealer(SECRET).open(version + token.removeprefix("rm1.")) is None


@needs_cryptography
def test_another_secret_does_not_open() -> None:
    assert Sealer(OTHER).open(sealed(Sealer(SECRET), VALUE)) is None


@needs_cryptography
def test_an_old_secret_still_opens() -> None:
    assert Sealer(f"{OTHER}\n {SECRET}\n").open(sealed(Sealer(SECRET), VALUE)) == VALUE


@needs_cryptography
def test_the_first_secret_seals() -> None:
    token = sealed(Sealer(f"{OTHER} {SECRET}"), VALUE)

    assert (Sealer(OTHER).open(token), Sealer(SECRET).open(token)) == (VALUE, None)


@needs_cryptography
def test_bytes_and_text_are_the_same_secret() -> None:
    assert Sealer(SECRET.encode()).open(sealed(Sealer(SECRET), VALUE)) == VALUE


@needs_cryptography
def test_bytes_with_whitespace_are_one_secret() -> None:
    random_bytes = b"0123456 \n 9abcdef"

    assert Sealer(random_bytes).open(sealed(Sealer(random_bytes), VALUE)) == VALUE


@needs_cryptography
def test_without_a_secret_tokens_open_where_they_were_made_only() -> None:
    sealer = Sealer(None)
    token = sealed(sealer, VALUE)

    assert (sealer.open(token), Sealer(None).open(token)) == (VALUE, None)


@pytest.mark.parametrize("secret", ["", "  ", "short", b"", b"fifteen bytes..", f"{SECRET} short"])
def test_a_short_secret_is_refused_with_the_way_to_make_one(secret: str | bytes) -> None:
    with pytest.raises(ConfigurationError, match=r"secrets\.token_urlsafe\(32\)"):
        Sealer(secret)


def test_the_message_about_a_short_secret_does_not_repeat_it() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Sealer("hunter2")

    assert "hunter2" not in str(caught.value)


def test_a_sealer_does_not_print_its_secret() -> None:
    assert SECRET not in repr(Sealer(None if importlib.util.find_spec("cryptography") is None else SECRET))


@needs_cryptography
def test_with_the_library_sealing_is_available() -> None:
    assert Sealer(None).available


@pytest.mark.usefixtures("without_cryptography")
def test_without_the_library_nothing_is_sealed_or_opened() -> None:
    sealer = Sealer(None)

    assert (sealer.available, sealer.seal(VALUE), sealer.open("rm1.AAAA")) == (False, None, None)


@pytest.mark.usefixtures("without_cryptography")
def test_a_secret_without_the_library_names_what_to_install() -> None:
    with pytest.raises(ConfigurationError, match="pip install cryptography"):
        Sealer(SECRET)


def test_the_library_is_not_imported_before_it_is_needed() -> None:
    code = (
        "import sys; from responses_middleware.state import Sealer; Sealer(None).open('foreign');"
        "sys.exit('cryptography' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
