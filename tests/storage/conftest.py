"""A small reserve, so that hundreds of journals can be made; and disks that need not be waited for."""

from __future__ import annotations

import pytest

from agent.storage import database, writer


@pytest.fixture(autouse=True)
def small_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "RESERVE_BYTES", 64 * 1024)


@pytest.fixture
def unflushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests in which no power fails: what was written is written, flushed or not."""
    settings = (*database.WRITER_SETTINGS, "PRAGMA synchronous = OFF")
    monkeypatch.setattr(database, "WRITER_SETTINGS", settings)
    monkeypatch.setattr("os.fsync", lambda _: None)
