"""The driver with a node that follows a script: order, timers, faults, a disk that refuses."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import time
from typing import get_args

import pytest

from agent.driver import driver as driver_module
from agent.driver.clock import LiveClock, elapsed_s
from agent.driver.driver import DRAIN_S_MAX, TOGETHER_MAX, WITH_PROGRAMS
from agent.driver.ports import WithProgram
from agent.driver.resting import RestingLoop, new_loop
from agent.protocol.clock import Instant
from agent.protocol.effects import Effect, Send, Stopped, Unlink
from agent.protocol.events import (
    DiskUsable,
    Due,
    Event,
    InputsFetched,
    PeerLinked,
    PersistFailed,
    Received,
    Shutdown,
    Started,
)
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import AskStatus, GetTask, Goodbye
from agent.storage.errors import JournalFull
from tests.driver.worlds import (
    RUN,
    HeldDisk,
    Script,
    World,
    answer,
    persist,
)
from tests.hosts.waiting import eventually

FROM_BEE = Received("bee", AskStatus())


async def test_what_is_handed_in_meanwhile_comes_after() -> None:
    world: World

    def react(event: Event) -> list[Effect]:
        if isinstance(event, Started):
            world.driver.hand(FROM_BEE)
            assert world.node.told == [Started()]
            return [answer("first")]
        return [answer("second")]

    world = World(Script(react))
    world.driver.hand(Started())
    assert world.node.told == [Started(), FROM_BEE]
    assert world.done == ["first", "second"]


async def test_effects_follow_their_commit_also_when_it_ends_in_another_thread() -> None:
    world = World(Script(lambda _: [persist(), Send(("bee",), Goodbye("later"))]))
    world.driver.hand(Started())
    assert world.done == []
    _, commit = world.disk.commits[0]
    await asyncio.to_thread(commit.set_result, None)
    await eventually(lambda: bool(world.done))
    assert world.done == [(("bee",), "later")]


async def test_records_that_come_while_the_disk_is_busy_are_submitted_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver_module, "BUSY_DISK_S", 60.0)
    world = World(Script(lambda _: [persist()]))
    world.driver.hand(Started())
    assert len(world.disk.commits) == 1, "at once, for it had nothing to do"
    world.driver.hand(PeerLinked("bee"))
    world.driver.hand(PeerLinked("cat"))
    assert len(world.disk.commits) == 1
    await eventually(lambda: len(world.disk.commits) == 3)


async def test_a_refused_record_is_told_and_so_is_a_disk_with_room_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver_module, "PROBE_EVERY_S", 0.001)

    def react(event: Event) -> list[Effect]:
        return [persist(), answer("ok")] if isinstance(event, Started) else []

    world = World(Script(react), HeldDisk(usable=False))
    world.driver.hand(Started())
    world.disk.commits[0][1].set_exception(JournalFull("no room"))
    await eventually(lambda: world.disk.probes > 2)
    assert world.node.told == [Started(), PersistFailed(persist(), (answer("ok"),))]
    assert world.done == []
    assert not world.driver.disk_usable
    world.disk.usable = True
    await eventually(lambda: world.node.told[-1] == DiskUsable())
    assert world.driver.disk_usable


async def test_nothing_for_an_old_link_goes_to_a_new_one() -> None:
    """It would arrive there before a greeting, or close a link that is not meant."""

    def react(event: Event) -> list[Effect]:
        if isinstance(event, Started):
            told = Send(("ant", "bee"), Goodbye("old"))
            return [persist(), told, Unlink("bee", NoLink("Silent"))]
        return [Send(("bee",), Goodbye("hello"))]

    world = World(Script(react))
    world.driver.hand(Started())
    world.driver.hand(PeerLinked("bee"))
    world.disk.commits[0][1].set_result(None)
    await eventually(lambda: len(world.done) > 1)
    assert world.done == [(("ant",), "old"), (("bee",), "hello")]


# -- the timer ---------------------------------------------------------------------------------


async def test_the_timer_is_handed_in_when_it_is_due_and_not_before() -> None:
    node = Script()
    world = World(node)
    node.deadline_s = elapsed_s() + 0.02
    world.driver.hand(Started())
    await eventually(lambda: Due() in node.told)
    assert node.told == [Started(), Due()]
    assert node.times[1].elapsed_s >= node.times[0].elapsed_s + 0.019


async def test_an_earlier_deadline_moves_the_timer() -> None:
    node = Script()
    world = World(node)
    node.deadline_s = elapsed_s() + 1000
    world.driver.hand(Started())
    node.deadline_s = elapsed_s() + 0.01
    world.driver.hand(FROM_BEE)
    await eventually(lambda: Due() in node.told)


async def test_after_a_stall_waiting_messages_come_before_the_late_timer() -> None:
    """A socket holds more than one turn of the loop reads; the timer is late, not skipped."""

    node = Script()
    world = World(node)
    here, there = socket.socketpair()
    here.setblocking(False)
    loop = asyncio.get_running_loop()

    def readable() -> None:
        here.recv(1)
        world.driver.hand(FROM_BEE)

    loop.add_reader(here, readable)
    node.deadline_s = elapsed_s() + 0.02
    world.driver.hand(Started())
    there.send(b"x" * 20)
    _stall_until(node.deadline_s + 0.05)
    await eventually(lambda: Due() in node.told)
    assert node.told == [Started(), *[FROM_BEE] * 20, Due()]
    assert node.times[-1].elapsed_s >= node.times[0].elapsed_s + 0.07
    loop.remove_reader(here)
    here.close()
    there.close()


async def test_a_peer_that_never_pauses_does_not_hold_the_timer_back() -> None:
    node = Script()
    world = World(node)
    loop = asyncio.get_running_loop()
    flooding = True

    def flood() -> None:
        if flooding:
            world.driver.hand(FROM_BEE)
            loop.call_soon(flood)

    deadline_s = node.deadline_s = elapsed_s() + 0.01
    world.driver.hand(Started())
    flood()
    await eventually(lambda: Due() in node.told)
    flooding = False
    due = node.told.index(Due())
    assert node.times[due].elapsed_s > deadline_s + DRAIN_S_MAX * 0.9
    # Each turn of the loop brings a message. The timer fires within two turns, and when it has
    # waited long enough it is handed in within two, however long the machine makes a turn.
    late_s = [each.elapsed_s for each in node.times[:due] if each.elapsed_s > deadline_s]
    assert sum(each > late_s[2] + DRAIN_S_MAX for each in late_s) <= 2


async def test_the_clock_counts_sleep_and_keeps_step_with_the_timers() -> None:
    loop, clock = asyncio.get_running_loop(), LiveClock()
    before = loop.time(), clock.elapsed_s(), loop.time()
    _stall_until(before[1] + 0.02)
    after = loop.time(), clock.elapsed_s(), loop.time()
    passed_s = after[1] - before[1]
    assert after[0] - before[2] - 0.01 < passed_s < after[2] - before[0] + 0.01


# -- faults ------------------------------------------------------------------------------------


async def test_a_message_that_breaks_the_node_costs_its_sender_the_link(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):

        def react(event: Event) -> list[Effect]:
            if isinstance(event, Received):
                raise RuntimeError("boom")
            return [answer("alive")]

        world = World(Script(react))
        world.driver.hand(Received("bee", GetTask("task-7")))
        world.driver.hand(Started())
        assert (world.done, world.faults) == ([("unlink", "bee"), "alive"], [])
    assert "task-7" in caplog.text
    assert "the story of task-7" in caplog.text
    assert "boom" in caplog.text


async def test_any_other_fault_stops_the_node(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):

        def react(event: Event) -> list[Effect]:
            if isinstance(event, Shutdown):
                return [Stopped()]
            raise RuntimeError("boom")

        world = World(Script(react))
        world.driver.hand(InputsFetched("task-7", RUN))
        assert len(world.faults) == 1
        world.driver.hand(Shutdown("fault"))
        assert world.done == ["stopped"]
    assert "the story of task-7" in caplog.text


async def test_a_port_that_fails_stops_the_node(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.ERROR):
        world = World(Script(lambda _: [Send(("bee",), Goodbye())]))
        monkeypatch.setattr(world, "send", _break)
        world.driver.hand(Started())
        assert [str(each) for each in world.faults] == ["the port is broken"]


async def test_a_closed_driver_does_nothing_more() -> None:
    world = World(Script(lambda _: [persist(), answer("late")]))
    world.driver.hand(Started())
    world.driver.close()
    world.disk.commits[0][1].set_result(None)
    world.driver.hand(FROM_BEE)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert world.node.told == [Started()]
    assert world.done == []


def test_every_effect_on_programs_has_somebody_who_does_it() -> None:
    assert set(WITH_PROGRAMS) == set(get_args(WithProgram))


def _break(*_: object) -> None:
    raise OSError("the port is broken")


def _stall_until(moment_s: float) -> None:
    while elapsed_s() < moment_s:
        pass


async def test_messages_that_wait_together_are_handled_together_and_apart_from_the_rest() -> None:
    followed: list[tuple[str, bool]] = []

    class Counting(Script):
        def handle(
            self, event: Event, now: Instant, cause: str = "", *, more: bool = False
        ) -> list[Effect]:
            followed.append((type(event).__name__, more))
            return super().handle(event, now, cause, more=more)

    world = World(Counting())
    for _ in range(3):
        world.driver.hand(FROM_BEE)
    assert not followed
    world.driver.hand(DiskUsable())
    assert followed == [
        ("Received", True),
        ("Received", True),
        ("Received", False),
        ("DiskUsable", False),
    ]
    followed.clear()
    for _ in range(TOGETHER_MAX + 2):
        world.driver.hand(FROM_BEE)
    await eventually(lambda: len(followed) == TOGETHER_MAX + 2)
    assert [more for _, more in followed].count(False) == 2
    world.driver.close()


# -- the loop that rests: what arrives meanwhile comes in one go, what is due is not late ----------


where_it_rests = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows' own loop does not rest"
)

REST_S = 0.2


@where_it_rests
def test_what_arrives_during_a_rest_is_taken_after_it() -> None:
    async def scene(loop: RestingLoop) -> None:
        here, there = socket.socketpair()
        with here, there:
            here.setblocking(False)
            await asyncio.sleep(0)
            there.send(b"beat")
            began_s = time.monotonic()
            loop.rest(REST_S)
            assert await loop.sock_recv(here, 4) == b"beat"  # it is there already: no rest needed
            waiting = asyncio.ensure_future(loop.sock_recv(here, 4))
            await asyncio.sleep(0)
            there.send(b"word")
            assert await waiting == b"word"
            assert time.monotonic() - began_s >= REST_S * 0.9

    _run(scene)


@where_it_rests
def test_a_rest_ends_by_itself_and_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(loop: RestingLoop) -> None:
        loop.rest(REST_S)
        await asyncio.sleep(REST_S / 4)
        rests_s: list[float] = []
        monkeypatch.setattr(time, "sleep", rests_s.append)
        for _ in range(10):
            await asyncio.sleep(0.001)
        assert rests_s == []

    _run(scene)


@where_it_rests
def test_a_rest_makes_no_timer_late() -> None:
    async def scene(loop: RestingLoop) -> None:
        loop.rest(60.0)
        async with asyncio.timeout(50.0):
            await asyncio.sleep(0.01)

    _run(scene)


def _run(scene: object) -> None:
    loop = new_loop()
    assert isinstance(loop, RestingLoop)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(scene(loop))  # type: ignore[operator]
