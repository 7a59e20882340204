"""Nodes as processes of their own: killed, ended by signals, started twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.node.agent import Agent
from agent.protocol.events import Event, PeerUnlinked
from agent.protocol.records import TaskState
from tests.driver.nodes import Apart, apart, home_of, host_of, in_state, services, submit
from tests.execution.installed import processes, state_of
from tests.hosts.waiting import eventually


async def joined(first: Agent, *others: Apart) -> None:
    """The others become members of the first one's flock."""
    if first.flock.flock() is None:
        await first.flock.create("office")
    for other in others:
        invitation = await first.flock.invite()
        assert await other.ask(ask="join", text=invitation.text) == {"joined": True}
    wanted = {other.node for other in others}
    await eventually(
        lambda: wanted <= {peer.node for peer in first.now().peers if peer.volunteering}
    )
    for other in others:
        while len((await other.ask(ask="peers"))["peers"]) < len(others):
            continue


async def test_the_task_of_a_killed_agent_runs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its program ends with it, though nobody was there to end it.

    That it is gone is told by its links, which are reset at once, and not by its silence.
    """
    handed: list[Event] = []

    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        apart(tmp_path, "bee") as bee,
        apart(tmp_path, "cat") as cat,
    ):
        await joined(ant, bee, cat)
        network = ant.network
        assert network is not None
        monkeypatch.setattr(network, "_tell", heard_by(handed.append, network._tell))
        pids, go = tmp_path / "pids", tmp_path / "go"
        await submit(ant, f"wait {pids} {go}")
        await eventually(lambda: bool(processes(pids)))
        by_id = {bee.node: bee, cat.node: cat}
        await eventually(lambda: host_of(ant, "w.0") in by_id)
        first, program = host_of(ant, "w.0"), processes(pids)[0]
        by_id[first].process.send_signal(signal.SIGKILL)
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
    async with services(tmp_path, "ant", volunteer="paused") as (ant,):
        async with apart(tmp_path, "bee") as bee:
            await joined(ant, bee)
            node = bee.node
            # Without multicast, what it knows of others is all that leads it back.
            bee.process.send_signal(signal.SIGKILL)
            await eventually(lambda: ant.now().peers == ())
        async with apart(tmp_path, "bee") as again:
            assert again.node == node
            await eventually(lambda: [peer.node for peer in ant.now().peers] == [node])


async def test_signals_end_it_cleanly(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", volunteer="paused") as (ant,):
        for number in (signal.SIGTERM, signal.SIGINT):
            async with apart(tmp_path, "bee") as bee:
                if number is signal.SIGTERM:
                    await joined(ant, bee)
                await eventually(lambda: len(ant.now().peers) == 1)
                bee.process.send_signal(number)
                assert "ended" in await bee.hear()
                assert await bee.process.wait() == 0
                await eventually(lambda: ant.now().peers == ())
    told = (tmp_path / "bee" / "log" / "agent.log").read_text()
    assert told.count("<normal> stopped") == 2
    assert "<error>" not in told


async def test_a_second_process_on_the_same_home_is_refused(tmp_path: Path) -> None:
    async with apart(tmp_path, "ant") as ant:
        second = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.driver.node_process",
            str(tmp_path / "ant"),
            stdout=subprocess.PIPE,
        )
        told, _ = await second.communicate()
        assert second.returncode == 1
        assert f"as process {ant.process.pid}; use that one".encode() in told


async def test_a_fault_of_its_own_stops_it_in_an_orderly_way(tmp_path: Path) -> None:
    async with apart(tmp_path, "ant") as ant:
        assert "fault" in (await ant.ask(ask="break"))["ended"]
        assert await ant.process.wait() == 0
    told = (tmp_path / "ant" / "log" / "agent.log").read_text()
    assert "<error> the node failed at InputsFetched" in told


async def test_a_process_starts_in_less_than_a_second(tmp_path: Path) -> None:
    """Of the processor, stopping included, which is nearly as long as it takes by the clock."""
    home_of(tmp_path, "ant")

    took_s: list[float] = []
    for _ in range(2):
        before_s = _used_by_children_s()
        async with apart(tmp_path, "ant") as ant:
            assert "ended" in await ant.ask(ask="stop")
            await ant.process.wait()
        took_s.append(_used_by_children_s() - before_s)
    assert min(took_s) < 1.0


def _used_by_children_s() -> float:
    used = os.times()
    return used.children_user + used.children_system
