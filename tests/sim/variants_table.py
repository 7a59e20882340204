"""Broken variants of the table (DESIGN 3.1): the join, the reading, digests, pruning, data.

Not here, for no check fails without them: which of two successes counts (either is one); what counts
as a failure (given up is an end like others); that a superseded run yields, that outputs lie on two
disks, that nobody prunes by its own clock (each only wastes or hurries); that news is passed on
(comparing makes up for it); the journal of the clock (stamps only break ties); that a floor is
raised at all (a task whose input is nowhere is excused from ending). And a claim on a task whose
inputs are nowhere shows as a run that hardly moves, its life growing with each fetch that fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from agent.protocol import reading, records
from agent.protocol.clock import HybridClock
from agent.protocol.core import Core
from agent.protocol.datasets import Datasets
from agent.protocol.digest import DigestTree, bucket_of
from agent.protocol.healing import Healing
from agent.protocol.messages import Heartbeat
from agent.protocol.news import News
from agent.protocol.reading import DerivedState
from agent.protocol.reasons import Cancelled, FailedOften
from agent.protocol.records import (
    Failed,
    Life,
    Pruning,
    Run,
    Stamp,
    TaskLife,
    TaskSpec,
    TaskState,
    Terminated,
    Workflow,
)
from agent.protocol.table import Table
from tests.sim.variants_rewriting import Rewrite, Variant, Wrong, always, never

SKIPPED_BUCKET = bucket_of("tw1/0")
"""A bucket in which every run has something: the life of its first task."""


def latest_writer_wins(right: Wrong, mine: Life, theirs: Life) -> Life:
    """Of the runs of one attempt the one written last is kept, by whomever."""
    joined: Life = right(mine, theirs)
    latest: dict[tuple[int, int], Run] = {}
    for run in joined.runs:
        attempt = (run.generation, run.attempt)
        if attempt not in latest or run.stamp > latest[attempt].stamp:
            latest[attempt] = run
    runs = tuple(latest[attempt] for attempt in sorted(latest))
    joined = Life(joined.generation, joined.floor, joined.cancel, runs)
    return mine if joined == mine else joined


def later_stamp_wins(_right: Wrong, mine: Run, theirs: Run) -> Run:
    """Two versions of one run are ordered by when they were written."""
    my_rank = (isinstance(mine.phase, Terminated), mine.stamp)
    return mine if my_rank >= (isinstance(theirs.phase, Terminated), theirs.stamp) else theirs


def wall_clock_alone(_right: Wrong, _clock: HybridClock, wall_ms: int) -> Stamp:
    """A stamp is what the wall clock shows, wherever it was set to."""
    return (wall_ms, 0)


def submission_heard_first(_right: Wrong, mine: Any, _theirs: Any) -> Any:
    """Of two submissions under one name the one that was heard first."""
    return mine


def cancel_before_success(right: Wrong, spec: TaskSpec, life: Life, *rest: Any) -> DerivedState:
    """A cancel wish is read before a success."""
    read: DerivedState = right(spec, life, *rest)
    if read.outcome is not None and life.cancel >= reading.effective_generation(life):
        return DerivedState(TaskState.CANCELLED, reason=Cancelled(), inputs=read.inputs)
    return read


def failures_before_success(right: Wrong, spec: TaskSpec, life: Life, *rest: Any) -> DerivedState:
    """Too many failures are read before a success: final is final."""
    read: DerivedState = right(spec, life, *rest)
    failed = sum(isinstance(run.phase, Failed) for run in life.runs)
    if read.outcome is not None and failed >= spec.failures_max:
        return DerivedState(TaskState.ABORTED, reason=FailedOften(failed, ""), inputs=read.inputs)
    return read


def only_this_generation_succeeds(right: Wrong, life: Life, *rest: Any) -> Run | None:
    """A retry makes what an earlier generation finished not count any more."""
    floor = reading.effective_generation(life)
    outcome: Run | None = right(Life(life.generation, floor, life.cancel, life.runs), *rest)
    return outcome


def later_attempts_first(right: Wrong, life: Life, *rest: Any) -> Run | None:
    """A live run of a higher attempt is read before a success."""
    outcome: Run | None = right(life, *rest)
    if outcome is None or any(r.live and r.attempt > outcome.attempt for r in life.runs):
        return None
    return outcome


def always_the_first(_right: Wrong, life: Life) -> tuple[int, int]:
    """A won claim does not look for the highest attempt known."""
    return reading.effective_generation(life), 1


def never_given_up(_right: Wrong, *_arguments: Any) -> None:
    """Neither failures nor deaths end a task."""


def deaths_do_not_count(right: Wrong, spec: TaskSpec, life: Life, *rest: Any) -> str:
    """Only failures do."""
    generation, _ = rest
    text: str = right(spec, life, generation, 10**9)
    return text


def skips_a_bucket(right: Wrong, tree: DigestTree, buckets: tuple[int, ...]) -> list[int]:
    """One bucket is never compared."""
    return [bucket for bucket in right(tree, buckets) if bucket != SKIPPED_BUCKET]


def leaves_a_bucket_out(right: Wrong, tree: DigestTree, bucket: int, change: int) -> None:
    """One bucket is not counted in any hash."""
    if bucket != SKIPPED_BUCKET:
        right(tree, bucket, change)


def only_equality_is_heard(right: Wrong, part: Healing, peer: Any, message: Heartbeat) -> None:
    """A hash that differs is no reason to compare."""
    if message.table_hash == part.core.table.hash:
        right(part, peer, message)


def told_without_lives(_right: Wrong, _table: Table, _workflow: str) -> list[TaskLife]:
    """A workflow travels without what happened to its tasks."""
    return []


def unknown_fields_dropped(right: Wrong, table: Table, workflow: Workflow, *rest: Any) -> None:
    """What this version does not know, it does not keep."""
    tasks = tuple(msgspec.structs.replace(task, more={}) for task in workflow.spec.tasks)
    spec = msgspec.structs.replace(workflow.spec, tasks=tasks)
    right(table, msgspec.structs.replace(workflow, spec=spec), *rest)


def pruned_by_deletion(
    right: Wrong,
    core: Core,
    workflows: Iterable[Workflow] = (),
    lives: Iterable[TaskLife] = (),
    prunings: Iterable[Pruning] = (),
) -> Any:
    """What is finished for long is deleted, without a record that says so."""
    for pruning in prunings:
        news, dirty = News(), dict[str, None]()
        core.table._forget(pruning.workflow, news, dirty)
        core.table._read_again(dirty, news)
        core.take_in(news)
    return right(core, workflows, lives)


def prunings_hide_nothing(right: Wrong, table: Table, workflow: Workflow, *rest: Any) -> None:
    """A workflow that is told again is taken in again."""
    pruning = table.prunings.pop(workflow.spec.workflow, None)
    right(table, workflow, *rest)
    if pruning is not None:
        table.prunings[pruning.workflow] = pruning


JOIN = (
    Variant(
        "the latest writer wins",
        "merge is the union of the runs, of each the higher revision",
        "3.1, Merge",
        (Rewrite(records.join_lives, latest_writer_wins),),
        ("partitions",),
        ("nothing vanishes",),
        20,
    ),
    Variant(
        "own words are ordered by the wall clock",
        "own words are ordered by revision, never by time",
        "3.1, Own words",
        (
            Rewrite(records.join_runs, later_stamp_wins),
            Rewrite(HybridClock.read, wall_clock_alone),
        ),
        ("claim-in-flight",),
        ("everything ends", "replicas are equal"),
        50,
    ),
    Variant(
        "the submission heard first stands",
        "merge is commutative: of two submissions under one name everybody keeps the same",
        "3.1, Merge",
        (Rewrite(records._join_specs, submission_heard_first),),
        ("submitted-twice",),
        ("replicas are equal",),
        6,
    ),
    Variant(
        "unknown fields are dropped",
        "unknown fields of records are kept and passed on",
        "3.1, Unknown fields",
        (Rewrite(Table._join_workflow, unknown_fields_dropped),),
        ("versions",),
        ("unknown fields survive",),
        6,
    ),
)

READING = (
    Variant(
        "cancel beats success",
        "a Terminated run is read before the cancel wish",
        "3.1, What people see",
        (Rewrite(reading.read_off, cancel_before_success),),
        ("crossing-wishes",),
        ("outcome stands",),
        180,
        first_seed=25,
    ),
    Variant(
        "failures beat success",
        "a Terminated run is read before the failures",
        "3.1, What people see",
        (Rewrite(reading.read_off, failures_before_success),),
        ("sides-disagree",),
        ("outcome stands",),
        10,
    ),
    Variant(
        "a retry forgets a success",
        "a Terminated run of any generation counts, down to the floor",
        "3.1, What people see",
        (Rewrite(reading._outcome, only_this_generation_succeeds),),
        ("crossing-wishes",),
        ("outcome stands",),
        240,
        first_seed=10,
    ),
    Variant(
        "a later attempt beats a success",
        "a Terminated run is read before any live run",
        "3.1, What people see",
        (Rewrite(reading._outcome, later_attempts_first),),
        ("partitions",),
        ("outcome stands",),
        30,
    ),
    Variant(
        "every attempt is the first",
        "an attempt is the highest known of the generation + 1",
        "3.2.5",
        (Rewrite(reading.next_attempt, always_the_first),),
        ("holders-lost",),
        ("a run starts once", "one writer", "everything ends"),
        30,
    ),
    Variant(
        "nothing is given up",
        "a task is Aborted when the retries are used up",
        "3.1, What people see",
        (Rewrite(reading._given_up, never_given_up),),
        ("partitions",),
        ("everything ends",),
        12,
    ),
    Variant(
        "deaths do not count",
        "five runs Lost with the death of their agent end a task",
        "3.1, What people see",
        (Rewrite(reading._given_up, deaths_do_not_count),),
        ("poison",),
        ("all run", "replicas are equal", "everything ends", "one master"),
        6,
    ),
)

REPAIR = (
    Variant(
        "the digest skips a bucket",
        "nodes compare digests, then ids with revisions",
        "3.1, Replicas repair themselves",
        (Rewrite(DigestTree.differing, skips_a_bucket),),
        ("crashes",),
        ("replicas are equal",),
        45,
    ),
    Variant(
        "the hash leaves a bucket out",
        "the table hash covers every record",
        "3.1, Replicas repair themselves",
        (Rewrite(DigestTree._add, leaves_a_bucket_out),),
        ("crashes",),
        ("replicas are equal",),
        45,
    ),
    Variant(
        "a differing hash is not followed up",
        "nodes compare when the hash in a peer's heartbeat differs for 1 s",
        "3.1, Replicas repair themselves",
        (Rewrite(Healing._heard, only_equality_is_heard),),
        ("refused",),
        ("replicas are equal",),
        800,
        first_seed=80,
    ),
    Variant(
        "a workflow is told without its lives",
        "a workflow travels with the lives of its tasks",
        "3.1, The table",
        (Rewrite(Table.lives_of, told_without_lives),),
        ("claim-in-flight",),
        ("starts have reasons",),
        300,
        first_seed=13,
    ),
    Variant(
        "pruning is deletion",
        "pruning is itself a record that hides what it names",
        "3.1, Pruning",
        (Rewrite(Core.write, pruned_by_deletion),),
        ("pruning",),
        ("never lost",),
        10,
    ),
    Variant(
        "what was pruned comes back",
        "a pruning hides records of its generation and older",
        "3.1, Pruning",
        (Rewrite(Table._join_workflow, prunings_hide_nothing),),
        ("pruning",),
        ("pruned stays hidden", "one writer", "outcome stands"),
        150,
        first_seed=8,
    ),
)

DATA = (
    Variant(
        "a floor is raised by who cannot fetch",
        "a floor is raised only when every holder is gone for good",
        "3.1, An input is there",
        (Rewrite(Datasets._held, never), Rewrite(Datasets._lost_at, always)),
        ("datasets",),
        ("floors have reasons",),
        30,
    ),
)

VARIANTS = JOIN + READING + REPAIR + DATA
