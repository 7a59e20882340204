"""What programs ask for is said in the window, allowed and taken back there, and what holds is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from agent.api.flock import ConfinementView
from agent.api.permissions import AskedFor, AskedProgram
from agent.api.secrets import SecretView
from agent.api.values import Dataset
from gui.views.computer_page import ComputerPage
from gui.views.programs_card import confinement_words
from gui.views.secret_sheet import SecretSheet, place_words
from gui.views.wants import asks_words
from tests.certain import certain
from tests.gui.acts import press, until
from tests.gui.conftest import context_on
from tests.gui.machines import prepared

NOTHING = Dataset("", 0)


def test_all_that_is_asked_for_is_said_and_what_nobody_can_allow() -> None:
    wants = (
        AskedFor("network", "lan"),
        AskedFor("reads", "~/.ssh", refused=True),
        AskedFor("device", "gpu"),
        AskedFor("secret", "survey-db"),
    )
    said = asks_words([AskedProgram("a@1", NOTHING, wants=wants), AskedProgram("b@2", NOTHING)])
    assert said == (
        "a asks for network (all of it, for no computer can keep a program to the local one), "
        "reading ~/.ssh, the device gpu, the secret survey-db.\n"
        "No program may read ~/.ssh: keys, settings or somebody's own things lie there."
    )
    assert asks_words([AskedProgram("b@2", NOTHING)]) == ""


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, ""),
        (ConfinementView("off"), "Programs are not confined here, as the settings say."),
        (
            ConfinementView("on", True, True, True, True, True, ("Landlock 2", "seccomp")),
            (
                "Programs are confined, as was tried here: files: yes, network: yes, signals: yes, "
                "tracing: yes (Landlock 2, seccomp)."
            ),
        ),
        (
            ConfinementView("on", False, True, True, False, True, ("Landlock 2",), "signals: kill"),
            (
                "Programs cannot be confined here: files: yes, network: yes, signals: no, "
                "tracing: yes. signals: kill"
            ),
        ),
    ],
    ids=["unknown", "off", "holds", "open"],
)
def test_what_holds_programs_back_is_shown(found: ConfinementView | None, said: str) -> None:
    assert confinement_words(found) == said


def test_where_a_value_lies_is_said() -> None:
    assert place_words(SecretView("a", "key store")) == "a lies in the key store of this computer."
    assert "only your account can read" in place_words(SecretView("a", "file"))


def test_it_is_allowed_and_taken_back_and_a_secret_given(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    machine = prepared(tmp_path, "acor")
    machine.install("asking", "", secrets=["survey-db"])
    with machine.agent("--name", "acor", "--port", "0"), context_on(machine) as context:
        page = ComputerPage(context)
        page.show()
        context.bridge.want_flock()

        def has(name: str) -> bool:
            return page.findChild(QWidget, name) is not None

        until(qtbot, lambda: has("grant_asking"))
        press(page, "grant_asking")
        until(qtbot, lambda: has("secret_survey-db") and has("revoke_asking"))
        assert page.programs.held_back.text()
        press(page, "secret_survey-db")
        sheet = certain(page.findChild(SecretSheet))
        assert sheet.value.echoMode() is QLineEdit.EchoMode.Password
        assert not sheet.keep.isEnabled()
        sheet.value.setText("the password")
        press(sheet, "keepSecret")
        until(qtbot, lambda: not has("secret_survey-db"))
        assert [each["name"] for each in machine.answer("secrets")["secrets"]] == ["survey-db"]
        press(page, "revoke_asking")
        until(qtbot, lambda: has("grant_asking"))
        page.close()
        page.deleteLater()
