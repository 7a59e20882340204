"""What peers say of themselves, as people are shown it, and when that a peer changed is told."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from agent.api.reasons import NO_WHY
from agent.flock import peer_status
from agent.flock.peer_status import PeerNotices, PeerStatuses
from agent.net.addresses import Address
from agent.net.link import Traffic
from agent.net.links import LinkReport
from agent.protocol.messages import Capabilities, Heartbeat, Status
from tests.hosts.waiting import eventually

BEAT = Heartbeat(1, 0, 1_000, 0, 0, "", (0, 0))
STATUS = Status(1, 1, "ant", "1", 1, True, False, "", 30, 10, Capabilities(), {})
LINK = LinkReport("a", "ant", Address("192.0.2.1", 1), True, 1, 5.0, None, 0, Traffic())


def load(book: PeerStatuses) -> int:
    return book.views([LINK], 100.0)[0].load_percent


def test_the_load_comes_with_the_beats_and_only_a_change_is_news() -> None:
    book = PeerStatuses()
    book.linked("a")
    assert book.heard("a", STATUS, 1_000)
    assert load(book) == 30
    assert book.heard("a", structs.replace(BEAT, load_percent=70), 1_000)
    assert not book.heard("a", structs.replace(BEAT, load_percent=70), 1_000)
    assert load(book) == 70


def test_a_status_that_is_told_again_brings_no_old_load_back() -> None:
    book = PeerStatuses()
    book.linked("a")
    book.heard("a", structs.replace(BEAT, load_percent=0), 1_000)
    book.heard("a", STATUS, 1_000)
    assert load(book) == 0


def test_an_earlier_version_tells_its_load_with_its_status() -> None:
    book = PeerStatuses()
    book.linked("a")
    assert not book.heard("a", BEAT, 1_000)
    book.heard("a", STATUS, 1_000)
    assert load(book) == 30


def test_what_an_earlier_version_says_stays_as_it_said_it() -> None:
    book = PeerStatuses()
    book.linked("a")
    book.heard("a", structs.replace(STATUS, reason="its owner is there"), 1_000)
    (view,) = book.views([LINK], 100.0)
    assert (view.reason, view.why) == ("its owner is there", NO_WHY)
    assert (view.volunteering, view.slots, view.linked_since_ms) == (True, 1, 95_000)


# -- that a peer changed is told at once, once, and at the end -------------------------------


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_status, "CHANGES_EVERY_S", 0.05)


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
