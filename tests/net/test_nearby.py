"""Looking for flocks on the network, and being stopped meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from agent.flock.nearby import NearbyFlocks
from agent.settings.node_settings import NodeSettings
from tests.hosts.waiting import EVENTUALLY_S_MAX


class Silence:
    """A network on which nobody is heard, in place of multicast."""

    trouble = None
    trouble_text = ""

    def __init__(self, *_: object, **__: object) -> None:
        self.started, self.stopped = asyncio.Event(), False

    async def start(self, _port: int) -> None:
        self.started.set()

    async def stop(self) -> None:
        self.stopped = True

    def sightings(self) -> list[object]:
        return []


async def test_an_agent_that_stops_while_it_looks_for_flocks_finds_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silence = Silence()
    monkeypatch.setattr("agent.net.discovery.Discovery", lambda *_, **__: silence)
    nearby = NearbyFlocks(NodeSettings(), lambda: None, discover=True)
    looking = asyncio.create_task(nearby.flocks())
    await silence.started.wait()
    await nearby.close()
    async with asyncio.timeout(EVENTUALLY_S_MAX):
        assert await looking == []
    assert silence.stopped
