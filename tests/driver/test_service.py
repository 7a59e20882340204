"""Nodes in one process: alone, in a flock, joining, leaving, expelled, with a full disk."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.api.errors import ServiceError
from agent.api.presence_reasons import HelpsAlways
from agent.api.reasons import as_why
from agent.api.session import FlockChanged, PeerChanged
from agent.control.port import Notice
from agent.driver import driver as driver_module
from agent.net.invitation import parse_invitation
from agent.node import agent as agent_module
from agent.node.agent import Agent
from agent.node.running import Options, RunningNode
from agent.paths import Home
from agent.protocol.effects import Persist, TaskMoved, Verdict
from agent.protocol.events import Cancel, Submit
from agent.protocol.reasons import NotOfFlock
from agent.protocol.records import TaskSpec, TaskState
from agent.settings.node_settings import SettingsError
from agent.storage.errors import JournalFull
from agent.storage.writer import Writer
from tests.driver.nodes import (
    QUIET,
    flock_of,
    home_of,
    host_of,
    in_state,
    members,
    meshed,
    reading,
    services,
    submit,
)
from tests.execution.installed import processes, state_of
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually

DONE, RUNNING = TaskState.TERMINATED, TaskState.RUNNING


@pytest.fixture
async def ant(tmp_path: Path) -> AsyncIterator[Agent]:
    """A node of no flock."""
    async with services(tmp_path, "ant") as (started,):
        yield started


async def test_a_node_alone_runs_its_own_work(ant: Agent) -> None:
    told: list[Notice] = []
    unsubscribe = ant.subscribe(told.append)
    assert (await submit(ant, "say TERMINATED:17")).disks == 1
    states = [TaskState.READY, TaskState.SCHEDULED, RUNNING, DONE]
    await eventually(lambda: _moves(told) == states)
    assert in_state([ant], "w.0", DONE)
    assert any("Terminated" in repr(each.what) for each in ant.story("w.0"))
    assert ant.flock.flock() is None
    assert ant.now().peers == ()
    unsubscribe()
    assert (await ant.ask(_submission("w"))).verdict is Verdict.ALREADY_KNOWN
    assert _moves(told) == states


async def test_a_program_that_is_installed_meanwhile_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "PROGRAMS_EVERY_S", 0.05)
    async with services(tmp_path, "ant") as (ant,):
        Machine(tmp_path / "ant").install("stamp", "")
        await eventually(lambda: "stamp" in ant.live.children.names())


async def test_a_subscriber_that_fails_harms_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(notice: Notice) -> None:
        raise RuntimeError("boom")

    async with services(tmp_path, "ant") as (ant,):
        ant.subscribe(fail)
        await submit(ant, "say TERMINATED")
        await eventually(lambda: in_state([ant], "w.0", DONE))
    assert "boom" in caplog.text


async def test_what_was_accepted_is_there_after_a_restart(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", volunteer="paused") as (ant,):
        await submit(ant, "say TERMINATED")
        node = ant.node_id
    again = await Agent.start(ant.home, QUIET)
    try:
        assert again.node_id == node
        assert reading(again, "w.0").state is TaskState.READY
        again.presence.resume()
        await eventually(lambda: in_state([again], "w.0", DONE))
    finally:
        await again.stop()


async def test_work_submitted_on_one_runs_on_another(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee", "cat") as everybody:
        ant, bee, cat = everybody
        await flock_of(ant, bee, cat)
        for service in (ant, cat):
            service.presence.pause()
        await eventually(lambda: len(_unwilling(bee)) == 2)
        assert (await submit(ant, "say TERMINATED:17", "exit 3", "say TERMINATED:18")).disks == 2
        await eventually(lambda: in_state(everybody, "w.0", DONE))
        await eventually(lambda: in_state(everybody, "w.2", DONE))
        assert {host_of(cat, task) for task in ("w.0", "w.2")} == {bee.node_id}
        assert [each.name for each in ant.now().peers] == ["bee", "cat"]
        await eventually(lambda: ant.now().peers[0].clock_ahead_ms is not None)
        facts = ant.now().peers[0]
        assert facts.version
        assert facts.bytes_in > 0
        assert facts.clock_ahead_ms is not None
        assert abs(facts.clock_ahead_ms) < 5_000


async def test_a_cancelled_program_is_stopped(tmp_path: Path, ant: Agent) -> None:
    await submit(ant, f"listen {tmp_path}/pids")
    await eventually(lambda: bool(processes(tmp_path / "pids")))
    assert (await ant.ask(Cancel("", "w"))).verdict in (Verdict.CANCELLING, Verdict.DONE)
    await eventually(lambda: in_state([ant], "w.0", TaskState.CANCELLED))
    await eventually(lambda: not state_of(processes(tmp_path / "pids")[0]))


async def test_a_clean_stop_hands_work_back_and_says_goodbye(tmp_path: Path) -> None:
    async with members(tmp_path, "ant", "bee") as (ant, bee):
        ant.presence.pause()
        pids, go = tmp_path / "pids", tmp_path / "go"
        await eventually(lambda: _unwilling(bee) == [ant.node_id])
        await submit(ant, f"wait {pids} {go}")
        await eventually(lambda: bool(processes(pids)))
        await bee.stop("asked to")
        assert not state_of(processes(pids)[0])
        assert await bee.wait_stopped() == "asked to"
        await eventually(lambda: ant.now().peers == ())
        assert reading(ant, "w.0").state is TaskState.READY
        await refused(bee.ask(Cancel("", "w")), "is stopping")
        go.touch()
        ant.presence.resume()
        await eventually(lambda: in_state([ant], "w.0", DONE))


async def test_a_full_disk_refuses_new_work_and_takes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "PROBE_EVERY_S", 0.02)
    full = False
    submit_for_real, probe_for_real = Writer.submit, Writer.probe

    def refuse(writer: Writer, persists: Sequence[Persist]) -> Future[None]:
        if not full:
            return submit_for_real(writer, persists)
        refused: Future[None] = Future()
        refused.set_exception(JournalFull("The disk takes no more."))
        return refused

    def probe(writer: Writer) -> Future[bool]:
        if not full:
            return probe_for_real(writer)
        answered: Future[bool] = Future()
        answered.set_result(False)
        return answered

    monkeypatch.setattr(Writer, "submit", refuse)
    monkeypatch.setattr(Writer, "probe", probe)

    async with services(tmp_path, "ant") as (ant,):
        full = True
        answer = await ant.ask(_submission("lost"))
        assert answer.verdict is Verdict.REFUSED
        await eventually(lambda: not ant.now().facts.disk_usable)
        answer = await ant.ask(_submission("lost"))
        assert answer.verdict is Verdict.REFUSED
        full = False
        await eventually(lambda: ant.now().facts.disk_usable)
        await submit(ant, "say TERMINATED")
        await eventually(lambda: in_state([ant], "w.0", DONE))


# -- flocks ------------------------------------------------------------------------------------


async def test_joining_takes_effect_at_once_and_keeps_the_node(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee") as (ant, bee):
        bee.presence.pause()
        await submit(bee, "say TERMINATED", workflow="before")
        told: list[Notice] = []
        bee.subscribe(told.append)
        node = bee.node_id
        await flock_of(ant, bee)
        assert bee.node_id == node
        assert FlockChanged("office") in told
        assert PeerChanged(ant.node_id) in told
        await eventually(lambda: in_state([ant, bee], "before.0", DONE))
        assert host_of(bee, "before.0") == ant.node_id
        assert {each.name for each in bee.flock.members()} == {"ant", "bee"}
        assert [each.name for each in ant.flock.members() if not each.own] == ["bee"]


async def test_why_a_machine_helps_is_told_in_full_however_busy_it_is(tmp_path: Path) -> None:
    async with services(tmp_path, "ant") as (ant,):
        for percent in (0, 90):
            ant.live.presence = replace(ant.live.presence, load_percent=percent)
            assert ant.now().status.why == as_why(HelpsAlways())


async def test_the_expelled_is_cut_off_and_makes_way(tmp_path: Path) -> None:
    async with members(tmp_path, "ant", "bee", "cat") as (ant, bee, cat):
        gone = cat.node_id
        await ant.flock.expel("CAT")
        await eventually(lambda: gone not in [peer.node for peer in ant.now().peers])
        await eventually(lambda: (flock := cat.flock.flock()) is not None and flock.expelled)
        assert not cat.now().status.volunteering
        assert cat.now().status.why == as_why(NotOfFlock("office"))
        assert gone not in [member.node for member in ant.flock.members()]
        assert [each.name for each in bee.flock.departures()] == ["cat"]
        assert ant.name_of(gone) == "cat"
        assert await cat.flock.leave() == ""
        assert cat.flock.flock() is None
        assert cat.now().status.volunteering


async def test_leaving_makes_another_node_without_the_flocks_table(tmp_path: Path) -> None:
    async with members(tmp_path, "ant", "bee") as (ant, bee):
        await submit(ant, "say TERMINATED")
        await eventually(lambda: in_state([ant, bee], "w.0", DONE))
        node = bee.node_id
        assert await bee.flock.leave() == ""
        assert bee.node_id != node
        assert (bee.table.workflows, bee.port) == ({}, 0)
        assert len(list(bee.home.data.glob("journal-left-*"))) == 1
        await eventually(lambda: [each.name for each in ant.flock.members()] == ["ant"])
        await submit(bee, "say TERMINATED", workflow="own")
        await eventually(lambda: in_state([bee], "own.0", DONE))
        await flock_of(ant, bee)
        await eventually(lambda: in_state([bee], "w.0", DONE))
        await eventually(lambda: in_state([ant], "own.0", DONE))


async def test_what_cannot_be_done_with_a_flock_is_said(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee") as (ant, bee):
        for attempt in (ant.flock.invite(), ant.flock.expel("bee"), ant.flock.leave()):
            await refused(attempt, "belongs to no flock")
        await refused(ant.flock.join("let me in"), "no invitation")
        await flock_of(ant, bee)
        await refused(ant.flock.expel("cow"), "Nobody in this flock is called cow")
        await refused(ant.flock.expel("ant"), "does not expel itself")
        await refused(bee.flock.create("other"), "belongs to the flock office already")


async def test_one_thing_is_done_with_a_flock_at_a_time(ant: Agent) -> None:
    made = asyncio.create_task(ant.flock.create("office"))
    await asyncio.sleep(0)  # it has begun
    await refused(ant.flock.invite(), "ant is busy with its flock: try again later")
    assert (await made).flock == "office"
    assert (await ant.flock.invite()).flock == "office"
    await ant.flock.stop()
    await refused(ant.flock.invite(), "ant is stopping")


async def test_the_file_of_an_invitation_will_do(tmp_path: Path) -> None:
    async with services(tmp_path, "ant", "bee") as (ant, bee):
        await ant.flock.create("office")
        invitation = await ant.flock.invite(uses=2, valid_for_s=60.0)
        (address,) = parse_invitation(invitation.text).addresses
        assert str(address) == f"127.0.0.1:{ant.port}"
        assert (await bee.flock.join(invitation.file)).flock == "office"


async def test_a_node_that_begins_anew_has_its_name(
    ant: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept of the past is written meanwhile, too, and looks at the table."""
    begin, names, tables = RunningNode.start, [], []

    async def start(node: RunningNode, *told: Any) -> None:
        names.append(ant.now().name)
        tables.append(ant.table)
        await begin(node, *told)

    await ant.flock.create("office")
    monkeypatch.setattr(RunningNode, "start", start)
    before = ant.table
    await ant.flock.leave(even_as_last_keeper=True)
    assert tables == [before]
    assert ant.table is not before
    assert names == ["ant"], "clients come meanwhile, and are greeted"


async def test_an_agent_whose_node_cannot_begin_anew_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a node would answer nobody, and keep the home from the next start."""

    async def refuse(*_: Any) -> None:
        raise ServiceError("the disk refuses")

    ant = await Agent.start(Home.at(tmp_path / "ant"), QUIET)
    try:
        await ant.flock.create("office")
        with monkeypatch.context() as patched:
            patched.setattr(agent_module, "open_datasets", refuse)
            await refused(ant.flock.leave(even_as_last_keeper=True), "the disk refuses")
        async with asyncio.timeout(EVENTUALLY_S_MAX):
            assert "could not begin anew: the disk refuses" in await ant.wait_stopped()
    finally:
        await ant.stop()
    again = await Agent.start(ant.home, QUIET)
    assert again.flock.flock() is None
    await again.stop()


# -- starting and stopping ---------------------------------------------------------------------


async def test_a_second_start_on_the_same_home_is_refused(ant: Agent) -> None:
    await refused(Agent.start(ant.home, QUIET), r"runs already on .* as process")
    await submit(ant, "say TERMINATED")


async def test_starting_takes_less_than_a_second(tmp_path: Path) -> None:
    """Of the processor; on a machine with nothing else to do it takes no longer by the clock."""

    async with services(tmp_path, "ant") as (ant,):
        await ant.flock.create("office")
        await submit(ant, *["say TERMINATED"] * 10)
    before_s = time.process_time()
    again = await Agent.start(ant.home, Options(log_to_files=False))
    took_s = time.process_time() - before_s
    await again.stop()
    assert took_s < 1.0


@pytest.mark.parametrize("part", ["presence.stop", "hand_back", "end_network"])
async def test_a_part_that_fails_at_the_stop_leaves_nobody_waiting(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("boom")

    async with services(tmp_path, "ant") as (ant,):
        pids = tmp_path / "pids"
        await submit(ant, f"listen {pids}")
        await eventually(lambda: bool(processes(pids)))
        whole = ant.presence if part == "presence.stop" else ant
        monkeypatch.setattr(whole, part.rpartition(".")[2], fail)
        with pytest.raises(RuntimeError, match="boom"):
            await ant.stop("asked to")
        assert await ant.wait_stopped() == "asked to"
        assert not state_of(processes(pids)[0])
        monkeypatch.undo()
        await ant.presence.stop()


async def test_settings_that_are_wrong_start_nothing(tmp_path: Path) -> None:
    home = home_of(tmp_path, "ant", slots=0)
    with pytest.raises(SettingsError, match=r"settings\.toml: slots is 0"):
        await Agent.start(home, QUIET)
    home.settings_file.write_text("slots = 2")
    service = await Agent.start(home, QUIET)
    await service.stop()
    await service.stop("again")


async def test_agents_that_want_one_port_take_others_and_are_reached_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with services(tmp_path, "ant", "bee", "cat") as (ant, bee, cat):
        await ant.flock.create("office")
        wanted = ant.port
        for each in (bee, cat):
            each.settings = replace(each.settings, port=wanted)
        await flock_of(ant, bee, cat)
        assert len({ant.port, bee.port, cat.port}) == 3
        assert f"port {wanted} is used by another program: listening on {bee.port}" in caplog.text
        assert (await bee.rooms.settings.view()).listening == bee.port
        port = bee.port
        await bee.stop()
        text = bee.home.settings_file.read_text().replace("port = 0", f"port = {wanted}")
        bee.home.settings_file.write_text(text)
        again = await Agent.start(bee.home, QUIET)
        await eventually(lambda: meshed(again, 2))
        assert again.port not in (ant.port, cat.port)
        assert wanted < again.port <= port
        await again.stop()


async def test_folders_and_logs_are_their_owners_alone(tmp_path: Path) -> None:
    options = Options(discovery=False)
    async with services(tmp_path, "ant", options=options) as (ant,):
        home = ant.home
        for folder in (home.data, home.config, home.log, home.cache, home.identity):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
        assert stat.S_IMODE((home.log / "agent.log").stat().st_mode) == 0o600
    assert "<info> stopping: the test is over" in (home.log / "agent.log").read_text()


async def refused(attempt: Awaitable[object], because: str) -> None:
    """It fails for a reason that a person can mend."""
    with pytest.raises(ServiceError, match=because):
        await attempt


def _submission(workflow: str) -> Submit:
    return Submit("", workflow, workflow, "me", 50, (TaskSpec(f"{workflow}.0", "t", "tell"),))


def _moves(told: list[Notice]) -> list[TaskState]:
    return [each.after for each in told if isinstance(each, TaskMoved)]


def _unwilling(service: Agent) -> list[str]:
    return [peer.node for peer in service.now().peers if peer.version and not peer.volunteering]


# -- clients of other machines over TLS: let in while their machine belongs, cut off when not ------


class Taken:
    """Serves clients of members: repeats what they say, and remembers who is there."""

    def __init__(self, service: Agent) -> None:
        self.there: list[str] = []
        service.member_clients.serve(self._accept)

    async def _accept(
        self, name: str, _: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.there.append(name)
        try:
            while line := await reader.readline():
                writer.write(line)
        except ConnectionError:
            pass  # it was cut off, which ends it as well
        finally:
            self.there.remove(name)


async def ended(reader: asyncio.StreamReader) -> bool:
    """Whether nothing comes any more."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


async def test_the_client_of_a_machine_that_is_expelled_is_cut_off(tmp_path: Path) -> None:
    async with members(tmp_path, "ant", "bee", "cat") as (ant, bee, cat):
        taken = Taken(ant)
        ways = {each.name: await each.member_clients.open(ant.node_id) for each in (bee, cat)}
        for reader, writer in ways.values():
            writer.write(b"anybody there?\n")
            assert await reader.readline() == b"anybody there?\n"
        assert sorted(taken.there) == ["bee", "cat"]
        await ant.flock.expel("cat")
        assert await ended(ways["cat"][0])
        await eventually(lambda: taken.there == ["bee"])
        reader, writer = ways["bee"]
        writer.write(b"still\n")
        assert await reader.readline() == b"still\n"
        with pytest.raises(ServiceError, match="cannot be asked"):
            await talks(cat, ant)
        for _, writer in ways.values():
            writer.transport.abort()


async def talks(asking: Agent, asked: Agent) -> None:
    """A connection on which something is answered; raises ``ServiceError``."""
    reader, writer = await asking.member_clients.open(asked.node_id)
    try:
        writer.write(b"anybody there?\n")
        try:
            answer = await reader.readline()
        except ConnectionError:
            answer = b""
        if answer != b"anybody there?\n":
            raise ServiceError(f"{asked.name} cannot be asked: {answer.decode()}")
    finally:
        writer.transport.abort()
