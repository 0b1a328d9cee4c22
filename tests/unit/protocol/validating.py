"""Request bodies to `validate`: those that it takes, and the error for those that it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from responses_middleware.errors import InvalidRequestError
from responses_middleware.protocol import validate

PLAIN = {"model": "m", "input": "x"}


def refused(body: object, **limits: int) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as caught:
        validate(body, **limits)
    assert caught.value.status == 400
    return caught.value


def accept_with(**parameters: Any) -> None:
    validate(PLAIN | parameters)


def refused_with(**parameters: Any) -> InvalidRequestError:
    return refused(PLAIN | parameters)
