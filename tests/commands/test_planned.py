"""A dry run as people read it: what many machines lack for the same reason is told once."""

from __future__ import annotations

import pytest

from agent.api.plan import Misfit, PlanReply, TaskPlan
from agent.api.reasons import NotAccepted, as_why
from agent.commands.planned import show_plan

WAITS = "birch and cedar run count only when somebody there accepts it"


def plan(task: str) -> TaskPlan:
    unaccepted = "does not take the published program count"
    why = as_why(NotAccepted("count"))
    misfits = [Misfit(name, name, unaccepted, why=why) for name in ("birch", "cedar")]
    return TaskPlan(task, ("alder",), (*misfits, Misfit("elm", "elm", "has no tag gpu")), 0.0, 60.0)


def test_machines_that_wait_for_a_person_are_told_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_plan(PlanReply(False, (), (plan("a"), plan("b")), 1, 1_700_000_000_000, waits=(WAITS,)))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "TASK  COULD RUN ON  BEGINS   ENDS",
        "a     alder         in 0:00  in 1:00",
        "b     alder         in 0:00  in 1:00",
        "elm has no tag gpu (a, b)",
        WAITS,
    ]
    assert lines[5].startswith("1 machine helps now; it would end about ")
