"""What another account could have written is not trusted: homes, settings, programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.api.errors import ServiceError
from agent.execution.programs import Programs
from agent.host import whose
from agent.node.programs import ProgramReader
from agent.node.running import refuse_exposed
from agent.paths import Home
from agent.protocol.messages import Capabilities
from tests.execution.installed import install
from tests.hosts.machine import Machine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has access lists instead")
STRANGER = 4711


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home.at(tmp_path / "home")
    home.prepare()
    refuse_exposed(home)
    return home


def refused(home: Home, path: Path, why: str) -> None:
    with pytest.raises(ServiceError, match=why) as error:
        refuse_exposed(home)
    assert str(path) in str(error.value)
    assert str(error.value).count("\n") == 0


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_writable_home_refused(home: Home, mode: int) -> None:
    home.data.parent.chmod(mode)
    if mode & 0o1000:  # people may add to it, and not put another folder in the place of one
        refuse_exposed(home)
        home.data.chmod(mode)
    refused(home, home.data, "can be changed by other accounts")


@pytest.mark.parametrize("name", ["data", "config", "log", "cache", "programs"])
def test_each_folder_of_a_home_counts(home: Home, name: str) -> None:
    folder: Path = getattr(home, name)
    folder.chmod(0o722)
    refused(home, folder, r"mode 0722\): run chmod go-w on it")


def test_settings_that_others_can_write_are_refused(home: Home) -> None:
    home.settings_file.write_text("volunteer = 'always'\n")
    home.settings_file.chmod(0o666)
    refused(home, home.settings_file, "can be changed by other accounts")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_a_home_of_another_account_is_refused(home: Home) -> None:
    os.chown(home.config, STRANGER, STRANGER)
    refused(home, home.config, "belongs to another account")


def test_a_link_leads_to_what_counts(tmp_path: Path) -> None:
    elsewhere = tmp_path / "open"
    elsewhere.mkdir()
    elsewhere.chmod(0o777)
    (tmp_path / "link").symlink_to(elsewhere)
    home = Home.at(tmp_path / "link" / "home")
    home.prepare()
    refused(home, home.data, "can be changed by other accounts")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_a_group_of_one_is_that_person(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.data.chmod(0o770)
    os.chown(home.data, -1, STRANGER)
    refused(home, home.data, "can be changed by other accounts")
    monkeypatch.setattr(whose, "_is_own_group", lambda number: number == STRANGER)
    refuse_exposed(home)


def test_a_program_that_others_can_write_is_not_offered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("own", "open", "deep"):
        install(tmp_path, name)
    (tmp_path / "open").chmod(0o777)
    library = tmp_path / "deep" / "library"
    library.mkdir()
    (library / "module.py").touch()
    programs = Programs(tmp_path, ProgramReader(Capabilities("linux")))
    assert programs.look() == ("deep", "own")
    (library / "module.py").chmod(0o666)
    assert programs.look() == ("own",)
    assert caplog.text.count("can be changed by other accounts") == 2


def test_an_agent_does_not_start_on_what_others_wrote(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "alder")
    machine.settle()
    machine.home.programs.chmod(0o777)
    told = machine.refused("agent", "--background")
    assert "can be changed by other accounts" in told
    assert told.count("\n") <= 1
