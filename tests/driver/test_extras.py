"""What an extra of Wingbeat brings is looked for as soon as a task waits for it, on every machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from agent.data.publishing import PublishedPrograms
from agent.execution import machine
from agent.node import agent as agent_module
from agent.node import running
from agent.node.agent import Agent
from agent.protocol.effects import Verdict
from agent.protocol.events import Submit
from agent.protocol.records import Requirements, TaskSpec, TaskState
from tests.driver.nodes import in_state, members, services, services_of_homes, submit
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually

TAG = "wingbeat[counting]"
NEEDY = TaskSpec("needy.0", "count", "tell", requirements=Requirements(tags=(TAG,)))


@pytest.fixture(autouse=True)
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter[PublishedPrograms]:
    """How often each node has looked; by itself, none does within a test."""
    looks: Counter[PublishedPrograms] = Counter()

    look = PublishedPrograms.look_for

    async def counted(own: PublishedPrograms, tags: Iterable[str]) -> None:
        looks[own] += 1
        await look(own, tags)

    monkeypatch.setattr(PublishedPrograms, "look_for", counted)
    monkeypatch.setitem(machine.EXTRAS, TAG, ("json",))
    monkeypatch.setattr(machine, "_imports", {})
    for module, name in (
        (running, "EXTRAS_LOOKED_AT_AFTER_S"),
        (agent_module, "PROGRAMS_EVERY_S"),
    ):
        monkeypatch.setattr(module, name, 2 * EVENTUALLY_S_MAX)
    return looks


async def _submit_needy(ant: Agent) -> None:
    answer = await ant.ask(Submit("", "needy", "needy", "me", 50, (NEEDY,)))
    assert answer.verdict is Verdict.ACCEPTED


async def test_machines_look_for_an_extra_when_work_needs_it(
    tmp_path: Path, looks: Counter[PublishedPrograms]
) -> None:
    async with members(tmp_path, "ant", "bee") as flock:
        ant = flock[0]
        await submit(ant, "say")
        await eventually(lambda: in_state(flock, "w.0", TaskState.TERMINATED))
        assert not looks
        await _submit_needy(ant)
        await eventually(lambda: all(TAG in each.live.capabilities.tags for each in flock))
        await eventually(lambda: in_state(flock, "needy.0", TaskState.TERMINATED))
        assert all(looks[each.live.published] == 1 for each in flock)


@pytest.mark.parametrize("comes", [False, True])
async def test_who_starts_anew_looks_only_where_work_still_waits(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    looks: Counter[PublishedPrograms],
    *,
    comes: bool,
) -> None:
    monkeypatch.setitem(machine.EXTRAS, TAG, ("json" if comes else "no_such_module",))
    async with services(tmp_path, "ant") as (ant,):
        await _submit_needy(ant)
        state = TaskState.TERMINATED if comes else TaskState.READY
        await eventually(
            lambda: looks[ant.live.published] == 1 and in_state([ant], "needy.0", state)
        )
    async with services_of_homes(tmp_path, "ant") as (ant,):
        assert in_state([ant], "needy.0", state)
        if not comes:
            await eventually(lambda: looks[ant.live.published] == 1)
        await submit(ant, "say")
        await eventually(lambda: in_state([ant], "w.0", TaskState.TERMINATED))
        assert looks[ant.live.published] == (not comes)
