"""What shells are offered: commands, options, and names that the agent knows."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent import cli
from agent.commands import exits
from agent.commands.completion import GROUPS, PLACES, SCRIPTS, words

CHECKS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}

TAKE_NO_NAMES = {
    *(
        "agent",
        "stop",
        "restart",
        "peers",
        "doctor",
        "resume",
        "volunteering",
        "log",
        "secrets",
        "settings",
        "telnet",
    ),
    *("uninstall", "depart"),
    *("completion", "demo", "pause"),
    *("flock create", "flock invite", "flock nearby", "flock requests", "flock members"),
    *("flock leave", "flock recover", "flock phrase", "flock upgrade", "audit"),
    *("submit", "inspect", "new", "flock join", "program new", "program check"),  # files, folders
}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent runs here."""
    monkeypatch.setenv("WINGBEAT_HOME", str(tmp_path))


@pytest.mark.parametrize("shell", SCRIPTS)
def test_each_script_is_one_that_its_shell_reads(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", shell]) == exits.DONE
    script = capsys.readouterr().out
    assert " completion " in script
    check = CHECKS.get(shell)
    if check is None:
        pytest.skip(f"nothing in Debian reads what {shell} reads")
    if shutil.which(check[0]) is None:
        pytest.skip(f"{shell} is not installed on this machine")
    file = tmp_path / "script"
    file.write_text(script)
    done = subprocess.run(
        [*check, str(file)],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_options_and_commands_of_commands_are_offered() -> None:
    assert words(["pri"]) == ["priority"]
    assert set(words([""])) == set(cli.COMMANDS)
    assert words(["flock", "in"]) == ["invite"]
    assert "--dry-run" in words(["submit", "--"])
    assert words(["submit", "--wa"]) == ["--wait"]
    assert "--follow" in words(["logs", "x", "--f"])
    assert words(["cancel", ""]) == []


def test_words_that_options_and_places_choose_from_are_offered() -> None:
    assert words(["completion", "f"]) == ["fish"]
    assert words(["completion", "fish", ""]) == []
    assert words(["log", "--severity", "w"]) == ["warning"]
    assert words(["volunteering", "--mode", "when"]) == ["when idle"]
    assert words(["settings", "--published-programs", ""]) == ["always", "ask", "never"]
    assert words(["history", "--all", "--state", "ab"]) == ["aborted"]
    assert words(["flock", "invite", "--file", ""]) == []
    assert words(["peers", "--json", "--n"]) == ["--node"]
    assert words(["--json", "peers", "--n"]) == ["--node"]


def test_what_needs_no_agent_is_offered_without_one() -> None:
    assert words(["pause", "t"]) == ["tomorrow"]
    assert words(["pause", "1h", ""]) == []
    assert words(["programs", ""]) == ["publish", "accept", "refuse", "forget"]
    assert words(["programs", "publish", ""]) == []
    assert words(["datasets", ""]) == ["add"]
    assert words(["priority", "x", "i"]) == ["interactive"]
    assert words(["submit", "--priority", "l"]) == ["low"]


def test_of_each_command_it_is_known_which_names_it_takes() -> None:
    """Whoever adds a command says here that it takes none, or there where they are from."""
    commands = {each for each in cli.COMMANDS if each not in GROUPS}
    for group in GROUPS:
        commands |= {f"{group} {each}" for each in words([group, ""])}
    assert commands - TAKE_NO_NAMES == set(PLACES)


def test_a_command_may_be_abbreviated_where_that_is_unique(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["pee"]) == exits.NO_AGENT
    with pytest.raises(SystemExit) as stopped:
        cli.main(["re"])
    assert stopped.value.code == exits.MISUSED
    told = capsys.readouterr().err.partition("'re' may mean ")[2]
    assert all(each in told for each in ("remove", "resume", "retry"))
