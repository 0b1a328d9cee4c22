"""Tokens that only we can read: state that clients keep for us, as `encrypted_content` of reasoning items."""

from __future__ import annotations

import base64
import importlib.util
import secrets
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from .._json import dumps, loads
from ..errors import ConfigurationError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

_PREFIX: Final = "rm1."  # the version of the format; another form of token gets another prefix
_KEY_PURPOSE: Final = b"responses-middleware sealed token v1"  # the same secret used elsewhere gives other keys there
_SHORTEST_SECRET: Final = 16  # bytes: 128 bits, were they random
_HOW_TO_MAKE: Final = 'make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"'


class Sealer:
    """Encrypts and authenticates JSON objects as URL-safe text (Fernet: AES-128-CBC with HMAC-SHA256).

    Needs the library of the extra `seal`, which is imported when the first token is sealed or opened. Without it
    nothing is sealed and nothing opens.

    Args:
        secret: the secret that keys are derived from, at least 16 bytes. Text may hold several, separated by
            whitespace: the first one seals, all of them open, so that a secret can be replaced while tokens of the
            old one are about. Bytes are one secret, taken whole. None: a random key that lives as long as this object,
            so that no other process and no restart opens its tokens.

    Raises:
        ConfigurationError: a secret is too short, or one is given and the library is not installed.
    """

    def __init__(self, secret: str | bytes | None) -> None:
        self._available = importlib.util.find_spec("cryptography") is not None
        self._secrets = [secrets.token_bytes(32)] if secret is None else _split(secret)
        if secret is not None and not self._available:
            raise ConfigurationError(
                "a secret is given, but sealing needs a library: pip install cryptography",
                param="secret",
            )

    @property
    def available(self) -> bool:
        """Whether tokens can be made: the library is installed."""
        return self._available

    def seal(self, value: dict[str, Any]) -> str | None:
        """Return a token for a JSON object, each time another one; None without the library.

        Its length tells the length of the value, and it holds the time of sealing in the clear.
        """
        if not self._available:
            return None
        return _PREFIX + self._cipher.encrypt(dumps(value)).decode("ascii")

    def open(self, token: str) -> dict[str, Any] | None:
        """Return what was sealed, or None for a token that is not ours or was changed in any way. Never raises."""
        if not self._available or not token.startswith(_PREFIX):
            return None
        sealed = _canonical(token.removeprefix(_PREFIX))
        value = None if sealed is None else self._decrypt(sealed)
        return value if isinstance(value, dict) else None

    def _decrypt(self, sealed: bytes) -> Any:
        from cryptography.fernet import InvalidToken

        try:
            return loads(self._cipher.decrypt(sealed))
        except (InvalidToken, ValueError):
            return None

    @cached_property
    def _cipher(self) -> MultiFernet:
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(_derive_key(secret)) for secret in self._secrets])


def _split(secret: str | bytes) -> list[bytes]:
    if isinstance(secret, bytes):  # they hold whitespace by chance: only text can be a list
        parts = [secret]
    else:
        parts = [part.encode("utf-8", "surrogatepass") for part in secret.split()]
    if not parts or any(len(part) < _SHORTEST_SECRET for part in parts):
        raise ConfigurationError(f"a secret has at least {_SHORTEST_SECRET} bytes; {_HOW_TO_MAKE}", param="secret")
    return parts


def _derive_key(secret: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_KEY_PURPOSE).derive(secret)
    return base64.urlsafe_b64encode(derived)


def _canonical(text: str) -> bytes | None:
    """The text as bytes if it is base64 as we write it: decoders skip foreign characters and ignore spare bits."""
    try:
        sealed = text.encode("ascii")
        return sealed if base64.urlsafe_b64encode(base64.urlsafe_b64decode(sealed)) == sealed else None
    except ValueError:
        return None
