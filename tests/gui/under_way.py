"""Each view of the window, brought to where a question of it is under way: who asks, what, and how.

The table is what tests of late replies go through; one of them sees to it that it is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from agent.api.flock import MemberView
from gui.views.again_sheet import AgainSheet
from gui.views.audit_sheet import AuditSheet
from gui.views.computer_page import ComputerPage
from gui.views.first_run import ASKING_PAGE, FirstRun
from gui.views.flock_page import FlockPage, InviteDialog
from gui.views.gate_dialog import GateDialog
from gui.views.history_page import HistoryPage
from gui.views.inspect_sheet import InspectSheet
from gui.views.log_page import LogPage
from gui.views.roles import RolesDialog
from gui.views.secret_sheet import SecretSheet
from gui.views.settings_dialog import SettingsDialog
from gui.views.side_bar import Place
from gui.views.submit_sheet import SubmitSheet
from gui.views.view_context import ViewContext
from gui.views.window import Window
from tests.certain import certain
from tests.gui.acts import WITHIN_MS, Page, gone_to, press
from tests.gui.conftest import NoLogin
from tests.gui.held import ASKING, GATE, RUNNING, HeldAgent, WatchedBridge

FILE = "name: late\ntasks: {a: {program: map@1}}\n"


@dataclass
class Stage:
    """A window on an agent that answers when it is told to."""

    qtbot: QtBot
    agent: HeldAgent
    bridge: WatchedBridge
    context: ViewContext
    window: Window
    folder: Path

    def page(self, place: Place, kind: type[Page]) -> Page:
        return gone_to(self.window, place, kind)

    def first_run(self) -> FirstRun:
        node = certain(self.context.screen.node)
        self.context.screen.node = replace(node, flock="")
        dialog = FirstRun(self.context, NoLogin(), self.window)
        dialog.show()
        return dialog

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path


def until(qtbot: QtBot, true: Callable[[], bool]) -> None:
    qtbot.waitUntil(true, timeout=WITHIN_MS)


def close(thing: QWidget) -> None:
    """As its person does, or as the end of the window does."""
    thing.close()
    thing.deleteLater()


def turn() -> None:
    """Qt comes to all that it was given."""
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    QApplication.processEvents()


# -- how each view comes to have a question under way ----------------------------------------


Begin = Callable[[Stage], QWidget]
NEXT = "firstRunNext"


def first_run(name: str = "", *prepare: Callable[[FirstRun], object]) -> Begin:
    """The dialog, prepared, and a button of it pressed."""

    def begin(stage: Stage) -> QWidget:
        dialog = stage.first_run()
        for each in prepare:
            each(dialog)
        if name:
            press(dialog, name)
        return dialog

    return begin


def ask_nearby(stage: Stage) -> QWidget:
    dialog = stage.first_run()
    until(stage.qtbot, lambda: "nearby" in stage.agent.waiting())
    stage.agent.answer("nearby")
    until(stage.qtbot, lambda: dialog.nearby.list.count() == 1)
    dialog.ask_it.setChecked(True)
    press(dialog, NEXT)
    return dialog


def asked(name: str) -> Begin:
    """The code is shown, and answered with this button."""
    return first_run(
        name, lambda each: each.asking.tell(ASKING), lambda each: each._show(ASKING_PAGE)
    )


def say_yes(parent: QWidget, name: str) -> None:
    box = certain(parent.findChild(QMessageBox, name))
    yes = QMessageBox.ButtonRole.DestructiveRole
    next(each for each in box.buttons() if box.buttonRole(each) == yes).click()


def expel(stage: Stage) -> QWidget:
    page = stage.page(Place.FLOCK, FlockPage)
    until(stage.qtbot, lambda: page.table.choose("id-garajau"))
    press(page, "expel")
    say_yes(page, "expelBox")
    return stage.window


def invite(stage: Stage) -> QWidget:
    dialog = InviteDialog(stage.context, stage.window)
    dialog.show()
    press(dialog, "inviteMake")
    return dialog


def audit_opened(stage: Stage) -> AuditSheet:
    made = AuditSheet(stage.context, stage.window)
    made.show()
    return made


def audit_checked(stage: Stage) -> QWidget:
    made = audit_opened(stage)
    until(stage.qtbot, lambda: "audit" in stage.agent.waiting())
    stage.agent.answer("audit")
    until(stage.qtbot, made.check.isEnabled)
    press(made, "auditCheck")
    return made


def rules_chosen(stage: Stage) -> QWidget:
    choice = stage.page(Place.FLOCK, FlockPage).rules.choice
    choice.setCurrentIndex(choice.findData("FCFS"))
    return stage.window


def give_role(stage: Stage) -> QWidget:
    dialog = RolesDialog(stage.context, stage.window)
    dialog.show()
    dialog.rows.show([MemberView("id-garajau", "garajau", False, False, 0)])
    until(stage.qtbot, lambda: dialog.table.choose("id-garajau"))
    press(dialog, "rolesHelper")
    return dialog


def show_code(stage: Stage) -> QWidget:
    dialog = RolesDialog(stage.context, stage.window)
    dialog.show()
    press(dialog, "rolesPair")
    return dialog


def gate(stage: Stage) -> QWidget:
    dialog = GateDialog(stage.context, replace(GATE, attach=("scan.las",)), stage.window)
    dialog.open()
    dialog.offer([stage.file("scan.las", "4 4 ")])
    press(dialog, "gateDone")
    return dialog


def with_task(task: str, name: str = "") -> Begin:
    """A task is chosen, and a button beside it pressed."""

    def begin(stage: Stage) -> QWidget:
        stage.window.workflows.choose("line-42", task)
        if name:
            press(stage.window, name)
        return stage.window

    return begin


def permission(stage: Stage) -> QWidget:
    """The question of another's workflow is open, its scripts not read yet."""
    until(stage.qtbot, lambda: stage.context.screen.permissions is not None)
    return stage.window.decide("line-44")


def permitting(stage: Stage) -> QWidget:
    sheet = permission(stage)
    until(stage.qtbot, lambda: "scripts" in stage.agent.waiting())
    stage.agent.answer("scripts")
    until(stage.qtbot, stage.window.decide().once.isEnabled)
    press(sheet, "permitOnce")
    return sheet


def ask_owners(stage: Stage) -> QWidget:
    details = stage.window.workflows.details
    stage.window.workflows.choose("line-42", "segment")
    details.ask_them.show()
    press(stage.window, "askOwners")
    return stage.window


def settings(stage: Stage) -> SettingsDialog:
    dialog = SettingsDialog(stage.context, NoLogin(), stage.window)
    dialog.show()
    return dialog


def change(stage: Stage) -> QWidget:
    dialog = settings(stage)
    certain(dialog.findChild(QSpinBox, "machineSlots")).editingFinished.emit()
    return dialog


def leave(stage: Stage) -> QWidget:
    dialog = settings(stage)
    press(dialog, "leaveFlock")
    say_yes(dialog, "leaveBox")
    return dialog


def start_anew(stage: Stage) -> QWidget:
    dialog = settings(stage)
    dialog.anew.click()
    return dialog


def remove(stage: Stage) -> QWidget:
    press(settings(stage), "removeWingbeat")
    until(stage.qtbot, lambda: stage.window.findChild(QPushButton, "removeKeep") is not None)
    press(stage.window, "removeKeep")
    return stage.window


def sheet(stage: Stage) -> SubmitSheet:
    return certain(stage.window.submit([str(stage.file("late.wingbeat.yaml", FILE))]))


def flight_sheet(stage: Stage) -> InspectSheet:
    sheet = InspectSheet(stage.context, stage.folder, stage.window)
    sheet.show()
    return sheet


def sheet_button(name: str) -> Begin:
    def begin(stage: Stage) -> QWidget:
        made = sheet(stage)
        until(stage.qtbot, lambda: "plan" in stage.agent.waiting())
        stage.agent.answer("plan")
        until(stage.qtbot, made.submit.isEnabled)
        press(made, name)
        return made

    return begin


def on_page(
    place: Place, kind: type[Page], name: str = "", act: Callable[[Page], object] | None = None
) -> Begin:
    """A page, with something done there, or a button of it pressed once it is there."""

    def begin(stage: Stage) -> QWidget:
        page = stage.page(place, kind)
        if act is not None:
            act(page)
        if name:
            until(stage.qtbot, lambda: page.findChild(QObject, name) is not None)
            press(page, name)
        return stage.window

    return begin


def flock_tab(tab: Callable[[FlockPage], QWidget]) -> Begin:
    return on_page(Place.FLOCK, FlockPage, act=lambda page: page.tabs.setCurrentWidget(tab(page)))


def secret_given(stage: Stage) -> QWidget:
    made = SecretSheet(stage.context, "survey-db", stage.window)
    made.show()
    made.value.setText("the password")
    press(made, "keepSecret")
    return made


def again_opened(stage: Stage) -> AgainSheet:
    return stage.window.run_again("line-42")


def again_run(stage: Stage) -> QWidget:
    made = again_opened(stage)
    until(stage.qtbot, lambda: "again" in stage.agent.waiting())
    stage.agent.answer("again")
    until(stage.qtbot, made.run.isEnabled)
    press(made, "againRun")
    return made


def past_opened(stage: Stage) -> QWidget:
    """A line of the past is chosen."""
    stage.page(Place.HISTORY, HistoryPage)
    until(stage.qtbot, lambda: "past" in stage.agent.waiting())
    stage.agent.answer("past")
    return stage.window


def exported(stage: Stage) -> QWidget:
    past_opened(stage)
    stage.page(Place.HISTORY, HistoryPage).export.export("csv")
    return stage.window


@dataclass(frozen=True)
class Case:
    """A view with a question under way: who asks where, what, and whether it is an act, which goes
    on when it is closed."""

    site: str
    asks: str
    begin: Begin
    act: bool = False


CASES = (
    Case("NearbyFlocks.look", "nearby", first_run()),
    Case("FirstRun._wish", "ask", ask_nearby, act=True),
    Case("FirstRun._wish", "join", first_run(NEXT, lambda each: each.offer("wingbeat-1")), act=True),
    Case("FirstRun._wish", "flock_create",
         first_run(NEXT, lambda each: each.create_it.setChecked(True)), act=True),
    Case("FirstRun._wish", "set_volunteering", first_run(NEXT, lambda each: each._show(1)), act=True),
    Case("AskPanel._confirm", "confirm_ask", asked("askConfirm"), act=True),
    Case("AskPanel._withdraw", "withdraw_ask", asked("askWithdraw"), act=True),
    Case("FlockPage._do_expel", "expel", expel, act=True),
    Case("InviteDialog._make", "invite", invite, act=True),
    Case("RulesLine._choose", "change_settings", rules_chosen, act=True),
    Case("RolesDialog._sign", "set_role", give_role, act=True),
    Case("AuditSheet.read", "audit", audit_opened),
    Case("AuditSheet._check", "check_audit", audit_checked),
    Case("RolesDialog._pair", "pair", show_code, act=True),
    Case("Statistics.showEvent", "statistics", flock_tab(lambda page: page.statistics)),
    Case("WorkflowTimeline.refresh", "runs", flock_tab(lambda page: page.timeline)),
    Case("GateDialog.send", "begin_upload", gate),
    Case("TaskDetails.mark_done", "gate", with_task("look", "markDone"), act=True),
    Case("TaskDetails._ask_why", "why", with_task("segment")),
    Case("Outputs._work", "dataset_files", with_task("import", "openOutput0")),
    Case("SettingsDialog._ask", "change_settings", change, act=True),
    Case("SettingsDialog._leave", "leave", leave, act=True),
    Case("SettingsDialog._start_anew", "start_anew", start_anew, act=True),
    Case("Removal.begin", "leave", remove, act=True),
    Case("SubmitSheet._check", "plan", sheet),
    Case("SubmitSheet._edit", "editor", sheet_button("submitEdit")),
    Case("SubmitSheet._send", "submit", sheet_button("submitDo"), act=True),
    Case("InspectSheet._look", "inspected", flight_sheet),
    Case("ComputerPage._send", "set_volunteering",
         on_page(Place.COMPUTER, ComputerPage, act=lambda page: page.mains.toggle()), act=True),
    Case("RunningChoice._ask", "running_programs",
         on_page(Place.COMPUTER, ComputerPage, "exclusiveRunning")),
    Case("ProgramsCard._distrust", "distrust",
         on_page(Place.COMPUTER, ComputerPage, "distrust_garajau"), act=True),
    Case("ProgramsCard._wanting", "grant",
         on_page(Place.COMPUTER, ComputerPage, "grant_measure"), act=True),
    Case("ProgramsCard._wanting", "revoke",
         on_page(Place.COMPUTER, ComputerPage, "revoke_store"), act=True),
    Case("SecretSheet._keep", "set_secret", secret_given, act=True),
    Case("PermissionSheet._ask_for_scripts", "scripts", permission),
    Case("PermissionSheet._answer", "permit", permitting, act=True),
    Case("TaskDetails._ask_owners", "ask_owners", ask_owners, act=True),
    Case("JoinRequests._answer", "admit", on_page(Place.FLOCK, FlockPage, "admit0"), act=True),
    Case("JoinRequests._answer", "refuse", on_page(Place.FLOCK, FlockPage, "refuse0"), act=True),
    Case("LogPage._begin", "agent_log", on_page(Place.LOG, LogPage)),
    Case("AgainSheet._look", "again", again_opened),
    Case("AgainSheet._run", "again", again_run, act=True),
    Case("HistoryPage._ask", "past", on_page(Place.HISTORY, HistoryPage)),
    Case("PastDetail.open", "show", past_opened),
    Case("PastExport.export", "past", exported),
    Case("SettingsDialog._history_days", "past", settings),
    Case("LogWindow._follow", "task_log", lambda stage: stage.window.open_log(RUNNING)),
    Case("LogWindow._ask_attempts", "runs", lambda stage: stage.window.open_log(RUNNING)),
)  # fmt: skip
SILENT = {"QueuePage", "ShareChoice", "WorkflowsPage", "Window"}
"""These ask for nothing themselves; what is in them does."""
