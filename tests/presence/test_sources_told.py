"""What sources make of what they are told, to the last figure, without a desktop."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from agent.api.presence_reasons import (
    NamedFills,
    NoScreen,
    ProgramFills,
    StillMeasured,
    SystemSays,
)
from agent.api.reasons import Reason

if sys.platform == "win32":
    pytest.skip("these are sources of Linux", allow_module_level=True)


from agent.presence.readings import Kind, LastInput, Reading, Seen, Sessions, Unseen
from agent.presence.sources import Asked, FirstThatSees, Screens, linux, x11
from agent.presence.sources.bus import (
    SAVER_NAME,
    Bus,
    BusError,
    Login,
    logind_sessions,
    saver_last_input,
    sessions_of,
)
from agent.presence.sources.linux import TICK_S, LinuxOwnTime, linux_names, terminal_last_input
from agent.presence.sources.native_linux import linux_sources
from agent.presence.sources.processor import free_memory, machine_busy_s, processor
from agent.presence.sources.programs import ExclusivePrograms, names_to_choose, plain
from agent.presence.sources.x11 import XRefusal
from tests.certain import of_kind
from tests.presence.clocks import Clock

UNMEASURED = Unseen(StillMeasured())


# -- the processor -------------------------------------------------------------------------------


class Load:
    """A machine of some cores on which others use so much."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cores: int | None = 4) -> None:
        monkeypatch.setattr(psutil, "cpu_count", lambda: cores)
        self.clock, self.busy_s, self.own_s = Clock(), 500.0, 100.0
        self.source = processor(self.clock, lambda: self.own_s, lambda: self.busy_s)

    def after(self, seconds: float, others_s: float = 0.0, own_s: float = 0.0) -> Reading[float]:
        self.clock.pass_s(seconds)
        self.busy_s += others_s + own_s
        self.own_s += own_s
        return self.source.read()


@pytest.mark.parametrize(
    ("cores", "passed_s", "others_s", "own_s", "expected"),
    [
        (4, 1.5, 1.0, 0.0, UNMEASURED),
        (4, 2.0, 1.0, 0.0, Seen(12.5)),
        (4, 8.0, 8.0, 16.0, Seen(25.0)),
        (4, 5.0, 0.6, 18.0, Seen(pytest.approx(3.0))),
        (None, 8.0, 2.0, 0.0, Seen(25.0)),
        (4, 8.0, -1.0, 0.0, Seen(0.0)),
        (4, 8.0, 64.0, 0.0, Seen(100.0)),
    ],
)
def test_the_share_of_others_is_of_the_whole_machine(
    monkeypatch: pytest.MonkeyPatch,
    cores: int | None,
    passed_s: float,
    others_s: float,
    own_s: float,
    expected: Reading[float],
) -> None:
    load = Load(monkeypatch, cores)
    assert load.after(0.0) == UNMEASURED
    assert load.after(passed_s, others_s, own_s) == expected


def test_it_is_an_average_over_the_last_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Load(monkeypatch)
    load.after(0.0)
    load.after(4.0, others_s=16.0)
    assert load.after(4.0) == Seen(50.0)
    assert of_kind(Seen, load.after(5.75)).value == pytest.approx(100 * 16 / (13.75 * 4))
    assert load.after(0.25) == Seen(0.0), "the burst is ten seconds old"


@pytest.mark.parametrize(("slept_s", "measured"), [(30.0, True), (30.5, False)])
def test_after_a_sleep_it_is_measured_anew(
    monkeypatch: pytest.MonkeyPatch, slept_s: float, measured: bool
) -> None:
    load = Load(monkeypatch)
    load.after(0.0)
    load.after(5.0)
    assert isinstance(load.after(slept_s), Seen) is measured
    load.source.close()
    assert load.after(5.0) == UNMEASURED


def test_what_waits_or_rests_is_no_use_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    told = SimpleNamespace(
        user=1, nice=2, system=4, irq=8, softirq=16, steal=32, idle=64, iowait=128
    )
    monkeypatch.setattr(psutil, "cpu_times", lambda: told)
    assert machine_busy_s() == 63.0


def test_free_memory_is_told_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    told = SimpleNamespace(available=1_536 * 2**20, free=1, total=2**40)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: told)
    assert free_memory().read() == Seen(1_536.0)


# -- processes -----------------------------------------------------------------------------------


def process(processes: Path, number: int, children: str = "", used: str = "1 2 3 4") -> None:
    """As the kernel shows it: a name with a bracket, and the times of the 12th place and on."""
    task = processes / str(number) / "task" / str(number)
    task.mkdir(parents=True)
    (task / "children").write_text(children)
    state = "S " + " ".join(["9"] * 10)
    (processes / str(number) / "stat").write_text(f"{number} (a) b) {state} {used} 9 9 9\n")
    (processes / str(number) / "comm").write_text(f"name of {number}\n")


def test_own_time_is_that_of_all_below_with_what_they_inherited(tmp_path: Path) -> None:
    process(tmp_path, 10, "11 12 ")
    process(tmp_path, 11, "13 ", used="10 20 30 40")
    process(tmp_path, 13, used="100 200 300 400")
    process(tmp_path, 99, used="7000 0 0 0")
    own = LinuxOwnTime(10, tmp_path)
    assert own.descendants() == [11, 12, 13]
    assert own.read() == pytest.approx(1_110 * TICK_S), "one has ended meanwhile"


def test_a_crowd_of_processes_is_not_followed_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 10):
        process(tmp_path, number, str(number + 1))
    monkeypatch.setattr(linux, "DESCENDANTS_MAX", 3)
    assert LinuxOwnTime(1, tmp_path).descendants() == [2, 3, 4, 5]


def test_names_are_those_of_processes_that_are_there(tmp_path: Path) -> None:
    process(tmp_path, 10)
    (tmp_path / "11").mkdir()
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "comm").write_text("self")
    process(tmp_path, 12)
    assert sorted(linux_names(tmp_path)) == [(10, "name of 10"), (12, "name of 12")]
    with pytest.raises(FileNotFoundError):
        list(linux_names(tmp_path / "gone"))


@pytest.mark.parametrize(
    ("name", "compared"),
    [
        ("Blender.EXE", "blender"),
        (" zoom ", "zoom"),
        ("exe.zoom", "exe.zoom"),
        ("fifteen-letters", "fifteen-letters"),
        ("sixteen--letters", "sixteen--letter"),
        ("Straße", "strasse"),
    ],
)
def test_names_of_programs_are_compared_plainly(name: str, compared: str) -> None:
    assert plain(name) == compared


def test_exclusive_programs_are_found_by_the_names_that_were_written() -> None:
    asked: list[int] = []

    def own() -> list[int]:
        asked.append(1)
        return [7]

    programs = ExclusivePrograms(lambda: [(7, "obs"), (8, "zoom"), (9, "ZOOM.exe")], own)
    assert programs.read() == Seen(())
    programs.watch(("blender",))
    assert (programs.read(), asked) == (Seen(()), [])
    programs.watch(("Zoom", "OBS"))
    assert programs.read() == Seen(("Zoom",))


def test_names_to_choose_are_each_once_sorted_and_of_others() -> None:
    listed = [
        (1, "Zoom.EXE"),
        (2, "zoom"),
        (3, "bee"),
        (4, "Ant"),
        (5, "a,b"),
        (6, " "),
        (7, "own"),
    ]
    me = (os.getpid(), "me")
    assert names_to_choose([*listed, me], [7]) == ("Ant", "bee", "Zoom")


# -- terminals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("console", "where"), [("tty2", "tty2"), ("ttyS0", ""), ("hvc0", ""), ("2", "")]
)
def test_of_consoles_only_the_one_on_the_screen_counts(
    tmp_path: Path, console: str, where: str
) -> None:
    for name in (console, "ttyS0", "tty9"):
        (tmp_path / name).touch()
    (tmp_path / "active").write_text(f"{console}\n")
    (tmp_path / "pts").mkdir()
    (tmp_path / "pts" / "ptmx").touch()
    wall_s = (tmp_path / console).stat().st_atime + 90.0
    source = terminal_last_input(
        Clock(), lambda: wall_s, tmp_path / "pts", tmp_path / "active", tmp_path
    )
    found = of_kind(Seen, source.read())
    expected = LastInput(910.0, None, where) if where else LastInput(float("-inf"))
    assert (found.value.where, found.by) == (where, "terminals")
    assert found.value.at_s == pytest.approx(expected.at_s, abs=0.001)


# -- sessions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("logins", "expected"),
    [
        ([], Sessions(nobody=True)),
        ([Login(1, "me", True, False)], Sessions()),
        ([Login(1, "me", True, True)], Sessions(locked=True)),
        ([Login(1, "me", False, False)], Sessions(locked=True)),
        ([Login(1, "me", True, False), Login(1, "me", True, True)], Sessions()),
        (
            [Login(2, "ben", True, False), Login(3, "anna", True, False)],
            Sessions(others=("anna", "ben")),
        ),
        ([Login(2, "ben", True, True), Login(3, "anna", False, False)], Sessions()),
        (
            [Login(1, "me", False, False), Login(2, "ben", True, False)],
            Sessions(locked=True, others=("ben",)),
        ),
    ],
)
def test_what_logins_mean(logins: list[Login], expected: Sessions) -> None:
    assert sessions_of(logins, 1) == expected


def test_where_logind_does_not_tell_that_is_said() -> None:
    def ask(*_: object) -> object:
        raise BusError("the bus is gone")

    bus = cast("Bus", SimpleNamespace(ask=ask, close=None))
    assert logind_sessions(bus, 1).read() == Unseen(SystemSays("the bus is gone"))


@pytest.mark.parametrize(
    ("environment", "savers"),
    [
        ({}, [SAVER_NAME] * 2),
        ({"DISPLAY": ":7"}, [x11.NAME, SAVER_NAME, SAVER_NAME]),
        ({"WAYLAND_DISPLAY": "w"}, [SAVER_NAME] * 2),
        ({"DISPLAY": ":7", "WAYLAND_DISPLAY": "w"}, [SAVER_NAME] * 2),
    ],
)
def test_each_kind_of_session_has_its_own_sources(
    environment: dict[str, str], savers: list[str]
) -> None:
    sources = linux_sources(Clock(), environment)
    [screens] = sources.of[Kind.SESSION]
    assert isinstance(screens, Screens)
    assert [cast("Asked[bool]", each).by for each in screens._savers] == savers
    (screen, _), [full] = sources.of[Kind.INPUT], sources.of[Kind.FULL_SCREEN]
    if "WAYLAND_DISPLAY" in environment:
        for each in (screen, full):
            assert isinstance(each, FirstThatSees)
            assert len(each._sources) == 3
    elif environment:
        assert [cast("Asked[object]", each).by for each in (screen, full)] == [x11.NAME] * 2
    else:
        assert screen.read() == full.read() == Unseen(NoScreen())
    sources.close()


# -- what fills a screen of X11 ------------------------------------------------------------------

FULL, ABOVE = 501, 502


class Screen:
    """A screen of 800 by 600; the topmost window is the last."""

    root = 1

    def __init__(
        self,
        windows: dict[int, tuple[int, int]],
        properties: dict[tuple[int, str], tuple[int, ...]],
    ) -> None:
        self._windows, self._properties = windows, properties
        self.hidden: set[int] = set()
        self.closed: set[int] = set()

    def numbers(self, window: int, name: str) -> tuple[int, ...]:
        self._still(window)
        return self._properties.get((window, name), ())

    def atom(self, name: str) -> int:
        return {"_NET_WM_STATE_FULLSCREEN": FULL, "_NET_WM_STATE_ABOVE": ABOVE}[name]

    def size(self, window: int) -> tuple[int, int]:
        self._still(window)
        return {1: (800, 600), **self._windows}[window]

    def windows(self) -> tuple[int, ...]:
        return tuple(self._windows)

    def shown(self, window: int) -> bool:
        return window not in self.hidden

    def text(self, window: int, name: str) -> str:
        self._still(window)
        return {2: "mpv\0Mpv\0"}.get(window, "") if name == "WM_CLASS" else ""

    def _still(self, window: int) -> None:
        if window in self.closed:
            raise XRefusal("it was closed")


@pytest.mark.parametrize(
    ("windows", "filling"),
    [
        ({}, None),
        ({2: (800, 600)}, NamedFills("mpv")),
        ({3: (801, 601)}, ProgramFills()),
        ({2: (799, 600)}, None),
        ({2: (800, 599)}, None),
        ({4: (800, 600)}, None),
        ({5: (800, 600), 2: (800, 600)}, NamedFills("mpv")),
        ({5: (800, 600)}, None),
        ({2: (800, 600), **{100 + each: (1, 1) for each in range(63)}}, NamedFills("mpv")),
        ({2: (800, 600), **{100 + each: (1, 1) for each in range(64)}}, None),
    ],
)
def test_without_a_manager_a_window_as_large_as_the_screen_fills_it(
    windows: dict[int, tuple[int, int]], filling: Reason | None
) -> None:
    screen = Screen(windows, {})
    screen.hidden, screen.closed = {4}, {5}
    assert x11.filling(cast("Any", screen)) == filling


@pytest.mark.parametrize(
    ("active", "states", "filling"),
    [
        ((), (FULL,), None),
        ((0,), (FULL,), None),
        ((2,), (ABOVE, FULL), NamedFills("mpv")),
        ((2,), (ABOVE,), None),
        ((2,), (), None),
        ((5,), (FULL,), None),
    ],
)
def test_with_a_manager_the_active_window_does_as_it_says(
    active: tuple[int, ...], states: tuple[int, ...], filling: Reason | None
) -> None:
    told = {(1, "_NET_SUPPORTING_WM_CHECK"): (9,), (1, "_NET_ACTIVE_WINDOW"): active}
    told |= {(window, "_NET_WM_STATE"): states for window in (0, 2, 5)}
    screen = Screen({2: (800, 600), 6: (800, 600)}, told)
    screen.closed = {5}
    assert x11.filling(cast("Any", screen)) == filling


# -- what desktops answer ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "quiet_s"),
    [
        ([(0.0, 40)], 0.04),
        ([(0.0, 40), (1.25, 41)], 0.041),  # too soon to tell
        ([(0.0, 40), (1.5, 42)], 42.0),
        ([(0.0, 40), (1.5, 1_540)], 1.54),
        ([(0.0, 40), (2.0, 100)], 100.0),
        ([(0.0, 40), (2.0, 101)], 0.101),
        ([(0.0, 40), (2.0, 40)], 0.04),  # it does not count yet
        ([(0.0, 40), (2.0, 0), (3.0, 2), (3.5, 2)], 2.0),  # somebody was there in between
        ([(0.0, 40), (2.0, 42), (3.0, 9_000)], 9_000.0),  # it stays as it was found out
    ],
)
def test_seconds_and_milliseconds_are_told_apart_by_how_they_grow(
    answers: list[tuple[float, int]], quiet_s: float
) -> None:
    clock, told = Clock(0.0), [0]
    bus = cast("Bus", SimpleNamespace(ask=lambda *_: (told[0],), close=None))
    source = saver_last_input(bus, clock)
    for at_s, told[0] in answers[:-1]:
        clock.pass_s(at_s - clock())
        source.read()
    last_s, told[0] = answers[-1]
    clock.pass_s(last_s - clock())
    assert of_kind(Seen, source.read()).value.at_s == pytest.approx(clock() - quiet_s)
