"""The jump to a line: which editor, and how it is told, on systems that are told here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.editing import Associations
from gui.editing.lines import at_line
from gui.editing.linux import LinuxAssociations, ask_system, command_of
from gui.editing.windows import WindowsAssociations, program_of
from gui.views import submit_sheet
from gui.views.submit_sheet import SubmitSheet
from gui.views.view_context import ViewContext
from tests.gui.acts import until

FILE = Path("/data/line 42.wingbeat.yaml")
BROKEN = "name: Line 78\ntasks:\n  segment: {program: segment, inputs: imprt}\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("/usr/bin/code", "--unity-launch"), ["--goto", f"{FILE}:7"]),
        (("gnome-text-editor",), ["+7", str(FILE)]),
        (("env", "GTK_THEME=x", "gedit"), ["+7", str(FILE)]),
        (("kate", "-b"), ["-l", "7", str(FILE)]),
        ((r"C:\Program Files\Notepad++\notepad++.exe",), ["-n7", str(FILE)]),
        (("/opt/pycharm/bin/pycharm.sh",), ["--line", "7", str(FILE)]),
        (("subl",), [f"{FILE}:7"]),
    ],
)
def test_editors_are_told_the_line_their_way(command: tuple[str, ...], expected: list[str]) -> None:
    assert at_line(command, FILE, 7) == [*command, *expected]


def test_editors_behind_flatpak_are_known_by_their_id() -> None:
    command = ("flatpak", "run", "--file-forwarding", "org.gnome.TextEditor", "@@", "@@")
    assert at_line(command, FILE, 7) == [*command[:4], "+7", str(FILE)]


@pytest.mark.parametrize("command", [("notepad.exe",), ("libreoffice", "--writer"), ()])
def test_who_takes_no_line_is_left_to_the_system(command: tuple[str, ...]) -> None:
    assert at_line(command, FILE, 7) == []
    assert at_line(("code",), FILE, 0) == []


def test_linux_asks_for_text_where_nothing_opens_the_kind(tmp_path: Path) -> None:
    folder = tmp_path / "applications" / "kde"
    folder.mkdir(parents=True)
    entry = "[Desktop Entry]\nName=Kate\nExec=kate -b %U\nName[pt]=Kate\n"
    (folder / "kate.desktop").write_text(entry)
    said: dict[tuple[str, ...], str] = {
        ("xdg-mime", "query", "filetype", str(FILE)): "application/yaml",
        ("xdg-mime", "query", "default", "text/plain"): "kde-kate.desktop",
    }
    found = LinuxAssociations(
        lambda command: said.get(tuple(command), ""),
        {"XDG_DATA_HOME": str(tmp_path), "XDG_DATA_DIRS": "/nowhere"},
    )
    assert found.command_for(FILE) == ("kate", "-b")
    nothing = LinuxAssociations(lambda _: "", {})
    assert nothing.command_for(FILE) == ()


def test_desktop_entries_are_read_as_they_are_written() -> None:
    assert command_of('[Desktop Entry]\nExec="/opt/my code/code" %F\n') == ("/opt/my code/code",)
    assert command_of("[Desktop Entry]\nExec=vim %F\nTerminal=true\n") == ()
    assert command_of("[Desktop Entry]\nExec=edit 'half\n") == ()
    assert command_of("no entry at all") == ()


def test_a_command_that_is_missing_or_fails_says_nothing(tmp_path: Path) -> None:
    assert ask_system([str(tmp_path / "nothing")]) == ""
    assert ask_system(["false"]) == ""


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ('"C:\\Program Files\\Code\\Code.exe" "%1"', "C:\\Program Files\\Code\\Code.exe"),
        ("C:\\Program Files\\Edit\\edit.EXE %1", "C:\\Program Files\\Edit\\edit.EXE"),
        ("%SystemRoot%\\notepad.exe %1", "%SystemRoot%\\notepad.exe"),
        ("", ""),
    ],
)
def test_windows_tells_command_lines(command: str, program: str) -> None:
    assert program_of(command) == program


def test_windows_asks_for_text_where_nothing_opens_the_kind() -> None:
    told = {".txt": '"C:\\Notepad++\\notepad++.exe" "%1"'}
    found = WindowsAssociations(lambda ending: told.get(ending, ""))
    assert at_line(found.command_for(FILE), FILE, 3)[1:] == ["-n3", str(FILE)]
    assert WindowsAssociations(lambda _: "").command_for(FILE) == ()


# -- the sheet -------------------------------------------------------------------------------


class Chosen:
    """A system on which somebody has chosen this editor."""

    def __init__(self, *command: str) -> None:
        self._command = command

    def command_for(self, path: Path) -> tuple[str, ...]:
        assert path.is_file()
        return self._command


def _sheet(
    qtbot: QtBot,
    context: ViewContext,
    folder: Path,
    editor: Associations,
    patch: pytest.MonkeyPatch,
) -> SubmitSheet:
    patch.setattr(submit_sheet, "native_associations", lambda: editor)
    file = folder / "line-78.wingbeat.yaml"
    file.write_text(BROKEN)
    sheet = SubmitSheet(context, [file])
    sheet.show()
    until(qtbot, lambda: sheet.faults.count() > 0)
    return sheet


def _said(sheet: SubmitSheet) -> str:
    return " ".join(sheet.faults.item(place).text() for place in range(sheet.faults.count()))


def test_a_fault_leads_to_its_line_and_is_gone_when_it_was_mended(
    context: ViewContext, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, editor = tmp_path / "told", tmp_path / "kate"
    (tmp_path / "script").write_text(f'#!/bin/sh\necho "$@" > {told}.new && mv {told}.new {told}\n')
    # Written by another process: what a thread of this one forks meanwhile would keep it busy.
    subprocess.run(["install", "-m", "755", tmp_path / "script", editor], check=True)
    sheet = _sheet(qtbot, context, tmp_path, Chosen(str(editor)), monkeypatch)
    QTest.keyClick(sheet.faults, Qt.Key.Key_Return)
    until(qtbot, told.exists)
    file = tmp_path / "line-78.wingbeat.yaml"
    file.write_text(BROKEN.replace("segment, inputs: imprt", "segment"))
    sheet.activateWindow()
    qtbot.waitActive(sheet)
    QApplication.sendEvent(sheet, QEvent(QEvent.Type.ActivationChange))
    until(qtbot, lambda: "imprt" not in _said(sheet))
    assert told.read_text().split() == ["-l", "3", str(tmp_path / "line-78.wingbeat.yaml")]
    sheet.close()


def test_without_such_an_editor_the_line_is_said(
    context: ViewContext, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def click(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", click)
    sheet = _sheet(qtbot, context, tmp_path, Chosen("leafpad"), monkeypatch)
    sheet.faults.item(0).setSelected(True)
    sheet.edit.click()
    until(qtbot, lambda: bool(opened))
    assert sheet.note.text() == "Look at line 3 of line-78.wingbeat.yaml."
    assert sheet.faults.item(0).data(Qt.ItemDataRole.UserRole) == 3
    sheet.close()


def test_enter_on_close_does_not_submit(context: ViewContext, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "line-79.wingbeat.yaml"
    file.write_text("name: Line 79\ntasks: {a: {program: import}}\n")
    sheet = SubmitSheet(context, [file])
    submitted: list[str] = []
    sheet.submitted.connect(submitted.append)
    sheet.show()
    until(qtbot, sheet.submit.isEnabled)
    sheet.away.setFocus()
    ended: list[int] = []
    sheet.finished.connect(ended.append)
    QTest.keyClick(sheet.away, Qt.Key.Key_Return)
    until(qtbot, lambda: bool(ended) or not sheet.isVisible())
    assert submitted == []
