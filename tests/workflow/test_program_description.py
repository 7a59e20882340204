"""The description of a program: read, or all that is wrong with it, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.workflow.faults import FaultsError
from agent.workflow.program_description import (
    ProgramDescription,
    ProgramInput,
    ProgramLimits,
    ProgramRequirements,
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


def faults(folder: Path, text: str, name: str = "program.yaml") -> list[str]:
    with pytest.raises(FaultsError) as caught:
        described(folder, text, name)
    path = str(folder / name)
    told = [fault.sentence() for fault in caught.value.faults]
    assert all(each.startswith(path) for each in told)
    return [each.removeprefix(path) for each in told]


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
        requirements=ProgramRequirements("linux", "x86_64", 4_000, 500, 2, ("gpu",)),
        expected_ms=300_000,
        limits=ProgramLimits(6_000, 20_000, 7_200, 600, 4),
        checkpoint=True,
    )


def test_a_command_is_enough_and_the_folder_gives_the_name(tmp_path: Path) -> None:
    program = described(tmp_path / "sums", "command: [run.sh]")
    assert (program.name, program.command, program.outputs) == ("sums", ("run.sh",), ())


def test_all_faults_in_one_pass_with_place_and_what_was_meant(tmp_path: Path) -> None:
    text = """comand: [run.sh]
outputs: points.las
expected: 5 minuts
limits:
  memory: lots
  wal: 2 h
checkpoint: maybe
requirements: {system: windos, cores: two}
"""
    assert faults(tmp_path / "bad", text) == [
        ':1:1: "comand" is nothing that a program has; did you mean command?',
        ":1:1: command is missing: what to execute, like command: [run.sh, --fast]",
        ':2:10: outputs has to be a list of words, not "points.las"; did you mean [points.las]?',
        ':3:11: expected: there is no unit "minuts"; did you mean minute or min?',
        ':5:11: memory has to be an amount, like 500, "500 MB" or "4 GB", not "lots"',
        ':6:3: "wal" is nothing that limits has; did you mean wall?',
        ':7:13: checkpoint has to be true or false, not "maybe"',
        ':8:24: there is no system "windos"; did you mean windows?',
        ':8:39: cores has to be a number, like 2, not "two"',
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[run.sh]", ":1:1: a description begins with keys, like 'command:', not with a list"),
        ("command: run.sh -x", "did you mean [run.sh, -x]?"),
        ("command: []", "command is empty"),
        ("command: [a, [b]]", "a word of command has to be a text, not a list"),
        ("command: [a]\noutputs: [../x]", ':2:10: "../x" is not inside the working folder'),
        ("command: [a]\noutputs: [/x]", "is not inside the working folder"),
        ("command: [a]\noutputs: ['C:\\x']", "is not inside the working folder"),
        ("command: [a]\noutputs: [x, x]", ':2:14: "x" is in outputs twice'),
        ("command: [a]\nname: two words", ":2:7:"),
        ("command: [a]\nname: sums@1", "blanks, @, / and \\ have no place"),
        ("command: [a]\nlimits: 5 GB", "limits has to hold memory, disk, wall, silent, log"),
        ("command: [a]\nexpected: 0", "expected is 0: leave it away where there is none"),
        ("command: [a]\nexpected: 1..5", 'not "1..5"'),
        ("command: [a]\nexpected: 1.5.2 h", "expected cannot be so"),
        ("command: [a", ":1:"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    assert told in "\n".join(faults(tmp_path / "bad", text))


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<task><name>a</name>", "this is not XML"),
        ("<tusk/>", ":1:1: <tusk> has no place at the top; did you mean task?"),
        ("<task>\n <nam>a</nam>\n</task>", ":2:2: <nam> has no place inside <task>; did you mean"),
        ("<task><type>a</type></task>", "<name> is missing"),
        ("<task><name>a</name><name>b</name></task>", ":1:21: <name> is given twice"),
        (
            "<task><name>a</name><inputs><input/></inputs></task>",
            "an input needs <other_task_type>",
        ),
        (TASK.replace("<other_nth_output>2", "<other_nth_output>two"), ":12:7: which output it is"),
        ("<task>a<name>b</name></task>", 'the text "a" has no place here'),
        (
            '<!DOCTYPE task [<!ENTITY a "b">]><task><name>&a;</name></task>',
            "a document type has no place here",
        ),
    ],
)
def test_what_is_wrong_in_xml_is_said_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    assert told in "\n".join(faults(tmp_path / "bad", text, "program.xml"))


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
