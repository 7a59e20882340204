"""Marking a step done that asks for files: what is to be done, what is attached, what is missing.

Files are chosen name by name or dropped onto it together. Sending goes on in the background with a
bar; closing calls it off. What the agent refuses is said here, and nothing that was sent is sent again.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget

from agent.api.values import TaskState
from agent.api.work import TaskView, Wished
from gui.bridge.attaching import Kept, finish_gate, size_of
from gui.bridge.bridge import Task
from gui.model.attaching import Attaching, shown_name
from gui.model.screen import Changes
from gui.model.times import size
from gui.theme.look import GRID
from gui.views.bars import Bar
from gui.views.choosing import file_to_open, files_to_open
from gui.views.outputs import Outputs
from gui.views.pieces import (
    LEFT,
    PLAIN,
    Sheet,
    button,
    clear,
    column,
    grid,
    held,
    label,
    lead_to,
    line,
    quiet,
    row,
    set_up,
    strong,
    tool,
)
from gui.views.room import Scrolled
from gui.views.view_context import ViewContext
from gui.words import tr

WIDTH = 68 * GRID
PROGRESS_STEPS = 1000


class GateDialog(Sheet):
    """``finished_gate`` when the agent has accepted it."""

    finished_gate = Signal(str)

    def __init__(
        self, context: ViewContext, task: TaskView, parent: QWidget | None = None, refusal: str = ""
    ) -> None:
        workflow = context.screen.workflows.get(task.workflow)
        self._whole = workflow.name if workflow is not None else task.workflow
        heading = tr("{step} of {workflow}", step=task.name, workflow=self._whole)
        super().__init__(parent, "gateDialog", heading, acceptDrops=True, minimumWidth=WIDTH)
        self._context, self._gate = context, task
        self.attaching = Attaching(task.attach)
        self._kept: Kept = {}
        self._sending: Task | None = None
        self._refusal = refusal
        self._make_parts()
        self._lay()
        context.changed.connect(self._changed)
        if refusal:
            self.fault.say(refusal)
        self._tell()

    # -- parts -------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        asks = self._gate.asks or tr("Nothing is written about what is to be done.")
        self.asks = label(asks, "gateAsks")
        self.outputs = Outputs(self._context)
        self.outputs.tell(self._gate)
        self.fault = Bar("gateFault", margin=0)
        self.missing = quiet(name="gateMissing", wrap=True)
        self.progress = set_up(
            QProgressBar(),
            "gateProgress",
            tr("Sent so far"),
            maximum=PROGRESS_STEPS,
            textVisible=False,
            visible=False,
        )
        self.add = button(tr("Add files …"), "gateAdd", self._add, "plus")
        self.away = button(tr("Close"), "gateClose", self.close)
        self.done_now = button(tr("Mark done"), "gateDone", self.send, "check", primary=True)

    def _lay(self) -> None:
        self._rows = grid(2 * GRID, GRID, stretched=1)
        column(
            *(self.fault, strong(self._gate.name), quiet(self._whole, "gateWorkflow")),
            *(self.asks, self.outputs, line(), Scrolled(held(self._rows), part=True)),
            (self.add, LEFT),
            quiet(tr("Files can also be dropped here."), wrap=True),
            *(self.missing, self.progress, row("stretch", self.away, self.done_now)),
            on=self,
            spacing=GRID + 4,
            margins=2 * GRID,
        )

    # -- what is chosen ----------------------------------------------------------------------

    def offer(self, paths: list[Path]) -> None:
        """Attach files, each at the name that it bears or a free one; say so if one has no place or
        does not exist. Does nothing while files are sent."""
        if self._sending is not None:
            return
        self.fault.hide()
        there = [path for path in paths if path.exists()]
        left = self.attaching.offer(there)
        gone = [path for path in paths if path not in there]
        if gone:
            self.fault.say(tr("There is no file {name} any more.", name=gone[0].name))
        elif left:
            self.fault.say(
                tr("{name} has no place: all names have their file. Choose it at the one that it "
                   "is to replace.", name=left[0].name)
            )  # fmt: skip
        self._tell()

    def _add(self) -> None:
        if chosen := files_to_open(self, "attach", tr("Files to attach")):
            self.offer(chosen)

    def _choose(self, name: str) -> None:
        chosen = file_to_open(self, "attach", tr("File for {name}", name=shown_name(name)))
        if chosen is not None:
            self.attaching.choose(name, chosen)
            self._tell()

    def _remove(self, path: Path) -> None:
        self.attaching.remove(path)
        self._tell()

    def _tell(self) -> None:
        clear(self._rows)
        names = self._gate.attach
        for place, name in enumerate(names):
            self._tell_row(place, name, self.attaching.path_of(name))
        if not names:
            for place, path in enumerate(self.attaching.paths):
                self._tell_row(place, "", path)
        self.add.setVisible(not names)
        self.missing.setText(self.attaching.gap() or self.attaching.missing())
        self.missing.setVisible(bool(self.missing.text()))
        lacking = self.missing.text() or (self._refusal and not self.attaching.paths)
        self._lead_on(bool(lacking))
        self._tell_able()

    def _lead_on(self, lacking: bool) -> None:
        """Colour, Enter and keyboard go to what is still to be chosen, and then to the end of it."""
        names = self._gate.attach
        open_ = next((at for at, n in enumerate(names) if self.attaching.path_of(n) is None), None)
        choose = self.add if open_ is None else self.findChild(QPushButton, f"gateChoose{open_}")
        target = choose if lacking and choose is not None else self.done_now
        for each in (self.add, self.done_now, target):
            lead_to(each, primary=each is target)
        target.show()  # what a layout has just been given cannot take the keyboard before
        target.setDefault(True)
        target.setFocus()

    def _tell_row(self, place: int, asked: str, path: Path | None) -> None:
        name, nothing = shown_name(asked), tr("nothing chosen yet")
        if name != asked:
            nothing = tr("nothing, which is possible too")
        text = _file_text(path) if path is not None else nothing
        tip = str(path) if path is not None else ""
        said = set_up(
            QLabel(text), f"gateFile{place}", textFormat=PLAIN, toolTip=tip, quiet=path is None
        )
        self._rows.addWidget(said, place, 1)
        if name:
            choose = button(
                tr("Choose …"), f"gateChoose{place}", lambda: self._choose(asked), "folder"
            )
            choose.setAccessibleName(tr("Choose a file for {name}", name=name))
            self._rows.addWidget(strong(name), place, 0)
            self._rows.addWidget(choose, place, 2)
        if path is not None:
            what = tr("Do not attach {name}", name=path.name)
            remove = tool(what, f"gateRemove{place}", lambda: self._remove(path), "close")
            self._rows.addWidget(remove, place, 3)

    def _tell_able(self) -> None:
        idle = self._sending is None
        waits = self._gate.state is TaskState.WAITING
        self.done_now.setEnabled(idle and waits and not self.attaching.gap())
        self.add.setEnabled(idle)
        for at in range(self._rows.count()):
            item = self._rows.itemAt(at)
            if item is not None and (widget := item.widget()) is not None:
                widget.setEnabled(idle)
        self.away.setText(tr("Close") if idle else tr("Stop sending"))

    # -- sending -----------------------------------------------------------------------------

    def send(self) -> None:
        """Begin to send all attached files, but those that were sent before, and then to mark the
        gate done, and return at once. Progress and failure are shown here; when it is accepted,
        ``finished_gate`` is emitted and this closes."""
        paths, gate, kept = self.attaching.in_places, self._gate.task, self._kept
        self.fault.hide()
        self.progress.setValue(0)
        self.progress.setVisible(bool(paths))
        bridge = self._context.bridge

        def told(share: tuple[int, int]) -> None:
            bridge.tell(self, self._progressed, share)

        self._sending = bridge.client_work(
            self,
            lambda client: finish_gate(client, gate, paths, kept, told),
            self._done,
            self._refused,
        )
        self._tell_able()

    def _progressed(self, share: tuple[int, int]) -> None:
        if self._sending is None:
            return
        sent, whole = share
        self.progress.setValue(PROGRESS_STEPS * sent // max(1, whole))
        self.missing.setText(tr("{sent} of {whole} sent", sent=size(sent), whole=size(whole)))
        self.missing.show()

    def _done(self, wished: Wished) -> None:
        self._context.bridge.want(wished.workflow)
        self._sending = None
        self.finished_gate.emit(self._gate.task)
        self.accept()

    def _refused(self, sentence: str) -> None:
        self._sending = None
        self.progress.hide()
        self.fault.say(sentence)
        self._tell()

    def done(self, result: int) -> None:
        """Close the dialog, and call off what is being sent, whatever the ``result`` for Qt."""
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        self._context.changed.disconnect(self._changed)
        super().done(result)

    def _changed(self, changes: Changes) -> None:
        """Somebody else may have marked it done, or cancelled it; and names of results come."""
        self.outputs.tell(self._gate)
        if self._gate.workflow not in changes.tasks or self._sending is not None:
            return
        own = self._context.screen.tasks.get(self._gate.workflow, {}).get(self._gate.task)
        if own is not None and own.state is not self._gate.state:
            self._gate = own
            if own.state is not TaskState.WAITING:
                self.fault.say(tr("This step does not wait any more."))
            self._tell_able()

    # -- dropping ----------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files of this machine."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Attach the files of this machine that were dropped; they are not submitted."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        self.offer(paths)


def _file_text(path: Path) -> str:
    if path.is_dir():  # how large it is would have to be looked up file by file
        return tr("{name} (folder)", name=path.name)
    try:
        return f"{path.name} · {size(size_of(path))}"
    except OSError:
        return path.name
