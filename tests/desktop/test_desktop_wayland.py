"""Wayland, with a tray and without: there is always a way to the window.

A compositor lets nobody come to front who was not asked for by the person, and some have no tray and
do not minimise: then the window stays, and starting the program again goes to it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.api.values import TaskState
from tests.desktop.desktop import END_S_MAX, LIMIT_S
from tests.desktop.office import Office, ReadWindow
from tests.desktop.status_host import item_of_panel
from tests.desktop.wayland_desktop import SIZE, WaylandDesktop, wayland_desktop

if sys.platform != "linux":
    pytest.skip("the desktop that these runs start is one of Linux", allow_module_level=True)

TOKEN_VALID_S = 25.0
"""The compositor lets a program with a token to the front for 30 s, and not later."""
OTHER = """
from PySide6.QtWidgets import QApplication, QLabel
application = QApplication(["other"])
label = QLabel("something else")
label.setWindowTitle("Other work")
label.show()
application.exec()
"""
LARGE, SCALE = (2560, 1440), 2.5

pytestmark = pytest.mark.xdist_group("desktop")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WaylandDesktop]:
    """Without a tray."""
    with wayland_desktop(tmp_path_factory.mktemp("bare"), panel=False) as made:
        yield made


@pytest.fixture(scope="module")
def office_here(bare: WaylandDesktop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with Office(tmp_path_factory.mktemp("office of wayland"), bare).open() as made:
        yield made


@pytest.fixture
def window(office_here: Office) -> Iterator[ReadWindow]:
    with office_here.read_window() as made:
        made.to_front()
        yield made


def test_a_start_without_a_window_has_one_where_there_is_no_tray(
    office_here: Office, bare: WaylandDesktop
) -> None:
    with office_here.read_window("--background"):
        bare.sees(lambda: "Wingbeat" in bare.windows(), "the window can be reached")


def test_a_second_start_goes_to_the_first_window(
    office_here: Office, bare: WaylandDesktop, window: ReadWindow
) -> None:
    with bare.program(sys.executable, "-c", OTHER):
        bare.sees(lambda: bare.in_front() == "Other work", "something else is in front")

        def started_in_time() -> bool:  # a busy machine may start a program too late for its token
            began_s = time.monotonic()
            with office_here.start_window(XDG_ACTIVATION_TOKEN=bare.start_menu()) as second:
                assert second.wait(LIMIT_S) == 0
            return time.monotonic() - began_s < TOKEN_VALID_S

        bare.sees(started_in_time, "a start within the time that a token is good for")
        window.to_front()
    assert window.program.poll() is None


def test_a_window_that_is_closed_is_not_lost(bare: WaylandDesktop, window: ReadWindow) -> None:
    bare.keys("ctrl+w")
    bare.keys_until(
        lambda: window.reader.found("queueFilter") is not None, "the queue is shown", "ctrl+2"
    )
    assert "Wingbeat" in bare.windows()


def test_a_file_is_submitted_by_keyboard(
    office_here: Office, bare: WaylandDesktop, window: ReadWindow, tmp_path: Path
) -> None:
    with office_here.start_window(str(office_here.file("Line 23", tmp_path))) as second:
        assert second.wait(LIMIT_S) == 0
    bare.sees(lambda: window.part("submitDo").enabled, "the sheet has read the file")
    bare.keys_until(lambda: "Line 23" in office_here.workflows(), "the agent has it", "Return")
    done = [TaskState.TERMINATED, TaskState.TERMINATED]
    workflow = office_here.workflows()["Line 23"]
    bare.sees(lambda: office_here.states(workflow) == done, "it is done")
    bare.sees(lambda: window.tells("Done: 2/2"), "the window shows the end")


def test_the_trouble_bar_starts_what_does_not_run(tmp_path: Path, bare: WaylandDesktop) -> None:
    """Nobody's mouse is needed for it either."""
    office = Office(tmp_path, bare)
    with office.read_window() as window:
        bare.sees(lambda: window.tells("Ready to help"), "its own agent is up")
        office.own.said("stop")
        bare.sees(window.troubled, "the window says that it does not run")
        window.part("agentTroubleHelp").press()
        bare.sees(lambda: not window.troubled(), "it runs again")
        bare.sees(lambda: window.tells("Ready to help"), "and is heard")
        window.program.terminate()
        assert window.program.wait(END_S_MAX) == 0


def test_the_window_fits_when_everything_is_large(bare: WaylandDesktop, window: ReadWindow) -> None:
    bare.screen(LARGE, SCALE)
    try:
        room = LARGE[0] / SCALE, LARGE[1] / SCALE
        bare.sees(lambda: bare.windows()["Wingbeat"][2] <= room[0], "it has the whole screen")
        bare.sees(lambda: _inside(window, room), "all of it is inside")
    finally:
        bare.screen(SIZE, 1)


def _inside(window: ReadWindow, room: tuple[float, float]) -> bool:
    """What stands at the edges; on Wayland places are told from the corner of the window."""
    names = ("workflowsFilter", "settingsButton", "pauseButton", "presenceSentence")
    places = [window.part(name).extents for name in names]
    return all(
        min(x, y) >= 0 and x + wide <= room[0] and y + high <= room[1]
        for x, y, wide, high in places
    )


def test_a_bar_with_a_tray_has_the_icon_and_opens_the_window(tmp_path: Path) -> None:
    with (
        wayland_desktop(tmp_path, panel=True) as desktop,
        desktop.program(
            sys.executable, "-m", "gui", "--background", WINGBEAT_HOME=str(tmp_path / "home")
        ),
        item_of_panel(desktop.bus_address) as item,
    ):
        found = desktop.finds(item, "the bar has the icon")
        assert "Wingbeat" not in desktop.windows()
        assert "Wingbeat" in found.sentence()
        found.activate()
        desktop.sees(lambda: "Wingbeat" in desktop.windows(), "a click opens the window")
