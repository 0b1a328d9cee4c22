"""The HTTP clients that the URL upstream may use."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(params=["fast", "plain", "httpx", "httpx2"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """fast: ours, on aiohttp with asyncio; plain: ours, without aiohttp; httpx, httpx2: a client of the caller's."""
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "httpx_aiohttp", None)
    return str(request.param)
