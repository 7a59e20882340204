"""The runs of tasks as clients see them: who had a task when, and how each attempt ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import get_args

from agent.api import history
from agent.api.reasons import Reason, as_why
from agent.protocol.names import visible
from agent.protocol.reasons import RunEnd
from agent.protocol.records import NodeId, Run, Suspended, TaskSpec, Terminated
from agent.protocol.second_runs import is_copy
from agent.protocol.table import Table
from agent.protocol.times import end_of_run_ms
from agent.wording.run_ends import named, run_id, why_ended
from agent.wording.speech import english

Span = tuple[str, str, int]
"""A run, the phase that it came into, and when."""
PHASES = frozenset(get_args(history.RunPhase))


def task_runs(
    spec: TaskSpec,
    table: Table,
    name_of: Callable[[NodeId], str],
    spans: Iterable[Span],
    ready_ms: int,
    gone_ms: Callable[[Run], int] = lambda _: 0,
) -> history.TaskRuns:
    """Return all attempts at a task of the table, the first one first, with those of ``spans`` that
    are theirs; one of which no phase was seen counts as scheduled at its claim. ``ready_ms``: since
    when the task could run, 0 when that was not seen; ``gone_ms``: since when the machine of a run
    that goes on is gone, 0 while it is there."""
    reading, life = table.reading(spec.task), table.life(spec.task)
    assert reading is not None
    runs = sorted(life.runs, key=lambda run: (run.generation, run.attempt, run.claim.stamp))
    return history.TaskRuns(
        spec.task,
        visible(spec.name),
        table.workflow_of[spec.task],
        reading.state,
        ready_ms,
        tuple(
            _run_view(
                name_of,
                run,
                named(why_ended(run), table, name_of),
                [each for each in spans if each[0] == run_id(run)],
                end_of_run_ms(run, life, reading) or gone_ms(run),
                counts=run is reading.outcome,
            )
            for run in runs
        ),
        visible(table.workflows[table.workflow_of[spec.task]].spec.name),
    )


def _run_view(
    name_of: Callable[[NodeId], str],
    run: Run,
    why: Reason,
    spans: Sequence[Span],
    ended_ms: int,
    *,
    counts: bool,
) -> history.RunView:
    phase = type(run.phase).__name__
    if run.live and ended_ms:  # the flock went on without it, and it has not said a word since
        phase = "Yielded" if isinstance(run.phase, Suspended) else "Lost"
        why = RunEnd("Lost", name_of(run.host)) if phase == "Lost" else why
    shown = [history.PhaseSpan(_phase(name), at_ms) for _, name, at_ms in spans]
    if not shown:
        shown = [history.PhaseSpan("Scheduled", run.claim.stamp[0])]
    if ended_ms:
        shown.append(history.PhaseSpan(_phase(phase), ended_ms))
    checkpoint = run.checkpoint
    return history.RunView(
        run_id(run),
        run.generation,
        run.attempt,
        name_of(run.host),
        _phase(phase),
        run.claim.stamp[0],
        run.stamp[0],
        ended_ms,
        english(why),
        tuple(shown),
        counts and isinstance(run.phase, Terminated),
        checkpoint.dataset if checkpoint else "",
        as_why(why),
        is_copy(run),
    )


def _phase(name: str) -> history.RunPhase:
    assert name in PHASES, name
    return name  # type: ignore[return-value]
