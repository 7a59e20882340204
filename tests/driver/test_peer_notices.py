"""That a peer changed is told at once, once, and at the end; whatever the peer does."""

from __future__ import annotations

import asyncio

import pytest

from agent.flock import peer_notices
from agent.flock.peer_notices import PeerNotices
from tests.hosts.waiting import eventually


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_notices, "CHANGES_EVERY_S", 0.05)


async def test_of_many_changes_the_first_and_the_last_are_told() -> None:
    told: list[str] = []
    notices = PeerNotices(told.append)
    for _ in range(1_000):
        notices.changed("ant")
    notices.changed("bee")
    assert told == ["ant", "bee"]
    await eventually(lambda: told == ["ant", "bee", "ant"])
    notices.close()


async def test_a_change_after_a_while_is_told_at_once() -> None:
    told: list[str] = []
    notices = PeerNotices(told.append)
    notices.changed("ant")
    await eventually(lambda: not notices._quiet)
    notices.changed("ant")
    assert told == ["ant", "ant"]
    notices.close()


async def test_nothing_follows_a_lost_link() -> None:
    told: list[str] = []
    notices = PeerNotices(told.append)
    notices.changed("ant")
    notices.changed("ant")
    notices.forget("ant")
    await eventually(lambda: not notices._quiet)
    await asyncio.sleep(0)
    assert told == ["ant"]
