"""Both event loops for every async test, and a client for tests that need no live stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ClientOf = Callable[..., TestClient]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def client_of(anyio_backend: Any) -> Iterator[ClientOf]:
    """Makes a TestClient of an app, its lifespan running. It delivers a stream whole: live ones need `Exchange`."""
    with ExitStack() as stack:

        def make(app: ASGIApp, **options: Any) -> TestClient:
            return stack.enter_context(TestClient(app, backend=anyio_backend, **options))

        yield make
