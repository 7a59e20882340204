"""A machine that was woken for work sleeps again when that is done, and nobody has touched it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.api.presence_reasons import NoScreen
from agent.presence.asleep_again import AsleepAgain
from agent.presence.readings import Kind, LastInput
from agent.presence.sources import Asked, Sources, blind
from tests.hosts.waiting import wait_for

LINUX = pytest.mark.skipif(sys.platform == "win32", reason="of Linux")
WITHIN_S = 20.0


class Machine:
    """Its clock goes on by a step at each look; it works for so many looks."""

    def __init__(self, works: int = 0, step_s: float = 10.0) -> None:
        self.now_s, self.works, self.step_s = 1_000.0, works, step_s
        self.touched_s: list[Callable[[], float]] = [lambda: 500.0]
        self.said: list[str] = []
        self.slept_s: list[float] = []
        self.closed = False

    def clock(self) -> float:
        self.now_s += self.step_s
        return self.now_s

    def running(self) -> int:
        self.works -= 1
        return int(self.works >= 0)

    def sources(self) -> Sources:
        return Sources(
            {Kind.INPUT: tuple(Asked(self._touch(each)) for each in self.touched_s)}, lambda _: None
        )

    @staticmethod
    def _touch(told: Callable[[], float]) -> Callable[[], LastInput]:
        return lambda: LastInput(told())

    def asleep_again(self, **others: Any) -> AsleepAgain:
        told = {"asleep": lambda: self.slept_s.append(self.now_s), **others}
        return AsleepAgain(
            self.running,
            self.sources,
            self.said.append,
            clock=self.clock,
            look_every_s=0.001,
            **told,
        )


def woken(machine: Machine, **others: Any) -> AsleepAgain:
    found = machine.asleep_again(**others)
    found.woken()
    found.woken()
    wait_for(lambda: bool(machine.slept_s or machine.said), WITHIN_S, "it is decided")
    found.stop()
    return found


def test_it_sleeps_when_nothing_has_run_for_a_while() -> None:
    machine = Machine()
    woken(machine)
    assert (machine.said, len(machine.slept_s)) == ([], 1)
    assert 120 <= machine.slept_s[0] - 1_000 < 200


def test_after_half_a_day_of_work_it_stays_awake() -> None:
    machine = Machine(works=10**9, step_s=600)
    woken(machine)
    assert machine.said == ["it has worked for half a day"]
    assert 12 * 3_600 <= machine.now_s - 1_000 < 13 * 3_600


@pytest.mark.parametrize(("after_s", "said"), [(5, []), (6, ["somebody uses it"])])
def test_what_wakes_it_is_no_touch(after_s: int, said: list[str]) -> None:
    """Its clock says 1,010 when it was woken."""
    machine = Machine()
    machine.touched_s = [lambda: 1_010.0 + after_s]
    woken(machine)
    assert machine.said == said


def test_it_waits_for_the_work() -> None:
    machine = Machine(works=50)
    woken(machine)
    assert machine.slept_s[0] >= 1_000 + 500 + 120


def test_it_stays_awake_once_somebody_has_touched_it() -> None:
    machine = Machine(works=5)
    machine.touched_s.append(lambda: 1_050.0 if machine.now_s > 1_050 else 0.0)
    woken(machine)
    assert (machine.said, machine.slept_s) == (["somebody uses it"], [])


def test_it_stays_awake_where_nobody_can_see() -> None:
    machine = Machine()
    sources = Sources(
        {Kind.INPUT: (blind(NoScreen()), Asked(lambda: LastInput(0.0)))}, lambda _: None
    )
    machine.sources = lambda: sources  # type: ignore[method-assign]
    woken(machine)
    assert machine.said == ["nobody can see whether somebody uses it"]
    machine = Machine()
    machine.touched_s = []
    woken(machine)
    assert machine.said == ["nobody can see whether somebody uses it"]


def test_what_the_system_refuses_is_told() -> None:
    def refuse() -> None:
        raise OSError("another has the lid")

    machine = Machine()
    woken(machine, asleep=refuse)
    assert machine.said == ["the system does not let it sleep: another has the lid"]


def test_it_is_stopped_with_its_agent() -> None:
    machine = Machine(works=10**9)
    found = machine.asleep_again()
    found.woken()
    found.stop()
    assert (machine.said, machine.slept_s) == ([], [])


@LINUX
def test_logind_is_asked_without_a_question_to_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.presence.asleep_again import fall_asleep
    from tests.presence.desktop_on_bus import desktop
    from tests.presence.displays import bus

    asked: list[tuple[Any, ...]] = []

    def suspend(_: str, *words: bool) -> tuple[str, tuple[()]]:
        asked.append(words)
        return "", ()

    answers = {("org.freedesktop.login1.Manager", "Suspend"): suspend}
    with bus(tmp_path) as address, desktop(address, ("org.freedesktop.login1",), answers):
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
        fall_asleep()
    assert asked == [(False,)]
