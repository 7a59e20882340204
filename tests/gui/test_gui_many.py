"""Many files in one sheet: one act with one progress, and a row that says what became of each."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from pytestqt.qtbot import QtBot

from gui.views.submit_sheet import SubmitSheet
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import press, until

COUNT = 50


def write(folder: Path, number: int) -> Path:
    """A workflow with a script of its own, which it publishes."""
    script = folder / f"say-{number}.sh"
    script.write_text(f"echo {folder.name} {number}\n")
    (folder / f"{number:02}.wingbeat.yaml").write_text(
        f"name: {folder.name} {number:02}\nprograms: {{say: {script.name}}}\n"
        "tasks: {a: {program: say}, b: {program: say, after: [a]}}\n"
    )
    return script


def row(sheet: SubmitSheet, place: int) -> str:
    return sheet.files.item(place).text().partition("\n")[2]


def test_fifty_files_are_one_act_and_one_that_fails_keeps_none_of_the_others(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    scripts = [write(tmp_path, number) for number in range(COUNT)]
    (tmp_path / "99.wingbeat.yaml").write_text("tasks: {a: {program: imprt}}\n")
    sheet = certain(window.submit([str(tmp_path)]))
    until(qtbot, lambda: sheet.submit.text().strip() == f"Submit {COUNT} workflows")
    assert [row(sheet, place) for place in (7, COUNT)] == ["ready", "1 thing to mend"]
    assert "imprt" in sheet.files.item(COUNT).toolTip()
    scripts[7].unlink()
    shown: list[tuple[int, bool]] = []
    sheet.progress.valueChanged.connect(
        lambda value: shown.append((value, sheet.progress.isVisible()))
    )
    press(sheet, "submitDo")
    for each in range(1, COUNT):  # a busy disk may take longer for all than for anything alone
        until(qtbot, lambda each=each: len(shown) >= each)  # type: ignore[misc]
    until(qtbot, lambda: not sheet.progress.isVisible())
    assert [row(sheet, place) for place in (6, 7, 8, COUNT)] == [
        *("submitted", "not submitted", "submitted", "1 thing to mend")
    ]
    assert sheet.files.currentRow() == 7
    assert scripts[7].name in sheet.faults.item(0).text()
    assert scripts[7].name in sheet.note.text()
    assert all(before < after for (before, _), (after, _) in pairwise(shown))
    assert shown[-1] == (COUNT - 1, True)
    names = [f"{tmp_path.name} {number:02}" for number in range(COUNT) if number != 7]
    until(qtbot, lambda: {*names} <= {each.name for each in context.screen.workflows.values()})
    stamps = {each.name: each.submitted_ms for each in context.screen.workflows.values()}
    assert [stamps[name] for name in names] == sorted(stamps[name] for name in names)
    write(tmp_path, 7)
    assert sheet.submit.text().strip() == "Submit 1 workflow"
    press(sheet, "submitDo")
    until(qtbot, lambda: row(sheet, 7) == "submitted")
    assert sheet.faults.isHidden()
    until(qtbot, lambda: sheet.submit.text().strip() == "Submit")  # and not 0 workflows
    sheet.close()


def test_what_is_left_of_many_can_be_called_off(
    qtbot: QtBot, context: ViewContext, window: Window, tmp_path: Path
) -> None:
    for number in range(COUNT):
        write(tmp_path, number)
    sheet = certain(window.submit([str(tmp_path)]))
    until(qtbot, lambda: sheet.submit.text().strip() == f"Submit {COUNT} workflows")

    def stop(value: int) -> None:
        if value == 3:
            sheet.away.click()

    sheet.progress.valueChanged.connect(stop)
    press(sheet, "submitDo")
    until(qtbot, lambda: sheet.progress.isHidden() and not sheet.away.text().startswith("Stop"))
    sent = [row(sheet, place) for place in range(COUNT)].count("submitted")
    assert 3 <= sent < COUNT
    assert row(sheet, COUNT - 1) == "ready"
    assert sheet.submit.isEnabled()
    sheet.close()
