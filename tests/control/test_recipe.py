"""The recipe of CONTRIBUTING for a verb, followed: what it says to write is written, and a verb is there.

In a copy of the agent. Each block of the recipe names its file in its first line, and the table in
which it is to stand, if it is a row.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.waiting import EVENTUALLY_S_MAX, ended, wait_for
from tests.style.source import REPOSITORY

PLACES_MAX = 3
WORKFLOW = {"name": "survey", "tasks": [{"id": each, "gate": True} for each in ("a", "b")]}
_BLOCK = re.compile(
    r"```python\n# (?P<path>[\w./]+)(?:, in (?P<table>\w+))?\n(?P<code>.*?)```", re.DOTALL
)


def recipe() -> str:
    page = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    return page.partition("**A verb**")[2].partition("\n**A setting.**")[0]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the agent with the verb in it."""
    folder = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "agent", folder / "agent", ignore=ignored)
    for step in _BLOCK.finditer(recipe()):
        path = folder / step["path"]
        text = path.read_text("utf-8")
        if step["table"]:
            opening = re.search(rf"^{step['table']}\b.*[(\[{{]\n", text, re.MULTILINE)
            assert opening, f"{step['path']} has no table {step['table']}"
            text = f"{text[: opening.end()]}{step['code'].rstrip()},\n{text[opening.end() :]}"
        else:
            text += f"\n\n{step['code']}"
        path.write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def home(tree: Path) -> Iterator[Path]:
    """Of an agent of that copy, which runs and has a workflow."""
    place = tree / "home"
    words = ["agent", "--name", "recipe", "--until-input-ends"]
    with ended(subprocess.Popen(command(*words), stdin=subprocess.PIPE, **of(tree))) as agent:
        control = place / "data" / "control.json"
        wait_for(lambda: control.exists() or agent.poll() is not None, EVENTUALLY_S_MAX, "it runs")
        file = tree / "survey.json"
        file.write_text(json.dumps(WORKFLOW), "utf-8")
        assert run(tree, "submit", str(file)).returncode == 0
        yield place
        agent.communicate(timeout=EVENTUALLY_S_MAX)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "agent", *words]


def of(tree: Path) -> dict[str, Any]:
    return {"cwd": tree, "env": {**os.environ, "WINGBEAT_HOME": str(tree / "home")}}


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), capture_output=True, text=True, check=False, **of(tree))


def test_it_has_so_many_places_and_no_more() -> None:
    steps = re.findall(r"^(\d+)\. In|^(\d+)\. Where", recipe(), re.MULTILINE)
    assert 0 < len(steps) <= PLACES_MAX
    assert len(_BLOCK.findall(recipe())) >= len(steps)


def test_the_verb_answers_over_the_control_socket(home: Path) -> None:
    control = json.loads((home / "data" / "control.json").read_text("utf-8"))
    questions = [("hello", {"token": control["token"]}), ("tally", {"workflow": "survey"})]
    with (
        socket.socket(socket.AF_UNIX) as line,
        line.makefile("rw", encoding="utf-8") as lines,
    ):
        line.settimeout(EVENTUALLY_S_MAX)
        line.connect(control["place"])
        for number, (method, params) in enumerate(questions):
            asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            lines.write(json.dumps(asked) + "\n")
            lines.flush()
        answers = [json.loads(lines.readline()) for _ in questions]
    assert answers[-1]["result"] == {"name": "survey", "tasks": 2}


def test_it_is_in_the_contract(tree: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "agent.api"], capture_output=True, check=True, **of(tree)
    )
    methods = {each["name"]: each for each in json.loads(told.stdout)["methods"]}
    assert methods["tally"]["summary"] == "How many tasks has a workflow?"


def test_people_find_and_type_it(tree: Path, home: Path) -> None:
    assert "tally         tell how many tasks a workflow has" in run(tree, "--help").stdout
    assert "wingbeat tally survey" in run(tree, "tally", "--help").stdout
    assert run(tree, "tally", "survey").stdout == "survey has 2 tasks\n"
    assert json.loads(run(tree, "tally", "survey", "--json").stdout)["tasks"] == 2
