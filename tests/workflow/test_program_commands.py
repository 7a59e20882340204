"""`wingbeat program new` and `wingbeat program check`, as people type them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent.cli import main
from agent.workflow.program_folder import read_program

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="programs are run here on Linux")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shell_program(script: str, more: str = "") -> None:
    Path("tell").mkdir(exist_ok=True)
    Path("tell/run.sh").write_text(script)
    Path("tell/program.yaml").write_text(f"command: [sh, run.sh]\n{more}")


def test_a_new_program_has_a_description_without_faults(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["program", "new", "count", "--folder", "there/it", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["files"] == ["program.yaml", "main.py", "wingbeat_task.py"]
    program = read_program(Path("there/it"))
    assert (program.name, program.outputs, program.checkpoint) == ("count", ("report.txt",), True)


def test_nothing_is_written_over_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["program", "new", "count"]) == 0
    Path("count/main.py").write_text("mine")
    assert main(["program", "new", "count"]) == 1
    assert "count: is not empty" in capsys.readouterr().err
    assert Path("count/main.py").read_text() == "mine"
    assert main(["program", "new", "two words"]) == 1
    assert "cannot be a name" in capsys.readouterr().err


@on_linux
def test_a_new_program_works_and_goes_on_where_it_was(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("data").mkdir()
    for number in range(150):
        Path(f"data/{number:03}").write_text("x" * number)
    assert main(["program", "new", "count"]) == 0
    assert main(["program", "check", "count", "-p", "data", "-x", "fast"]) == 0
    told = capsys.readouterr().out
    assert "started\n" in told
    assert "saved its state\n" in told
    assert "count succeeded\n" in told
    assert Path("results/report.txt").read_text() == "150 files, 11175 bytes\nfast\n"
    state = json.loads(Path("results/state.json").read_text())
    state["1"] = 1_000
    Path("state.json").write_text(json.dumps(state))
    assert main(["program", "check", "count", "-p", "data", "--checkpoint", "state.json"]) == 0
    assert "12175 bytes" in Path("results/report.txt").read_text()


@on_linux
def test_what_goes_wrong_is_told_with_what_it_printed(capsys: pytest.CaptureFixture[str]) -> None:
    shell_program("echo hello; exit 3")
    assert main(["program", "check", "tell"]) == 1
    told = capsys.readouterr().out
    assert told == "started\nprinted: hello\ntell failed: tell exited with code 3: hello\n"


@on_linux
def test_the_limits_of_its_description_hold(capsys: pytest.CaptureFixture[str]) -> None:
    shell_program("read word; echo $word; echo CANCELLED", "limits: {wall: 1}")
    assert main(["program", "check", "tell", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == ("failed: tell ran for longer than 1 s, which is its limit: CANCEL")


def test_what_is_no_program_is_told_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    shell_program("", "outputs: 3\nexpected: soon\n")
    assert main(["program", "check", "tell"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert [line.rpartition("yaml:")[2].split(": ")[0] for line in told] == ["2:10", "3:11"]
    shell_program("", "requirements: {tags: [gpu]}")
    assert main(["program", "check", "tell"]) == 1
    assert "does not run on this machine: it needs the tag gpu" in capsys.readouterr().err
    Path("tell/program.yaml").write_text("command: [/bin/true]")
    assert main(["program", "check", "tell"]) == 1
    assert "leads out of" in capsys.readouterr().err


def test_whoever_writes_a_program_is_told_what_to_do_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WINGBEAT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "count"
    assert main(["program", "new", "count", "--folder", str(folder)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.rpartition("  ")[2] for line in told[-3:]] == [
        f"wingbeat program check {folder}",
        f"wingbeat programs publish {folder}",
        str(tmp_path / "home" / "data" / "programs"),
    ]
