"""The join of two versions of a record: commutative, associative, idempotent.

A run has one writer, so of two versions the one with the higher revision is newer; everything
else is a maximum. Two rules go beyond the revision, so that the join stays a join when a disk
comes back older than what its host had already said: ``Terminated`` absorbs (a success once
seen stays a success), and equal revisions with different content are ordered by their bytes.
"""

from __future__ import annotations

import msgspec

from agent.protocol.records import (
    Life,
    PriorityWish,
    Pruning,
    Run,
    RunName,
    Terminated,
    Workflow,
    WorkflowSpec,
    run_name,
)

_content = msgspec.msgpack.Encoder().encode


def join_runs(mine: Run, theirs: Run) -> Run:
    """Return the newer of two versions of one run; one that terminated is never replaced by one
    that did not."""
    if mine is theirs:
        return mine
    my_rank = (isinstance(mine.phase, Terminated), mine.revision)
    their_rank = (isinstance(theirs.phase, Terminated), theirs.revision)
    if my_rank != their_rank:
        return mine if my_rank > their_rank else theirs
    return mine if _content(mine) >= _content(theirs) else theirs


def join_lives(mine: Life, theirs: Life) -> Life:
    """Return the union of the runs, of each the newer version, and the maximum of everything else;
    ``mine`` itself when ``theirs`` adds nothing, so that callers can see it cheaply."""
    runs = _join_run_sets(mine.runs, theirs.runs)
    generation = max(mine.generation, theirs.generation)
    floor = max(mine.floor, theirs.floor)
    cancel = max(mine.cancel, theirs.cancel)
    if runs is mine.runs and (generation, floor, cancel) == (
        mine.generation,
        mine.floor,
        mine.cancel,
    ):
        return mine
    return Life(generation, floor, cancel, runs)


def _join_run_sets(mine: tuple[Run, ...], theirs: tuple[Run, ...]) -> tuple[Run, ...]:
    if not mine and len(theirs) == 1:  # nearly always: the first that is heard of a task
        return theirs
    joined: dict[RunName, Run] = {run_name(run): run for run in mine}
    changed = False
    for run in theirs:
        name = run_name(run)
        known = joined.get(name)
        newer = run if known is None else join_runs(known, run)
        if newer is not known:
            joined[name] = newer
            changed = True
    if not changed:
        return mine
    return tuple(joined[name] for name in sorted(joined))


def join_workflows(mine: Workflow, theirs: Workflow) -> Workflow:
    """Return the workflow with the maximum of the wishes and, of two submissions under one name,
    the earlier; ``mine`` itself when ``theirs`` adds nothing."""
    spec = _join_specs(mine.spec, theirs.spec)
    priority = join_priorities(mine.priority, theirs.priority)
    generation = max(mine.generation, theirs.generation)
    if spec is mine.spec and priority is mine.priority and generation == mine.generation:
        return mine
    return Workflow(spec, priority, generation)


def _join_specs(mine: WorkflowSpec, theirs: WorkflowSpec) -> WorkflowSpec:
    if mine is theirs:
        return mine
    my_rank = (mine.submitted, mine.host)
    their_rank = (theirs.submitted, theirs.host)
    if my_rank != their_rank:
        return mine if my_rank < their_rank else theirs
    return mine if _content(mine) <= _content(theirs) else theirs


def join_priorities(mine: PriorityWish, theirs: PriorityWish) -> PriorityWish:
    """Return the wish with the higher (revision, host, value)."""
    my_rank = (mine.revision, mine.host, mine.value)
    return mine if my_rank >= (theirs.revision, theirs.host, theirs.value) else theirs


def join_prunings(mine: Pruning, theirs: Pruning) -> Pruning:
    """Return the pruning of the higher generation; of equal ones the later, which is kept
    longer."""
    my_rank = (mine.generation, mine.stamp)
    return mine if my_rank >= (theirs.generation, theirs.stamp) else theirs
