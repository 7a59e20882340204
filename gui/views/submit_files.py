"""One file of the sheet before a submission: what is known of it, and what its row says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agent.api.values import PRIORITY_NAMES, NamedPriority
from agent.api.work import Submitted, WorkflowView
from agent.workflow.one_program import WORKFLOW_ENDS, Alone, is_program
from gui.bridge.submitting import Checked, Choices
from gui.model.marks import Mark
from gui.model.planning import NAMES, refusals
from gui.wording import sentences
from gui.words import tr, tr_n

FAULTS_SHOWN_MAX = 50


def sheet_files(paths: list[Path], allowed: tuple[Path, ...] = ()) -> list[SheetFile]:
    """Return an entry of the sheet for each file; but where exactly one program is among them,
    other files that are no workflows are given to it as its files, and ``allowed`` is not heeded.
    That is what workflows may take along."""
    programs = [path for path in paths if is_program(path)]
    others = [
        path for path in paths if path not in programs and path.suffix.lower() not in WORKFLOW_ENDS
    ]
    if len(programs) != 1:
        return [SheetFile(path, program=path in programs, allowed=allowed) for path in paths]
    given = Alone(tuple(str(each.absolute()) for each in others))
    return [
        SheetFile(path, program=path in programs, alone=given if path in programs else Alone())
        for path in paths
        if path not in others
    ]


@dataclass(slots=True)
class SheetFile:
    """One file of the sheet. What the person typed is kept when another one is looked at."""

    path: Path
    program: bool = False
    """Whether it is no workflow, but a program that comes alone."""
    values: dict[str, str] = field(default_factory=dict)
    priority: NamedPriority | None = None
    """As its person wants it; None as the file says."""
    alone: Alone = field(default_factory=Alone)
    checked: Checked | None = None
    sending: bool = False
    sent: bool = False
    refused: str = ""
    """Why it could not be looked at, or was not submitted."""
    news: str = ""
    """What the agent said to it, beyond that it is submitted."""
    name: str = ""
    """Another name, as its person wants it."""
    again: bool = False
    known: WorkflowView | None = None
    """What it was answered with, where the same had been run before."""
    in_editor: bool = False
    asked: tuple[Path, ...] = ()
    """What it would take along from outside of its folder, confirmed or not."""
    allowed: tuple[Path, ...] = ()
    shared: tuple[str, ...] = ()
    """With whom, as its person wants it; empty: as the settings say."""

    @property
    def choices(self) -> Choices:
        """What its person says beside it, as it is now."""
        told = (dict(self.values), self.name, self.priority, self.alone, self.again, self.allowed)
        return Choices(*told, self.shared)

    @property
    def namesake(self) -> WorkflowView | None:
        """Return the workflow that is there under its name, or that is the same; None where there
        is none, while the file was not read yet, and once it was submitted as a new one."""
        if self.known is not None or self.sent:
            return self.known
        plan = self.checked.plan if self.checked is not None else None
        return plan.namesake if plan is not None else None

    @property
    def urgency(self) -> NamedPriority:
        """Return the priority it would be submitted with, by its name where it has one, else as a
        number: as the person chose, else as the file says, low while it was not read."""
        workflow = self.checked.workflow if self.checked is not None else None
        said = workflow.submit.priority if workflow is not None else "low"
        wanted = said if self.priority is None else self.priority
        return next((name for name in NAMES if PRIORITY_NAMES[name] == wanted), wanted)

    @property
    def ready(self) -> bool:
        """Tell whether it can be submitted now, or once more after a refusal: read without a fault,
        all that leaves the computer confirmed, and neither sent nor being sent."""
        found = self.checked
        good = found is not None and found.workflow is not None and not refusals(found.plan)
        good = good and not self.unconfirmed
        return good and not (self.sending or self.sent)

    @property
    def unconfirmed(self) -> tuple[Path, ...]:
        """Return what it would take along that its person has not confirmed."""
        workflow = self.checked.workflow if self.checked is not None else None
        return workflow.outside if workflow is not None else ()

    def take(self, checked: Checked | None) -> None:
        """Keep the result of the last reading, and which files it asks to take along; None changes
        nothing."""
        if checked is None:
            return
        self.checked = checked
        self.asked = tuple(dict.fromkeys((*self.allowed, *self.unconfirmed)))

    @property
    def state(self) -> tuple[Mark, str]:
        """Return the mark of the file's row and what stands beside it: submitted or known already,
        refused, being read, how many things are to mend or to confirm, waiting its turn, or
        ready."""
        found = self.checked
        if self.sent:
            return Mark.DONE, tr("known already") if self.known is not None else tr("submitted")
        if self.refused:
            return Mark.FAILED, tr("not submitted") if found is not None else tr("not read")
        if found is None:
            return Mark.WAITING, tr("Reading …")
        count = len(found.faults) + len(refusals(found.plan))
        if count:
            return Mark.FAILED, tr_n("%n thing(s) to mend", "", count)
        if self.unconfirmed and not self.sending:
            return Mark.PERSON, tr_n("%n thing(s) to confirm", "", len(self.unconfirmed))
        return Mark.READY, tr("waits its turn") if self.sending else tr("ready")

    @property
    def faults(self) -> list[tuple[str, int | None]]:
        """Return what keeps the file from being submitted, a sentence each with its line in the
        file, or None where it has none: why it was refused, what is wrong with it
        (``FAULTS_SHOWN_MAX`` at the most), and what the agent says against it. Empty when nothing
        does; while it is read only why it was refused."""
        found = self.checked
        told: list[tuple[str, int | None]] = [(self.refused, None)] if self.refused else []
        if found is None:
            return told
        for each in found.faults[:FAULTS_SHOWN_MAX]:
            line, text = each.place.line, each.words(tr)
            told.append((tr("Line {line}: {text}", line=line, text=text) if line else text, line))
        return [*told, *((each, None) for each in refusals(found.plan))]

    def news_in(self, reply: Submitted) -> str:
        """Return what the answer to a submission tells that was not told before: that the work is
        known, which is noted in ``known``, or who has to accept programs; empty where it tells
        nothing new."""
        if reply.known:
            self.known = reply.there
            known = reply.there.name if reply.there is not None else reply.workflow
            return tr("{name} is known already and not run twice.", name=known)
        self.known = None
        plan = self.checked.plan if self.checked is not None else None
        if plan is not None and reply.waits == plan.waits:
            return ""
        return sentences(reply.whys, reply.waits)
