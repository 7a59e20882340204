"""The past as a file for other programs: what is shown, all of it, as CSV or JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtWidgets import QMenu, QPushButton

from agent.api.past import Past, PastReply
from agent.client.past import past_csv, whole_past
from gui.theme.drawing import icon
from gui.views.choosing import save_text
from gui.views.menus import add_entry
from gui.views.pieces import ICON_SIZE, set_up
from gui.views.view_context import ViewContext
from gui.words import tr


class PastExport(QPushButton):
    """A button with two entries; ``wanted`` says what is shown at the moment."""

    def __init__(self, context: ViewContext, wanted: Callable[[], Past]) -> None:
        super().__init__(" " + tr("Export"))
        self._context, self._wanted = context, wanted
        set_up(self, "historyExport", tr("Export"), icon=icon("export"), iconSize=ICON_SIZE)
        menu = set_up(QMenu(self), "historyExportMenu")
        add_entry(menu, "csv", tr("As CSV, for spreadsheets …"), lambda: self.export("csv"))
        add_entry(menu, "json", tr("As JSON, for programs …"), lambda: self.export("json"))
        self.setMenu(menu)

    def export(self, kind: str) -> None:
        """Have all pages of what the list shows read, then ask the person for a file and write it
        there as ``kind``, "csv" or "json"; returns at once. Nobody is asked where the window was
        closed meanwhile; a failure is told by the context's ``failed``."""
        wanted = self._wanted()
        self._context.bridge.client_work(
            self,
            lambda client: whole_past(client, wanted),
            partial(self._save, kind),
            self._context.failed.emit,
        )

    def _save(self, kind: str, reply: PastReply) -> None:
        """Not for a window that was closed meanwhile: nobody is there to be asked."""
        if not self.window().isVisible():
            return
        text = past_csv(reply.workflows) if kind == "csv" else past_json(reply)
        name = f"wingbeat-history.{kind}"
        save_text(self, tr("Export the history"), name, text, self._context.failed.emit)


def past_json(reply: PastReply) -> str:
    """Return the workflows as a JSON document, one that a person can read."""
    return msgspec.json.format(msgspec.json.encode(reply.workflows), indent=2).decode() + "\n"
