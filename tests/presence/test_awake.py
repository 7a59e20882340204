"""A machine stays awake while a program runs on it and it is on mains, and falls asleep otherwise."""

from __future__ import annotations

import logging
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.presence.awake import LOOK_EVERY_S, Awake, Sleep
from agent.presence.readings import Seen
from agent.presence.sources import Asked, SightError
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, wait_for

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="logind is on Linux")


@dataclass
class Bed:
    """A system of which a test decides what it says; it notes in which threads it was called."""

    mains: bool | OSError = True
    refuses: OSError | None = None
    begun: int = 0
    at_work: int = 0
    gaps: bool = False
    """At every second look there is nothing at work."""
    held: bool = False
    looks: int = 0
    asked: int = 0
    refusals: list[OSError] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)

    def _at_work(self) -> int:
        self.looks += 1
        return self.at_work * (self.looks % 2 if self.gaps else 1)

    def _mains(self) -> bool:
        if isinstance(self.mains, OSError):
            raise self.mains
        return self.mains

    def _hold_off(self) -> None:
        self.asked += 1
        self.threads.add(threading.get_ident())
        if self.refuses is not None:
            raise self.refuses
        self.held = True

    def _let(self) -> None:
        self.threads.add(threading.get_ident())
        self.held = False

    def awake(self) -> Awake:
        return Awake(
            lambda: self.begun,
            self._at_work,
            self.refusals.append,
            lambda: Sleep(Asked(self._mains), self._hold_off, self._let),
        )

    def has_looked(self) -> None:
        """Wait until a look has ended that began after this was called."""
        before = self.looks
        wait_for(lambda: self.looks >= before + 3, EVENTUALLY_S_MAX, "it looks")


@contextmanager
def working(bed: Bed) -> Iterator[Awake]:
    awake = bed.awake()
    bed.begun = bed.at_work = 1
    awake.work_began()
    try:
        yield awake
    finally:
        awake.stop()


def soon(condition: Callable[[], bool], what: str) -> float:
    return wait_for(condition, EVENTUALLY_S_MAX, what)


def test_it_is_held_while_a_program_runs_and_not_a_second_longer() -> None:
    bed = Bed()
    with working(bed) as awake:
        soon(lambda: bed.held, "it is kept awake")
        bed.begun = bed.at_work = 0
        soon(lambda: not bed.held, "it may sleep")
        bed.begun = bed.at_work = 1
        awake.work_began()
        soon(lambda: bed.held, "it is kept awake again")
    assert not bed.held
    assert len(bed.threads) == 1, "Windows keeps awake by threads"
    assert 2 * LOOK_EVERY_S < 1


def test_between_two_short_programs_it_is_held_on() -> None:
    bed = Bed(gaps=True)
    with working(bed):
        soon(lambda: bed.held, "it is kept awake")
        bed.has_looked()
        bed.has_looked()
        assert (bed.held, bed.asked) == (True, 1)


def test_a_suspended_program_keeps_nothing_awake_until_it_goes_on() -> None:
    bed = Bed()
    with working(bed):
        soon(lambda: bed.held, "it is kept awake")
        bed.at_work = 0
        soon(lambda: not bed.held, "it may sleep")
        bed.at_work = 1
        soon(lambda: bed.held, "it is kept awake again")


@pytest.mark.parametrize(
    "mains",
    [False, SightError("nobody knows"), OSError("broken")],
    ids=["battery", "blind", "broken"],
)
def test_only_on_mains(mains: bool | OSError) -> None:
    bed = Bed(mains)
    with working(bed):
        bed.has_looked()
        assert bed.asked == 0
        bed.mains = True
        soon(lambda: bed.held, "it is on mains")
        bed.mains = mains
        soon(lambda: not bed.held, "it is not any more")


def test_a_refusal_is_told_once_and_work_goes_on() -> None:
    bed = Bed(refuses=OSError("no"))
    with working(bed):
        soon(lambda: bed.asked == 1, "it has asked")
        bed.has_looked()
        assert bed.asked == 1, "not at every look"
        bed.at_work = 0
        bed.has_looked()
        bed.at_work = 1
        soon(lambda: bed.asked == 2, "it has asked for what began anew")
    assert bed.refusals == [bed.refuses]


def test_nothing_looks_while_nothing_was_begun() -> None:
    bed = Bed()
    awake = bed.awake()
    awake.stop()
    awake.work_began()
    assert "awake" not in {each.name for each in threading.enumerate()}, "it has ended for good"
    assert bed.looks == 0


# -- logind --------------------------------------------------------------------------------------

MANAGER = "org.freedesktop.login1.Manager"


class Logind:
    """Gives locks away on a bus; ``taken`` is what each was asked for with."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, ...]] = []
        self._ends: list[int] = []

    def inhibit(self, _: str, *wanted: str) -> tuple[str, tuple[int]]:
        end, given = os.pipe()
        self._ends.append(end)
        self.taken.append(wanted)
        return "h", (given,)

    def held(self) -> int:
        """How many locks are still open."""
        return sum(not select.select([end], [], [], 0)[0] for end in self._ends)

    def close(self) -> None:
        for end in self._ends:
            os.close(end)


@pytest.fixture
def logind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Logind]:
    from tests.presence.desktop_on_bus import desktop
    from tests.presence.displays import bus

    found = Logind()
    answers = {(MANAGER, "Inhibit"): found.inhibit}
    with bus(tmp_path) as address, desktop(address, ("org.freedesktop.login1",), answers):
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
        yield found
    found.close()


@LINUX
def test_a_lock_of_logind_is_open_as_long_as_it_is_taken(logind: Logind) -> None:
    from agent.presence.sources.bus import Bus, SleepLock

    lock = SleepLock(Bus("SYSTEM", descriptors=True))
    for times in (1, 2):
        lock.take()
        lock.take()
        assert (len(logind.taken), logind.held()) == (times, 1)
        program = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
        lock.give_back()
        lock.give_back()
        with program:  # it holds nothing
            soon(lambda: logind.held() == 0, "it may sleep")
            assert program.poll() is None
    assert logind.taken[0] == ("idle:sleep", "Wingbeat", "A task of the flock runs here", "block")


@LINUX
def test_without_a_bus_or_where_it_refuses_that_is_an_error(tmp_path: Path) -> None:
    from agent.presence.sources.bus import Bus, BusError, SleepLock
    from tests.presence.desktop_on_bus import desktop
    from tests.presence.displays import bus

    with pytest.raises(BusError):
        SleepLock(Bus(f"unix:path={tmp_path}/none", descriptors=True)).take()
    with bus(tmp_path) as address:
        lock = SleepLock(Bus(address, descriptors=True))
        with pytest.raises(BusError, match=r"org\.freedesktop\.login1 is not there"):
            lock.take()
        with (
            desktop(address, ("org.freedesktop.login1",), {}),
            pytest.raises(BusError, match="does not tell"),
        ):
            lock.take()
        lock.give_back()


@LINUX
@pytest.mark.parametrize("wanted", [True, False], ids=["kept awake", "switched off"])
def test_an_agent_keeps_its_machine_awake_for_a_program(
    logind: Logind, tmp_path: Path, *, wanted: bool
) -> None:
    from agent.presence.sources.linux import linux_mains

    if linux_mains().read() != Seen(True, "the kernel"):
        pytest.skip("this machine is on battery")
    ant, go = Machine(tmp_path / "ant"), tmp_path / "go"
    ant.settle(keep_awake=wanted, confinement="off")
    lines = (
        f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.05)\n"
    )
    ant.install("wait", lines + "print('TERMINATED')\n")
    with ant.agent("--name", "ant", "--port", "0"):
        ant.said("submit", "-", told='{"name": "w", "tasks": [{"id": "a", "program": "wait"}]}')
        soon(lambda: "running" in ant.said("status", "w"), "it runs")
        if wanted:
            soon(lambda: logind.held() == 1, "it is kept awake")
        go.touch()
        soon(lambda: "1/1" in ant.said("status"), "it has ended")
        soon(lambda: logind.held() == 0, "it may sleep")
    assert len(logind.taken) == wanted
    (log,) = ant.home.log.glob("*.log")
    assert "may fall asleep" not in log.read_text()


@LINUX
def test_why_a_machine_may_fall_asleep_is_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from agent.node.running import _may_sleep
    from agent.presence.awake import native_sleep

    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    with pytest.raises(SightError) as refused:
        native_sleep().hold_off()
    caplog.set_level(logging.INFO)
    _may_sleep(refused.value)
    because = "there is no system bus"
    assert f"this machine may fall asleep while a program runs here: {because}" in caplog.text
