"""The command line: what it answers to what it is told, right or wrong."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from agent import __version__, cli
from agent.commands import exits, flock
from agent.commands.choosing import Command

CHECKOUT = Path(cli.__file__).resolve().parents[1]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"wingbeat {__version__}\n"


def test_without_a_command_it_tells_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "demo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["dmeo"], "there is no command 'dmeo'"),
        (["dmeo", "--seed", "1"], "there is no command 'dmeo'"),
        (["--loud"], "--loud"),
        (["--loud", "demo"], "--loud"),
        (["--vers"], "--vers"),
        (["flock", "crate"], "there is no command 'crate'"),
        (["flock", "create"], "NAME"),
        (["flock", "create", "a", "b"], "unrecognized arguments: b"),
        (["flock", "invite", "--uses", "many"], "--uses"),
        (["submit"], "FILE"),
        (["submit", "a.json", "--priority", "high"], "'high' is not low, interactive, or a number"),
        (["submit", "a.json", "--priority", "101"], "'101' is not low, interactive"),
        (["why"], "TASK"),
        (["priority", "w", "-1"], "-1"),
        (["peers", "--jsn"], "--jsn"),
        (["agent", "--port", "70000"], "'70000' is no port from 0 to 65535"),
        (["agent", "--name", " "], "a name has 1 to 60 letters"),
        ([""], "no command is named (`wingbeat --help` tells what there is)"),
        (["submit", "--name", " ", "x"], "argument --name: a workflow needs a name"),
        (["submit", "--name", "x" * 129, "x"], "argument --name: a name has at most 128 char"),
        (["cancel"], "the following arguments are required: WORKFLOW (`wingbeat cancel"),
        (["programs", "accept"], "accept what? (`wingbeat programs --help` tells)"),
        (["datasets", "survey", "x"], "x does not belong there: `datasets add PATH` adds"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = cli.main(arguments)
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr()
    assert (code, said.out, said.err.count("\n")) == (exits.MISUSED, "", 1)
    assert said.err.startswith("wingbeat: ")
    assert named in said.err


@pytest.mark.parametrize(
    "words",
    [*([name] for name in cli.COMMANDS), *(["flock", name] for name in flock.COMMANDS)],
    ids=" ".join,
)
def test_every_command_has_help_with_examples_and_exit_codes(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([*words, "--help"])
    said = capsys.readouterr().out
    assert stopped.value.code == exits.DONE
    promised = {f"wingbeat {' '.join(words)}", "examples:", "3    no agent runs here", "--json"}
    if words in (["flock"], ["program"]):
        promised.remove("--json")
    assert {each for each in promised if each not in said} == set()


def test_an_interrupted_command_ends_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "COMMANDS", {"wait": Command("wait", interrupted)})
    assert cli.main(["wait"]) == exits.INTERRUPTED


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent", "--version"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"wingbeat {__version__}\n"


@pytest.mark.parametrize(
    ("encoding", "windows", "expected"),
    [
        ("cp1252", True, "bee → 🐝".encode()),
        ("cp1252", False, b"bee \\u2192 \\U0001f41d"),
        ("utf-8", False, "bee → 🐝".encode()),
    ],
)
def test_no_letter_of_a_name_ends_a_command(encoding: str, windows: bool, expected: bytes) -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding=encoding)
    cli.take_all_letters(stream, windows=windows)
    stream.write("bee → 🐝")
    stream.flush()
    assert written.getvalue() == expected


@pytest.mark.parametrize(
    "words",
    [
        ["cancel", "survey", "--json", "merge"],
        ["cancel", "--node", "alder", "survey", "merge"],
        ["programs", "accept", "--json", "count"],
        ["datasets", "--all", "survey"],
        ["status", "--json", "survey"],
        ["done", "survey/check", "--json"],
        ["priority", "survey", "--json", "7"],
    ],
)
def test_options_may_stand_between_other_words(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINGBEAT_HOME", str(tmp_path))
    assert cli.main(words) == exits.NO_AGENT
