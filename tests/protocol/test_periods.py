"""How long things are kept and waited for where nobody set anything else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agent.protocol.datasets import Datasets
from agent.protocol.joining import Joining
from agent.protocol.pruning import Prunings
from agent.protocol.records import Claim, Life, Pruning, Run, TaskLife, Terminated
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from tests.protocol.stage import task
from tests.protocol.test_table import workflow

DAY_MS = 24 * 3_600_000
NOW_MS = 1_750_000_000_000


def looked_at(table: Table, after_ms: int) -> tuple[list[Pruning], list[str]]:
    """What the master removes so long after now, and which removals it forgets then."""
    removed: list[Pruning] = []
    forgotten: list[str] = []

    def write(prunings: list[Pruning]) -> None:
        removed.extend(prunings)

    core: Any = SimpleNamespace(
        me="ant",
        joined=True,
        table=table,
        settings=Settings(),
        wall_ms=NOW_MS + after_ms,
        flock_wall_ms=lambda: NOW_MS + after_ms,
        write=write,
        forget_pruning=forgotten.append,
    )
    election: Any = SimpleNamespace(master="ant")
    part = Prunings(core, election)
    for core.now_s in (1e6, 2e6):
        part.on_tick()
    return removed, forgotten


@pytest.mark.parametrize(
    ("ends", "after_ms", "is_removed"),
    [
        (True, 30 * DAY_MS, False),
        (True, 30 * DAY_MS + 1, True),
        (False, 99 * DAY_MS, False),
        (True, -DAY_MS, False),
        (True, -DAY_MS - 1, True),
    ],
)
def test_what_has_ended_is_kept_for_thirty_days(
    ends: bool, after_ms: int, is_removed: bool
) -> None:
    """A moment that is more than a day ahead is not believed, and what was submitted long ago goes."""
    table = Table(Settings())
    table.join([workflow(task("T1"))])
    run = Run(1, 1, "ant", 1, Claim(1, (1, 0), "ant"), 1, (), 1, Terminated(), (NOW_MS, 0))
    table.join(lives=[TaskLife("T1", Life(runs=(run,)))] if ends else [])
    removed, _ = looked_at(table, after_ms)
    assert {each.workflow for each in removed} == ({"w"} if is_removed else set())


@pytest.mark.parametrize(("after_ms", "forgotten"), [(400 * DAY_MS, []), (400 * DAY_MS + 1, ["w"])])
def test_what_was_removed_is_known_for_four_hundred_days(
    after_ms: int, forgotten: list[str]
) -> None:
    table = Table(Settings())
    table.join(prunings=[Pruning("w", 1, (NOW_MS, 0))])
    assert looked_at(table, after_ms)[1][:1] == forgotten


@pytest.mark.parametrize(
    ("down_s", "volunteering", "lost"),
    [(299.9, True, False), (300.0, True, True), (900.0, False, False)],
)
def test_results_on_a_machine_that_is_down_are_given_up_after_five_minutes(
    down_s: float, volunteering: bool, lost: bool
) -> None:
    core = SimpleNamespace(
        me="ant",
        members={},
        peers={},
        presence=SimpleNamespace(volunteering=volunteering),
        settings=Settings(),
    )
    part: Any = SimpleNamespace(core=core, _liveness=SimpleNamespace(down_for_s=lambda _: down_s))
    assert Datasets._lost_at(part, "bee", "data") is lost


@pytest.mark.parametrize(
    ("waited_s", "apart", "joined"),
    [(4.9, False, False), (5.0, False, True), (14.9, True, False), (15.0, True, True)],
)
def test_a_node_that_starts_waits_five_seconds_for_members_fifteen_for_those_that_are_apart(
    waited_s: float, apart: bool, joined: bool
) -> None:
    core = SimpleNamespace(
        me="ant",
        joined=False,
        now_s=100.0 + waited_s,
        members={"ant": "", "bee": ""},
        peers={},
        settings=Settings(),
        greeted=list,
    )
    liveness = SimpleNamespace(started_s=100.0, tell_status=lambda: None)
    part: Any = SimpleNamespace(core=core, _liveness=liveness, _is_apart=lambda: apart)
    Joining._join_if_ready(part)
    assert core.joined is joined
