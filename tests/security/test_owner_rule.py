"""The owner's word is final on his machine: two real agents, of which one attacks.

That something does not run is seen when work that came after it has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.commands import exits
from agent.protocol import events as ev
from agent.protocol.records import PRIORITY_INTERACTIVE
from tests.commands.test_answers import PROGRAM, WORKFLOW, _submit, _task
from tests.hosts.machine import WITHIN_S, Machine, make_flock
from tests.hosts.waiting import wait_for
from tests.protocol.stage import task
from tests.protocol.test_own_work import OWN_ONLY, OWNER_THERE, PAUSED, record, told_by_pato, two


@pytest.fixture
def flock(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    """A paused attacker, so that whatever runs, runs on the other one."""
    attacker, owner = Machine(tmp_path / "attacker"), Machine(tmp_path / "owner")
    for machine in (attacker, owner):
        machine.install("work", PROGRAM)
        machine.settle(listen=["127.0.0.1"], port=0, name=machine.name)
    (tmp_path / "work.wingbeat.yaml").write_text(WORKFLOW)
    with attacker.agent(), owner.agent():
        make_flock(attacker, owner)
        attacker.said("pause")
        yield attacker, owner


def test_remote_interactive_respects_pause(flock: tuple[Machine, Machine]) -> None:
    """By the door for members, by a record, and by the owner himself from another machine."""
    attacker, owner = flock
    owner.said("pause")
    for name, words in (("door", ("--node", "owner")), ("record", ())):
        assert _submit(attacker, name, "--priority", "interactive", *words)[0] == exits.DONE
    assert _submit(owner, "own", "--priority", "interactive")[0] == exits.DONE
    seen = ("door", "record", "own")
    wait_for(lambda: _known(owner, seen), WITHIN_S, "the owner's machine knows of them")
    assert attacker.run("volunteering", "--mode", "not now", "--node", "owner").code != exits.DONE
    assert attacker.run("resume", "--node", "owner").code != exits.DONE
    owner.said("volunteering", "--own-only", "yes")
    owner.said("resume")
    wait_for(lambda: _task(owner, "own") == ("Terminated", "owner"), WITHIN_S, "its own runs")
    assert [_task(owner, each)[0] for each in ("door", "record")] == ["Ready"] * 2


def test_remote_work_respects_own_only(flock: tuple[Machine, Machine]) -> None:
    attacker, owner = flock
    owner.said("volunteering", "--own-only", "yes")
    for name, words in (("door", ("--node", "owner")), ("record", ())):
        assert _submit(attacker, name, "--priority", "interactive", *words)[0] == exits.DONE
    wait_for(lambda: _known(owner, ("door", "record")), WITHIN_S, "it knows of them")
    assert _submit(owner, "own", "--wait")[0] == exits.DONE
    assert [_task(owner, each)[0] for each in ("door", "record")] == ["Ready"] * 2
    assert attacker.run("volunteering", "--own-only", "no", "--node", "owner").code != exits.DONE


def _known(machine: Machine, names: tuple[str, ...]) -> bool:
    found = {each["name"] for each in machine.answer("status")["workflows"]}
    return found.issuperset(names)


@pytest.mark.parametrize(
    ("allowed", "priority"),
    [(OWN_ONLY, 50), (OWNER_THERE, PRIORITY_INTERACTIVE), (PAUSED, PRIORITY_INTERACTIVE)],
    ids=["own work only", "somebody is there", "paused"],
)
def test_forged_home_does_not_bypass_presence(allowed: ev.PresenceChanged, priority: int) -> None:
    """A record that names the attacked machine as its home, told by a member that lies."""
    stage = two()
    stage.allow("acor", "is not for others now", allowed)
    told_by_pato(stage, record(task("T1"), priority=priority))
    assert "T1" in stage.living()["acor"].table.specs
    assert stage.starters("T1") == []
