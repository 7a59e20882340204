"""Programs: which this computer and the flock can run, and those of others that wait for a word."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QWidget

from agent.api.programs import (
    ACCEPT_PROGRAM,
    REFUSE_PROGRAM,
    AcceptProgram,
    ProgramsReply,
    ProgramView,
    RefuseProgram,
)
from agent.api.rpc import Method, P, R
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
from gui.views.table import Table
from gui.views.tidying import ask_to_forget
from gui.views.view_context import ViewContext
from gui.words import tr

ROWS_SHOWN_MAX = 8


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


class ProgramsCard(QFrame):
    """Programs: those that wait first, each with its two buttons; then all in a table."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__()
        self._context = context
        set_up(self, "programs", card=True)
        self._waiting = column(spacing=6)
        self._asked: tuple[str, ...] = ()
        self.rows = Rows(
            (
                Column("name", tr("Program"), lambda e, now_s: e.name.partition("@")[0], 180,
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
        parts = (strong(tr("Programs")), self._waiting, self.none, self.table)
        column(*parts, on=self, margins=CARD_MARGINS)
        self.tell(None)

    def tell(self, reply: ProgramsReply | None) -> None:
        """Show these programs in a table, and a question for each that waits for a word above it;
        None: nothing is known of any."""
        programs = reply.programs if reply is not None else ()
        self.rows.show(programs)
        self.table.setVisible(bool(programs))
        self.none.setVisible(not programs)
        self.table.setFixedHeight(34 * (1 + min(ROWS_SHOWN_MAX, max(1, len(programs)))) + 8)
        self._tell_waiting([each for each in programs if each.here == "waiting"])

    def _tell_waiting(self, waiting: list[ProgramView]) -> None:
        names = tuple(each.name for each in waiting)
        if names == self._asked:
            return
        self._asked = names
        if has_keyboard(self):
            self.table.setFocus()
        clear(self._waiting)
        for each in waiting:
            self._waiting.addWidget(self._question(each))

    def _question(self, view: ProgramView) -> QWidget:
        name = view.name.partition("@")[0]
        accept, refuse = AcceptProgram(view.name), RefuseProgram(view.name)
        said = tr("May {program} of {publisher} run here?",
                  program=name, publisher=view.publisher or tr("somebody"))  # fmt: skip
        holder = set_up(QFrame(), bar="notice")
        holder.setLayout(
            row(
                (set_up(QLabel(said), textFormat=PLAIN, toolTip=view.name), 1),
                button(
                    tr("Allow"),
                    f"accept_{name}",
                    lambda: self._answer(ACCEPT_PROGRAM, accept),
                    primary=True,
                ),
                button(tr("Never"), f"refuse_{name}", lambda: self._answer(REFUSE_PROGRAM, refuse)),
                margins=(GRID + 4, 6, GRID, 6),
            )
        )
        return holder

    def _answer(self, method: Method[P, R], wish: P) -> None:
        self._context.ask(self, method, wish, lambda _: self._context.bridge.want_flock())

    def menu_at(self, place: QPoint) -> QMenu | None:
        """Open the menu of the chosen program at this place, and return it without waiting; None if
        none is chosen. Only what was published is forgotten; an installed one is its owner's."""
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
