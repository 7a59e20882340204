"""What `wingbeat agent` keeps of its arguments, and how an agent inside is asked to end."""

from __future__ import annotations

import tomllib
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.api.errors import ServiceError
from agent.node import own_files
from agent.node.hosting import AskedFromOutside, keep_settings
from agent.node.running import AlreadyRunningError
from agent.paths import Home
from agent.storage.journal import Journal
from tests.hosts.waiting import eventually

TOLD = 'laptop "seven" ü'


@pytest.mark.parametrize("before", ["", "# mine\nslots = 2\n", 'name = "old"\nport=1 # why\n'])
def test_name_and_port_are_kept_and_nothing_else_is_touched(tmp_path: Path, before: str) -> None:
    home = Home.at(tmp_path)
    home.prepare()
    home.settings_file.write_text(before)
    for _ in range(2):
        keep_settings(home, {"name": TOLD, "port": 0})
    after = home.settings_file.read_text("utf-8")
    assert tomllib.loads(after) == {**tomllib.loads(before), "name": TOLD, "port": 0}
    assert ("# mine" in before) == ("# mine" in after)


def test_what_is_not_told_is_left_as_it_is(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    keep_settings(home, {"name": None, "port": None})
    assert not home.settings_file.exists()
    keep_settings(home, {"name": None, "port": 7})
    assert home.settings_file.read_text() == "port = 7\n"


@pytest.mark.parametrize(
    "before", ['name = "\u00fcber"'.encode("latin-1"), b"\xff\xfen\0", b"slots ="]
)
def test_a_file_that_makes_no_sense_is_left_as_it_is(tmp_path: Path, before: bytes) -> None:
    home = Home.at(tmp_path)
    home.prepare()
    home.settings_file.write_bytes(before)
    with pytest.raises(ServiceError, match=r"settings\.toml is not"):
        keep_settings(home, {"name": TOLD, "port": 0})
    assert home.settings_file.read_bytes() == before


def test_a_second_start_changes_nothing(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    keep_settings(home, {"name": "first", "port": 7})
    before = home.settings_file.read_bytes()
    journal = Journal.open(home.journal)
    try:
        with pytest.raises(AlreadyRunningError, match="runs already"):
            keep_settings(home, {"name": "second", "port": 8})
    finally:
        journal.close()
    assert home.settings_file.read_bytes() == before


def test_what_the_file_says_already_needs_no_room_on_the_disk(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    keep_settings(home, {"name": TOLD, "port": 0})
    was = home.settings_file.stat()
    keep_settings(home, {"name": TOLD, "port": 0})
    assert home.settings_file.stat().st_ino == was.st_ino
    assert home.settings_file.stat().st_mtime_ns == was.st_mtime_ns


# -- an agent in another program's process -----------------------------------------------------


async def test_who_asks_before_the_agent_runs_is_heard_once_it_does() -> None:
    told: list[str] = []
    ending = AskedFromOutside()
    ending.ask("the first")
    ending.ask("the second")
    ending.watch(told.append)
    await eventually(lambda: bool(told))
    assert told == ["the first"]


async def test_who_asks_when_it_has_ended_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    told: list[str] = []
    ending = AskedFromOutside()

    ending.watch(told.append)
    ending.ended()
    ending.ask("too late")
    assert (told, caplog.records) == ([], [])


async def test_files_that_are_away_while_they_are_replaced_end_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look, and each reading of the clock, is 15 s after the one before."""
    monkeypatch.setattr(own_files, "time", SimpleNamespace(monotonic=partial(next, count(0, 15))))
    looks = [True, False, True, False, True, True, True, True]
    monkeypatch.setattr(own_files, "_is_gone", lambda _: looks.pop(0))
    await own_files.until_removed(every_s=0.0, gone_s=20.0)
    assert looks == [True, True]
