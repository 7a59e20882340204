"""A newer version is installed while an agent runs: it begins when nothing is lost by it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.machine import Machine
from tests.hosts.versions import Versions
from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no links to versions")
OLD, NEW = "0.1.0", "0.2.0"
AGENT = ("agent", "--name", "first", "--port", "0")
COUNTED = """\
import os, sys, time
from pathlib import Path
told = Path({told!r})
with told.open("a") as file:
    print(sys.argv[sys.argv.index("-x") + 1], file=file)
while not Path({go!r}).exists():
    time.sleep(0.05)
print("TERMINATED", told.name + " of another")
"""
TASKS = "name: {name}\ntasks:\n  one: {{program: wait, parameters: {name}}}\n"


class Updated:
    """A machine whose agent is of the version that counted when it was started."""

    def __init__(self, folder: Path) -> None:
        self.versions = Versions(folder / "opt")
        self.versions.lay(OLD)
        self.versions.choose(OLD)
        self.machine, self.go, self.told = Machine(folder / "ant"), folder / "go", folder / "told"
        self.machine.settle(listen=["127.0.0.1"], confinement="off")  # programs tell beside
        self.machine.install("wait", COUNTED.format(told=str(self.told), go=str(self.go)))
        self.folder = folder

    @contextmanager
    def agent(self, *words: str, command: str = "wingbeat") -> Iterator[subprocess.Popen[bytes]]:
        words = (str(self.versions.bin / command), *words)
        environment = {
            **self.machine.environment,
            "PYTHONWARNINGS": "",
            "QT_QPA_PLATFORM": "offscreen",
        }
        with (self.folder / "output").open("ab") as output:
            started = subprocess.Popen(
                words, env=environment, cwd=self.folder, stdout=output, stderr=output
            )
        with ended(started) as process:
            wait_for(lambda: self.version() == OLD, EVENTUALLY_S_MAX, "it runs", self.last_words)
            yield process

    def status(self) -> dict[str, Any]:
        ran = self.machine.run("status", "--json")
        return dict(json.loads(ran.out)["node"]) if ran.code == 0 else {}

    def version(self) -> str:
        return str(self.status().get("version", ""))

    def submit(self, name: str) -> None:
        file = self.folder / f"{name}.wingbeat.yaml"
        file.write_text(TASKS.format(name=name))
        self.machine.said("submit", str(file))

    def state(self, name: str) -> str:
        return str(self.machine.answer("status", name)["tasks"][0]["state"])

    def begun(self) -> list[str]:
        return self.told.read_text().split() if self.told.exists() else []

    def last_words(self) -> str:
        return (self.folder / "output").read_text()[-2000:] + self.machine.last_words()


@pytest.fixture
def updated(tmp_path: Path) -> Updated:
    return Updated(tmp_path)


def test_a_task_ends_first_then_the_agent_is_the_new_version(updated: Updated) -> None:
    with updated.agent(*AGENT) as process:
        updated.submit("before")
        wait_for(lambda: updated.begun() == ["before"], EVENTUALLY_S_MAX, "it runs")
        updated.machine.said("settings", "--name", "second")
        updated.versions.lay(NEW)
        updated.versions.choose(NEW)
        wait_for(
            lambda: bool(updated.status().get("update")),
            EVENTUALLY_S_MAX,
            "it is noticed",
            updated.last_words,
        )
        assert updated.status()["update"] == {
            "installed": NEW,
            "standing": "finishes",
            "older": False,
        }
        assert f"Wingbeat {NEW} is installed: it starts when" in updated.machine.said("status")
        assert f"Wingbeat {NEW} is installed" in updated.machine.run("doctor").out
        updated.submit("after")
        assert (updated.state("after"), updated.version()) == ("Ready", OLD)
        updated.go.touch()
        wait_for(
            lambda: updated.version() == NEW, EVENTUALLY_S_MAX, "it is anew", updated.last_words
        )
        wait_for(lambda: updated.state("after") == "Terminated", EVENTUALLY_S_MAX, "the next ran")
        assert updated.state("before") == "Terminated"
        assert updated.begun() == ["before", "after"], "nothing ran twice"
        assert process.poll() is None, "it is the same process to whoever has started it"
        status = updated.status()
        assert (status["name"], status["update"]) == ("second", None)
        assert str(updated.versions.top / NEW) in Path(f"/proc/{process.pid}/cmdline").read_text()


def test_now_hands_back_and_the_task_runs_again_whole(updated: Updated) -> None:
    with updated.agent(*AGENT):
        updated.submit("long")
        wait_for(lambda: updated.begun() == ["long"], EVENTUALLY_S_MAX, "it runs")
        assert "no other version is installed" in updated.machine.refused("restart")
        updated.machine.said("settings", "--updates", "ask")
        updated.versions.lay(NEW)
        updated.versions.choose(NEW)
        wait_for(lambda: bool(updated.status().get("update")), EVENTUALLY_S_MAX, "it is noticed")
        assert updated.status()["update"]["standing"] == "asks"
        assert updated.machine.said("restart", "--now") == f"Wingbeat {NEW} starts now\n"
        wait_for(
            lambda: updated.version() == NEW, EVENTUALLY_S_MAX, "it is anew", updated.last_words
        )
        wait_for(lambda: updated.begun() == ["long"] * 2, EVENTUALLY_S_MAX, "it runs again")
        updated.go.touch()
        wait_for(lambda: updated.state("long") == "Terminated", EVENTUALLY_S_MAX, "it has ended")


def test_what_cannot_be_loaded_is_not_begun_and_an_older_one_asks(updated: Updated) -> None:
    with updated.agent(*AGENT):
        updated.versions.lay("0.0.9")
        broken = updated.versions.top / "0.0.9" / "bin/python3"
        whole = broken.readlink()
        broken.unlink()
        updated.versions.choose("0.0.9")
        wait_for(
            lambda: "0.0.9 is installed and does not start" in updated.machine.log(),
            EVENTUALLY_S_MAX,
            "it was tried",
        )
        assert not updated.status()["update"]
        broken.symlink_to(whole)
        wait_for(lambda: bool(updated.status().get("update")), EVENTUALLY_S_MAX, "it is noticed")
        assert updated.status()["update"] == {
            "installed": "0.0.9",
            "standing": "asks",
            "older": True,
        }
        assert "older than what runs" in updated.machine.said("status")
        updated.versions.choose(OLD)
        wait_for(lambda: not updated.status()["update"], EVENTUALLY_S_MAX, "it is no more")


def test_a_tray_starts_anew_with_its_agent_when_no_window_is_open(updated: Updated) -> None:
    with updated.agent("--background", command="wingbeat-tray") as process:
        updated.submit("before")
        wait_for(lambda: updated.begun() == ["before"], EVENTUALLY_S_MAX, "it runs")
        updated.versions.lay(NEW)
        updated.versions.choose(NEW)
        wait_for(lambda: _finishes(updated), EVENTUALLY_S_MAX, "it begins to finish")
        updated.go.touch()
        wait_for(
            lambda: updated.version() == NEW, EVENTUALLY_S_MAX, "it is anew", updated.last_words
        )
        assert (updated.state("before"), updated.begun()) == ("Terminated", ["before"])
        assert process.poll() is None
        words = Path(f"/proc/{process.pid}/cmdline").read_text().split("\0")
        assert words[0] == str(updated.versions.top / NEW / "bin/python3")
        assert words[-2] == "--background"


def test_a_tray_beside_an_agent_follows_it(updated: Updated) -> None:
    with (
        updated.agent(*AGENT),
        updated.agent("--background", command="wingbeat-tray") as tray,
    ):
        wait_for(updated.machine.home.window_lock.exists, EVENTUALLY_S_MAX, "the tray is there")
        updated.versions.lay(NEW)
        updated.versions.choose(NEW)
        wait_for(
            lambda: updated.version() == NEW, EVENTUALLY_S_MAX, "it is anew", updated.last_words
        )
        own = Path(f"/proc/{tray.pid}/cmdline")
        wait_for(
            lambda: NEW in own.read_text(), EVENTUALLY_S_MAX, "the tray is anew", updated.last_words
        )


def _finishes(updated: Updated) -> bool:
    return (updated.status().get("update") or {}).get("standing") == "finishes"
