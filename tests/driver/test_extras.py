"""What an extra of Wingbeat brings is looked for as soon as a task waits for it, on every machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.execution import machine
from agent.node import running
from agent.protocol.effects import Verdict
from agent.protocol.events import Submit
from agent.protocol.records import Requirements, TaskSpec, TaskState
from tests.driver.nodes import in_state, members, submit
from tests.hosts.waiting import EVENTUALLY_S_MAX, eventually

TAG = "wingbeat[counting]"
NEEDY = TaskSpec("needy.0", "count", "tell", requirements=Requirements(tags=(TAG,)))


async def test_machines_look_for_an_extra_when_work_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(machine.EXTRAS, TAG, ("json",))
    monkeypatch.setattr(machine, "_imports", {})
    monkeypatch.setattr(running, "EXTRAS_LOOKED_AT_AFTER_S", 2 * EVENTUALLY_S_MAX)
    async with members(tmp_path, "ant", "bee") as flock:
        ant = flock[0]
        await submit(ant, "say")
        await eventually(lambda: in_state(flock, "w.0", TaskState.TERMINATED))
        assert not any(TAG in each.live.capabilities.tags for each in flock)
        answer = await ant.ask(Submit("", "needy", "needy", "me", 50, (NEEDY,)))
        assert answer.verdict is Verdict.ACCEPTED
        await eventually(lambda: all(TAG in each.live.capabilities.tags for each in flock))
        await eventually(lambda: in_state(flock, "needy.0", TaskState.TERMINATED))
