"""What machines worked for each other, read off the runs of tasks that have ended."""

from __future__ import annotations

import pytest

from agent.history.balance import Shares, shares_of
from agent.protocol.records import (
    Claim,
    Evicted,
    Failed,
    Life,
    Lost,
    Phase,
    PriorityWish,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
    Yielded,
)
from agent.protocol.settings import Settings
from agent.protocol.table import Table
from agent.protocol.times import Took, with_took

BEGUN_MS, HERE = 1_000, "ant"


def run(host: str, phase: Phase, took_ms: int | None = None, **told: int) -> Run:
    """The attempt and the generation are 1 unless told; it began a second for each attempt later."""
    attempt, generation = told.get("attempt", 1), told.get("generation", 1)
    begun_ms = BEGUN_MS * attempt
    claim = Claim(1, (begun_ms, 0), host)
    more = with_took({}, None if took_ms is None else Took(took_ms))
    stamp = (begun_ms + 500, 0)
    return Run(generation, attempt, host, 1, claim, 1, phase=phase, stamp=stamp, more=more)


def shares(home: str, *runs: Run, generation: int = 1) -> Shares:
    spec = WorkflowSpec("w", "w", (1, 0), "bee", "", (TaskSpec("t", "t", "p"),))
    table = Table(Settings())
    life = Life(generation, runs=tuple(runs))
    table.join([Workflow(spec, PriorityWish(0, "", 50))], [TaskLife("t", life)])
    reading = table.reading("t")
    assert reading is not None
    return shares_of(table.life("t"), reading, home, HERE)


DONE_BY_BEE = run("bee", Terminated(), 900, attempt=2)


@pytest.mark.parametrize(
    "thrown", [Evicted(), Yielded(), Lost()], ids=lambda each: type(each).__name__
)
def test_what_came_to_no_end_here_is_given_and_thrown_away(thrown: Phase) -> None:
    assert shares("bee", run(HERE, thrown, 300), DONE_BY_BEE) == Shares(300, 300, 0)


@pytest.mark.parametrize("home", ["bee", ""], ids=["another's", "nobody's"])
def test_what_ended_here_by_itself_is_given(home: str) -> None:
    failed = run(HERE, Failed("no film"), 200)
    assert shares(home, failed, run(HERE, Terminated(), 400, attempt=2)) == Shares(600, 0, 0)


def test_what_others_ran_of_this_machines_person_is_taken_and_own_work_is_neither() -> None:
    assert shares(HERE, run(HERE, Evicted(), 300), DONE_BY_BEE) == Shares(took_ms=900)


def test_what_has_no_measurement_took_what_its_record_says() -> None:
    assert shares("bee", run(HERE, Terminated())).gave_ms == 500
    saved = run(HERE, Terminated(), 0)  # it went on from saved state
    assert shares("bee", saved).gave_ms == 500


def test_a_machine_that_never_spoke_again_worked_until_the_next_one_began() -> None:
    silent = run(HERE, Running())
    assert shares("bee", silent, DONE_BY_BEE) == Shares(BEGUN_MS, BEGUN_MS, 0)


@pytest.mark.parametrize("unbegun", [Evicted(), Yielded(), Lost(ran=False)])
def test_what_never_began_took_nothing(unbegun: Phase) -> None:
    assert shares("bee", run(HERE, unbegun), DONE_BY_BEE) == Shares()


def test_what_was_before_a_retry_counts_with_its_own_end() -> None:
    before = run(HERE, Failed("no film"), 300)
    again = run(HERE, Terminated(), 40, generation=2)
    assert shares("bee", before, again, generation=2).gave_ms == 40
    assert shares("bee", before).gave_ms == 300
