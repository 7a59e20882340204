"""Programs: which this computer and the flock can run, and those of others that wait for a word."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QWidget

from agent.api.flock import ConfinementView
from agent.api.permissions import (
    DISTRUST,
    GRANT,
    REVOKE,
    AskedProgram,
    Distrust,
    Grant,
    PermissionAsked,
    PermissionsReply,
    Revoke,
    TrustedMachine,
    WantingProgram,
)
from agent.api.programs import (
    ProgramsReply,
    ProgramView,
    bare_name,
)
from agent.api.values import Dataset
from gui.theme.look import GRID
from gui.views.menus import add_copy, add_entry, context_menu
from gui.views.pieces import (
    CARD_MARGINS,
    PLAIN,
    button,
    clear,
    column,
    has_keyboard,
    quiet,
    row,
    set_up,
    strong,
)
from gui.views.rows import Column, Rows
from gui.views.secret_sheet import SecretSheet
from gui.views.table import Table
from gui.views.tidying import ask_to_forget
from gui.views.view_context import ViewContext
from gui.views.wants import asks_words, wants_words
from gui.words import tr

ROWS_SHOWN_MAX = 8
NO_FOLDER = Dataset("", 0)


def here_words(view: ProgramView) -> str:
    """Return what this computer does with a program, in a few words; "not here" where it does not
    have it."""
    if view.here is None:
        return tr("not here")
    return {
        "installed": tr("runs here"),
        "accepted": tr("runs here, by your permission"),
        "waiting": tr("waits for your permission"),
        "refused": tr("never here"),
    }[view.here]


def confinement_words(found: ConfinementView | None) -> str:
    """Return in a sentence whether programs are confined on this computer, and from what, as it was
    tried, or that the settings have switched that off; empty where it is not known yet."""
    if found is None:
        return ""
    if found.rule == "off":
        return tr("Programs are not confined here, as the settings say.")
    sorts = (
        (tr("files"), found.files),
        (tr("network"), found.network),
        (tr("signals"), found.signals),
        (tr("tracing"), found.tracing),
    )
    yes, no = tr("yes"), tr("no")
    held = ", ".join(f"{name}: {yes if holds else no}" for name, holds in sorts)
    means = ", ".join(found.by)
    if found.holds:
        return tr(
            "Programs are confined, as was tried here: {held} ({means}).", held=held, means=means
        )
    return tr("Programs cannot be confined here: {held}. {error}", held=held, error=found.error)


class ProgramsCard(QFrame):
    """What waits for a word first, then all programs in a table."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        set_up(self, "programs", card=True)
        self._waiting = column(spacing=6)
        self._told: PermissionsReply | None = None
        self.rows = Rows(
            (
                Column("name", tr("Program"), lambda e, now_s: bare_name(e.name), 180,
                       tip=lambda e, now_s: f"{e.name}\n{e.text}".strip()),
                Column("here", tr("Here"), lambda e, now_s: here_words(e), 190),
                Column("nodes", tr("Machines"), lambda e, now_s: ", ".join(e.nodes), 260),
                Column("text", tr("What it does"), lambda e, now_s: e.text, 240, quiet=True, stretch=True),
            ),
            lambda each: str(each.name),
            lambda each: str(each.name),
            self,
        )  # fmt: skip
        self.table = Table(self.rows, "programsTable", tr("Programs"))
        self.table.customContextMenuRequested.connect(
            lambda at: self.menu_at(self.table.viewport().mapToGlobal(at))
        )
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.none = quiet(
            tr("No program is installed yet. Each is a folder with a program.yaml in the folder "
               "of programs; workflows may also bring their own."),
            wrap=True,
        )  # fmt: skip
        self.held_back = quiet("", wrap=True)
        parts = (strong(tr("Programs")), self.held_back, self._waiting, self.none, self.table)
        column(*parts, on=self, margins=CARD_MARGINS)
        self.tell(None, None)

    def tell(self, reply: ProgramsReply | None, permissions: PermissionsReply | None) -> None:
        """Show these programs in a table (None: none are known), and above it how programs are
        confined and a line for each workflow that waits for permission, each program that asks for
        more than all have, and each trusted machine (None: these stay as they are)."""
        programs = reply.programs if reply is not None else ()
        self.rows.show(programs)
        self.table.setVisible(bool(programs))
        self.none.setVisible(not programs)
        self.table.setFixedHeight(34 * (1 + min(ROWS_SHOWN_MAX, max(1, len(programs)))) + 8)
        if permissions is not None and permissions != self._told:
            self._told = permissions
            if has_keyboard(self):
                self.table.setFocus()
            clear(self._waiting)
            self.held_back.setText(confinement_words(permissions.confinement))
            self.held_back.setVisible(bool(self.held_back.text()))
            for asked in permissions.asked:
                self._waiting.addWidget(self._question(asked))
            for program in permissions.wanting:
                self._waiting.addWidget(self._wanting(program))
            for machine in permissions.trusted:
                self._waiting.addWidget(self._trusted(machine))

    def _question(self, asked: PermissionAsked) -> QWidget:
        names = ", ".join(bare_name(each.program) for each in asked.programs)
        said = tr("May {workflow} of {person} run here? It brings {programs}.",
                  workflow=asked.name, person=asked.submitter, programs=names)  # fmt: skip
        decide = button(
            tr("Decide …"),
            f"decide_{asked.name}",
            lambda: self._context.decide.emit(asked.workflow),
            primary=True,
        )
        return _line(said, decide)

    def _wanting(self, program: WantingProgram) -> QWidget:
        name, wants = bare_name(program.program), wants_words(program.wants)
        if any(each.refused for each in program.wants):
            return _line(asks_words([AskedProgram(name, NO_FOLDER, wants=program.wants)]))
        if all(each.granted for each in program.wants):
            back = button(
                tr("Take back"),
                f"revoke_{name}",
                lambda: self._context.ask(self, REVOKE, Revoke(program.program), self._asked),
            )
            said = tr("{program} is allowed {wants}.", program=name, wants=wants)
            missing = [each.name for each in program.wants if each.missing]
            return _line(said, *map(self._secret, missing), back)
        allow = button(
            tr("Allow"),
            f"grant_{name}",
            lambda: self._context.ask(self, GRANT, Grant(program.program), self._asked),
        )
        return _line(asks_words([AskedProgram(name, NO_FOLDER, wants=program.wants)]), allow)

    def _secret(self, name: str) -> QWidget:
        return button(
            tr("Give {name} …", name=name),
            f"secret_{name}",
            lambda: SecretSheet(self._context, name, self).open(),
            primary=True,
        )

    def _asked(self, _: object) -> None:
        self._context.bridge.want_flock()

    def _trusted(self, machine: TrustedMachine) -> QWidget:
        said = tr("All that is submitted on {machine} may run here.", machine=machine.name)
        again = button(tr("Ask again"), f"distrust_{machine.name}", lambda: self._distrust(machine))
        return _line(said, again)

    def _distrust(self, machine: TrustedMachine) -> None:
        wish = Distrust(machine.node)
        self._context.ask(self, DISTRUST, wish, lambda _: self._context.bridge.want_flock())

    def menu_at(self, place: QPoint) -> QMenu | None:
        """Open the menu of the chosen program at this place of the screen, and return it without
        waiting; None, with nothing opened, if none is chosen. Only what was published is forgotten;
        an installed one is its owner's."""
        chosen: ProgramView | None = self.table.current()
        if chosen is None:
            return None
        menu = context_menu(self, "programMenu")
        able = chosen.here in ("accepted", "refused")
        forget = partial(ask_to_forget, self, self._context, chosen.name)
        add_entry(menu, "forget", tr("Forget …"), forget, able=able)
        add_copy(menu, chosen.name)
        menu.popup(place)
        return menu


def _line(said: str, *acts: QWidget) -> QWidget:
    holder = set_up(QFrame(), bar="notice")
    text = set_up(QLabel(said), textFormat=PLAIN, wordWrap=True)
    holder.setLayout(row((text, 1), *acts, margins=(GRID + 4, 6, GRID, 6)))
    return holder
