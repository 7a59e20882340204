"""Two machines: one is invited, asks nobody's leave, and is sent away after a question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from agent.api.audit import AuditEntry
from agent.history.audit import AuditLog
from gui.model.news import News, NewsKind
from gui.model.notices import FlockPart
from gui.model.tray import programs_waiting
from gui.views.audit_sheet import AuditSheet
from gui.views.computer_page import ComputerPage
from gui.views.flock_page import FlockPage
from gui.views.log_page import LogPage
from gui.views.permission_sheet import PermissionSheet
from gui.views.questions import tell_phrase
from gui.views.roles import may_text
from gui.views.side_bar import Place
from gui.views.task_details import TaskDetails
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain, of_kind
from tests.gui.acts import gone_to, id_of, press, until
from tests.gui.conftest import NoLogin, context_on
from tests.gui.machines import PROGRAM, flock, line_file, prepared
from tests.hosts.machine import Machine

NAMES = ("acor", "cagarro")


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Machine]]:
    with flock(tmp_path_factory.mktemp("flock"), NAMES) as made:
        yield made


@pytest.fixture
def context(machines: list[Machine], qapp: QApplication) -> Iterator[ViewContext]:
    with context_on(machines[0]) as made:
        yield made


@pytest.fixture
def page(qtbot: QtBot, context: ViewContext, login: NoLogin) -> Iterator[FlockPage]:
    with page_on(context, login) as made:
        yield made


@contextmanager
def page_on(context: ViewContext, login: NoLogin) -> Iterator[FlockPage]:
    window = Window(context, login)
    window.show()
    yield gone_to(window, Place.FLOCK, FlockPage)
    window.close()
    window.deleteLater()


def names(page: FlockPage) -> list[str]:
    return [each.view.name for each in page.rows.rows]


def test_rules_are_chosen_in_the_window_and_by_command_for_all_machines(
    qtbot: QtBot, page: FlockPage, machines: list[Machine]
) -> None:
    rules, there = page.rules, machines[1]
    until(qtbot, lambda: rules.isVisible() and rules.choice.currentData() == "look-ahead")
    assert "ends first" in rules.meaning.text()
    rules.choice.setCurrentIndex(rules.choice.findData("BFGCE"))
    until(qtbot, lambda: "BFGCE: each free machine" in there.said("settings"))
    until(qtbot, lambda: "tenth longer" in rules.meaning.text())
    there.said("settings", "--policy", "look-ahead")
    until(qtbot, lambda: rules.choice.currentData() == "look-ahead")
    until(qtbot, lambda: "ends first" in rules.meaning.text())


def test_what_copies_are_worth_is_told_beside_the_weeks(qtbot: QtBot, page: FlockPage) -> None:
    page.tabs.setCurrentWidget(page.statistics)
    until(qtbot, lambda: "how long machines are up" in page.statistics.copies.text())


def test_an_invitation_lets_a_machine_in_and_is_saved_as_a_file(
    qtbot: QtBot, page: FlockPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    until(qtbot, page.invite.isEnabled)
    page.invite.click()
    dialog = page._dialog
    dialog.uses.setValue(2)
    dialog.role.setCurrentIndex(dialog.role.findData("helper"))
    press(dialog, "inviteMake")
    until(qtbot, lambda: dialog.text.toPlainText() != "")
    assert "2 machine" in dialog.note.text()
    assert QGuiApplication.clipboard().text() == dialog.text.toPlainText()
    target = tmp_path / "office.wingbeat-invitation"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    press(dialog, "inviteSave")
    newcomer = prepared(tmp_path, "milhafre")
    with newcomer.agent("--name", "milhafre", "--port", "0"):
        newcomer.said("flock", "join", dialog.text.toPlainText())
        until(qtbot, lambda: "milhafre" in names(page))
        joined = newcomer.answer("flock", "members")["members"]
        assert [each["role"] for each in joined if each["own"]] == ["helper"]
    dialog.close()
    assert target.read_text("utf-8").strip()


def test_an_administrator_sees_and_says_who_may_do_what(qtbot: QtBot, page: FlockPage) -> None:
    until(qtbot, page.roles.isEnabled)
    page.roles.click()
    dialog = page._roles_dialog

    def may(name: str) -> str:
        return next((may_text(each) for each in dialog.rows.rows if each.name == name), "")

    until(qtbot, lambda: len(dialog.rows.rows) > 1)
    (other,) = [each for each in dialog.rows.rows if each.name == "cagarro"]
    (own,) = [each for each in dialog.rows.rows if each.own]
    assert may(own.name).startswith("may submit, invite, expel and appoint others")
    assert dialog.own.text().startswith("This computer administers the flock")
    assert dialog.own.text().endswith("It holds the flock's key, by which machines are let in.")
    assert dialog.table.choose(own.node)
    assert dialog.acts["administrator"].text() == "No administrator …"
    assert not dialog.acts["expelled"].isEnabled(), "who goes by itself leaves"
    press(dialog, "rolesKeeper")
    box = certain(dialog.findChild(QMessageBox, "appointBox"))
    assert "cannot be taken back" in box.informativeText()
    assert box.defaultButton().text() == "Leave it"
    box.close()
    assert may(other.name) == "may submit and read own work"
    assert dialog.table.choose(other.node)
    press(dialog, "rolesHelper")
    until(qtbot, lambda: may(other.name) == "only runs what others submit")
    assert dialog.table.choose(other.node)
    press(dialog, "rolesOperator")
    until(qtbot, lambda: may(other.name) == "may submit and read own work")
    assert dialog.table.choose(other.node)
    press(dialog, "rolesAdministrator")
    box = certain(dialog.findChild(QMessageBox, "appointBox"))
    press(box, "appoint")
    until(qtbot, lambda: "give the flock's recovery phrase" in dialog.note.text())
    dialog.close()


def test_the_phrase_of_a_new_flock_is_shown_with_what_to_do(qtbot: QtBot, page: FlockPage) -> None:
    box = tell_phrase(page, "babab dadad")
    assert "babab dadad" in box.text()
    assert "Write it down" in box.informativeText()
    assert box.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    box.close()


def test_the_log_of_another_machine_is_read(
    qtbot: QtBot, context: ViewContext, login: NoLogin
) -> None:
    window = Window(context, login)
    window.show()
    page = gone_to(window, Place.LOG, LogPage)
    until(qtbot, lambda: page.machine.findData("cagarro") > 0)
    until(qtbot, lambda: page.text.toPlainText() != "")
    own = page.text.toPlainText().splitlines()[0]
    page.machine.setCurrentIndex(page.machine.findData("cagarro"))
    until(qtbot, lambda: page.text.toPlainText().partition("\n")[0] not in ("", own))
    window.close()
    window.deleteLater()


@pytest.mark.parametrize(("answer", "name"), [("once", "count"), ("never", "compare")])
def test_a_published_program_waits_for_the_owners_word(
    qtbot: QtBot,
    machines: list[Machine],
    context: ViewContext,
    login: NoLogin,
    tmp_path: Path,
    answer: str,
    name: str,
) -> None:
    told: list[News] = []
    context.changed.connect(lambda changes: told.extend(changes.news))
    until(qtbot, lambda: context.screen.node is not None)
    machines[1].said("pause")  # or it does its own work, and nobody else is asked any more
    publish(machines[1], tmp_path, name)
    until(qtbot, lambda: programs_waiting(context.screen) == 1)
    until(qtbot, lambda: NewsKind.PROGRAM in [each.kind for each in told])
    window = Window(context, login)
    window.show()
    assert "wait" in window.side.buttons[Place.COMPUTER].accessibleName()
    window.go(Place.COMPUTER)
    press(window, f"decide_{name} it")
    sheet = certain(window.findChild(PermissionSheet))
    chosen = sheet.once if answer == "once" else sheet.never
    until(qtbot, sheet.once.isEnabled)  # all is read by then
    assert "program.py" in sheet.files.currentItem().text()
    assert sheet.text.toPlainText() == PROGRAM
    assert not any(each.isDefault() or each.autoDefault() for each in sheet._buttons)
    chosen.click()
    until(qtbot, lambda: programs_waiting(context.screen) == 0)
    until(qtbot, lambda: not Shiboken.isValid(sheet) or not sheet.isVisible())
    if answer == "once":
        until(
            qtbot,
            lambda: machines[1].answer("status", f"{name} it")["workflow"]["state"] == "finished",
        )
    machines[1].said("resume")
    window.close()
    window.deleteLater()


def publish(machine: Machine, folder: Path, name: str) -> None:
    """A program that comes with a workflow of another machine."""
    program = folder / name
    program.mkdir()
    (program / "program.py").write_text(PROGRAM, "utf-8")
    (program / "program.yaml").write_text('command: ["{python}", program.py]\n', "utf-8")
    file = folder / f"{name}.wingbeat.yaml"
    file.write_text(
        f"name: {name} it\nprograms:\n  {name}: ./{name}\ntasks:\n  one: {{program: {name}}}\n",
        "utf-8",
    )
    machine.said("submit", str(file))


def test_a_machine_is_kept_or_expelled_after_a_question(
    qtbot: QtBot, qapp: QApplication, login: NoLogin, tmp_path: Path
) -> None:
    """It is sent away for good, so this flock is nobody else's."""
    with (
        flock(tmp_path, NAMES) as machines,
        context_on(machines[0]) as context,
        page_on(context, login) as page,
    ):
        until(qtbot, lambda: "cagarro" in names(page))
        assert not page.expel.isEnabled()
        assert page.table.choose(
            next(e.view.node for e in page.rows.rows if e.view.name == "cagarro")
        )
        until(qtbot, page.expel.isEnabled)

        def answer(text: str) -> None:
            page.expel.click()
            box = page.findChild(QMessageBox, "expelBox")
            assert box is not None
            assert "cagarro" in box.text()
            next(
                b for b in box.findChildren(QPushButton) if b.text().replace("&", "") == text
            ).click()
            until(qtbot, lambda: page.findChild(QMessageBox, "expelBox") is None)

        answer("Keep it")
        assert "cagarro" in names(page)
        answer("Expel")
        until(qtbot, lambda: "cagarro" not in names(page))


def test_who_did_what_is_read_filtered_checked_and_exported(
    qtbot: QtBot,
    page: FlockPage,
    machines: list[Machine],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of this computer, and of another one by an administrator; that one notes it."""
    machines[1].said("settings", "--tag", "fast")
    window = of_kind(Window, page.window())
    gone_to(window, Place.COMPUTER, ComputerPage)
    press(window, "showAudit")
    sheet = certain(window.findChild(AuditSheet))
    until(qtbot, lambda: "made an invitation" in shown(sheet, 2))
    until(qtbot, sheet.export.isEnabled)
    numbers = [each.number for each in sheet.rows.rows]
    assert numbers == sorted(numbers, reverse=True), "the newest first"
    sheet.filter.setText("owner invitation")
    assert set(shown(sheet, 2)) == {"made an invitation"}
    sheet.filter.setText("nobody did this")
    assert sheet.stack.currentWidget() is sheet.unfit
    press(sheet, "auditClear")
    assert shown(sheet, 1)
    target = tmp_path / "audit.jsonl"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    press(sheet, "auditExport")
    lines = [
        msgspec.json.decode(each, type=AuditEntry) for each in target.read_bytes().splitlines()
    ]
    assert [each.number for each in lines] == sorted(numbers)
    assert AuditLog.first_broken(lines, {}) == (0, None), "each can still be checked"
    press(sheet, "auditCheck")
    until(qtbot, sheet.checked.isVisible)
    assert sheet.checked.sentence.text().startswith("The audit of acor is whole, from entry 1 to ")
    until(qtbot, lambda: sheet.machine.findData("cagarro") > 0)
    sheet.machine.setCurrentIndex(sheet.machine.findData("cagarro"))
    assert not sheet.checked.isVisible()
    until(qtbot, lambda: "changed settings" in shown(sheet, 2) and sheet.check.isEnabled())
    press(sheet, "auditCheck")
    until(qtbot, sheet.checked.isVisible)
    assert "The audit of cagarro is whole" in sheet.checked.sentence.text()
    sheet.read()
    until(qtbot, lambda: "read this audit" in shown(sheet, 2))
    sheet.close()


def shown(sheet: AuditSheet, column: int) -> list[str]:
    return [sheet.rows.columns[column].text(each, 0.0) for each in sheet.rows.rows]


def test_work_is_shared_as_its_person_says_and_stays_so(
    qtbot: QtBot, context: ViewContext, page: FlockPage, machines: list[Machine], tmp_path: Path
) -> None:
    """What the settings say stands there first; whom the sheet says overrules it, nobody too."""
    machines[0].said("settings", "--shared-with", "operators")
    context.bridge.want_parts((FlockPart.SETTINGS,))
    until(qtbot, lambda: certain(context.screen.settings).shared_with == ("operators",))
    window = of_kind(Window, page.window())
    details = window.workflows.details
    for name, choose, told in (
        ("by default", None, "all who may submit"),
        ("with nobody", "nobody", "nobody else"),
        ("with one", "named", "cagarro"),
    ):
        file = tmp_path / f"{name}.wingbeat.yaml"
        file.write_text(line_file(name, 60), "utf-8")
        sheet = certain(window.submit([str(file)]))
        until(qtbot, sheet.submit.isEnabled)
        assert sheet.share.choice.currentData() == "operators"
        if choose is not None:
            sheet.share.choice.setCurrentIndex(sheet.share.choice.findData(choose))
            sheet.share.choice.activated.emit(sheet.share.choice.currentIndex())
        if choose == "named":
            (menu,) = sheet.share.findChildren(QMenu)
            menu.actions()[0].trigger()
            menu.close()
        press(sheet, "submitDo")
        until(qtbot, lambda: id_of(context, name) != "")  # noqa: B023
        window.workflows.choose(id_of(context, name))
        until(qtbot, lambda: told in facts(details)["Shared with"])  # noqa: B023
        cancelled = machines[1].run("cancel", id_of(context, name), "--node", "acor")
        assert (cancelled.code == 0) is (choose != "nobody"), cancelled
    machines[0].said("settings", "--shared-with", "")


def facts(details: TaskDetails) -> dict[str, str]:
    return {name.text(): text.text() for name, text in details._fact_labels if name.text()}


def test_two_computers_of_one_person_are_paired_in_the_window_and_parted(
    qtbot: QtBot, qapp: QApplication, login: NoLogin, tmp_path: Path
) -> None:
    """They are parted for good, so this flock is nobody else's."""
    with (
        flock(tmp_path, NAMES) as machines,
        context_on(machines[0]) as context,
        page_on(context, login) as page,
    ):
        until(qtbot, page.roles.isEnabled)
        page.roles.click()
        dialog = page._roles_dialog

        def persons() -> set[str]:
            return {each.person for each in dialog.rows.rows if each.name in NAMES}

        until(qtbot, lambda: len(dialog.rows.rows) > 1)
        press(dialog, "rolesPair")
        until(qtbot, lambda: "within ten minutes: " in dialog.note.text())
        machines[1].said("me", "pair", dialog.note.text().rpartition(": ")[2])
        until(qtbot, lambda: persons() == {"acor"})
        (other,) = [each for each in dialog.rows.rows if each.name == "cagarro"]
        assert other.role == "administrator", "as its person is"
        assert dialog.table.choose(other.node)
        press(dialog, "rolesUnpair")
        press(certain(dialog.findChild(QMessageBox, "unpairBox")), "unpair")
        until(qtbot, lambda: "" in persons())
        dialog.close()
