"""A small reserve, so that hundreds of journals can be made in a test."""

from __future__ import annotations

import pytest

from agent.storage import reserve


@pytest.fixture(autouse=True)
def small_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reserve, "RESERVE_BYTES", 64 * 1024)
