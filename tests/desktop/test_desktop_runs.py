"""Wingbeat as a person uses it: a real flock, the real tray and window, mouse, keyboard and eyes.

What comes out is asked of the agent, and read off the window as a screen reader reads it.
"""

from __future__ import annotations

import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.api.values import TaskState
from agent.api.volunteering import RESUME, Resume
from agent.client import BlockingClient
from tests.desktop.desktop import END_S_MAX, LIMIT_S
from tests.desktop.folder_window import folder_window
from tests.desktop.office import Office, Window
from tests.desktop.screen_reader import ScreenReader
from tests.desktop.status_host import StatusHost, status_host
from tests.desktop.virtual_desktop import PANEL_HEIGHT, VirtualDesktop, virtual_desktop

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


# -- at 200 and 250 % nothing may lie outside ------------------------------------------------
#
# A usual screen has a quarter of its room then, or less.


EDGE = 1
"""What rounding to whole pixels makes of a scaled edge."""


@pytest.mark.parametrize(
    ("size", "factor"), [((1920, 1080), 2.0), ((2560, 1440), 2.5)], ids=["200 %", "250 %"]
)
def test_the_window_fits_the_screen_and_can_be_used(
    tmp_path: Path, size: tuple[int, int], factor: float
) -> None:
    with virtual_desktop(tmp_path, size) as desktop:
        office = Office(tmp_path, desktop, answer="")
        with office.window(QT_SCALE_FACTOR=str(factor)) as window:
            window.desktop.sees(lambda: window.tells("Helps nobody until"), "the agent is heard")
            _on_screen(desktop, window.frame, size)
            _on_screen(desktop, _dialog(desktop, "Welcome"), size)
            assert window.part("firstRunNext").enabled
            desktop.keys("Escape")
            desktop.sees(lambda: desktop.in_front() == "Wingbeat", "the dialog is gone")
            _whole(window, factor)
            desktop.keys("ctrl+comma")
            _on_screen(desktop, _dialog(desktop, "Settings"), size)


def _dialog(desktop: VirtualDesktop, title: str) -> str:
    desktop.sees(lambda: desktop.in_front().startswith(title), f"{title} is in front")
    return desktop.windows("--name", f"^{title}")[-1]


def _on_screen(desktop: VirtualDesktop, frame: str, size: tuple[int, int]) -> None:
    """Where the window manager leaves it: it may still be on its way there."""

    def inside() -> bool:
        left, top, width, height = desktop.extents(frame)
        return (
            min(left, top) >= 0
            and min(width, height) > 0
            and left + width <= size[0]
            and top + height <= size[1] - PANEL_HEIGHT
        )

    desktop.sees(inside, f"it is on the screen as a whole, and not {desktop.extents(frame)}")


def _whole(window: Window, factor: float) -> None:
    """What stands at the edges; a screen reader is told places in pixels of 100 %."""
    left, top, width, height = (each / factor for each in window.desktop.extents(window.frame))
    for name in ("workflowsFilter", "settingsButton", "pauseButton", "presenceSentence"):
        x, y, wide, high = window.part(name).extents
        assert min(wide, high) > 0, name
        assert x >= left - EDGE, name
        assert y >= top - EDGE, name
        assert x + wide <= left + width + EDGE, name
        assert y + high <= top + height + EDGE, name


# -- a tray on the bus -----------------------------------------------------------------------
#
# As on KDE, on GNOME with its extension, on most of Wayland: there is no window in a panel to click;
# the panel asks for the menu and says which entry was chosen.


PORTUGUESE = {"LANG": "pt_BR.UTF-8", "LC_ALL": "pt_BR.UTF-8"}
SMALLEST_ICON = 16


@pytest.fixture
def host(desktop: VirtualDesktop) -> Iterator[StatusHost]:
    with status_host(desktop.bus_address) as made:
        yield made


@pytest.fixture
def tray(office: Office, host: StatusHost) -> Iterator[Window]:
    """The program without its window, and the agent's word in the panel."""
    with office.window("--background") as made:
        made.desktop.sees(lambda: bool(host.items), "the icon is in the panel")
        made.desktop.sees(lambda: "Ready to help" in host.item.sentence(), "the agent is heard")
        yield made


def test_the_panel_gets_icon_sentence_and_menu(tray: Window, host: StatusHost) -> None:
    width, height, pixels = host.item.picture()
    assert width == height >= SMALLEST_ICON
    assert any(pixels), "the icon is empty"
    texts = [line.text for line in host.item.menu() if line.text]
    assert texts[0] == "Open Wingbeat"
    assert texts[-1].startswith("Quit")
    assert any(line.text == "Pause" and len(line.lines) > 1 for line in host.item.menu())


def test_a_pause_is_chosen_counted_down_and_taken_back(
    office: Office, tray: Window, host: StatusHost
) -> None:
    try:
        host.item.choose("Pause", "For 15 minutes")
        tray.desktop.sees(lambda: office.volunteering().paused, "the agent pauses")
        tray.desktop.sees(lambda: "Paused, 1" in host.item.sentence(), "the panel counts down")
        host.item.choose("Resume")
        tray.desktop.sees(lambda: not office.volunteering().paused, "the agent helps again")
    finally:
        with BlockingClient(office.own.home) as client:
            client.call(RESUME, Resume())


def test_a_click_opens_the_window_and_so_does_the_menu(tray: Window, host: StatusHost) -> None:
    host.item.activate()
    tray.to_front()
    tray.desktop.keys("ctrl+w")
    tray.desktop.sees(lambda: tray.desktop.in_front() != "Wingbeat", "it is put away")
    host.item.choose("Open Wingbeat")
    tray.to_front()


def test_quitting_is_asked_for_and_done(tray: Window, host: StatusHost) -> None:
    host.item.choose("Quit")
    now = tray.part("quitNow")
    tray.desktop.sees(lambda: tray.desktop.in_front() == "Wingbeat", "the question is in front")
    tray.click(now)
    assert tray.program.wait(END_S_MAX) == 0


def test_a_panel_that_comes_later_or_again_has_the_icon(tmp_path: Path) -> None:
    """A program that starts with the login is there before its panel; panels are restarted."""
    with virtual_desktop(tmp_path, panel=False) as bare:
        home = str(tmp_path / "home")
        with bare.program(sys.executable, "-m", "gui", "--background", WINGBEAT_HOME=home) as own:
            reader = ScreenReader(bare.bus_address, own.pid)
            bare.sees(lambda: any(reader.everything()), "without a panel there is a window")
            reader.close()
            for panel in ("the first panel", "one after it"):
                _has_the_icon(bare, panel)


def _has_the_icon(desktop: VirtualDesktop, panel: str) -> None:
    with status_host(desktop.bus_address) as host:
        desktop.sees(lambda: bool(host.items), f"{panel} has the icon")
        assert "Wingbeat" in host.item.sentence()
        assert host.item.menu()


def test_it_speaks_portuguese_where_the_desktop_does(office: Office, host: StatusHost) -> None:
    with office.window("--background", **PORTUGUESE) as window:
        window.desktop.sees(lambda: bool(host.items), "the icon is in the panel")
        window.desktop.sees(lambda: "Pronto para ajudar" in host.item.sentence(), "in Portuguese")
        host.item.choose("Abrir")
        window.desktop.sees(lambda: window.tells("Fluxos"), "so is the window")
