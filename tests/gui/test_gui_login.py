"""Starting at login: entries of people and of packages, and values of a registry."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from agent.client.removal import forget_login
from gui.startup import LinuxLogin, WindowsLogin, switch
from tests.style.source import REPOSITORY


def test_login_on_linux_is_an_autostart_entry_which_the_desktop_may_hide(tmp_path: Path) -> None:
    login = LinuxLogin({"XDG_CONFIG_HOME": str(tmp_path), "XDG_CONFIG_DIRS": "/nowhere"})
    entry = tmp_path / "autostart" / "wingbeat.desktop"
    assert not login.enabled()
    login.enable()
    text = entry.read_text("utf-8")
    assert (login.enabled(), "--background" in text, "Type=Application" in text) == (True,) * 3
    entry.write_text(text + "Hidden=true\n", "utf-8")
    assert not login.enabled()
    login.enable()
    assert login.enabled()
    for _ in range(2):
        login.disable()
        assert not login.enabled()


@pytest.mark.parametrize("program", ["sh", "no-such-program"])
def test_an_entry_of_a_package_counts_until_a_person_hides_it(tmp_path: Path, program: str) -> None:
    """As `installers/linux` brings it; what a removed package leaves behind starts nothing."""
    brought = (REPOSITORY / "installers/linux/autostart/wingbeat.desktop").read_text("utf-8")
    entry = tmp_path / "system" / "autostart" / "wingbeat.desktop"
    entry.parent.mkdir(parents=True)
    entry.write_text(brought.replace("TryExec=wingbeat-tray", f"TryExec={program}"), "utf-8")
    own = tmp_path / "own" / "autostart" / "wingbeat.desktop"
    directories = {
        "XDG_CONFIG_HOME": str(tmp_path / "own"),
        "XDG_CONFIG_DIRS": str(tmp_path / "system"),
    }
    login = LinuxLogin(directories | {"PATH": os.defpath})
    works = program == "sh"
    assert login.enabled() is works
    login.disable()
    assert (login.enabled(), own.exists()) == (False, works)
    login.enable()
    assert (login.enabled(), own.exists()) == (True, not works)
    assert forget_login(directories | {"PATH": os.defpath})
    assert not login.enabled()


def test_a_command_with_a_space_is_one_word_of_the_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: "/opt/wing beat/50% off/wingbeat-tray")
    LinuxLogin({"XDG_CONFIG_HOME": str(tmp_path), "XDG_CONFIG_DIRS": "/nowhere"}).enable()
    text = (tmp_path / "autostart" / "wingbeat.desktop").read_text("utf-8")
    assert 'Exec="/opt/wing beat/50%% off/wingbeat-tray" --background\n' in text


def test_a_registry_that_refuses_is_an_error_of_the_system(tmp_path: Path) -> None:
    file = tmp_path / "locked" / "run.ini"
    values = QSettings(str(file), QSettings.Format.IniFormat)
    login = WindowsLogin(lambda _: values)
    login.enable()
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("no folder any more")
    for act in (login.disable, login.enable):
        with pytest.raises(PermissionError, match="run"):
            act()
    assert switch(login, on=True) == f"{file}: {os.strerror(errno.EACCES)}."
