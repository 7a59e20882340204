"""What a life means: state, outcome and owner of a task, read off by one pure function.

Nothing of this is ever sent. Two nodes with the same records read the same, whatever reached
them in which order, because the reading depends on nothing else: not on who is up, not on time.
Whether a task may be *claimed* here and now depends on both, and is decided in ``claimability``.

The rules, in this order:

1. A ``Terminated`` run not below the floor is the outcome. Among several: the one computed from
   the recorded outcomes of its producers, then highest generation, attempt, then best claim.
2. A cancel wish for this generation.
3. Given up: too many runs ``Failed``, or too many agents died running it, in this generation.
4. The live run with the highest generation and attempt is the owner; one that has met rivals counts as
   of the latest attempt that it met. Of several the one that had come furthest then, else the highest
   attempt, else a copy that leads, else the best claim (``second_runs``).
5. A producer that was given up or cancelled takes the task with it, until it is retried.
6. ``Submitted`` until all producers have an outcome, then ``Ready`` (a gate: ``Waiting``).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agent.protocol.reasons import (
    AgentDied,
    AgentsDied,
    Cancelled,
    EndCause,
    FailedOften,
    FailedOnce,
    FailedSilently,
    Given,
    NeedsCancelled,
    NeedsGivenUp,
    NeedsOutput,
    WaitsFor,
    WaitsForUnknown,
    reason_in,
)
from agent.protocol.records import (
    Dataset,
    DatasetId,
    Failed,
    Life,
    Lost,
    Run,
    Running,
    Scheduled,
    Suspended,
    TaskId,
    TaskSpec,
    TaskState,
    Terminated,
    claim_rank,
)
from agent.protocol.second_runs import how_far, leads


class DerivedState(Struct, frozen=True):
    """A task as its records show it. ``inputs``: what its producers' outcomes give it.

    ``supplied``: everything that it needs is finished, whatever else is true of it; a task that
    was started once need not be, when outputs were lost since.
    """

    state: TaskState
    outcome: Run | None = None
    owner: Run | None = None
    reason: Given | None = None
    inputs: tuple[DatasetId, ...] | None = None
    supplied: bool = False

    @property
    def mixed_inputs(self) -> bool:
        """Tell whether the outcome was computed from outputs that are not the ones that count now;
        False without an outcome, and while not all of those are known."""
        return (
            self.outcome is not None
            and self.inputs is not None
            and self.outcome.inputs != self.inputs
        )

    @property
    def outputs(self) -> tuple[Dataset, ...]:
        """The outputs that count; empty while the task has no outcome."""
        if self.outcome is None or not isinstance(self.outcome.phase, Terminated):
            return ()
        return self.outcome.phase.outputs


Producers = Callable[[TaskId], DerivedState | None]


def effective_generation(life: Life) -> int:
    """Return the generation in which the task is tried now: a retry's, or the floor's."""
    return max(life.generation, life.floor)


def read_off(spec: TaskSpec, life: Life, reading_of: Producers, deaths_max: int) -> DerivedState:
    """Return state, outcome and owner of a task as its records say, by the rules of this module's
    head, in their order. ``reading_of`` gives the readings of its producers, None for unknown
    ones."""
    inputs, blocked = _given_inputs(spec, reading_of)
    outcome = _outcome(life, inputs)
    if outcome is not None:
        return DerivedState(TaskState.TERMINATED, outcome, None, None, inputs, blocked is None)
    generation = effective_generation(life)
    if life.cancel >= generation:
        return DerivedState(TaskState.CANCELLED, reason=Cancelled(), inputs=inputs)
    given_up = _given_up(spec, life, generation, deaths_max)
    if given_up is not None:
        return DerivedState(TaskState.ABORTED, reason=given_up, inputs=inputs)
    owner = _owner(life)
    if owner is not None:
        return DerivedState(_live_state(owner), None, owner, None, inputs, blocked is None)
    if blocked is not None:
        return blocked
    state = TaskState.WAITING if spec.gate else TaskState.READY
    return DerivedState(state, inputs=inputs, supplied=True)


def _given_inputs(
    spec: TaskSpec, reading_of: Producers
) -> tuple[tuple[DatasetId, ...] | None, DerivedState | None]:
    """The datasets that the producers' outcomes give, or the reading that says why not."""
    given: list[DatasetId] = []
    waiting: DerivedState | None = None
    for ref in spec.inputs:
        producer = reading_of(ref.task)
        obstacle = _obstacle(ref.task, producer)
        if obstacle is None and producer is not None:
            outputs = producer.outputs
            if ref.output < len(outputs):
                given.append(outputs[ref.output].dataset)
                continue
            obstacle = DerivedState(
                TaskState.ABORTED,
                reason=NeedsOutput(ref.output + 1, ref.task, len(outputs)),
            )
        waiting = _graver(waiting, obstacle)
    for task in spec.after:
        waiting = _graver(waiting, _obstacle(task, reading_of(task)))
    complete = tuple(given) if len(given) == len(spec.inputs) else None
    return complete, waiting


def _obstacle(task: TaskId, producer: DerivedState | None) -> DerivedState | None:
    if producer is None:
        return DerivedState(TaskState.SUBMITTED, reason=WaitsForUnknown(task))
    if producer.state is TaskState.TERMINATED:
        return None
    if producer.state is TaskState.ABORTED:
        return DerivedState(TaskState.ABORTED, reason=NeedsGivenUp(task))
    if producer.state is TaskState.CANCELLED:
        return DerivedState(TaskState.CANCELLED, reason=NeedsCancelled(task))
    return DerivedState(TaskState.SUBMITTED, reason=WaitsFor(task))


_GRAVITY = {TaskState.SUBMITTED: 0, TaskState.CANCELLED: 1, TaskState.ABORTED: 2}


def _graver(one: DerivedState | None, other: DerivedState | None) -> DerivedState | None:
    if one is None or other is None:
        return other if one is None else one
    return other if _GRAVITY[other.state] > _GRAVITY[one.state] else one


def _outcome(life: Life, inputs: tuple[DatasetId, ...] | None) -> Run | None:
    best: Run | None = None
    for run in life.runs:
        if not isinstance(run.phase, Terminated) or run.generation < life.floor:
            continue
        if best is None or _outcome_rank(run, inputs) < _outcome_rank(best, inputs):
            best = run
    return best


def _outcome_rank(run: Run, inputs: tuple[DatasetId, ...] | None) -> tuple[object, ...]:
    matches = inputs is None or run.inputs == inputs
    return (not matches, -run.generation, -run.attempt, claim_rank(run.claim), run.incarnation)


def _given_up(spec: TaskSpec, life: Life, generation: int, deaths_max: int) -> Given | None:
    failures = 0
    deaths = 0
    last: Run | None = None
    for run in life.runs:
        if run.generation != generation:
            continue
        if isinstance(run.phase, Failed):
            failures += 1
            last = run
        elif isinstance(run.phase, Lost) and run.phase.ran:
            deaths += 1
    if failures >= spec.failures_max and last is not None:
        error, cause = _failure(last)
        if failures > 1:
            return FailedOften(failures, error, cause)
        return FailedOnce(error, cause) if error else FailedSilently()
    if deaths >= deaths_max:
        return AgentDied() if deaths == 1 else AgentsDied(deaths)
    return None


def _failure(run: Run) -> tuple[str, EndCause | None]:
    """How a run failed: in words, and as a value where its record carries one known here."""
    assert isinstance(run.phase, Failed)
    cause = reason_in(run.more, run.phase.error)
    return run.phase.error, cause if isinstance(cause, EndCause) else None


def _owner(life: Life) -> Run | None:
    best: Run | None = None
    for run in life.runs:
        if not run.live or run.generation <= life.cancel or run.generation < life.floor:
            continue
        if best is None or _owner_rank(run) < _owner_rank(best):
            best = run
    return best


def _owner_rank(run: Run) -> tuple[object, ...]:
    met, active, permille, ran_ms = how_far(run)
    further = (-max(met, run.attempt), -active, -permille, -ran_ms)
    best = (-run.attempt, not leads(run), claim_rank(run.claim), -run.incarnation)
    return (-run.generation, further, *best)


def _live_state(owner: Run) -> TaskState:
    match owner.phase:
        case Scheduled():
            return TaskState.SCHEDULED
        case Running():
            return TaskState.RUNNING
        case Suspended():
            return TaskState.SUSPENDED
        case _:
            raise AssertionError(f"not a live phase: {owner.phase}")


def next_attempt(life: Life) -> tuple[int, int]:
    """Return the generation in which the task is tried now, and the number, from 1, that a newly
    won claim gives its attempt in it."""
    generation = effective_generation(life)
    attempts = [run.attempt for run in life.runs if run.generation == generation]
    return generation, max(attempts, default=0) + 1
