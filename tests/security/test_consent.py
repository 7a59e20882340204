"""What an owner has allowed is one content: neither a name, nor who is said to want it, stands for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.api import programs as names
from agent.node.agent import Agent
from agent.protocol.events import Submit
from agent.protocol.records import PRIORITY_LOW, Dataset, TaskSpec, TaskState
from agent.wording.speech import Speech
from tests.datasets.nodes import SCRIPT, install_shout, until
from tests.driver.nodes import flock_of, in_state, reading, services

FRIEND = "ana"
"""Anybody may write any person into what they submit."""


async def submitted(
    agent: Agent, workflow: str, program: str, folder: Dataset, notes: Path
) -> None:
    task = TaskSpec(f"{workflow}-a", "a", program, parameters=str(notes), published=folder)
    await agent.ask(Submit("", workflow, workflow, FRIEND, PRIORITY_LOW, (task,)))


async def test_a_leave_is_for_the_whole_hash_that_was_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name carries the beginning of a hash, for which somebody could compute another content: here
    one letter of it, so that it takes no years."""
    monkeypatch.setattr(names, "DIGEST_SHOWN", 1)
    install_shout(tmp_path / "mine")
    notes, program = tmp_path / "notes", tmp_path / "mine" / "shout"
    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        services(tmp_path, "bee", published_programs="ask") as (bee,),
    ):
        await flock_of(ant, bee)
        name, folder = await ant.live.published.publish(program)
        await submitted(ant, "first", name, folder, notes)
        await until(lambda: len(bee.live.published.questions()) == 1)
        (asked,) = bee.live.published.questions()
        assert [each.folder.dataset for each in asked.programs] == [folder.dataset]
        await bee.live.published.permit("first", "programs", "ant")
        await until(lambda: in_state([ant, bee], "first-a", TaskState.TERMINATED))
        alike = await another(ant, program, name)
        assert alike.dataset != folder.dataset
        await submitted(ant, "second", name, alike, notes)
        await until(lambda: in_state([ant, bee], "second-a", TaskState.ABORTED))
        assert "is not what was accepted here" in Speech().say(reading(ant, "second-a").reason)
    assert notes.read_text() == "first-a\n"


async def another(agent: Agent, program: Path, name: str) -> Dataset:
    """Another content that gets the name of a published program."""
    for number in range(1_000):
        (program / "shout.py").write_text(f"{SCRIPT}\n# {number}\n")
        found = await agent.live.datasets.add(program)
        if names.published_name("shout", found.dataset) == name:
            return found
    raise AssertionError("none of a thousand begins alike")


async def test_what_is_told_of_its_person_and_name_gets_no_leave(tmp_path: Path) -> None:
    """A change of what was allowed, by the same person and under the same name, is asked about."""
    install_shout(tmp_path / "mine")
    notes = tmp_path / "notes"
    async with (
        services(tmp_path, "ant", volunteer="paused") as (ant,),
        services(tmp_path, "bee", published_programs="ask") as (bee,),
    ):
        await flock_of(ant, bee)
        first = await ant.live.published.publish(tmp_path / "mine" / "shout")
        await submitted(ant, "first", *first, notes)
        await until(lambda: len(bee.live.published.questions()) == 1)
        await bee.live.published.permit("first", "programs", "ant")
        await until(lambda: in_state([ant, bee], "first-a", TaskState.TERMINATED))
        (tmp_path / "mine/shout/shout.py").write_text(f"{SCRIPT}\n# and more\n")
        changed = await ant.live.published.publish(tmp_path / "mine" / "shout")
        await submitted(ant, "second", *changed, notes)
        await until(lambda: len(bee.live.published.questions()) == 1)
        (asked,) = bee.live.published.questions()
        assert asked.submitter == FRIEND
        (program,) = asked.programs
        assert (program.folder.dataset, program.before) == (changed[1].dataset, first[1].dataset)
        assert not in_state([ant, bee], "second-a", TaskState.RUNNING)
        await bee.live.published.permit("second", "never", "ant")
        assert not bee.live.published.questions()
    assert notes.read_text() == "first-a\n"
