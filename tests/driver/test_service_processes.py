"""Nodes as processes of their own: killed, ended by signals, started twice; what their tasks do
while another fails."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from agent.api.errors import NotKeptError
from agent.api.flock import JOIN, PEERS, Join, Peers
from agent.client import Client
from agent.flock import network
from agent.host.stop_signals import Asked
from agent.net.membership import Membership
from agent.node.agent import Agent
from agent.node.hosting import AskedFromOutside, live
from agent.node.running import Options
from agent.protocol.events import Event, InputsFetched, PeerUnlinked
from agent.protocol.records import TaskState
from tests.certain import certain
from tests.driver.nodes import home_of, host_of, in_state, services, submit, unsigned_flock
from tests.execution.installed import processes, state_of
from tests.hosts.machine import Machine
from tests.hosts.waiting import eventually


@contextmanager
def started(folder: Path, name: str) -> Iterator[Machine]:
    """One whose agent runs, and ends with the block."""
    found = Machine(folder / name)
    if not found.folder.exists():
        home_of(folder, name)
    with found.agent():
        yield found


async def joined(first: Agent, *others: Machine) -> dict[str, Machine]:
    """The others become members of the first one's flock; which node is which."""
    await unsigned_flock(first)
    for other in others:
        async with await Client.connect(other.home) as client:
            await client.call(JOIN, Join((await first.flock.invite()).text))
    names = {other.name: other for other in others}
    await eventually(
        lambda: set(names) <= {peer.name for peer in first.now().peers if peer.volunteering}
    )
    for other in others:
        async with await Client.connect(other.home) as client:
            while not await _linked(client, len(others)):
                continue
    return {peer.node: names[peer.name] for peer in first.now().peers}


async def _linked(client: Client, count: int) -> bool:
    peers = (await client.call(PEERS, Peers())).peers
    return [bool(peer.version) for peer in peers if peer.state == "linked"] == [True] * count


async def test_the_task_of_a_killed_agent_runs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its program ends with it, though nobody was there to end it.

    That it is gone is told by its links, which are reset at once, and not by its silence.
    """
    handed: list[Event] = []
    with started(tmp_path, "bee") as bee, started(tmp_path, "cat") as cat:
        async with services(tmp_path, "ant", volunteer="paused") as (ant,):
            by_id = await joined(ant, bee, cat)
            network = certain(ant.network)
            monkeypatch.setattr(network, "_tell", heard_by(handed.append, network._tell))
            pids, go = tmp_path / "pids", tmp_path / "go"
            await submit(ant, f"wait {pids} {go}")
            await eventually(lambda: bool(processes(pids)))
            await eventually(lambda: host_of(ant, "w.0") in by_id)
            first, program = host_of(ant, "w.0"), processes(pids)[0]
            by_id[first].kill()
            await eventually(lambda: PeerUnlinked(first, reset=True) in handed)
            await eventually(lambda: processes(pids)[:1] != [program])
            await eventually(lambda: host_of(ant, "w.0") in set(by_id) - {first})
            await eventually(lambda: not state_of(program))
            go.touch()
            await eventually(lambda: in_state([ant], "w.0", TaskState.TERMINATED))


def heard_by(
    listener: Callable[[Event], object], told: Callable[[Event], None]
) -> Callable[[Event], None]:
    """What is told, with somebody who hears it first."""

    def tell(event: Event) -> None:
        listener(event)
        told(event)

    return tell


async def test_an_agent_that_was_killed_comes_back_as_the_same_node(tmp_path: Path) -> None:
    with started(tmp_path, "bee") as bee:
        async with services(tmp_path, "ant", volunteer="paused") as (ant,):
            (node,) = await joined(ant, bee)
            # Without multicast, what it knows of others is all that leads it back.
            bee.kill()
            await eventually(lambda: ant.now().peers == ())
            bee.start()
            await eventually(lambda: [peer.node for peer in ant.now().peers] == [node])


@pytest.mark.skipif(sys.platform == "win32", reason="a process is ended by a signal there only")
async def test_signals_end_it_cleanly(tmp_path: Path) -> None:
    with started(tmp_path, "bee") as bee:
        async with services(tmp_path, "ant", volunteer="paused") as (ant,):
            await joined(ant, bee)
            for number in (signal.SIGTERM, signal.SIGINT):
                os.kill(bee.process_id, number)
                assert await asyncio.to_thread(bee.wait) == 0
                await eventually(lambda: ant.now().peers == ())
                bee.start()
                await asyncio.to_thread(bee.up)
                await eventually(lambda: len(ant.now().peers) == 1)
    assert bee.printed().count("\nended: ") == 2
    assert bee.log().count("<normal> stopped") == 2
    assert "<error>" not in bee.log()


async def test_a_fault_of_its_own_stops_it_in_an_orderly_way(tmp_path: Path) -> None:
    home = home_of(tmp_path, "ant")

    async def fault(service: Agent) -> None:
        service.live.hand(InputsFetched([], (1, 1, "", 1)))  # type: ignore[arg-type]

    ended = await live(home, Options(discovery=False), AskedFromOutside(), fault)
    assert "fault" in ended.reason
    assert not ended.anew
    assert "<error> the node failed at InputsFetched" in (home.log / "agent.log").read_text()


async def test_who_asks_it_to_end_while_and_after_it_does_leaves_no_task_behind(
    tmp_path: Path,
) -> None:
    """As the end of its input does, which comes from a thread, whenever it likes."""
    told: list[Asked] = []

    class Kept(AskedFromOutside):
        def watch(self, asked: Asked) -> None:
            told.append(asked)

    async def ends_by_itself(service: Agent) -> None:
        ending = asyncio.create_task(service.stop("for a reason of its own"))
        ending.add_done_callback(lambda _: told[0]("too late"))

    before = asyncio.all_tasks()
    ended = await live(home_of(tmp_path, "ant"), Options(discovery=False), Kept(), ends_by_itself)
    told[0]("later still")
    assert ended.reason == "for a reason of its own"
    assert asyncio.all_tasks() == before


def test_a_process_starts_in_less_than_a_second(tmp_path: Path) -> None:
    """Of the processor, stopping included, which is nearly as long as it takes by the clock."""
    took_s: list[float] = []
    for _ in range(2):
        before_s = _used_by_children_s()
        with started(tmp_path, "ant") as ant:
            os.kill(ant.process_id, signal.SIGTERM)
            assert ant.wait() == 0
        took_s.append(_used_by_children_s() - before_s)
    assert min(took_s) < 1.0


def _used_by_children_s() -> float:
    used = os.times()
    return used.children_user + used.children_system


async def test_certificates_are_renewed_also_while_the_disk_takes_no_roster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed, full = AsyncMock(), AsyncMock(side_effect=NotKeptError("the disk is full"))
    monkeypatch.setattr(network, "keep_up", renewed)
    monkeypatch.setattr(Membership, "keep_roster", full)
    async with services(tmp_path, "ant") as (ant,):
        await ant.flock.create("office")
        await eventually(lambda: renewed.await_count > 0)
        assert full.await_count > 0
