"""From *Find out why* to an open firewall: what is run is shown before, and only run on a yes."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from agent.api.flock import Finding
from agent.api.reasons import Diagnosis, as_why
from agent.client.firewall import Opening, Outcome
from gui.firewall import JOINED, FirewallDoor, port_behind
from tests.certain import certain

SILENT = Finding(
    "firewall", "no other machine is found", why=as_why(Diagnosis("NobodyHeard", port=7))
)
OTHER = Finding("no flock", "join one", why=as_why(Diagnosis("NoFlock")))


def press(box: QMessageBox, name: str) -> None:
    button = certain(box.findChild(QPushButton, name))
    assert isinstance(button, QPushButton)
    button.click()


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (("opened", ""), "The firewall lets Wingbeat pass now."),
        (("dismissed", ""), "Nobody allowed it, so the firewall is as it was."),
        (("failed", "no rules"), "The firewall could not be opened: no rules"),
    ],
)
def test_it_is_run_when_somebody_says_so_and_told_what_came_of_it(
    qtbot: QtBot, qapp: QApplication, outcome: tuple[Outcome, str], said: str
) -> None:
    del qapp
    ran: list[Opening] = []
    wanted = Opening("sudo open 7", ("ask", "open", "7"))
    heard: list[str] = []

    def run(opening: Opening) -> tuple[Outcome, str]:
        ran.append(opening)
        return outcome

    door = FirewallDoor(None, lambda _: wanted, run)
    door.told.connect(heard.append)
    door.failed.connect(heard.append)
    box = certain(door.offer(None, [OTHER, SILENT], "no other machine is found"))
    shown = box.informativeText().replace(JOINED, "")
    assert (box.text(), wanted.line in shown) == ("no other machine is found", True)
    press(box, "copy")
    assert QApplication.clipboard().text() == wanted.line
    assert ran == []
    box = certain(door.offer(None, [SILENT], "again"))
    press(box, "openFirewall")
    qtbot.waitUntil(lambda: heard == [said], timeout=20_000)
    assert ran == [wanted]


def test_where_nobody_asks_for_an_administrator_it_can_be_copied_only(
    qtbot: QtBot, qapp: QApplication
) -> None:
    del qapp
    door = FirewallDoor(None, lambda port: Opening(f"sudo open {port}"))
    box = certain(door.offer(None, [SILENT], "x"))
    qtbot.addWidget(box)
    assert box.findChild(QPushButton, "openFirewall") is None
    assert "sudo open 7" in box.informativeText()


@pytest.mark.parametrize("findings", [[OTHER], []])
def test_what_no_firewall_does_is_only_said(findings: list[Finding]) -> None:
    assert port_behind(findings) == 0
    assert FirewallDoor(None).offer(None, findings, "x") is None
