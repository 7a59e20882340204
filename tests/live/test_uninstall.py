"""Wingbeat is removed from a machine: what only it keeps is given to others first, and nothing stays."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from agent.client.removal import login_entry
from agent.node.hosting import HAND_OVER_S_MAX
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for
from tests.style.source import REPOSITORY

LIMIT_S = 2 * EVENTUALLY_S_MAX
SCRIPT = 'echo "only here" > kept.txt; echo TERMINATED kept.txt\n'


@contextmanager
def office(folder: Path) -> Iterator[tuple[Machine, Machine]]:
    """Ant has a result that was made while it was alone; bee has come since, and takes no copies of
    what is done, because ant asks for one only."""
    ant, bee = Machine(folder / "ant"), Machine(folder / "bee")
    with ExitStack() as stack:
        for each in (ant, bee):
            stack.enter_context(each.agent("--name", each.name, "--port", "0"))
        script = folder / "count.sh"
        script.write_text(SCRIPT)
        bee.said("flock", "create", "office")
        ant.said("submit", str(script), "--wait")
        yield ant, bee


def test_a_machine_that_is_removed_hands_its_results_over_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    with office(tmp_path) as (ant, bee):
        assert "nobody can be asked" in ant.refused("uninstall")
        ant.said("flock", "join", bee.answer("flock", "invite")["text"])
        said = ant.answer("uninstall", "--yes", "--data", "delete")
        assert (said["flock"], said["data"]) == ("office", [])
        assert ant.wait() == 0
        assert [each.name for each in (tmp_path / "ant").iterdir()] == ["output"]
        wait_for(lambda: "ant" not in bee.said("peers"), LIMIT_S, "ant has left")
        bee.said("fetch", "count/count", "--into", str(tmp_path / "fetched"))
        (kept,) = (each for each in (tmp_path / "fetched").rglob("*") if each.is_file())
        assert kept.read_text() == "only here\n"


def test_a_machine_whose_agent_is_off_is_removed_too_and_its_data_kept_if_wanted(
    tmp_path: Path,
) -> None:
    with office(tmp_path) as (ant, bee):
        ant.said("flock", "join", bee.answer("flock", "invite")["text"])
        ant.said("stop")
        assert ant.wait() == 0
        said = ant.said("uninstall", "--yes", "--data", "keep")
        assert "this machine has left the flock office" in said
        assert str(ant.home.data) in said
        assert ant.home.settings_file.exists()
        wait_for(lambda: "ant" not in bee.said("peers"), LIMIT_S, "ant has left")


def test_what_nobody_takes_is_not_left_behind_unasked(tmp_path: Path) -> None:
    with office(tmp_path) as (ant, bee):
        ant.said("flock", "join", bee.answer("flock", "invite")["text"])
        bee.kill()
        ran = ant.run("uninstall", "--yes", "--data", "delete", "--patience", "3")
        assert ran.code == 1
        assert "nobody takes what only this machine keeps (datasets: " in ran.err
        assert ant.alive
        assert ant.home.data.exists()
        ant.said("uninstall", "--yes", "--data", "delete", "--even-so", "--patience", "3")
        assert ant.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="files of a running program stay there")
@pytest.mark.parametrize("alone", [False, True])
def test_an_agent_whose_own_files_are_removed_hands_over_and_ends(
    tmp_path: Path, alone: bool
) -> None:
    """As by pip, which ends nothing. What is installed here looks more often than others. Alone it
    waits for nobody."""
    installed = tmp_path / "installed"
    shutil.copytree(REPOSITORY / "agent", installed / "agent")
    looking = installed / "agent" / "node" / "own_files.py"
    often = re.sub(r"(LOOK_EVERY_S|GONE_S) = [0-9.]+", r"\1 = 0.1", looking.read_text("utf-8"))
    looking.write_text(often, "utf-8")
    with office(tmp_path) as (ant, bee):
        if not alone:
            ant.said("flock", "join", bee.answer("flock", "invite")["text"])
        ant.said("stop")
        ant.wait()
        command = [sys.executable, "-m", "agent", "agent", "--name", "ant", "--port", "0"]
        with (
            (tmp_path / "printed").open("w+") as printed,
            ended(
                subprocess.Popen(
                    command, cwd=installed, env=ant.environment, stdout=printed, stderr=printed
                )
            ) as process,
        ):
            back = "no flock" if alone else "linked"
            wait_for(lambda: back in ant.run("peers").out, LIMIT_S, "it is back")
            shutil.rmtree(installed)
            assert process.wait(0.75 * HAND_OVER_S_MAX if alone else LIMIT_S) == 0
            printed.seek(0)
            assert "ended: its own files were removed" in printed.read()
        assert "Traceback" not in ant.log()
        if alone:
            assert "on this machine only" in ant.log()
            return
        bee.said("fetch", "count/count", "--into", str(tmp_path / "fetched"))


def test_the_entry_at_login_goes_where_it_is_of_this_home(tmp_path: Path) -> None:
    ant = Machine(tmp_path / "ant")
    own = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    own["XDG_CONFIG_DIRS"] = "/nowhere"
    own |= {f"XDG_{each}_HOME": str(tmp_path / each) for each in ("DATA", "STATE", "CACHE")}
    own.pop("WINGBEAT_HOME", None)
    entry = login_entry(own)
    entry.parent.mkdir(parents=True)
    entry.write_text("[Desktop Entry]\n")
    words = [sys.executable, "-m", "agent", "uninstall", "--yes", "--data", "delete"]
    for environment, there in ((own | {"WINGBEAT_HOME": str(ant.folder)}, True), (own, False)):
        done = subprocess.run(
            words, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True
        )
        assert entry.exists() is there, done
        assert ("does not start at login" in done.stdout) is not there
