"""The description of a program that is right; wrong ones are in ``malformed/programs.txt``."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.api.values import Requirements
from agent.workflow.faults import FaultsError
from agent.workflow.program_description import (
    ProgramDescription,
    ProgramInput,
    ProgramLimits,
    script_description,
)
from agent.workflow.program_folder import read_program

WHOLE = """
name: georeferencing
version: "1.20"
type: geo
docs: Gives every point its place.
command: ["{python}", -P, main.py, --fast]
inputs: [points, track]
outputs: [points.las, report/text.txt]
expected: 5 min
requirements: {system: Linux, architecture: x86_64, memory: 4 GB, disk: 500, cores: 2, tags: [gpu]}
limits: {memory: 6000, disk: 20 GB, wall: 2 h, silent: 10 min, log: 4 MB}
checkpoint: true
"""

TASK = """<?xml version="1.0" encoding="utf-8"?>
<task>
  <name>segmentation</name>
  <type>segment</type>
  <inputs>
    <input>
      <other_task_type>import</other_task_type>
      <other_nth_output>1</other_nth_output>
    </input>
    <input>
      <other_task_type>georeferencing</other_task_type>
      <other_nth_output>2</other_nth_output>
    </input>
  </inputs>
</task>
"""


def described(folder: Path, text: str, name: str = "program.yaml") -> ProgramDescription:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return read_program(folder)


def test_everything_that_a_program_can_say(tmp_path: Path) -> None:
    assert described(tmp_path, WHOLE) == ProgramDescription(
        name="georeferencing",
        command=("{python}", "-P", "main.py", "--fast"),
        file=str(tmp_path / "program.yaml"),
        command_at=(6, 10),  # type: ignore[arg-type]
        version="1.20",
        kind="geo",
        docs="Gives every point its place.",
        inputs=(ProgramInput("points"), ProgramInput("track")),
        outputs=("points.las", "report/text.txt"),
        requirements=Requirements("linux", "x86_64", 4_000, 500, 2, ("gpu",)),
        expected_ms=300_000,
        limits=ProgramLimits(6_000, 20_000, 7_200, 600, 4),
        checkpoint=True,
    )


def test_a_command_is_enough_and_the_folder_gives_the_name(tmp_path: Path) -> None:
    program = described(tmp_path / "sums", "command: [run.sh]")
    assert (program.name, program.command, program.outputs) == ("sums", ("run.sh",), ())


def test_listing_4_1_is_read(tmp_path: Path) -> None:
    program = described(tmp_path, TASK, "program.xml")
    assert (program.name, program.command, program.kind) == (
        "segmentation",
        ("segmentation",),
        "segment",
    )
    assert program.inputs == (
        ProgramInput("import/1", "import", 1),
        ProgramInput("georeferencing/2", "georeferencing", 2),
    )


def test_a_folder_without_description_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FaultsError, match=r"there is no such folder"):
        read_program(tmp_path / "missing")
    with pytest.raises(FaultsError, match=r"wingbeat program new"):
        read_program(tmp_path)
    (tmp_path / "program.json").write_text("{}")
    with pytest.raises(FaultsError, match=r"program.json is: describe the program in program.yaml"):
        read_program(tmp_path)
    (tmp_path / "program.yaml").write_text("command: [a]")
    (tmp_path / "program.xml").write_text(TASK)
    with pytest.raises(FaultsError, match=r"remove the one that does not hold"):
        read_program(tmp_path)


@pytest.mark.parametrize(
    ("script", "command"),
    [("count.sh", ("sh", "count.sh")), ("a b.py", ("{python}", "a b.py")), ("x", ("x",))],
)
def test_a_single_script_has_a_description_made(
    tmp_path: Path, script: str, command: tuple[str, ...]
) -> None:
    assert described(tmp_path, script_description("count", script)).command == command
