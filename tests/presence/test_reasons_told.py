"""Which other reasons of one verdict are told to whoever sits here, and which are no news."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.api.presence_reasons import (
    FinishingTask,
    FinishingTasks,
    HeldBlind,
    HeldByProgram,
    HelpsEmpty,
    NoScreen,
)
from agent.api.reasons import Reason
from agent.presence.readings import Kind, Seen, Unseen
from tests.hosts.waiting import eventually
from tests.presence.watched import WATCHFUL, Machine, presence


async def test_how_many_tasks_are_left_is_told_and_not_to_the_node(tmp_path: Path) -> None:
    machine = Machine(running=3)
    async with presence(tmp_path, machine) as found:
        found.finish_then_pause()
        before = list(machine.handed)
        assert machine.why[-1] == FinishingTasks(3, True)
        machine.running = 2
        await eventually(lambda: machine.why[-1] == FinishingTasks(2, True))
        machine.running = 1
        await eventually(lambda: machine.why[-1] == FinishingTask(True))
        assert machine.handed == before


BLIND = Unseen(NoScreen())


@pytest.mark.parametrize(
    ("first", "then", "reasons"),
    [
        (
            {"programs": Seen(("blender",))},
            {"programs": Seen(("obs",))},
            [HeldByProgram(("blender",)), HeldByProgram(("obs",))],
        ),
        (
            {"programs": BLIND},
            {"programs": Seen(()), "processor": BLIND},
            [HeldBlind(kind.value, BLIND.because) for kind in (Kind.PROGRAMS, Kind.PROCESSOR)],
        ),
    ],
)
async def test_another_reason_of_the_same_verdict_is_told(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], reasons: list[Reason]
) -> None:
    rules = replace(WATCHFUL, exclusive_programs=("blender", "obs"))

    machine = Machine(**first)
    async with presence(tmp_path, machine, rules) as found:
        await found.look()
        await eventually(lambda: machine.why[-1:] == reasons[:1])
        before = list(machine.handed)
        vars(machine).update(then)
        await found.set_rules(rules)  # which looks at all of it
        await eventually(lambda: machine.why[-1] == reasons[1])
        assert machine.handed == before


async def test_an_amount_that_changes_all_the_time_is_not_told(tmp_path: Path) -> None:
    machine = Machine()
    async with presence(tmp_path, machine) as found:
        await eventually(lambda: machine.helps)
        told = len(machine.why)
        machine.processor = Seen(7.0)
        await found.set_rules(WATCHFUL)
        await eventually(lambda: found.state().reason == HelpsEmpty(7))
        await found.look()
        assert len(machine.why) == told
