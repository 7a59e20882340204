"""The tray on desktops whose panel listens on the bus: KDE, GNOME with its extension, most of Wayland.

There is no window in a panel to click; the panel asks for the menu and says which entry was chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.api.methods import RESUME
from agent.api.volunteering import Resume
from agent.client import BlockingClient
from tests.desktop.desktop import END_S_MAX
from tests.desktop.office import Office, Window
from tests.desktop.screen_reader import ScreenReader
from tests.desktop.status_host import StatusHost, status_host
from tests.desktop.virtual_desktop import VirtualDesktop, virtual_desktop

if sys.platform != "linux":
    pytest.skip("the desktop that these runs start is one of Linux", allow_module_level=True)

PORTUGUESE = {"LANG": "pt_BR.UTF-8", "LC_ALL": "pt_BR.UTF-8"}
SMALLEST_ICON = 16

pytestmark = pytest.mark.xdist_group("desktop")


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
