"""The sheet before a submission: what it is, what it needs to be told, where it can run, until when.

Several files stand in a list, each checked by itself; Enter submits all that are without faults, one
after the other and as one act: each row says what became of it, and the others go on where one is
refused. While a value is typed the file is read again, so faults vanish as they are mended. A fault
leads into the person's editor.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QProcess, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QWidget,
)

from agent.api.values import NamedPriority
from agent.api.work import Submitted
from agent.workflow.one_program import Alone
from gui.bridge.bridge import Task
from gui.bridge.submitting import Checked, Preview, Sending, send
from gui.editing import native_associations
from gui.editing.lines import editor_command
from gui.model.marks import Mark
from gui.model.planning import (
    fits_text,
    is_for_here,
    nobody_helps,
    planned_tasks,
    summary_text,
    summary_tip,
    urgency_words,
)
from gui.theme.drawing import mark_icon
from gui.theme.look import GRID
from gui.views.graph_view import GraphView
from gui.views.known_name import KnownName
from gui.views.pieces import (
    Sheet,
    button,
    column,
    form,
    form_row,
    held,
    label,
    quiet,
    row,
    said_of,
    set_up,
    splitter,
    strong,
    timer,
)
from gui.views.program_form import ProgramForm
from gui.views.room import Scrolled
from gui.views.share_choice import ShareChoice
from gui.views.submit_files import SheetFile, sheet_files
from gui.views.taken_along import TakenAlong
from gui.views.variable_fields import variable_field
from gui.views.veil import paths_in
from gui.views.view_context import ViewContext
from gui.wording import sentences
from gui.words import plain_tip, tr, tr_n

TYPING_PAUSE_MS = 350
LINE = int(Qt.ItemDataRole.UserRole)
"""In which line a fault is."""
NAME = LINE + 1
"""What a file is called in the list."""


class SubmitSheet(Sheet):
    """``submitted`` with the first of the workflows that were accepted. ``allowed``: what its person
    has said before may be taken along."""

    submitted = Signal(str)

    def __init__(
        self,
        context: ViewContext,
        paths: list[Path],
        parent: QWidget | None = None,
        allowed: tuple[Path, ...] = (),
    ) -> None:
        super().__init__(parent, "submitSheet", tr("Submit a workflow"), acceptDrops=True)
        self._context = context
        self._files = sheet_files(paths, allowed)
        self._preview = Preview(context.bridge.client(self))
        self._shown: tuple[str, ...] | None = None
        self._keyboard_given, self._first = False, True
        self._act: Task | None = None
        self._own = ""
        self.resize(110 * GRID, 76 * GRID)
        self._make_parts()
        self._lay()
        check = self._check
        self._typing = timer(self, TYPING_PAUSE_MS, lambda: check(self._current()), once=True)
        for each in self._files:
            self._check(each)
        self.files.setCurrentRow(0)
        context.changed.connect(self._changed)
        self._changed()

    # -- parts -------------------------------------------------------------------------------

    def _make_files(self) -> None:
        self.files = set_up(QListWidget(), "submitFiles", tr("Files"), spacing=2)
        names = [each.path.name for each in self._files]
        for each in self._files:
            alike = names.count(each.path.name) > 1
            item = QListWidgetItem(
                f"{each.path.parent.name}/{each.path.name}" if alike else each.path.name
            )
            item.setData(NAME, item.text())
            self.files.addItem(item)
            self._mark(each)
        self.files.setVisible(len(self._files) > 1)
        self.files.currentRowChanged.connect(lambda _: self._show())

    def _make_parts(self) -> None:
        self._make_files()
        self.name, self.summary = strong(name="submitName"), label(name="submitSummary")
        self.form = form()
        self.form_holder = Scrolled(held(self.form), part=True)
        self.program = ProgramForm()
        self.program.changed.connect(self._chose_runs)
        self.urgency = set_up(QComboBox(), "submitUrgency")
        self.urgency.activated.connect(lambda _: self._chose_urgency(self.urgency.currentData()))
        self.share = ShareChoice(self._context, "submitShare", self._chose_sharing)
        runs, shared = tr("It runs"), tr("Shared with")
        urgency = (said_of(self.urgency, runs), self.urgency)
        self.sharing = held(row(GRID, said_of(self.share.choice, shared), self.share))
        self.urgency_line = held(row(*urgency, self.sharing, "stretch"))
        self.here = button(tr("Run it here now"), "submitHere", self._run_here)
        self.known = KnownName(self._chose_name, self._show_known, self._run_again)
        self.taken = TakenAlong(self._allowed)
        self.graph = set_up(GraphView(), "submitGraph")
        self.faults = set_up(QListWidget(), "submitFaults", tr("Faults"), wordWrap=True)
        self.faults.itemActivated.connect(lambda _: self._edit())
        self.machines = quiet(name="submitMachines", wrap=True)
        self.edit = button(tr("Open in editor"), "submitEdit", self._edit, "edit")
        self.submit = button(
            tr("Submit"), "submitDo", lambda: self._send(self._ready()), "submit", primary=True
        )
        self.submit.setDefault(True)
        self.away = button(tr("Close"), "submitClose", self._leave)
        self.progress = set_up(
            QProgressBar(),
            "submitProgress",
            tr("Submitted so far"),
            maximum=len(self._files),
            textVisible=False,
            visible=False,
        )
        self.note = quiet(name="submitNote", wrap=True)

    def _lay(self) -> None:
        about = (self.name, self.summary, self.known)
        head = (*about, self.form_holder, self.program, self.taken, self.urgency_line)
        foot = row((self.machines, 1), self.here)
        beside = (GRID, 0, 0, 0) if len(self._files) > 1 else 0
        right = held(column(*head, (self.faults, 1), (self.graph, 2), foot, margins=beside))
        sizes = [24 * GRID, 86 * GRID]
        split = splitter("", Qt.Orientation.Horizontal, sizes, self.files, right)
        bottom = row((self.note, 1), self.edit, self.away, self.submit)
        column((split, 1), self.progress, bottom, on=self, margins=2 * GRID)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Submit by Enter, but press the button to edit or to close if it has the keyboard."""
        focused = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and focused in (
            self.edit,
            self.away,
        ):
            focused.click()
            return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files of this machine where a program can run with them."""
        if self._current().program and paths_in(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Let the program run with the files that were dropped."""
        event.acceptProposedAction()
        self.program.offer([Path(each) for each in paths_in(event.mimeData())])

    def changeEvent(self, event: QEvent) -> None:
        """Check those files again, when the person comes back to the sheet, that were opened in an
        editor or could not be read, unless they are sent; and have the programs asked for anew."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self._preview.forget_programs()
            for each in self._files:
                unread = each.checked is None and each.refused
                if (each.in_editor or unread) and not (each.sending or each.sent):
                    self._check(each)

    # -- checking ----------------------------------------------------------------------------

    def _current(self) -> SheetFile:
        return self._files[max(0, self.files.currentRow())]

    def _check(self, file: SheetFile) -> None:
        choices = file.choices

        def told(found: Checked | None, refused: str = "") -> None:
            file.take(found)
            file.refused = refused
            self._mark(file)
            self._tell_submit()
            if file is self._current():
                self._show()

        self._context.bridge.work(
            self,
            lambda: self._preview.check(file.path, choices),
            told,
            lambda sentence: told(None, sentence),
        )

    def _mark(self, file: SheetFile) -> None:
        mark, said = file.state
        item = self.files.item(self._files.index(file))
        item.setIcon(mark_icon(mark))
        item.setText(f"{item.data(NAME)}\n{said}")
        item.setToolTip(plain_tip("\n".join([str(file.path), *(text for text, _ in file.faults)])))

    def _ready(self) -> list[SheetFile]:
        return [file for file in self._files if file.ready]

    def _tell_submit(self) -> None:
        count = len(self._ready())
        self.submit.setEnabled(count > 0 and self._act is None)
        many = count > 0 and len(self._files) > 1
        said = tr_n("Submit %n workflow(s)", "", count) if many else tr("Submit")
        busy = tr("Submitting …")
        self.submit.setText(f" {said if self._act is None else busy}")

    # -- showing -----------------------------------------------------------------------------

    def _show(self) -> None:
        file = self._current()
        found = file.checked
        self._tell_submit()
        self._show_faults(file)
        self._show_choices(file)
        if found is None:
            self.name.setText(file.path.name)
            self.summary.setText("" if file.refused else tr("Reading …"))
            return
        workflow = found.workflow
        self.name.setText(workflow.submit.name if workflow is not None else file.path.name)
        self._show_form(file, found)
        self._give_keyboard(found)
        self.graph.setVisible(workflow is not None)
        self.machines.setVisible(workflow is not None)
        if workflow is None:
            self.summary.setText(
                tr_n("%n thing(s) to mend before it can run:", "", len(found.faults))
            )
            return
        self.summary.setText(summary_text(workflow.submit, found.plan, time.time()))
        self.summary.setToolTip(plain_tip(summary_tip(found.plan)))
        self.graph.tell(planned_tasks(workflow.submit, found.plan))
        plan = found.plan
        said = (
            [
                fits_text(plan, self._own if is_for_here(file.urgency) else ""),
                sentences(plan.whys, plan.waits),
            ]
            if plan is not None
            else [found.note]
        )
        if deliver := workflow.submit.deliver:
            said.append(tr("Its last results go to {folder}", folder=deliver))
        if file.sent:
            said = [file.news] if file.known is None and len(self._files) > 1 else []
        self.machines.setText("\n".join(filter(None, said)))

    def _show_choices(self, file: SheetFile) -> None:
        """How urgent it is, what goes along, how a program runs, and the door where nobody helps."""
        leaves = file.checked.leaves if file.checked is not None and not file.sent else ()
        self.taken.tell(() if file.sent else file.asked, file.allowed, leaves)
        self.program.setVisible(file.program)
        self.program.tell(file.alone)
        urgencies = urgency_words(file.urgency)
        if [self.urgency.itemData(n) for n in range(self.urgency.count())] != [*urgencies]:
            self.urgency.clear()
            for value, words in urgencies.items():
                self.urgency.addItem(words, value)
        self.urgency.setCurrentIndex([*urgencies].index(file.urgency))
        self.urgency_line.setVisible(file.checked is not None and not file.sent)
        node, kept = self._context.screen.node, self._context.screen.settings
        self.sharing.setVisible(node is not None and bool(node.flock))
        self.share.tell(file.shared or (kept.shared_with if kept is not None else ()))
        plan = file.checked.plan if file.checked is not None else None
        waits = nobody_helps(plan, self._own) and not is_for_here(file.urgency)
        self.here.setVisible(file.ready and waits)
        workflow = file.checked.workflow if file.checked is not None else None
        taken = {each.name for each in self._context.screen.workflows.values()}
        same = file.known is not None or (plan is not None and plan.known)
        there = file.namesake if workflow is not None else None
        self.known.tell(there, file.name, taken, same=same)

    def _changed(self, _: object = None) -> None:
        """What this computer is called may be known only now; while it is paused it runs nothing."""
        node = self._context.screen.node
        own = node.name if node is not None and node.own_work != "none" else ""
        if own != self._own:
            self._own = own
            self._show()

    def done(self, result: int) -> None:
        """Close the sheet, whatever the ``result`` for Qt; what is being sent goes on."""
        self._context.changed.disconnect(self._changed)
        super().done(result)

    def _chose_runs(self, alone: Alone) -> None:
        self._current().alone = alone
        self._typing.start()

    def _allowed(self, allowed: tuple[Path, ...]) -> None:
        self._current().allowed = allowed
        self._check(self._current())

    def _chose_sharing(self, shared: tuple[str, ...]) -> None:
        self._current().shared = shared

    def _chose_urgency(self, urgency: NamedPriority) -> None:
        self._current().priority = urgency
        self._check(self._current())

    def _run_here(self) -> None:
        file = self._current()
        file.priority = "interactive"
        self._send([file])

    def _chose_name(self, name: str) -> None:
        file = self._current()
        file.name, file.sent, file.known = name.strip(), False, None
        self._typing.start()

    def _show_known(self, workflow: str) -> None:
        self._context.bridge.want(workflow)
        self.submitted.emit(workflow)
        self.close()

    def _run_again(self) -> None:
        file = self._current()
        file.again, file.sent, file.known = True, False, None
        self._send([file])

    def _give_keyboard(self, found: Checked) -> None:
        """Once, to what comes next: a value to fill in, a fault to mend, or the submission."""
        if self._keyboard_given:
            return
        self._keyboard_given = True
        item = self.form.itemAt(0, QFormLayout.ItemRole.FieldRole) if found.variables else None
        field = item.widget() if item is not None else None
        if field is not None:
            QTimer.singleShot(0, field, field.setFocus)  # it is shown in the next turn only
        elif self.faults.count():
            self.faults.setCurrentRow(0)
            self.faults.setFocus()
        else:
            self.submit.setFocus()

    def _show_form(self, file: SheetFile, found: Checked) -> None:
        """Fields are made anew only for another file, or other variables."""
        shape = (str(file.path), *(each.name for each in found.variables))
        if shape == self._shown:
            return
        self._shown = shape
        while self.form.rowCount():
            self.form.removeRow(0)
        for each in found.variables:
            field = variable_field(each, file.values, self._typing.start)
            form_row(self.form, each.says or each.name, field)
        self.form_holder.setVisible(bool(found.variables))

    def _show_faults(self, file: SheetFile) -> None:
        self.faults.clear()
        for text, line in file.faults:
            item = QListWidgetItem(mark_icon(Mark.FAILED), text)
            item.setData(LINE, line)
            self.faults.addItem(item)
        self.faults.setVisible(self.faults.count() > 0)

    # -- acts --------------------------------------------------------------------------------

    def _edit(self) -> None:
        """Open the file at the line of the chosen fault, else of the first, where the editor takes
        one."""
        path, line = self._current().path.absolute(), self._line_meant()
        self._current().in_editor = True
        self._context.bridge.work(
            self,
            lambda: editor_command(native_associations(), path, line),
            lambda command: self._open(path, line, command),
        )

    def _line_meant(self) -> int:
        chosen = max(0, self.faults.currentRow())
        return int(self.faults.item(chosen).data(LINE) or 0) if self.faults.count() else 0

    def _open(self, path: Path, line: int, command: list[str]) -> None:
        if command and QProcess.startDetached(command[0], command[1:])[0]:
            self.note.setText("")
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.note.setText(tr("No editor opens {name} here.", name=path.name))
        elif line:
            self.note.setText(tr("Look at line {line} of {name}.", line=line, name=path.name))

    def _send(self, files: list[SheetFile]) -> None:
        if not files or self._act is not None:
            return
        sendings: list[Sending] = []
        for file in files:
            assert file.checked is not None
            assert file.checked.workflow is not None
            file.sending, file.refused = True, ""
            sendings.append(Sending(file.path, file.checked.workflow, file.choices))
            self._mark(file)
        bridge = self._context.bridge
        self._act = bridge.client_work(
            self,
            lambda client: send(
                client,
                sendings,
                lambda told: bridge.tell(self, partial(self._told, files), told),
                lambda line: bridge.tell(self, self._told_step, line),
            ),
            lambda _: self._ended(files),
            lambda sentence: self._ended(files, sentence),
            act=True,
        )
        self.progress.setVisible(len(self._files) > 1)
        self.away.setText(tr("Stop sending") if len(files) > 1 else tr("Close"))
        self._tell_submit()

    def _told_step(self, line: str) -> None:
        """Of one file each step, of many how far they are."""
        sent, whole = sum(each.sent for each in self._files), len(self._files)
        many = tr("{sent} of {whole} submitted", sent=sent, whole=whole)
        self.note.setText(many if whole > 1 else line)

    def _told(self, files: list[SheetFile], told: tuple[int, Submitted | str]) -> None:
        """What became of one of them."""
        number, answer = told
        file = files[number]
        file.sending = False
        if isinstance(answer, str):
            file.refused = answer
        else:
            file.sent, file.news = True, file.news_in(answer)
            self._context.bridge.want(answer.workflow)
            if self._first:
                self._first = False
                self.submitted.emit(answer.workflow)
        self._mark(file)
        self.progress.setValue(sum(each.sent for each in self._files))
        if file is self._current():
            self._show()

    def _ended(self, files: list[SheetFile], sentence: str = "") -> None:
        """All were told of, but where there was no agent to tell, or somebody called it off."""
        self._act = None
        for file in files:
            file.sending = False
            self._mark(file)
        self.progress.hide()
        self.away.setText(tr("Close"))
        self.note.setText(sentence or "\n".join(each.news for each in files if each.news))
        self._tell_submit()
        if all(each.sent and not each.news for each in self._files):
            self.accept()
        elif any(each.refused for each in files):
            self.files.setCurrentRow(next(n for n, each in enumerate(self._files) if each.refused))
        self._show()

    def _leave(self) -> None:
        """Close; or, while several are sent, call off those that are left."""
        if self._act is None or self.away.text() == tr("Close"):
            self.close()
            return
        self._act.cancel()
        self._ended(self._files)
