"""What is asked: the wrapped app (`app`) or a URL (`http`), behind the two Protocols of `base`."""

from __future__ import annotations
