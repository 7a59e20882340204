"""Wingbeat is removed: who ends by itself is waited for, who stays is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.client import Home, removal
from tests.certain import certain
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, let_pass

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process has signals there only")
UNTIL_INPUT_ENDS = [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"]


@pytest.mark.parametrize(("window", "code"), [(False, 0), (True, -signal.SIGTERM)])
def test_an_agent_ends_by_itself_however_long_that_takes_and_a_tray_is_ended(
    window: bool, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = Home.at(tmp_path)
    with ended(subprocess.Popen(UNTIL_INPUT_ENDS, stdin=subprocess.PIPE)) as process:

        def look_again(rest_s: float) -> None:
            if not window:
                certain(process.stdin).close()
            let_pass(rest_s)

        clock = SimpleNamespace(monotonic=time.monotonic, sleep=look_again)
        monkeypatch.setattr(removal, "time", clock)
        monkeypatch.setattr(removal, "ENDED_S", 0.0)
        if window:
            home.prepare()
            home.window_lock.write_text(f"{process.pid}\n")
        assert removal.end_windows(home, process.pid)
        assert process.wait(EVENTUALLY_S_MAX) == code


def test_data_that_its_owner_has_laid_elsewhere_by_a_link_goes_too(tmp_path: Path) -> None:
    home, large = Home.at(tmp_path / "home"), tmp_path / "large"
    home.prepare()
    for each in sorted(home.folders, reverse=True):
        if each == home.data:
            each.rename(large)
            each.symlink_to(large)
    (large / "file").write_text("private")
    assert removal.delete_home(home) == []
    assert not large.exists()


def test_what_cannot_be_deleted_behind_a_link_is_told_and_the_link_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, large = Home.at(tmp_path / "home"), tmp_path / "large"
    home.prepare()
    home.cache.rename(large)
    home.cache.symlink_to(large)
    stays = large / "held"
    stays.touch()
    delete = os.unlink
    monkeypatch.setattr(os, "unlink", lambda path: delete(path) if path != str(stays) else None)
    assert removal.delete_home(home) == [large]
    assert home.cache.is_symlink()
