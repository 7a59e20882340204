"""What a command may be given: streams that are full or closed, files that are no workflow: one sentence."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from agent import cli
from agent.commands import exits, me
from tests.hosts.machine import COMMAND, WITHIN_S, Machine, Ran
from tests.hosts.waiting import ended, wait_for
from tests.style.source import REPOSITORY

FULL = Path("/dev/full")
NO_SPACE = "wingbeat: the output cannot be written: No space left on device.\n"

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")


def shell(machine: Machine, line: str) -> Ran:
    """A line in which $W is the command."""
    command = f"{shlex.quote(sys.executable)} -m agent"
    done = subprocess.run(
        ["sh", "-c", line.replace("$W", command)],
        env={**machine.environment, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@on_posix
@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "command", ["status", "status --json", "peers", "log", "completion zsh", "doctor", "programs"]
)
def test_a_full_disk_is_one_sentence(birch: Machine, command: str) -> None:
    assert shell(birch, f"$W {command} > /dev/full") == Ran(exits.FAILED, "", NO_SPACE)


@on_posix
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_streams(birch: Machine, closed: str) -> None:
    ran = shell(birch, f"$W status {closed}")
    assert (ran.code, ran.err) == (exits.DONE, "")


@on_posix
def test_nothing_to_read_is_no_workflow(birch: Machine) -> None:
    sentence = "wingbeat: what was read is no workflow: there is nothing in it.\n"
    assert shell(birch, "$W submit - <&-") == Ran(exits.FAILED, "", sentence)


@on_posix
def test_a_folder_that_is_gone_is_told(birch: Machine, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    line = f"mkdir {shlex.quote(str(gone))}; cd {shlex.quote(str(gone))}; rmdir ../gone"
    sentence = "wingbeat: the folder that this was started in is not there any more.\n"
    assert shell(birch, f"{line}; $W datasets add x") == Ran(exits.FAILED, "", sentence)
    assert shell(birch, f"{line}; $W status").code == exits.DONE


@on_posix
def test_what_happens_comes_through_a_pipe_at_once(birch: Machine) -> None:
    numbers = count()

    def told() -> bool:
        """It may not watch yet when the first ones are submitted."""
        tasks = [{"id": "a", "program": "nobody-has-this"}]
        birch.said("submit", "-", told=json.dumps({"name": f"w{next(numbers)}", "tasks": tasks}))
        return bool(watching.lines)

    with birch.following("watch") as watching:
        wait_for(told, WITHIN_S, "a line about what happens")
        assert "/a ready (submitted)" in watching.lines[0]


@on_posix
def test_a_terminal_is_told_of_work_that_is_over_as_json_and_not_kept(birch: Machine) -> None:
    assert sys.platform != "win32"
    birch.said("submit", "-", told=json.dumps({"name": "over", "tasks": [TASK]}))
    birch.said("cancel", "over")
    terminal, shown = os.openpty()
    words = [*COMMAND, "watch", "over", "--json"]
    watching = subprocess.Popen(words, cwd=REPOSITORY, env=birch.environment, stdout=shown)
    with ended(watching):
        assert watching.wait(WITHIN_S) == exits.WORK_FAILED
    assert b'"state": "cancelled"' in os.read(terminal, 100_000)
    os.close(shown)
    os.close(terminal)


TASK = {"id": "a", "program": "nobody-has-this"}


@pytest.fixture
def here(birch: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WINGBEAT_HOME", str(birch.folder))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "words", "reason"),
    [
        (b"", [], "there is nothing in it"),
        (b" \n", [], "there is nothing in it"),
        (b"{", [], "it is not JSON: Input data was truncated"),
        (b"\xff", [], "it is not UTF-8 (byte 0)"),
        (b"[" * 50_000, [], "it is nested too deeply"),
        (b"[1]", [], "it has to be an object with name and tasks"),
        ({"name": 3, "tasks": [TASK]}, [], "name must be a text, not a whole number"),
        ({"name": "w", "tsks": [TASK]}, [], "there is no tsks; did you mean tasks?"),
        ({"name": "w", "tasks": []}, [], "tasks must be a list of at least 1 entry"),
        ({"name": "w" * 129, "tasks": [TASK]}, [], "name must be a text of at most 128 characters"),
        ({"tasks": [TASK]}, [], "name is missing"),
        (
            {"name": "w", "tasks": [TASK]},
            ["--set", "a=1"],
            "it is JSON, which has no variables: --set is for workflow files",
        ),
    ],
)
def test_each_way_to_be_wrong_is_one_sentence(
    content: object, words: list[str], reason: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (here / "w.json").write_bytes(data)
    end = "" if reason.endswith("?") else "."
    assert cli.main(["submit", "w.json", *words]) == exits.FAILED
    assert capsys.readouterr() == ("", f"wingbeat: w.json is no workflow: {reason}{end}\n")


def test_a_mark_at_its_beginning_and_another_name_do_no_harm(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "w.json").write_bytes(b"\xef\xbb\xbf" + json.dumps({"tasks": [TASK]}).encode())
    assert cli.main(["submit", "w.json", "--name", "x" * 128]) == exits.DONE
    assert capsys.readouterr().out.startswith("x" * 128 + " is accepted")


def test_a_phrase_from_a_file_is_no_answer_to_a_question(birch: Machine) -> None:
    told = birch.run("flock", "recover", told="nine words that are no phrase\n")
    assert (told.code, told.out) == (exits.FAILED, "")
    assert "no recovery phrase was given" not in told.err
    for words in (("recover",), ("recover", "--check"), ("phrase", "--phrase")):
        ran = birch.run("flock", *words, told=" \n")
        assert (ran.code, ran.out) == (exits.FAILED, "")
        assert ran.err.startswith("wingbeat: no recovery phrase was given")


def test_where_there_is_no_input_there_is_no_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert me.run(["pair", "-"]) == exits.MISUSED
    assert "this is no code" in capsys.readouterr().err
