"""Completion in the shells themselves, against a real agent that knows awkward names."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.shells import line_after_tab, offered_by_fish, prepare
from tests.hosts.machine import Machine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells on terminals of POSIX")
WORKFLOWS = ("survey", "my flight", "line:42", "Überflug")
TASKS = ("merge", "check all")


@dataclass(frozen=True)
class Shells:
    """Where they work, and what they find."""

    environment: dict[str, str]
    here: Path


@pytest.fixture(scope="module")
def shells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shells]:
    folder = tmp_path_factory.mktemp("completion")
    machine = Machine(folder / "birch")
    here = folder / "here"
    here.mkdir()
    (here / "flight.wingbeat.yaml").write_text("tasks: {}\n")
    with machine.agent("--name", "birch", "--port", "0"):
        for name in WORKFLOWS:
            tasks = [{"id": task, "program": "nobody-has-this"} for task in TASKS]
            machine.said("submit", "-", told=json.dumps({"name": name, "tasks": tasks}))
        environment = {**prepare(folder), "WINGBEAT_HOME": str(machine.folder), "LC_ALL": "C.UTF-8"}
        yield Shells(environment, here)


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed on this machine")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("wingbeat pri", "wingbeat priority "),
        ("wingbeat submit --dr", "wingbeat submit --dry-run "),
        ("wingbeat --vers", "wingbeat --version "),
        ("wingbeat flock inv", "wingbeat flock invite "),
        ("wingbeat status su", "wingbeat status survey "),
        ("wingbeat status my", "wingbeat status my\\ flight "),
        ("wingbeat status 'my f", "wingbeat status 'my flight' "),
        ("wingbeat status line:4", "wingbeat status line:42 "),
        ("wingbeat status Üb", "wingbeat status Überflug "),
        ("wingbeat why sur", "wingbeat why survey/"),
        ("wingbeat why survey/m", "wingbeat why survey/merge "),
        ("wingbeat why survey/c", "wingbeat why survey/check\\ all "),
        ("wingbeat cancel survey mer", "wingbeat cancel survey merge "),
        ("wingbeat fetch survey/m", "wingbeat fetch survey/merge "),
        ("wingbeat priority survey int", "wingbeat priority survey interactive "),
        ("wingbeat volunteering --mode when", "wingbeat volunteering --mode when\\ idle "),
        ("wingbeat flock ref", "wingbeat flock refuse "),
        ("wingbeat submit fli", "wingbeat submit flight.wingbeat.yaml "),
        ("wingbeat status nobody", "wingbeat status nobody"),
    ],
)
def test_a_line_is_completed(shell: str, typed: str, line: str, shells: Shells) -> None:
    needs(shell)
    found = line_after_tab(shell, typed, shells.environment, shells.here)
    if shell == "zsh" and line.startswith("wingbeat status line"):
        found = found.replace("\\:", ":")  # some versions quote it, which means the same
    assert found == line


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("wingbeat pri", ["priority"]),
        ("wingbeat flock inv", ["invite"]),
        ("wingbeat submit --dr", ["--dry-run"]),
        ("wingbeat status my", ["my flight"]),
        ("wingbeat status my\\ f", ["my flight"]),
        ("wingbeat status Üb", ["Überflug"]),
        ("wingbeat why survey/", ["survey/check all", "survey/merge"]),
        ("wingbeat priority survey ", ["interactive", "low"]),
        ("wingbeat log --severity w", ["warning"]),
        ("wingbeat submit fli", ["flight.wingbeat.yaml"]),
    ],
)
def test_fish_offers(typed: str, offered: list[str], shells: Shells) -> None:
    needs("fish")
    found = offered_by_fish(typed, shells.environment, shells.here)
    assert sorted(each.replace("\\", "") for each in found) == offered
