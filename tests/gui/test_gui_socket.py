"""The way into a window that runs already: nobody but its account can listen there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from agent.client import Home
from gui.single import FirstInstance, call_first, socket_name
from tests.hosts.waiting import EVENTUALLY_S_MAX

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files")
SECOND = """
import sys
from pathlib import Path
from agent.client import Home
from gui.single import call_first
sys.exit(7 if call_first(Home.at(Path(sys.argv[1])), ["survey"]) else 1)
"""


def home_at(folder: Path) -> Home:
    home = Home.at(folder)
    home.prepare()
    return home


@pytest.mark.parametrize("depth", [1, 8], ids=["in its home", "in one with a long name"])
def test_it_listens_where_only_its_account_can(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, depth: int, qtbot: QtBot
) -> None:
    short = tmp_path_factory.mktemp("w") if depth == 1 else tmp_path
    home = home_at(short.joinpath(*["twelve letters"] * (depth - 1)))
    first = FirstInstance(home)
    try:
        place = Path(first._server.fullServerName())
        assert stat.S_ISSOCK(place.stat().st_mode)
        if depth == 1:
            assert place.parent == home.data
            assert stat.S_IMODE(home.data.stat().st_mode) == 0o700
        else:
            assert (home.data / "window.secret").read_text() in place.name
            assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0
    finally:
        first.close()


def test_a_name_is_known_to_its_home_alone(tmp_path: Path) -> None:
    deep = [home_at(tmp_path.joinpath(name, *["twelve letters"] * 8)) for name in ("a", "b")]
    names = [socket_name(each) for each in deep]
    assert len(set(names)) == 2
    assert [socket_name(each) for each in deep] == names
    (deep[0].data / "window.secret").write_text("")  # of one that was killed while it wrote
    assert socket_name(deep[0]) == ""
    assert call_first(deep[0], []) is False
    assert stat.S_IMODE((deep[1].data / "window.secret").stat().st_mode) == 0o600


def test_a_second_start_reaches_the_first(tmp_path: Path, qtbot: QtBot) -> None:
    home = home_at(tmp_path / "home")
    assert call_first(home, []) is False
    first = FirstInstance(home)
    try:
        words = [sys.executable, "-c", SECOND, str(tmp_path / "home")]
        with (
            subprocess.Popen(words) as second,
            qtbot.waitSignal(first.called, timeout=round(EVENTUALLY_S_MAX * 1000)) as told,
        ):
            pass
        assert told.args == [["survey"]]
        assert second.returncode == 7
    finally:
        first.close()
