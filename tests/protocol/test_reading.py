"""What a life means, rule by rule: outcome, wishes, failures, owner, producers, and else ready."""

from __future__ import annotations

from typing import Any

import pytest

from agent.protocol.reading import DerivedState, next_attempt, read_off
from agent.protocol.reasons import (
    AgentDied,
    AgentsDied,
    Cancelled,
    EndCause,
    FailedOften,
    FailedOnce,
    FailedSilently,
    NeedsCancelled,
    NeedsGivenUp,
    NeedsOutput,
    WaitsFor,
    WaitsForUnknown,
    carried,
)
from agent.protocol.records import (
    Claim,
    Dataset,
    Failed,
    InputRef,
    Life,
    Lost,
    Run,
    Running,
    Suspended,
    TaskSpec,
    TaskState,
    Terminated,
)

A, B = Dataset("sha256:a", 1, external=False), Dataset("sha256:b", 1, external=False)
ENDED = Terminated((A,), ("ant",))


def run(phase: Any, attempt: int = 1, generation: int = 1, **more: Any) -> Run:
    """Of ant, with a claim of its own."""
    told: dict[str, Any] = {"claim": Claim(0, (attempt, 0), "ant"), "incarnation": 1} | more
    return Run(generation, attempt, "ant", expected_ms=0, phase=phase, **told)


def read(*runs: Run, spec: TaskSpec | None = None, **life: Any) -> DerivedState:
    """With two failures and two deaths that are too many, and two producers, of which one is there."""
    told: dict[str, DerivedState] = {
        "made": DerivedState(TaskState.TERMINATED, run(ENDED)),
        "open": DerivedState(TaskState.RUNNING),
        "failed": DerivedState(TaskState.ABORTED),
        "cancelled": DerivedState(TaskState.CANCELLED),
    }
    plain = TaskSpec("t", "t", "p", failures_max=2)
    return read_off(spec or plain, Life(runs=runs, **life), told.get, 2)


def needing(*tasks: str, output: int = 0, **more: Any) -> TaskSpec:
    return TaskSpec("t", "t", "p", tuple(InputRef(each, output) for each in tasks), **more)


def test_the_outcome_is_what_was_made_of_the_inputs_that_count() -> None:
    right, later = run(ENDED, 1, inputs=(A.dataset,)), run(ENDED, 2, inputs=(B.dataset,))
    found = read(right, later, spec=needing("made"))
    assert (found.state, found.outcome, found.inputs) == (
        TaskState.TERMINATED, right, (A.dataset,),
    )  # fmt: skip
    assert not found.mixed_inputs
    assert read(later, spec=needing("made")).mixed_inputs
    unknown = read(right, later, spec=needing("made", "open"))
    assert (unknown.outcome, unknown.inputs, unknown.supplied) == (later, None, False)
    assert not unknown.mixed_inputs


def test_of_several_outcomes_the_latest_counts_then_the_best_claim() -> None:
    first, again, retried = run(ENDED), run(ENDED, 2), run(ENDED, 1, 2)
    assert read(first, again).outcome == again
    assert read(run(Failed("no")), again).outcome == again
    assert (read(again).outputs, read(first, floor=2).outputs) == ((A,), ())
    assert read(first, again, retried).outcome == retried
    better = run(ENDED, claim=Claim(5, (9, 0), "bee"))
    assert read(first, better).outcome == better
    assert read(first, run(ENDED, incarnation=2)).outcome == first


def test_an_outcome_below_the_floor_is_lost_and_one_on_it_stays() -> None:
    assert read(run(ENDED, 1, 2), floor=2).state is TaskState.TERMINATED
    assert read(run(ENDED, 1, 2), floor=3).state is TaskState.READY
    assert read(run(ENDED), cancel=1).state is TaskState.TERMINATED, "a success stays"


def test_a_wish_to_cancel_holds_for_its_generation() -> None:
    found = read(run(Running()), cancel=1)
    assert (found.state, found.reason) == (TaskState.CANCELLED, Cancelled())
    assert read(cancel=1, generation=2).state is TaskState.READY
    assert read(run(Running(), 1, 1), run(Running(), 1, 2), cancel=1, generation=2).owner == run(
        Running(), 1, 2
    )


@pytest.mark.parametrize(
    ("runs", "state", "reason"),
    [
        ((run(Failed("no")),), TaskState.READY, None),
        ((run(Failed("no")), run(Failed("x"), 2)), TaskState.ABORTED, FailedOften(2, "x", None)),
        ((run(Failed("no")), run(Failed("x"), 2, 2)), TaskState.READY, None),
        ((run(Lost(ran=True)),), TaskState.READY, None),
        (tuple(run(Lost(ran=True), n) for n in (1, 2)), TaskState.ABORTED, AgentsDied(2)),
        (tuple(run(Lost(ran=False), n) for n in (1, 2)), TaskState.READY, None),
        ((run(Failed("no")), run(Lost(ran=True), 2)), TaskState.READY, None),
    ],
)
def test_who_failed_or_died_too_often_is_given_up(
    runs: tuple[Run, ...], state: TaskState, reason: object
) -> None:
    found = read(*runs)
    assert (found.state, found.reason) == (state, reason)


def test_one_failure_is_told_in_its_words_where_it_had_any() -> None:
    once = TaskSpec("t", "t", "p", failures_max=1)
    assert read(run(Failed("no")), spec=once).reason == FailedOnce("no", None)
    assert read(run(Failed("")), spec=once).reason == FailedSilently()
    cause = EndCause("DiskFull", program="count")
    typed = run(Failed("no"), more=carried(cause))
    assert read(typed, spec=once).reason == FailedOnce("no", cause)
    other = run(Failed("no"), more=carried(AgentDied()))
    assert read(other, spec=once).reason == FailedOnce("no", None), "not a cause of an end"
    died = read_off(once, Life(runs=(run(Lost(ran=True)),)), lambda _: None, 1)
    assert died.reason == AgentDied()


def test_the_live_run_of_the_latest_attempt_has_the_task() -> None:
    one, other = run(Running()), run(Suspended(), 2)
    assert (read(one, other).owner, read(one, other).state) == (other, TaskState.SUSPENDED)
    assert read(one, run(Failed("no"), 2)).owner == one
    assert read(run(Running(), 3), run(Running(), 1, 2), generation=2).owner == run(Running(), 1, 2)
    better = run(Running(), claim=Claim(5, (9, 0), "bee"))
    assert read(one, better).owner == better
    assert read(run(Running(), 1, 1), floor=2).owner is None


@pytest.mark.parametrize(
    ("spec", "state", "reason"),
    [
        (needing("made"), TaskState.READY, None),
        (needing("made", gate=True), TaskState.WAITING, None),
        (needing("open"), TaskState.SUBMITTED, WaitsFor("open")),
        (needing("never"), TaskState.SUBMITTED, WaitsForUnknown("never")),
        (needing("made", output=1), TaskState.ABORTED, NeedsOutput(2, "made", 1)),
        (needing("open", "failed"), TaskState.ABORTED, NeedsGivenUp("failed")),
        (needing("cancelled", "open"), TaskState.CANCELLED, NeedsCancelled("cancelled")),
        (needing("open", "cancelled"), TaskState.CANCELLED, NeedsCancelled("cancelled")),
        (needing("cancelled", "failed"), TaskState.ABORTED, NeedsGivenUp("failed")),
        (needing("failed", "cancelled"), TaskState.ABORTED, NeedsGivenUp("failed")),
        (needing("made", after=("open",)), TaskState.SUBMITTED, WaitsFor("open")),
    ],
)
def test_producers_hold_a_task_back_or_take_it_with_them(
    spec: TaskSpec, state: TaskState, reason: object
) -> None:
    found = read(spec=spec)
    assert (found.state, found.reason) == (state, reason)
    assert found.supplied is (reason is None)
    assert read(run(Running()), spec=spec).state is TaskState.RUNNING, "what runs goes on"


def test_the_next_attempt_is_counted_in_its_generation() -> None:
    assert next_attempt(Life()) == (1, 1)
    runs = (run(Failed("no")), run(Failed("no"), 2), run(Failed("no"), 7, 2))
    assert next_attempt(Life(runs=runs)) == (1, 3)
    assert next_attempt(Life(generation=2, runs=runs)) == (2, 8)
    assert next_attempt(Life(floor=3, runs=runs)) == (3, 1)
