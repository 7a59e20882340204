"""Programs: what a description says, what a new one gets, and the commands for both. Wrong descriptions
are in ``malformed/programs.txt``."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.api.values import Requirements
from agent.cli import main
from agent.workflow.faults import FaultsError
from agent.workflow.model import KnownProgram
from agent.workflow.program_description import (
    ProgramDescription,
    ProgramInput,
    ProgramLimits,
    script_description,
)
from agent.workflow.program_folder import read_program
from agent.workflow.programs_beside import describe_script
from agent.workflow.scaffold import wingbeat_task as task

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
Typed = Callable[..., tuple[str, str]]


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    """Has a command of programs done, which ends with this code; what it says, and its complaints."""

    def typed(*words: str, code: int = 0) -> tuple[str, str]:
        assert main(["program", *words]) == code
        return capsys.readouterr()

    return typed


def described(folder: Path, text: str, name: str = "program.yaml") -> ProgramDescription:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return read_program(folder)


def test_everything_that_a_program_can_say(tmp_path: Path) -> None:
    assert described(tmp_path, WHOLE) == ProgramDescription(
        name="georeferencing",
        command=("{python}", "-P", "main.py", "--fast"),
        file=str(tmp_path / "program.yaml"),
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
    assert (program.name, program.command, program.outputs) == ("sums", ("run.sh",), None)


@pytest.mark.parametrize(
    ("said", "outputs"),
    [
        ("", None),
        ("outputs:", None),
        ("outputs: none", ()),
        ("outputs: None", ()),
        ("outputs: []", ()),
        ("outputs: [none]", ("none",)),
    ],
)
def test_a_program_may_say_that_it_has_no_outputs_or_not_say(
    tmp_path: Path, said: str, outputs: tuple[str, ...] | None
) -> None:
    program = described(tmp_path, f"command: [run.sh]\n{said}\n")
    assert program.outputs == outputs
    assert KnownProgram.of(program).outputs == outputs
    script = describe_script("count", Path("count.sh"), outputs)
    assert described(tmp_path, script).outputs == outputs


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


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="programs are run here on Linux")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shell_program(script: str, more: str = "") -> None:
    Path("tell").mkdir(exist_ok=True)
    Path("tell/run.sh").write_text(script)
    Path("tell/program.yaml").write_text(f"command: [sh, run.sh]\n{more}")


def test_a_new_program_has_a_description_without_faults(typed: Typed) -> None:
    told, _ = typed("new", "count", "--folder", "there/it", "--json")
    assert json.loads(told)["files"] == ["program.yaml", "main.py", "wingbeat_task.py"]
    program = read_program(Path("there/it"))
    assert (program.name, program.outputs, program.checkpoint) == ("count", ("report.txt",), True)


def test_nothing_is_written_over_what_is_there(typed: Typed) -> None:
    typed("new", "count")
    Path("count/main.py").write_text("mine")
    assert "count: is not empty" in typed("new", "count", code=1)[1]
    assert Path("count/main.py").read_text() == "mine"
    assert "cannot be a name" in typed("new", "two words", code=1)[1]


@on_linux
def test_a_new_program_works_and_goes_on_where_it_was(typed: Typed) -> None:
    Path("data").mkdir()
    for number in range(150):
        Path(f"data/{number:03}").write_text("x" * number)
    typed("new", "count")
    told, _ = typed("check", "count", "-p", "data", "-x", "fast")
    lines = ("started", "saved its state", "count succeeded")
    assert [line for line in lines if line in told.splitlines()] == [*lines]
    assert Path("results/report.txt").read_text() == "150 files, 11175 bytes\nfast\n"
    state = json.loads(Path("results/state.json").read_text())
    Path("state.json").write_text(json.dumps({**state, "1": 1_000}))
    typed("check", "count", "-p", "data", "--checkpoint", "state.json")
    assert "12175 bytes" in Path("results/report.txt").read_text()


@on_linux
def test_what_goes_wrong_is_told_with_what_it_printed(typed: Typed) -> None:
    shell_program("echo hello; exit 3")
    told, _ = typed("check", "tell", code=1)
    assert told == "started\nprinted: hello\ntell failed: tell exited with code 3: hello\n"


@on_linux
def test_the_limits_of_its_description_hold(typed: Typed) -> None:
    shell_program("read word; echo $word; echo CANCELLED", "limits: {wall: 1}")
    told, _ = typed("check", "tell", "--json", code=1)
    failed = "failed: tell ran for longer than 1 s, which is its limit: CANCEL"
    assert json.loads(told)["verdict"] == failed


def test_what_is_no_program_is_told_with_its_place(typed: Typed) -> None:
    shell_program("", "outputs: 3\nexpected: soon\n")
    told = typed("check", "tell", code=1)[1].splitlines()
    assert [line.rpartition("yaml:")[2].split(": ")[0] for line in told] == ["2:10", "3:11"]
    shell_program("", "requirements: {tags: [gpu]}")
    unfit = "does not run on this machine: it needs the tag gpu"
    assert unfit in typed("check", "tell", code=1)[1]
    Path("tell/program.yaml").write_text("command: [/bin/true]")
    assert "leads out of" in typed("check", "tell", code=1)[1]


def test_whoever_writes_a_program_is_told_what_to_do_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Typed
) -> None:
    monkeypatch.setenv("WINGBEAT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "count"
    told = typed("new", "count", "--folder", str(folder))[0].splitlines()
    assert [line.rpartition("  ")[2] for line in told[-3:]] == [
        f"wingbeat program check {folder}",
        f"wingbeat programs publish {folder}",
        str(tmp_path / "home" / "data" / "programs"),
    ]


@pytest.fixture(autouse=True)
def _as_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a node starts it, and not asked to stop yet."""
    words = ["program", "-p", "one", "-i", "two", "-p", "three", "-x", "fast", "odd"]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(task, "_cancelled", threading.Event())
    monkeypatch.setattr(task, "_listening", [])
    for name in ("WINGBEAT_SCRATCH", "WINGBEAT_CHECKPOINT"):
        monkeypatch.delenv(name, raising=False)


def test_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (task.raw(), task.inputs(), task.parameters()) == (["one", "three"], ["two"], "fast")
    (tmp_path / "long").write_text("many\nlines")
    monkeypatch.setattr(sys, "argv", ["program", "-x", str(tmp_path / "long")])
    assert (task.raw(), task.parameters()) == ([], "many\nlines")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["program", "-x", "long"])
    assert task.parameters() == "long"
    monkeypatch.setattr(sys, "argv", ["program"])
    assert task.parameters() == ""


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (task.working_folder(), task.saved()) == (Path(), None)
    monkeypatch.setenv("WINGBEAT_SCRATCH", "/scratch")
    monkeypatch.setenv("WINGBEAT_CHECKPOINT", "/state")
    assert (task.working_folder(), task.saved()) == (Path("/scratch"), Path("/state"))


def test_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    task.progress(12.34)
    with pytest.raises(SystemExit) as ended:
        task.terminated("a", "b c")
    assert ended.value.code == 0
    with pytest.raises(SystemExit) as ended:
        task.failed("no film\n in it")
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert said == 'PROGRESS 12.3\nTERMINATED a "b c"\nERROR no film in it\n'


def test_it_stops_when_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n CANCEL \nmore\n"))
    task.cancelled()
    (listening,) = task._listening
    listening.join(60)
    assert task.cancelled()
    assert task._listening == [listening]
    with pytest.raises(SystemExit) as ended:
        task.stop_if_cancelled()
    assert (ended.value.code, capsys.readouterr().out) == (0, "CANCELLED\n")


def test_it_goes_on_when_nobody_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n"))
    task.stop_if_cancelled()
    task._listening[0].join(60)
    assert (task.cancelled(), capsys.readouterr().out) == (False, "")


@pytest.mark.parametrize(("taken", "looks"), [(True, 4), (False, 31)])
def test_a_checkpoint_is_waited_for_until_it_is_taken(
    taken: bool,
    looks: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Half a minute at the most; a clock goes on by a second with each look."""
    state, now = tmp_path / "state", [0.0]
    state.touch()
    monkeypatch.setenv("WINGBEAT_SCRATCH", str(tmp_path))

    def clock() -> float:
        now[0] += 1.0
        if taken and now[0] == 4.0:
            state.unlink()
        return now[0]

    monkeypatch.setattr(time, "monotonic", clock)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    task.checkpoint(str(state))
    assert (now[0], capsys.readouterr().out) == (looks, f"CHECKPOINT {state}\n")


def test_a_checkpoint_of_a_program_that_is_tried_by_hand_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    state.touch()
    monkeypatch.setattr(time, "sleep", pytest.fail)
    task.checkpoint(str(state))
