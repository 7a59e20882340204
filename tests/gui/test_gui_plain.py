"""Nothing of others is laid out as HTML in the window, and nothing of theirs is executed."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gui.model.results import INSIDE, Kind, kind_of
from gui.views import result_view
from gui.views.pieces import set_up
from gui.words import plain_tip
from tests.style.source import REPOSITORY

HOSTILE = '<img src="file:///etc/passwd"> & <b>bold</b>\n<a href="x">two</a>'
EXECUTED = [
    "exe",
    "com",
    "bat",
    "cmd",
    "ps1",
    "vbs",
    "js",
    "jse",
    "wsf",
    "hta",
    "msi",
    "scr",
    "pif",
    "lnk",
    "url",
    "scf",
    "reg",
    "cpl",
    "jar",
    "desktop",
    "sh",
    "py",
    "pl",
    "rb",
    "appimage",
    "run",
    "deb",
    "rpm",
    "docm",
    "xlsm",
    "iso",
    "vhd",
    "chm",
    "one",
    "library-ms",
    "application",
    "gadget",
    "AppImage",
    "xll",
]
SOURCES = sorted((REPOSITORY / "gui").rglob("*.py"))


@pytest.mark.parametrize("text", [HOSTILE, "<qt>", "a < b", "<!-- x -->", "plain & simple", "1\n2"])
def test_tooltips_never_rich_text_and_open_never_executes(text: str, qtbot: QtBot) -> None:
    shown = plain_tip(text)
    if "<" in shown:
        document = QTextDocument()
        document.setHtml(shown)
        assert document.toPlainText().replace("\u2028", "\n") == text
        assert "<img" not in shown
    else:
        assert shown == text
    made = set_up(QLabel(), toolTip=text)
    qtbot.addWidget(made)
    assert made.toolTip() == shown


def calls(name: str) -> list[tuple[Path, ast.Call]]:
    return [
        (path, node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) == name
    ]


def test_every_tool_tip_is_made_plain() -> None:
    tips = calls("setToolTip")
    assert len(tips) > 10
    for path, call in tips:
        (told,) = call.args
        assert isinstance(told, ast.Call), f"{path.name}:{call.lineno}"
        assert getattr(told.func, "id", "") in ("plain_tip", "_tool_tip"), (
            f"{path.name}:{call.lineno}"
        )


def test_every_label_with_words_is_plain() -> None:
    inside = [
        call
        for _, outer in calls("set_up")
        if any(each.arg == "textFormat" for each in outer.keywords)
        for call in outer.args[:1]
    ]
    worded = [(path, call) for path, call in calls("QLabel") if call.args]
    assert worded
    lines = {(call.lineno, call.col_offset) for call in inside}
    for path, call in worded:
        assert (call.lineno, call.col_offset) in lines, f"{path.name}:{call.lineno}"


@pytest.mark.parametrize("ending", EXECUTED)
def test_what_a_system_would_execute_is_shown_in_its_folder(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"report.pdf.{ending}"
    path.write_bytes(b"MZ")
    opened: list[Path] = []

    class Desktop:
        @staticmethod
        def openUrl(url: object) -> bool:  # noqa: N802 - Qt's name
            opened.append(Path(url.toLocalFile()))  # type: ignore[attr-defined]
            return True

    monkeypatch.setattr(result_view, "QDesktopServices", Desktop)
    if kind_of(path.name) in INSIDE:
        return
    assert kind_of(path.name) is Kind.OTHER
    result_view.show_result(path)
    assert opened == [tmp_path]
    assert sys.platform != "win32" or opened[0].is_dir()
