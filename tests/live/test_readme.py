"""README's own workflow, by copy and paste: by somebody who has run the first command and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.paths import VARIABLE
from agent.workflow.scaffold import WORKFLOW
from tests.hosts.machine import Machine
from tests.hosts.waiting import EVENTUALLY_S_MAX
from tests.style.source import REPOSITORY

pytestmark = [
    pytest.mark.live,
    pytest.mark.xdist_group("live"),
    pytest.mark.skipif(os.name != "posix", reason="its lines are for a shell of Unix"),
]
SECTION = (REPOSITORY / "README.md").read_text("utf-8").split("\n## ")[1]


def blocks(language: str) -> list[str]:
    """What stands in the section, ready to be copied."""
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """One whose agent, if anything has started it, ends with the test."""
    machine = Machine(tmp_path / "newcomer")
    yield machine
    machine.run("stop")
    assert "no agent runs" in machine.run("stop").err


def test_the_workflow_of_the_readme_runs_as_it_stands(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    (lines,) = blocks("sh")
    done = subprocess.run(
        ["bash", "-e", "-c", lines],
        cwd=tmp_path,
        env={**os.environ, VARIABLE: str(machine.folder), "TMPDIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=EVENTUALLY_S_MAX * len(lines.splitlines()),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.splitlines()[-3:] == ["13 the", "2 line", "2 river"], done.stdout


def test_what_the_readme_shows_is_what_is_written() -> None:
    assert blocks("yaml") == [WORKFLOW.format(name="words")]


def test_an_agent_in_the_background_starts_once_or_says_why_not(machine: Machine) -> None:
    first = machine.answer("agent", "--background", "--name", "acor", "--port", "0")
    assert (first["name"], machine.answer("status")["node"]["name"]) == ("acor", "acor")
    assert f"runs already on {first['data_folder']}" in machine.said("agent", "--background")
    assert "runs already" in machine.refused("agent", "--background", "--name", "birch")
    machine.said("stop")
    machine.home.settings_file.write_text("port = true")
    assert "port is" in machine.refused("agent", "--background")
