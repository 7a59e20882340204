"""The door from *Find out why* to the firewall: what would be run, to read and to copy, and its run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from agent.api.flock import Finding
from agent.api.reasons import Diagnosis, reason_of
from agent.client.firewall import Opening, Outcome, open_firewall, opening
from gui.views.questions import ACCEPT, Answer, ask
from gui.words import tr

JOINED = "\u2060"
"""Cannot be seen, and no line ends there: the words of a command stay whole."""


def port_behind(findings: Sequence[Finding]) -> int:
    """Return the port that a firewall probably blocks, by these findings of ``doctor``; 0 where
    none of them is about a firewall."""
    for each in findings:
        why = reason_of(each.why, each.text)
        if isinstance(why, Diagnosis) and why.kind in ("NobodyHeard", "OtherPort"):
            return why.port
    return 0


class FirewallDoor(QObject):
    """Offers to open the firewall; ``told`` with what came of it, ``failed`` with why it did not."""

    told = Signal(str)
    failed = Signal(str)
    _over = Signal(str, str)

    def __init__(
        self,
        parent: QObject | None,
        find: Callable[[int], Opening | None] = opening,
        run: Callable[[Opening], tuple[Outcome, str]] = open_firewall,
    ) -> None:
        super().__init__(parent)
        self._find, self._run = find, run
        self._over.connect(self._tell)

    def offer(
        self, parent: QWidget | None, findings: Sequence[Finding], told: str
    ) -> QMessageBox | None:
        """Show what was found, in the words of ``told``, with the command that opens the firewall,
        and return the open box; None, with nothing shown, where no firewall is suspected or none is
        known."""
        port = port_behind(findings)
        wanted = self._find(port) if port else None
        if wanted is None:
            return None
        shown = wanted.line.replace("-", f"-{JOINED}")
        more = tr("This command lets other computers reach this one:") + f"\n\n{shown}"
        answers: list[Answer] = [
            ("copy", tr("Copy the command"), QMessageBox.ButtonRole.ActionRole,
             lambda: QGuiApplication.clipboard().setText(wanted.line)),
        ]  # fmt: skip
        if wanted.words:
            answers.append(
                ("openFirewall", tr("Run it as administrator"), ACCEPT, lambda: self._begin(wanted))
            )
        return ask(parent, "firewallBox", told, more, tr("Close"), *answers, careful=True)

    def _begin(self, wanted: Opening) -> None:
        """In a thread: somebody types a password meanwhile."""
        threading.Thread(target=lambda: self._over.emit(*self._run(wanted)), daemon=True).start()

    def _tell(self, outcome: str, said: str) -> None:
        if outcome == "failed":
            self.failed.emit(tr("The firewall could not be opened: {why}", why=said or "?"))
        elif outcome == "dismissed":
            self.told.emit(tr("Nobody allowed it, so the firewall is as it was."))
        else:
            self.told.emit(tr("The firewall lets Wingbeat pass now."))
