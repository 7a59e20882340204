"""What an administrator has laid down for this computer, as its person sees it: a first answer that
they may change, and what is fixed, by whom.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from agent.api.settings import CHANGE_SETTINGS, ChangeSettings
from agent.client import BlockingClient
from agent.client.errors import RequestError
from agent.host import administered
from agent.host.private_posix import PosixGuard
from agent.net.addresses import Address
from agent.net.invitation import Invitation
from agent.node.hosting import InsideAgent
from agent.paths import MachineFiles
from gui.model.tray import is_answered, is_to_be_asked
from gui.model.trouble import flock_trouble, joins_by_itself
from gui.views.computer_page import ComputerPage
from gui.views.first_run import FirstRun
from gui.views.settings_dialog import SettingsDialog
from gui.views.view_context import ViewContext
from tests.certain import certain
from tests.gui.acts import until
from tests.gui.conftest import NoLogin, context_on
from tests.gui.machines import prepared

DEFAULTS = 'volunteer = "when idle"\n[presence]\nidle_s = 900\n'
NOBODY_THERE = Invitation("a" * 26, bytes(8), bytes(12), 2**32 - 1, (Address("127.0.0.1", 9),))
POLICY = 'slots = 1\npublished_programs = "never"\n[presence]\non_mains_only = true\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this computer's administrators write."""
    monkeypatch.setattr(administered, "alteration_guard", lambda: PosixGuard(os.getuid()))
    made = tmp_path / "machine"
    made.mkdir(mode=0o755)
    return made


@contextmanager
def computer(folder: Path, defaults: str = "", policy: str = "") -> Iterator[ViewContext]:
    """One whose person has answered nothing yet."""
    machine = prepared(folder.parent, "acor", answer="")
    machine.settle(port=0, name="acor", listen=["127.0.0.1"])
    home = machine.home
    machine.home = type(home)(home.data, home.config, home.log, home.cache, MachineFiles(folder))
    for name, text in (("settings.toml", defaults), ("policy.toml", policy)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o644)
    agent = InsideAgent(machine.home)
    agent.start()
    try:
        with context_on(machine) as context:
            yield context
    finally:
        agent.stop("the test is over")


def known(qtbot: QtBot, context: ViewContext) -> None:
    screen = context.screen
    until(qtbot, lambda: screen.volunteering is not None and screen.settings is not None)


def locked(page: QWidget, rule: str) -> bool:
    return not certain(page.findChild(QWidget, f"fixed_{rule}")).isHidden()


def test_an_administrators_first_answer_is_shown_and_may_be_changed(
    qtbot: QtBot, folder: Path
) -> None:
    with computer(folder, DEFAULTS) as context:
        known(qtbot, context)
        assert is_answered(context.screen), "it helps by the administrator's word meanwhile"
        assert is_to_be_asked(context.screen)
        assert certain(context.screen.volunteering).rules.idle_s == 900
        dialog = FirstRun(context, NoLogin())
        qtbot.addWidget(dialog)
        dialog._show(1)
        assert (dialog.idle.isChecked(), dialog.idle.isEnabled()) == (True, True)
        assert "Whoever looks after this computer has chosen this" in dialog.whose.text()
        dialog.not_now.setChecked(True)
        dialog.next.click()
        until(qtbot, lambda: not is_to_be_asked(context.screen))
        assert certain(context.screen.volunteering).rules.mode == "not now"
        again = FirstRun(context, NoLogin())
        qtbot.addWidget(again)
        assert (again.not_now.isChecked(), again.whose.text()) == (True, "")


def test_a_fixed_answer_is_not_asked_for(qtbot: QtBot, folder: Path) -> None:
    with computer(folder, DEFAULTS, 'volunteer = "not now"\n') as context:
        known(qtbot, context)
        assert not is_to_be_asked(context.screen)
        dialog = FirstRun(context, NoLogin())
        qtbot.addWidget(dialog)
        assert str(folder / "policy.toml") in dialog.whose.text()
        assert not any(each.isEnabled() for each in dialog._answers().values())
        assert dialog.not_now.isChecked()
        dialog._show(1)
        dialog.next.click()
        until(qtbot, lambda: dialog.pages.currentIndex() == 2)
        page = ComputerPage(context)
        qtbot.addWidget(page)
        page.tell(certain(context.screen.volunteering))
        assert locked(page, "mode")
        assert not any(each.isEnabled() for each in page.modes.values())


def test_fixed_rules_and_settings_are_marked_with_who_fixed_them(
    qtbot: QtBot, folder: Path
) -> None:
    with computer(folder, DEFAULTS, POLICY) as context:
        known(qtbot, context)
        page = ComputerPage(context)
        qtbot.addWidget(page)
        page.tell(certain(context.screen.volunteering))
        assert [rule for rule in page.fixed if locked(page, rule)] == ["on_mains_only"]
        assert (page.mains.isEnabled(), page.mains.isChecked()) == (False, True)
        assert page.idle.isEnabled()
        assert str(folder / "policy.toml") in page.mains.toolTip()
        dialog = SettingsDialog(context, NoLogin())
        qtbot.addWidget(dialog)
        slots = certain(dialog.findChild(QSpinBox, "machineSlots"))
        programs = certain(dialog.findChild(QComboBox, "publishedPrograms"))
        name = certain(dialog.findChild(QLineEdit, "machineName"))
        assert [slots.isEnabled(), programs.isEnabled(), name.isEnabled()] == [False, False, True]
        assert programs.currentData() == "never"
        assert str(folder / "policy.toml") in slots.accessibleDescription()
        assert locked(dialog, "slots")
        assert dialog.findChild(QWidget, "fixed_name") is None
        with (
            BlockingClient(context.home) as client,
            pytest.raises(RequestError, match=r"slots is fixed by .*policy\.toml, which only an"),
        ):
            client.call(CHANGE_SETTINGS, ChangeSettings(slots=3))


def test_that_it_joins_by_itself_is_told_and_nobody_is_asked_for_a_flock(
    qtbot: QtBot, folder: Path
) -> None:
    laid = folder / "invitation"
    laid.write_text(NOBODY_THERE.text)
    laid.chmod(0o644)
    with computer(folder, DEFAULTS) as context:
        until(qtbot, lambda: joins_by_itself(context.screen))
        told = certain(flock_trouble(context.screen)).sentence
        assert told.startswith("This computer joins a flock by an invitation that was laid down")
        assert "127.0.0.1:9" in told
        dialog = FirstRun(context, NoLogin())
        qtbot.addWidget(dialog)
        assert dialog.pages.currentIndex() == 1, "which flock is not asked"


def test_a_wrong_policy_is_told_in_the_settings(qtbot: QtBot, folder: Path) -> None:
    with computer(folder, "", 'slots = "many"\n') as context:
        known(qtbot, context)
        dialog = SettingsDialog(context, NoLogin())
        qtbot.addWidget(dialog)
        wrong = certain(dialog.findChild(QWidget, "laidDownWrong"))
        assert not wrong.isHidden()
        assert "slots is 'many': it has to be a number" in str(wrong.property("text"))
        assert certain(context.screen.volunteering).rules.mode == "not now"
