"""Wingbeat as a person uses it: a real flock, the real tray and window, mouse, keyboard and eyes.

What comes out is asked of the agent, and read off the window as a screen reader reads it.
"""

from __future__ import annotations

import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from agent.api.methods import RESUME
from agent.api.values import TaskState
from agent.api.volunteering import Resume
from agent.client import BlockingClient
from tests.desktop.desktop import END_S_MAX, LIMIT_S
from tests.desktop.folder_window import folder_window
from tests.desktop.office import Office, Window

if sys.platform == "win32":
    pytest.skip("the desktop that these runs start is one of X11", allow_module_level=True)

QUARTER_S = 15 * 60

pytestmark = pytest.mark.xdist_group("desktop")


def submit(window: Window, name: str, folder: Path) -> str:
    """Hand a file to the window as a second start does, press Enter; the identifier it got."""
    office = window.office
    with office.start_window(str(office.file(name, folder))) as second:
        assert second.wait(LIMIT_S) == 0
    return confirm(window, name)


def confirm(window: Window, name: str) -> str:
    """Enter, once the sheet has found nothing wrong; the workflow's identifier."""
    window.desktop.sees(lambda: window.part("submitDo").enabled, "the sheet has read the file")
    window.desktop.sees(lambda: window.desktop.in_front() != "Wingbeat", "the sheet is in front")
    window.desktop.keys("Return")
    window.desktop.sees(lambda: name in window.office.workflows(), "the agent has it")
    return window.office.workflows()[name]


def states(window: Window, workflow: str, *expected: TaskState) -> None:
    """Wait until the agent has the tasks in these states."""
    window.desktop.sees(
        lambda: window.office.states(workflow) == list(expected), f"they are {expected}"
    )


def read_output(window: Window, task: str) -> None:
    """Of a task of the chosen workflow, in a window of its own."""
    window.click(window.called("Tasks", "page tab"))
    window.click(window.called(f"Task: {task}"))
    window.click(window.part("taskLog"))
    window.desktop.sees(
        lambda: "reading the flight lines" in window.part("taskLogText").text, "its output"
    )
    window.desktop.keys("Escape")


def test_a_pause_chosen_in_the_menu_of_the_tray_holds(office: Office, window: Window) -> None:
    assert not office.volunteering().paused
    window.open_tray_menu()
    office.desktop.keys("Up", "Up", "Up", "Right", "Return")
    office.desktop.sees(lambda: office.volunteering().paused, "the agent pauses")
    until_ms = office.volunteering().paused_until_ms
    assert until_ms is not None
    assert QUARTER_S - LIMIT_S < until_ms / 1000 - time.time() <= QUARTER_S
    office.desktop.sees(lambda: window.tells("Paused, "), "the window says so")
    with BlockingClient(office.own.home) as client:
        client.call(RESUME, Resume())
    office.desktop.sees(lambda: window.tells("Ready to help"), "the window sees the end of it")


def test_a_left_click_on_the_tray_opens_the_window(office: Office) -> None:
    with office.window("--background") as window:
        window.click_tray(1)
        window.to_front()


def test_a_file_dropped_from_a_file_manager_is_done(window: Window, tmp_path: Path) -> None:
    """Dropped on the window; Enter submits; the end is seen in the window."""
    folder = tmp_path / "survey of today"
    folder.mkdir()
    with folder_window(window.desktop, folder) as files:
        place = files.place_of_new(lambda: window.office.file("Line 42 north", folder))
        window.drop(place, files.held, files.dragged)
        workflow = confirm(window, "Line 42 north")
    # What the tray tells goes away by itself: it is looked for before anything that stays.
    window.desktop.sees(lambda: window.tells("Line 42 north is done"), "the tray tells of it")
    states(window, workflow, TaskState.TERMINATED, TaskState.TERMINATED)
    window.called("Workflow: Line 42 north")
    window.desktop.sees(lambda: window.tells("Done: 2/2"), "the window shows the end")


def test_a_failed_task_is_retried_by_a_key(window: Window, tmp_path: Path) -> None:
    office = window.office
    office.calibration.unlink()
    try:
        workflow = submit(window, "Line 17", tmp_path)
        window.desktop.sees(
            lambda: TaskState.ABORTED in office.states(workflow), "the first task has failed"
        )
        row = window.called("Workflow: Line 17")
        window.desktop.sees(lambda: window.tells("failed"), "the window shows it")
        read_output(window, "survey")
        window.to_front()
    finally:
        office.calibration.touch()
    window.click(row)
    window.desktop.keys("F5")
    states(window, workflow, TaskState.TERMINATED, TaskState.TERMINATED)


def test_the_output_of_a_task_and_the_log_are_read(window: Window, tmp_path: Path) -> None:
    workflow = submit(window, "Line 08", tmp_path)
    states(window, workflow, TaskState.TERMINATED, TaskState.TERMINATED)
    window.click(window.called("Workflow: Line 08"))
    read_output(window, "report")
    window.desktop.sees(lambda: window.reader.found("taskLogText") is None, "its window is shut")
    window.desktop.keys("ctrl+5")
    window.desktop.sees(
        lambda: "workflow Line 08 has ended" in window.part("agentLog").text, "the agent's log"
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_an_agent_that_is_gone_is_told_and_comes_back(
    office: Office, window: Window, number: signal.Signals
) -> None:
    """How soon is said by the benchmarks: a machine that runs tests may be slow."""
    window.desktop.sees(lambda: not window.troubled(), "all is well")
    window.desktop.keys("ctrl+2")
    try:
        office.signal_agent(number)
        window.desktop.sees(window.troubled, "the window says what is wrong")
        sentence, remedy = window.trouble()
    finally:
        office.bring_back(number)
    assert sentence.startswith("The agent ")
    assert remedy.startswith("Start it")
    window.desktop.sees(lambda: not window.troubled(), "all is well again")
    window.desktop.sees(lambda: window.tells("Ready to help"), "the agent is heard again")


def test_it_starts_and_ends_while_the_agent_hangs(office: Office) -> None:
    office.signal_agent(signal.SIGSTOP)
    try:
        with office.window() as window:
            window.desktop.sees(window.troubled, "the window says that it hangs")
            window.program.terminate()
            assert window.program.wait(END_S_MAX) == 0
    finally:
        office.bring_back(signal.SIGSTOP)


def test_it_starts_with_the_login_once_that_is_switched_on(office: Office, window: Window) -> None:
    """What the desktop would run then has the icon in the tray, and no window."""
    desktop = window.desktop
    entry = Path(desktop.environment["HOME"]) / ".config" / "autostart" / "wingbeat.desktop"
    desktop.keys("ctrl+comma")
    window.part("atLogin").press()
    desktop.sees(entry.exists, "the desktop is told")
    command = shlex.split(_value(entry, "Exec"))
    window.program.terminate()
    assert window.program.wait(END_S_MAX) == 0
    home = {"WINGBEAT_HOME": str(office.own.folder)}
    with desktop.program(*command, **home) as program:
        desktop.sees(lambda: window.icon() is not None, "the icon is in the tray")
        assert desktop.in_front() != "Wingbeat"
        program.terminate()
        assert program.wait(END_S_MAX) == 0
    with office.window() as again:
        again.to_front()
        desktop.keys("ctrl+comma")
        again.part("atLogin").press()
        desktop.sees(lambda: not entry.exists(), "the desktop is told the contrary")


def _value(entry: Path, key: str) -> str:
    lines = entry.read_text("utf-8").splitlines()
    return next(line.removeprefix(f"{key}=") for line in lines if line.startswith(f"{key}="))


def test_a_second_start_brings_the_first_window_to_front(office: Office, window: Window) -> None:
    desktop = window.desktop
    desktop.minimise(window.frame)
    desktop.sees(lambda: desktop.in_front() != "Wingbeat", "it is put away")
    with office.start_window() as second:
        assert second.wait(LIMIT_S) == 0
    window.to_front()
    assert window.program.poll() is None
