"""The tray, the login, and the agent that comes and goes under the window."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from agent.client import Home
from agent.client.own_agent import host
from agent.client.removal import VALUE
from gui import settings
from gui.application import Application
from gui.model.news import News, NewsKind
from gui.model.notices import Absence
from gui.model.tray import Act, Entry, TrayState
from gui.startup import RUN_KEY, SYSTEM_RUN_KEY, WindowsLogin
from gui.theme.wing import FILL_STEPS, wing_pixmap
from gui.translations import available, speak
from gui.tray_icon import TrayIcon
from gui.views.menus import fill
from gui.views.view_context import ViewContext
from gui.views.window import Window
from gui.words import tr
from tests.certain import certain
from tests.gui.acts import WITHIN_MS
from tests.gui.conftest import NoLogin, context_on
from tests.gui.machines import prepared


class FilmRuns:
    """A screen that a film fills, or not."""

    def __init__(self) -> None:
        self.filled = False

    def now(self) -> bool:
        return self.filled


@pytest.fixture
def tray(context: ViewContext) -> Iterator[TrayIcon]:
    made = TrayIcon(context, FilmRuns(), lambda: True)
    yield made
    made.hide()


# -- the icon ------------------------------------------------------------------------------


def test_the_menu_pauses_and_resumes(qtbot: QtBot, context: ViewContext, tray: TrayIcon) -> None:
    qtbot.waitUntil(lambda: context.screen.volunteering is not None, timeout=WITHIN_MS)
    tray.refresh()
    # A menu lasts no longer than the Python side of its action, in some versions of PySide.
    holder = next(each for each in tray.menu.actions() if each.menu() is not None)
    holder.menu().actions()[0].trigger()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: _state(tray) is TrayState.PAUSED, timeout=WITHIN_MS)
    assert certain(tray.icon).toolTip().startswith("Wingbeat: Paused, 1")
    resume = next(each for each in tray.menu.actions() if each.text().startswith("Resume"))
    resume.trigger()
    qtbot.waitUntil(lambda: _state(tray) is not TrayState.PAUSED, timeout=WITHIN_MS)


def _state(tray: TrayIcon) -> TrayState | None:
    return tray.shown.state if tray.shown is not None else None


def test_every_state_has_a_shape_of_its_own(qapp: QApplication) -> None:
    """Told apart in grey, at the smallest size."""
    images = {}
    for state in TrayState:
        grey = wing_pixmap(16, state, FILL_STEPS, dark_panel=False).toImage()
        pixels = tuple(
            (grey.pixelColor(x, y).alpha() > 127, grey.pixelColor(x, y).lightness() > 127)
            for x in range(16)
            for y in range(16)
        )
        images[state] = pixels
    assert len(set(images.values())) == len(TrayState)


def test_news_can_be_muted_and_is_quiet_during_films(
    qtbot: QtBot, context: ViewContext, tray: TrayIcon, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(certain(tray.icon), "showMessage", lambda title, *_: told.append(title))
    news = News(NewsKind.ENDED, "Line 42 is done", "", "line-42")
    tray.tell(news)
    settings.want_news(NewsKind.ENDED, wanted=False)
    tray.tell(news)
    settings.want_news(NewsKind.ENDED, wanted=True)
    tray._full_screen.filled = True  # type: ignore[attr-defined]
    tray.tell(news)
    assert told == ["Line 42 is done"]


def test_markup_in_the_name_of_a_stranger_is_none(
    tray: TrayIcon, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(certain(tray.icon), "showMessage", lambda *said: told.extend(said[:2]))
    name = '<a href="http://192.0.2.7">laptop</a>'
    tray.tell(News(NewsKind.JOIN, f"{name} wants to join the flock", f"{name} asks"))
    assert len(told) == 2
    assert not any(mark in text for text in told for mark in "<>")
    assert all("laptop" in text for text in told)


def test_strangers_cannot_cover_a_desktop_with_messages(
    tray: TrayIcon, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(certain(tray.icon), "showMessage", lambda title, *_: told.append(title))
    for number in range(30):
        tray.tell(News(NewsKind.JOIN, f"laptop {number} wants to join the flock", ""))
    tray.tell(News(NewsKind.ENDED, "Line 42 is done", "", "line-42"))
    assert told == ["laptop 0 wants to join the flock", "Line 42 is done"]


def test_a_panel_that_comes_late_gets_the_icon(qtbot: QtBot, context: ViewContext) -> None:
    panels: list[str] = []
    tray = TrayIcon(context, FilmRuns(), lambda: bool(panels))
    assert not tray.there
    tray.tell(News(NewsKind.ENDED, "Line 42 is done", "", "line-42"))
    panels.append("at last")
    qtbot.waitUntil(lambda: tray.there, timeout=WITHIN_MS)
    assert certain(tray.icon).toolTip().startswith("Wingbeat: ")
    tray.hide()


def test_an_entry_that_leads_elsewhere_is_made_anew(qapp: QApplication) -> None:
    menu, pressed = QMenu(), list[Entry]()
    waits = Entry(Act.OPEN, "1 program waits", leads_to=NewsKind.PROGRAM)
    joins = Entry(Act.OPEN, "1 machine wants to join", leads_to=NewsKind.JOIN)
    for entries in (
        (waits,),
        (joins,),
        (Entry(Act.OPEN, "2 want to join", leads_to=NewsKind.JOIN),),
    ):
        fill(menu, entries, pressed.append)
        (shown,) = menu.actions()
        shown.trigger()
        assert shown.text() == entries[0].text
    assert pressed == [waits, joins, joins]


# -- the agent comes and goes --------------------------------------------------------------


def test_a_killed_agent_is_told_and_comes_back_by_itself(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    machine = prepared(tmp_path, "acor")
    with context_on(machine) as context:
        window = Window(context, NoLogin())
        window.show()
        with machine.agent("--port", "0") as process:
            qtbot.waitUntil(lambda: context.screen.node is not None, timeout=WITHIN_MS)
            process.kill()
            qtbot.waitUntil(window.trouble.isVisible, timeout=WITHIN_MS)
        assert "does not run" in window.trouble.sentence.text()
        assert window.trouble.help.text() == "Start it"
        with machine.agent("--port", "0"):
            qtbot.waitUntil(lambda: not window.trouble.isVisible(), timeout=WITHIN_MS)
        window.close()


@pytest.mark.skipif(sys.platform == "win32", reason="a process is stopped by a signal there only")
def test_an_agent_that_hangs_is_told_and_forgiven(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    machine = prepared(tmp_path, "acor")
    with machine.agent("--port", "0") as process, context_on(machine) as context:
        qtbot.waitUntil(lambda: context.screen.node is not None, timeout=WITHIN_MS)
        os.kill(process.pid, signal.SIGSTOP)
        qtbot.waitUntil(
            lambda: (
                context.screen.absence is not None and context.screen.absence.why is Absence.SILENT
            ),
            timeout=WITHIN_MS,
        )
        os.kill(process.pid, signal.SIGCONT)
        qtbot.waitUntil(lambda: context.screen.absence is None, timeout=WITHIN_MS)


def test_at_a_logoff_the_agent_hands_back_before_the_program_ends(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    home = Home.at(tmp_path / "home")
    whole = Application(qapp, home, NoLogin())
    whole.start(background=True, paths=[])
    qtbot.waitUntil(lambda: whole.screen.node is not None, timeout=WITHIN_MS)
    qtbot.waitUntil(lambda: whole.hosting.hosts, timeout=WITHIN_MS)
    whole.session_ends()
    log = (home.log / "agent.log").read_text("utf-8")
    assert "stopping: the session ends" in log
    assert "<normal> stopped" in log
    whole.tray.hide()
    whole.first.close()
    assert not whole.hosting.hosts


def test_a_hosted_agent_can_be_ended_twice(tmp_path: Path) -> None:
    agent = host(Home.at(tmp_path / "home"))
    assert agent.alive
    assert agent.stop("enough")
    assert agent.stop("enough again")
    assert not agent.alive


# -- login, language --------------------------------------------------------------------------


def test_login_on_windows_is_a_value_of_the_run_key(tmp_path: Path) -> None:
    """The registry as Qt reaches it, stood in for by files."""

    def values(key: str = RUN_KEY) -> QSettings:
        return QSettings(
            str(tmp_path / key.replace("\\", "-")) + ".ini", QSettings.Format.IniFormat
        )

    login = WindowsLogin(values)
    assert not login.enabled()
    login.enable()
    assert login.enabled()
    assert str(values().value(VALUE)).endswith("-m gui --background")
    login.disable()
    login.disable()
    assert not login.enabled()
    values(SYSTEM_RUN_KEY).setValue(VALUE, "wingbeat-tray.exe --at-login")
    assert login.enabled()
    login.disable()
    assert not login.enabled()
    login.enable()
    assert (login.enabled(), values().contains(VALUE)) == (True, False)


def test_all_languages_are_spoken(qapp: QApplication) -> None:
    try:
        said = {speak(code): tr("Pause") for code, _ in available()}
    finally:
        speak("en")
    assert said == {"en": "Pause", "pt": "Pausar"}
