"""The program as a whole: its start before its agent, the agent that dies under it, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from agent.api.values import TaskState
from agent.client import Home
from agent.client.own_agent import OwnAgent
from gui import hosting
from gui.__main__ import _let_signals_in, main
from gui.application import Application
from gui.foreground import ANY_PROCESS, TOKEN, WAYLAND, TokenForeground, WindowsForeground
from gui.hosting import Hosting
from gui.model.notices import Absence, Absent
from gui.model.tray import Act, Entry, is_paused, sentence_of
from gui.single import FirstInstance, SilentWindowError, become_first
from tests.certain import certain, of_kind
from tests.gui.acts import WITHIN_MS
from tests.gui.machines import prepared, submit
from tests.gui.whole import program
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.style.source import REPOSITORY

QUARTER_S = 15 * 60
LONG_S, SHORT_S = 600, 4
STEP = "name: {name}\ntasks:\n  survey: {{program: import, parameters: '{seconds}'}}\n"


@pytest.fixture
def ended(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The application of all tests does not really quit."""
    told: list[bool] = []
    monkeypatch.setattr(qapp, "quit", lambda: told.append(True))
    return told


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """With programs, and without an agent."""
    return prepared(tmp_path, "acor")


def busy(qtbot: QtBot, whole: Application, machine: Machine, folder: Path, seconds: int) -> None:
    """A task runs here for so long."""
    qtbot.waitUntil(lambda: whole.screen.node is not None, timeout=WITHIN_MS)
    thread = threading.Thread(
        target=submit, args=(machine, folder, STEP.format(name="line", seconds=seconds))
    )
    thread.start()
    qtbot.waitUntil(lambda: bool(_running(whole)), timeout=WITHIN_MS)
    thread.join()


def _running(whole: Application) -> list[str]:
    node = whole.screen.node
    return [each.name for each in node.tasks] if node is not None else []


# -- the start ---------------------------------------------------------------------------------


def test_a_pause_before_the_agent_is_up_is_kept_for_it(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine
) -> None:
    with program(qtbot, qapp, ended, machine) as whole:
        assert sentence_of(whole.screen, 0.0) == "Starting …"
        assert whole.context.press(Entry(Act.PAUSE, length_s=QUARTER_S))
        assert sentence_of(whole.screen, 0.0) == "Starting …; pauses as soon as it is up"
        assert is_paused(whole.screen)
        qtbot.waitUntil(
            lambda: bool(whole.screen.volunteering and whole.screen.volunteering.paused),
            timeout=WITHIN_MS,
        )
        assert whole.screen.early is None
        view = certain(whole.screen.volunteering)
        assert view.paused_until_ms is not None


def test_a_pause_can_be_taken_back_before_it_was_said(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine
) -> None:
    with program(qtbot, qapp, ended, machine) as whole:
        whole.context.press(Entry(Act.PAUSE_OPEN_ENDED))
        whole.context.press(Entry(Act.RESUME))
        assert not is_paused(whole.screen)
        qtbot.waitUntil(lambda: whole.screen.volunteering is not None, timeout=WITHIN_MS)
        assert not is_paused(whole.screen)


def test_an_agent_that_starts_is_no_trouble_and_one_that_cannot_is(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], tmp_path: Path
) -> None:
    """A home whose data folder is a file."""
    machine = Machine(tmp_path / "home")
    machine.folder.mkdir()
    (machine.folder / "data").write_text("no folder")
    with program(qtbot, qapp, ended, machine) as whole:
        qtbot.waitUntil(whole.window.fault.isVisible, timeout=WITHIN_MS)
        assert "data" in whole.window.fault.sentence.text()
        qtbot.waitUntil(whole.window.trouble.isVisible, timeout=WITHIN_MS)
        assert whole.window.trouble.help.text() == "Start it"


# -- the agent dies ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "help_text"),
    [
        pytest.param(getattr(signal, "SIGKILL", signal.SIGTERM), "Start it", id="has died"),
        pytest.param(
            getattr(signal, "SIGSTOP", None),
            "Start it anew",
            id="hangs",
            marks=pytest.mark.skipif(
                sys.platform == "win32", reason="a process is stopped by a signal there only"
            ),
        ),
    ],
)
def test_the_button_starts_another_agent_for_one_that(
    qtbot: QtBot,
    qapp: QApplication,
    ended: list[bool],
    machine: Machine,
    number: signal.Signals,
    help_text: str,
) -> None:
    with machine.agent("--port", "0") as process, program(qtbot, qapp, ended, machine) as whole:
        qtbot.waitUntil(lambda: whole.screen.node is not None, timeout=WITHIN_MS)
        assert not whole.hosting.hosts
        os.kill(process.pid, number)
        # On a busy machine one that dies may have been silent before, and its end is told after that.
        qtbot.waitUntil(lambda: whole.window.trouble.help.text() == help_text, timeout=WITHIN_MS)
        whole.window.trouble.help.click()
        if help_text == "Start it":
            assert not whole.window.trouble.isVisible()
        qtbot.waitUntil(lambda: process.poll() is not None, timeout=WITHIN_MS)
        qtbot.waitUntil(lambda: whole.screen.absence is None, timeout=WITHIN_MS)
        # The agent answers a moment before the thread that starts it has it in hand.
        qtbot.waitUntil(lambda: whole.hosting.hosts, timeout=WITHIN_MS)


# -- the end -----------------------------------------------------------------------------------


class Quitting:
    """What is asked to quit."""

    def __init__(self) -> None:
        self.asked = False

    def quit(self) -> None:
        self.asked = True


def test_a_signal_in_the_midst_of_an_event_ends_it_after_that(
    qtbot: QtBot, qapp: QApplication
) -> None:
    whole, during = Quitting(), list[bool]()

    def event() -> None:
        signal.raise_signal(signal.SIGTERM)
        during.append(whole.asked)

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    if hasattr(signal, "SIGHUP"):
        before[signal.SIGHUP] = signal.getsignal(signal.SIGHUP)
    timers = set(qapp.findChildren(QTimer))
    _let_signals_in(qapp, cast("Application", whole))
    try:
        QTimer.singleShot(0, event)
        qtbot.waitUntil(lambda: whole.asked, timeout=WITHIN_MS)
        assert during == [False]
    finally:
        for each, heard in before.items():
            signal.signal(each, heard)
        for timer in set(qapp.findChildren(QTimer)) - timers:
            timer.deleteLater()


def choose(whole: Application, name: str) -> None:
    """One of the answers to what becomes of what runs."""
    whole.ask_to_quit()
    names = {each.objectName(): each for each in whole._question.buttons()}
    assert {"quitNow", "quitAfter"} <= set(names)
    button = of_kind(QPushButton, names[name])
    button.click()


def test_finishing_first_ends_with_the_task_and_leaves_no_pause(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine, tmp_path: Path
) -> None:
    with program(qtbot, qapp, ended, machine) as whole:
        busy(qtbot, whole, machine, tmp_path, SHORT_S)
        choose(whole, "quitAfter")
        assert not ended
        qtbot.waitUntil(lambda: bool(ended), timeout=WITHIN_MS)
        assert not whole.hosting.hosts
    with machine.agent("--port", "0"):
        assert not machine.answer("volunteering")["paused"]
        (workflow,) = machine.answer("status")["workflows"]
        assert workflow["counts"] == {TaskState.TERMINATED.value: 1}


def test_whoever_resumes_meanwhile_stays(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine, tmp_path: Path
) -> None:
    with program(qtbot, qapp, ended, machine) as whole:
        busy(qtbot, whole, machine, tmp_path, SHORT_S)
        choose(whole, "quitAfter")
        qtbot.waitUntil(
            lambda: bool(whole.screen.volunteering and whole.screen.volunteering.finishing),
            timeout=WITHIN_MS,
        )
        whole.context.press(Entry(Act.RESUME))
        qtbot.waitUntil(lambda: not whole.finishing.under_way, timeout=WITHIN_MS)
        assert not ended


def test_handing_back_ends_at_once(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine, tmp_path: Path
) -> None:
    with program(qtbot, qapp, ended, machine) as whole:
        busy(qtbot, whole, machine, tmp_path, LONG_S)
        choose(whole, "quitNow")
        qtbot.waitUntil(lambda: bool(ended), timeout=WITHIN_MS)
        assert not whole.hosting.hosts


def test_who_has_nothing_to_finish_is_only_asked_whether_to_quit(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine
) -> None:
    with program(qtbot, qapp, ended, machine) as whole:
        qtbot.waitUntil(lambda: whole.screen.node is not None, timeout=WITHIN_MS)
        qtbot.waitUntil(lambda: whole.hosting.hosts, timeout=WITHIN_MS)
        assert whole.window.isVisible()
        whole.ask_to_quit()
        assert {each.text() for each in whole._question.buttons()} == {"Quit", "Stay"}
        whole._question.close()
    assert not whole.hosting.hosts


def test_an_agent_of_its_own_goes_on_without_the_window(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine
) -> None:
    with machine.agent("--port", "0") as process:
        with program(qtbot, qapp, ended, machine) as whole:
            qtbot.waitUntil(lambda: whole.screen.node is not None, timeout=WITHIN_MS)
            whole.ask_to_quit()
            assert "goes on" in whole._question.informativeText()
            whole._question.close()
        assert process.poll() is None
        assert machine.answer("status")["node"]["name"]


# -- one program for each home -----------------------------------------------------------------


def test_of_two_that_start_at_once_one_is_the_first(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    lock = certain(become_first(home, []))
    assert lock.isLocked()
    with pytest.raises(SilentWindowError) as silent:
        become_first(home, [], within_s=0.1)
    assert silent.value.process == os.getpid()
    lock.unlock()
    again = certain(become_first(home, []))
    again.unlock()


SECOND = """
import sys
from pathlib import Path
from agent.client import Home
from gui.single import become_first
sys.exit(0 if become_first(Home.at(Path(sys.argv[1])), sys.argv[2:]) is None else 7)
"""


def test_one_that_starts_while_the_first_ends_waits_for_its_place(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    lock = certain(become_first(home, []))
    ending = threading.Timer(0.2, lock.unlock)
    ending.start()
    began_s = time.monotonic()
    after = certain(become_first(home, [], within_s=WITHIN_MS / 1000))
    assert time.monotonic() - began_s < WITHIN_MS / 2_000
    ending.join()
    after.unlock()


def test_a_first_that_answers_gets_what_the_second_was_given(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    home = Home.at(tmp_path)
    lock = certain(become_first(home, []))
    first = FirstInstance(home)
    command = [sys.executable, "-c", SECOND, str(tmp_path), "/a file"]
    with (
        qtbot.waitSignal(first.called, timeout=WITHIN_MS) as called,
        subprocess.Popen(command, cwd=REPOSITORY) as second,
    ):
        qtbot.waitUntil(lambda: second.poll() is not None, timeout=WITHIN_MS)
    assert (second.returncode, called.args) == (0, [["/a file"]])
    first.close()
    lock.unlock()


def test_the_right_to_come_to_front_is_handed_on() -> None:
    given = TokenForeground({TOKEN: "from the launcher", WAYLAND: "wayland-1"}).give()
    taken = {WAYLAND: "wayland-1"}
    TokenForeground(taken).take(given)
    assert taken[TOKEN] == "from the launcher"
    on_x11: dict[str, str] = {}
    TokenForeground(on_x11).take(given)
    assert on_x11 == {}


class FakeUser:
    """As much of Windows' user32 as is called."""

    class Call:
        def __init__(self) -> None:
            self.told: list[int] = []
            self.argtypes: object = None
            self.restype: object = None

        def __call__(self, process: int) -> int:
            self.told.append(process)
            return 1

    def __init__(self) -> None:
        self.AllowSetForegroundWindow = self.Call()


def test_on_windows_the_second_lets_the_first_come_to_front() -> None:
    user = FakeUser()
    assert WindowsForeground(user).give() == ""
    assert user.AllowSetForegroundWindow.told == [ANY_PROCESS]
    assert user.AllowSetForegroundWindow.argtypes is not None


@pytest.mark.skipif(sys.platform != "linux", reason="every session has a desktop there")
@pytest.mark.parametrize("silent", [False, True], ids=["first", "second"])
def test_without_a_desktop_it_says_so(tmp_path: Path, silent: bool) -> None:
    lock = certain(become_first(Home.at(tmp_path), [])) if silent else None
    known = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: text for name, text in os.environ.items() if name not in known}
    done = subprocess.run(
        [sys.executable, "-m", "gui"],
        cwd=REPOSITORY,
        env={**environment, "WINGBEAT_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=WITHIN_MS / 1000,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert (f"as process {os.getpid()}" if lock else "wingbeat agent") in done.stderr


def test_what_is_awaited_and_not_there_is_starting(
    qtbot: QtBot, qapp: QApplication, ended: list[bool], machine: Machine
) -> None:
    with program(qtbot, qapp, ended, machine) as whole:
        seen: list[Absence] = []
        whole.context.changed.connect(lambda _: seen.append(_why(whole)))
        qtbot.waitUntil(lambda: whole.screen.node is not None, timeout=WITHIN_MS)
    assert Absence.NO_AGENT not in seen


def _why(whole: Application) -> Absence:
    absence: Absent | None = whole.screen.absence
    return absence.why if absence is not None else Absence.STARTING


# -- an end in the moment in which it begins -------------------------------------------------


class Agent:
    """Remembers why it was stopped; satisfies ``OwnAgent``."""

    def __init__(self) -> None:
        self.alive = True
        self.stopped: list[str] = []

    def stop(self, reason: str, within_s: float = 30.0) -> bool:
        self.alive = False
        self.stopped.append(f"{reason}, within {within_s} s")
        return True


def test_a_session_that_ends_while_the_agent_begins_has_it_hand_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, begins, may_begin = Agent(), threading.Event(), threading.Event()

    def host(home: Home, anew: Callable[[], object]) -> OwnAgent:
        begins.set()
        assert may_begin.wait(EVENTUALLY_S_MAX)
        return agent

    monkeypatch.setattr(hosting, "host", host)
    hosted = Hosting(Home.at(tmp_path))
    hosted.begin()
    assert begins.wait(EVENTUALLY_S_MAX)
    assert hosted.starting
    assert hosted._thread is not None
    waited = hosted._thread.join

    def join(limit_s: float | None = None) -> None:
        may_begin.set()  # it begins only because its end waits for it
        waited(limit_s)

    monkeypatch.setattr(hosted._thread, "join", join)
    hosted.end_now("the session ends")
    may_begin.set()
    assert [each.partition(",")[0] for each in agent.stopped] == 2 * ["the session ends"]
    assert not hosted.hosts


def test_without_a_screen_or_a_terminal_it_only_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINGBEAT_HOME", str(tmp_path))
    monkeypatch.setattr("gui.__main__._screen_there", lambda: False)
    monkeypatch.setattr(sys, "stderr", None)
    assert main([]) == 1
