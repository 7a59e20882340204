"""Program folders, and what of a command may be executed."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from agent.execution import machine
from agent.execution.allowed_commands import ConfinementError, command_line, refuse_steering
from agent.execution.programs import ProgramError, Programs
from agent.node.programs import ProgramReader
from agent.protocol.messages import Capabilities
from tests.execution.installed import reader


def described(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.yaml").write_text(text)
    (folder / "run").touch(0o700)
    (folder / "run.py").touch()
    return folder


def test_a_program_is_found_and_knows_its_command(tmp_path: Path) -> None:
    folder = described(tmp_path / "sums", 'command: ["{python}", -B, run.py, "{folder}"]')
    programs = Programs(tmp_path, reader())
    assert programs.look() == ("sums",)
    program = programs.get("sums")
    assert program is not None
    assert program.command_line() == [sys.executable, "-B", str(folder / "run.py"), str(folder)]


def test_a_file_of_the_folder_is_executed_under_its_own_path(tmp_path: Path) -> None:
    folder = described(tmp_path / "sums", "")
    assert command_line(folder, ["run", "-x"]) == [str(folder / "run"), "-x"]
    assert command_line(folder, ["{folder}/run"]) == [str(folder / "run")]
    (tmp_path / "linked").symlink_to(folder)
    assert command_line(tmp_path / "linked", ["run"]) == [str(folder / "run")]


def test_on_windows_the_usual_extension_is_appended(tmp_path: Path) -> None:
    (tmp_path / "segmentation.exe").touch()
    wanted = [str(tmp_path / "segmentation.exe")]
    assert command_line(tmp_path, ["segmentation"], windows=True) == wanted
    with pytest.raises(ConfinementError, match="is not a file of"):
        command_line(tmp_path, ["segmentation"], windows=False)


def test_on_windows_a_batch_file_is_executed_without_a_cmd_before_it(tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    folder.mkdir()
    for name in ("run.bat", "run.txt"):
        (folder / name).touch()
    wanted = [str(folder / "run.bat"), "fast"]
    assert command_line(folder, ["cmd", "/c", "run.bat", "fast"], windows=True) == wanted
    with pytest.raises(ConfinementError, match="is no batch file"):
        command_line(folder, ["cmd", "/c", "run.txt"], windows=True)


@pytest.mark.parametrize("word", ["a&calc", 'a" & calc', "%PATH%", "a|b", "two\nlines"])
def test_what_a_task_says_is_no_command_of_cmd(word: str) -> None:
    for batch in ("C:\\a b\\run.bat", "C:\\a\\RUN.CMD"):
        refuse_steering([batch, "-x", "a b (c)!"], ["-x", "a b (c)!"])
        with pytest.raises(ConfinementError, match="cmd acts on"):
            refuse_steering([batch, "-x", word], ["-x", word])
    refuse_steering(["C:\\a\\run.exe", "-x", word], ["-x", word])


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["/bin/true"], "leads out of"),
        (["../other/run"], "is not a file of"),
        (["away"], "leads out of"),
        (["sh", "away"], "leads out of"),
        (["sh", "-c", "echo"], "-c is no option that it may have, and sh needs a script"),
        (["{python}", "-m", "http.server"], "-m is no option"),
        (["{python}"], "needs a script of the program's folder"),
        (["sh", "-eu"], "needs a script of the program's folder"),
        (["missing"], "is not a file of"),
        (["inside"], "is no file"),
        (["run.py"], "is not executable"),
        ([], "it has no command"),
    ],
)
def test_nothing_outside_the_folder_is_executed(
    tmp_path: Path, command: list[str], complaint: str
) -> None:
    folder = described(tmp_path / "sums", "")
    (folder / "away").symlink_to("/bin/true")
    (folder / "inside").mkdir()
    with pytest.raises(ConfinementError, match=complaint):
        command_line(folder, command)


def test_a_wrong_description_is_told_with_all_its_faults(tmp_path: Path) -> None:
    folder = described(tmp_path / "bad", "comand: [run]\noutputs: 3")
    with pytest.raises(
        ProgramError, match=r"bad/program.yaml:1:1: .* did you mean command"
    ) as told:
        reader()(folder)
    assert "outputs must be a list" in str(told.value)


def test_one_bad_program_does_not_hide_the_others_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    described(tmp_path / "bad", "{")
    described(tmp_path / "good", "command: [run]")
    described(tmp_path / "twin", "command: [run]\nname: good")
    described(tmp_path / "wild", "command: [/bin/sh]")
    described(tmp_path / "else", "command: [run]\nrequirements: {system: windows}")
    programs = Programs(tmp_path, reader())
    with caplog.at_level(logging.WARNING):
        assert programs.look() == ("good",)
        assert programs.look() == ("good",)
    assert len(caplog.records) == 4


@pytest.mark.parametrize(
    ("needs", "told"),
    [
        ("architecture: arm", "it needs arm, this is x86_64"),
        ("memory: 8 GB", "it needs 8000 MB of memory, there are 4000 MB"),
        ("cores: 4", "it needs 4 cores, there are 2"),
        ("tags: [gpu, old]", "it needs the tag old"),
        ("memory: 4 GB", ""),
    ],
)
def test_a_program_that_the_machine_is_too_small_for_is_not_offered(
    tmp_path: Path, needs: str, told: str
) -> None:
    folder = described(tmp_path, f"name: a\ncommand: [run]\nrequirements: {{{needs}}}")
    machine = Capabilities("linux", "x86_64", 4_000, 0, 2, tags=("gpu",))
    assert ProgramReader(machine)(folder).unfit == told


def test_programs_are_added_under_names_of_their_own(tmp_path: Path) -> None:
    folder = described(tmp_path / "elsewhere", "name: sums\ncommand: [run]")
    programs = Programs(tmp_path / "missing", reader())
    assert programs.add("sums@0123", folder).name == "sums@0123"
    assert programs.look() == ("sums@0123",)
    programs.drop("sums@0123")
    assert programs.names == ()
    (folder / "run").chmod(0o600)
    with pytest.raises(ProgramError, match="cannot be executed"):
        programs.add("sums@0123", folder)


@pytest.mark.parametrize(("windows", "starts"), [(True, "run.bat"), (False, "cmd")])
def test_only_windows_executes_batch_files_without_what_stands_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: bool, starts: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    (tmp_path / "run.bat").touch()
    command = command_line(tmp_path, ["cmd", "/c", "run.bat"], windows=windows)
    assert Path(command[0]).name == starts
    with_shell = command_line(tmp_path, ["sh", "-e", "run.bat"], windows=windows)
    assert with_shell == ["/bin/sh", "-e", str(tmp_path / "run.bat")]


def test_programs_of_packages_are_found_too_and_own_ones_go_first(tmp_path: Path) -> None:
    own, beside = tmp_path / "own", tmp_path / "beside"
    for folder in (own / "sums", beside / "sums", beside / "lines"):
        described(folder, "command: [run]")
    programs = Programs(own, reader(), [beside, tmp_path / "missing"])
    assert programs.look() == ("lines", "sums")
    assert {each: programs.get(each).folder.parent for each in programs.names} == {  # type: ignore[union-attr]
        "lines": beside,
        "sums": own,
    }


def test_an_extra_is_there_when_it_imports_and_not_when_it_is_only_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extras = {
        "wingbeat[whole]": ("json", "xml.dom"),
        "wingbeat[broken]": ("json", "no_such_module"),
    }
    monkeypatch.setattr(machine, "EXTRAS", extras)
    monkeypatch.setattr(machine, "_imports", {})
    assert not extras.keys() & set(machine.capabilities((), tmp_path).tags)
    for tag in extras:
        assert machine.look_at_extras(["gpu", tag])
        assert not machine.look_at_extras(["gpu", tag]), "it is known now"
    assert extras.keys() & set(machine.capabilities((), tmp_path).tags) == {"wingbeat[whole]"}


def test_what_needs_an_extra_is_offered_so_that_matching_can_tell_of_it(tmp_path: Path) -> None:
    described(tmp_path / "sums", 'command: [run]\nrequirements: {tags: ["wingbeat[inspection]"]}')
    programs = Programs(tmp_path, ProgramReader(Capabilities()))
    assert programs.look() == ("sums",)
    found = programs.get("sums")
    assert found is not None
    assert found.unfit == ""
    assert "wingbeat[inspection]" in machine.capabilities((), tmp_path).tags
