"""The commands against real agents: two homes on one machine become a flock that does work."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from agent import cli
from agent.api.session import PeerChanged, TaskMoved
from agent.api.values import TaskState
from agent.api.work import STATUS, Status
from agent.client import BlockingClient
from agent.commands import exits
from tests.hosts.machine import WITHIN_S, Machine

GREET = "print('TERMINATED')\n"
WORKFLOW = {
    "name": "survey",
    "tasks": [
        {"id": "greet", "program": "greet", "expected_s": 1},
        {"id": "check", "gate": True, "asks": "was it friendly?", "after": ["greet"]},
        {"id": "again", "program": "greet", "after": ["check"]},
        {"id": "never", "program": "nobody-has-this"},
    ],
}


@pytest.fixture(scope="module")
def birch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine with a running agent, which has a flock of its own."""
    machine = Machine(tmp_path_factory.mktemp("birch"))
    machine.install("greet", GREET)
    with machine.agent("--name", "birch", "--port", "0"):
        said = machine.said("peers")
        assert said.startswith("This machine belongs to no flock and works alone.\n")
        assert "wingbeat flock join -" in said
        said = machine.said("flock", "create", "meadow")
        assert said.startswith("the flock meadow is made, with birch as its first machine\n")
        yield machine
        assert machine.said("stop") == "the agent has ended\n"
        assert not (machine.home.data / "control.json").exists()


@pytest.fixture
def here(birch: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Commands in this process reach the agent of that machine."""
    monkeypatch.setenv("WINGBEAT_HOME", str(birch.folder))
    return birch


def test_without_an_agent_every_command_says_so(tmp_path: Path) -> None:
    ran = Machine(tmp_path).run("status")
    assert ran.code == exits.NO_AGENT
    assert ran.err == "wingbeat: no agent runs here: start one with `wingbeat agent`.\n"


def test_a_second_agent_finds_the_first(birch: Machine) -> None:
    ran = birch.run("agent")
    assert ran.code == exits.FAILED
    assert ran.err.startswith("wingbeat: ")
    assert ran.err.count("\n") == 1
    assert f"as process {birch.process_id}; use that one" in ran.err


def test_two_machines_become_a_flock_and_part(birch: Machine, tmp_path: Path) -> None:
    alder = Machine(tmp_path / "alder")
    file = tmp_path / "meadow.wingbeat-invitation"
    with ExitStack() as stack:
        process = stack.enter_context(alder.agent("--name", "alder", "--port", "0"))
        client = stack.enter_context(BlockingClient(birch.home))
        start = client.call(STATUS, Status()).position
        assert str(file) in birch.said("flock", "invite", "--hours", "1", "--file", str(file))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert alder.said("flock", "join", str(file)) == "alder belongs to the flock meadow now\n"
        with closing(client.events(start, WITHIN_S)) as events:
            next(event for event in events if isinstance(event.happening, PeerChanged))
        peers = birch.answer("peers")["peers"]
        assert [(peer["name"], peer["state"]) for peer in peers] == [("alder", "linked")]
        assert "alder  linked  " in birch.said("peers")
        submitted = alder.run(
            "submit", "-", "--json", told=json.dumps({**WORKFLOW, "name": "both"})
        )
        assert json.loads(submitted.out)["disks"] == 2
        assert "both" in birch.said("status")
        cancelled = birch.said("cancel", "both")
        # Somebody may have begun it already, which then has to end first.
        assert cancelled.startswith(("both is cancelled\n", "both is being cancelled: "))
        members = birch.answer("flock", "members")["members"]
        assert [member["name"] for member in members] == ["alder", "birch"]
        gone = birch.said("flock", "expel", "ald")
        assert gone.startswith(f"alder ({members[0]['node']}) does not belong any more\n")
        process.send_signal(signal.SIGTERM)
        assert process.wait(WITHIN_S) == exits.DONE


def test_work_is_submitted_watched_and_steered(
    here: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*arguments: str) -> str:
        assert cli.main(arguments) == exits.DONE
        return capsys.readouterr().out

    file = tmp_path / "survey.json"
    file.write_text(json.dumps(WORKFLOW))
    with BlockingClient(here.home) as client:
        start = client.call(STATUS, Status()).position
        assert here.said("submit", str(file)).startswith("survey is accepted as ")
        assert said("submit", str(file)).startswith("the same is known as ")
        with closing(client.events(start, WITHIN_S)) as events:
            reach(events, "check", TaskState.WAITING)
            shown = here.said("status", "sur")
            assert shown.startswith(
                "survey is waiting: 1 waits for a person, 1 ready, 1 waiting, 1 done"
            )
            assert "check  waits for a person" in shown
            assert "was it friendly?" in shown
            story = said("why", "survey/greet")
            assert story.startswith("greet finished on birch\n")
            assert "running on birch" in story
            assert "birch has no program nobody-has-this" in said("why", "survey/never")
            assert said("priority", "survey", "interactive") == (
                "survey is of priority interactive now\n"
            )
            assert (
                said("done", "survey/check", "--attach", "id:list-7")
                == "survey/check is marked done\n"
            )
            reach(events, "again", TaskState.TERMINATED)
    assert said("cancel", "survey", "never") == "never of survey is cancelled\n"
    assert said("retry", "survey") == "survey: 1 task is tried again\n"
    words = next(line.split() for line in said("status").splitlines() if "survey" in line)
    assert [words[0], *words[2:5]] == ["survey", "waiting", "3/4", "interactive"]
    whole = json.loads(said("status", "survey", "--json"))
    assert [task["name"] for task in whole["tasks"]] == ["greet", "check", "again", "never"]
    assert said("cancel", "survey") == "survey is cancelled\n"


def reach(events: Iterator[object], name: str, state: TaskState) -> None:
    """Until a task is in this state."""
    for event in events:
        happening = getattr(event, "happening", None)
        if isinstance(happening, TaskMoved) and (happening.name, happening.after) == (name, state):
            return


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["status", "nothing"], 'no workflow is called "nothing"'),
        (["why", "nothing/at-all"], 'no workflow is called "nothing"'),
        (["cancel", "nothing"], 'no workflow is called "nothing"'),
        (["flock", "create", "heath"], "this machine belongs to the flock meadow already"),
        (["flock", "invite", "--uses", "0"], "invite: uses must be a whole number of at least 1"),
        (["flock", "join", "hello"], "this is no invitation"),
        (["flock", "expel", "0"], 'no member is called "0"'),  # no id begins so
        (["submit", "/nowhere.json"], "/nowhere.json cannot be read: No such file or directory"),
    ],
)
def test_what_is_refused_is_one_sentence_and_exit_code_1(
    here: Machine, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == exits.FAILED
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.lower().startswith(f"wingbeat: {sentence}".lower()), said.err
    assert said.err.count("\n") == 1
    assert cli.main([*arguments, "--json"]) == exits.FAILED
    assert json.loads(capsys.readouterr().out)["error"].lower().startswith(sentence.lower())


def test_an_invitation_takes_the_place_of_no_other_file(
    here: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, reason in (
        (tmp_path / "thesis.txt", "it is there already, and not as *.wingbeat-invitation"),
        (tmp_path / "nowhere" / "meadow.wingbeat-invitation", "No such file or directory"),
    ):
        if path.suffix == ".txt":
            path.write_text("ten years of work")
        assert cli.main(["flock", "invite", "--file", str(path)]) == exits.FAILED
        assert capsys.readouterr().err == f"wingbeat: {path} cannot be written: {reason}.\n"
    earlier = tmp_path / "meadow.wingbeat-invitation"
    earlier.write_text("of yesterday")
    assert cli.main(["flock", "invite", "--file", str(earlier)]) == exits.DONE
    assert "of yesterday" not in earlier.read_text()
    assert {each.name for each in tmp_path.iterdir()} == {earlier.name, "thesis.txt"}
    assert (tmp_path / "thesis.txt").read_text() == "ten years of work"


def test_doctor_counts_and_its_exit_code_tells(
    here: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(["doctor", "--json"])
    reply = json.loads(capsys.readouterr().out)
    assert code == (exits.FAILED if reply["findings"] else exits.DONE)
    assert cli.main(["doctor"]) == code
    assert "no other machines are known here" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_output_that_nobody_reads_ends_quietly(birch: Machine) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m agent status | true"],
        cwd=Path(cli.__file__).resolve().parents[1],
        env=birch.environment,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )
    assert done.stderr == ""
