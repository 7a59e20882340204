"""A machine that tells the network of flocks and addresses where nobody answers costs a moment."""

from __future__ import annotations

import asyncio

import pytest

from agent.api.errors import MembershipError
from agent.flock import nearby
from agent.flock.nearby import NearbyFlocks
from agent.net import asking
from agent.net.addresses import Address
from agent.net.asking import find_door
from agent.net.discovery import Sighting
from agent.net.enrolment import EnrolmentServer
from agent.net.membership import Membership
from agent.settings.node_settings import NodeSettings
from tests.net.flocks import LOOPBACK, serving

ADDRESSES, FLOCKS = 1_000, 10
SILENT_S = 0.3


async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Takes the connection and says nothing, until the other end has had enough."""
    del writer
    await reader.read()


class Heard:
    """What multicast told."""

    trouble = ""

    def __init__(self, sightings: list[Sighting]) -> None:
        self._sightings = sightings

    def sightings(self) -> list[Sighting]:
        return self._sightings

    async def stop(self) -> None:
        """It holds nothing."""


async def test_many_addresses_where_nobody_answers_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "PROBE_S_MAX", SILENT_S)
    monkeypatch.setattr(asking, "FINDING_S_MAX", SILENT_S / 2)

    async with serving(keep_silent) as port:
        told = [Address(LOOPBACK, each) for each in (port, *range(1, ADDRESSES))]
        with pytest.raises(MembershipError, match="992 more were not tried"):
            await find_door(told)


async def test_false_flocks_hide_no_true_one_and_nobody_waits_long(
    monkeypatch: pytest.MonkeyPatch, keeper: Membership
) -> None:
    monkeypatch.setattr(nearby, "KNOCKING_S_MAX", 5.0)

    desk = EnrolmentServer(keeper)
    async with serving(keep_silent) as port, serving(desk.serve, keeper.tls.server) as good:
        flock_id = keeper.flock.flock_id
        told = [
            Sighting(f"node{number}", f"flock{number}", 1, (Address(LOOPBACK, port),))
            for number in range(FLOCKS)
        ]
        told.append(Sighting("first", flock_id, 1, (Address(LOOPBACK, good),)))
        lookout = NearbyFlocks(NodeSettings(), lambda: None, discover=False)
        monkeypatch.setattr(lookout, "_discovery", Heard(told))
        found = await lookout.flocks()
        assert [(each.name, each.askable) for each in found[:2]] == [
            ("Office", True),
            ("", False),
        ]
        assert len(found) == FLOCKS + 1
        await lookout.close()
