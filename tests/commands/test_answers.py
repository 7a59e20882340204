"""Nobody helps before somebody has said when, and one's own work runs all the same: two real agents.

alder is paused, so whatever of its work runs, runs on birch, of which nobody has said yet when it may
help. That something does not run is seen when work that came after it has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.commands import exits
from tests.hosts.machine import WITHIN_S, Machine, make_flock
from tests.hosts.waiting import wait_for

PROGRAM = "print('done')\n"
WORKFLOW = "tasks:\n  only: {program: work, expected: 1s}\n"
EXAMPLE = "programs: {say: say.sh}\ntasks: {say: {program: say, expected: 1s}}\n"
"""Of a newcomer: its script comes with it."""


@pytest.fixture
def flock(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    alder, birch = Machine(tmp_path / "alder"), Machine(tmp_path / "birch", answer="")
    for machine in (alder, birch):
        machine.install("work", PROGRAM)
        machine.settle(listen=["127.0.0.1"], port=0, name=machine.name)
    (tmp_path / "work.wingbeat.yaml").write_text(WORKFLOW)
    (tmp_path / "example.wingbeat.yaml").write_text(EXAMPLE)
    (tmp_path / "say.sh").write_text("echo TERMINATED\n")
    with alder.agent(), birch.agent():
        make_flock(alder, birch)
        alder.said("pause")
        yield alder, birch


def _submit(machine: Machine, name: str, *words: str) -> tuple[int, str]:
    """Submit it there, and return the exit code with what was said."""
    file = str(machine.folder.parent / "work.wingbeat.yaml")
    ran = machine.run("submit", file, "--name", name, *words)
    return ran.code, ran.out + ran.err


def _task(machine: Machine, workflow: str) -> tuple[str, str]:
    (task,) = machine.answer("status", workflow)["tasks"]
    return task["state"], task["host"]


def test_who_was_not_asked_helps_nobody_and_runs_its_own(flock: tuple[Machine, Machine]) -> None:
    alder, birch = flock
    assert _submit(alder, "others")[0] == exits.DONE
    assert _submit(alder, "from afar", "--node", "birch", "--priority", "interactive")[0] == 0
    assert _submit(birch, "own", "--wait")[0] == exits.DONE
    birch.said("submit", str(birch.folder.parent / "example.wingbeat.yaml"), "--wait")
    for own in ("own", "example"):
        assert _task(birch, own) == ("Terminated", "birch")
    assert [_task(birch, each) for each in ("others", "from afar")] == [("Ready", "")] * 2
    told = "birch could run it and does not help: nobody has said yet when it may help"
    assert told in alder.said("why", "others/only")
    assert "nobody has said yet when this machine may" in birch.said("status")
    assert "`wingbeat volunteering --mode 'when idle'` lets it help" in birch.said("doctor")

    said = birch.said("volunteering", "--mode", "always")
    assert "this machine helps: set to always" in said
    assert "idle for           5 min  (no matter in this mode)" in said
    for each in ("others", "from afar"):
        wait_for(lambda each=each: _task(birch, each) == ("Terminated", "birch"), WITHIN_S, each)  # type: ignore[misc]
    assert "has said" not in birch.said("doctor")


@pytest.mark.parametrize(
    ("answer", "mode", "own_only"),
    [(("--mode", "not now"), "not now", False), (("--own-only", "yes"), "always", True)],
)
def test_not_now_and_only_my_own_are_answers(
    flock: tuple[Machine, Machine], answer: tuple[str, ...], mode: str, own_only: bool
) -> None:
    alder, birch = flock
    assert _submit(alder, "others")[0] == exits.DONE
    rules = birch.answer("volunteering", *answer)["rules"]
    assert (rules.get("mode", "always"), rules.get("own_only", False)) == (mode, own_only)
    assert _submit(birch, "own", "--wait")[0] == exits.DONE
    assert _task(alder, "others") == ("Ready", "")
    assert "it runs only what is submitted on it" in alder.said("why", "others/only")
    assert f'volunteer = "{mode}"' in birch.home.settings_file.read_text()


def test_a_machine_helps_whom_its_owner_names_and_says_so_to_others(
    flock: tuple[Machine, Machine],
) -> None:
    alder, birch = flock
    rules = birch.answer("volunteering", "--mode", "always", "--who", "bia, caio")["rules"]
    assert rules["people"] == ["bia", "caio"]
    assert 'people = ["bia", "caio"]' in birch.home.settings_file.read_text()
    assert _submit(alder, "others")[0] == exits.DONE
    assert _submit(birch, "own", "--wait")[0] == exits.DONE
    assert _task(alder, "others") == ("Ready", "")
    told = alder.said("why", "others/only")
    assert "birch helps only bia and caio" in told
    assert "on birch" in told.splitlines()[0]
    assert "is not among them" in told
    assert "helps only bia and caio" in _submit(alder, "more", "--dry-run")[1]
    answered = birch.run("volunteering", "--who", "a\u202eb")
    assert (answered.code, "write names as workflows show them" in answered.err) == (1, True)
    birch.said("volunteering", "--who", "everybody")
    wait_for(lambda: _task(alder, "others")[0] == "Terminated", WITHIN_S, "it runs")
    assert birch.answer("volunteering", "--who", "nobody")["rules"]["own_only"]


def test_a_pause_holds_its_own_work_too(flock: tuple[Machine, Machine]) -> None:
    alder, birch = flock
    birch.said("pause")
    assert _submit(birch, "own", "--priority", "interactive")[0] == exits.DONE
    alder.said("resume")
    wait_for(lambda: _task(birch, "own") == ("Terminated", "alder"), WITHIN_S, "alder runs it")
    alder.said("pause")
    assert _submit(birch, "again", "--priority", "interactive")[0] == exits.DONE
    assert _submit(birch, "later")[0] == exits.DONE
    birch.said("resume")
    wait_for(lambda: _task(birch, "later") == ("Terminated", "birch"), WITHIN_S, "its own runs")
    assert _task(birch, "again") == ("Terminated", "birch")
