"""What no honest node tells: numbers that none reaches, tasks that no workflow can have.

A node writes numbers above the highest that it accepted. What it accepts therefore stays well
below what the codec can read, or one hostile record would make it write what no peer can decode.

What must hold of the tasks of a workflow holds for clients and for peers.

And what is taken in is taken by itself: a message of megabytes would be kept in memory as long as one
small part of it is, so whatever comes into the table brings only copies of what it carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from agent.protocol.phrases import Phrase, said
from agent.protocol.records import (
    COUNTER_SANE_MAX,
    NO_LIFE,
    Life,
    More,
    Stamp,
    TaskId,
    TaskLife,
    TaskSpec,
    Workflow,
    join_lives,
)

INCARNATION_SANE_MAX = 2**52
STAMP_SANE_MAX = 2**61
TIME_SANE_MS_MAX = 2**53
"""Of what people are shown: a later time is none to any of their clients."""


def sane_life(life: Life) -> bool:
    """Tell whether all counters and times of the life are such as an honest node reaches, with room
    for higher ones."""
    if max(life.generation, life.floor, life.cancel) > COUNTER_SANE_MAX:
        return False
    return all(
        max(run.generation, run.attempt, run.revision) <= COUNTER_SANE_MAX
        and sane_incarnation(run.incarnation)
        and max(run.stamp[0], run.claim.stamp[0]) <= TIME_SANE_MS_MAX
        for run in life.runs
    )


def sane_workflow(workflow: Workflow) -> bool:
    """Tell whether the counters of the wishes on a workflow leave room above them, and whether it
    was submitted at a time that can be told."""
    if workflow.spec.submitted[0] > TIME_SANE_MS_MAX:
        return False
    wishes = [workflow.priority, *(each.wish for each in workflow.tasks)]
    counters = (workflow.generation, *(each.revision for each in wishes))
    return max(counters) <= COUNTER_SANE_MAX


def sane_incarnation(incarnation: int) -> bool:
    """Tell whether a successor of this incarnation can still be told."""
    return incarnation <= INCARNATION_SANE_MAX


def sane_stamp(stamp: Stamp) -> bool:
    """Tell whether a later stamp can still be told."""
    return max(stamp) <= STAMP_SANE_MAX


def producers_of(spec: TaskSpec) -> list[TaskId]:
    """Return the ids of all tasks that have to be finished before this one, each once; empty when
    it needs none."""
    if not (spec.inputs or spec.after):
        return []
    return list(dict.fromkeys([*(ref.task for ref in spec.inputs), *spec.after]))


def contradiction(specs: Iterable[TaskSpec]) -> Phrase | None:
    """Return why these cannot be the tasks of one workflow, as two have one id or some need each
    other in a circle; None when they can."""
    by_id: dict[TaskId, TaskSpec] = {}
    for spec in specs:
        if spec.task in by_id:
            return said("two tasks are called {name}", name=f'"{spec.name}"')
        by_id[spec.task] = spec
    needs = {task: needed for task, spec in by_id.items() if (needed := producers_of(spec))}
    for circle in circles(needs):
        way = " → ".join(by_id[task].name for task in circle)
        return said("tasks need each other in a circle: {way}", way=way)
    return None


def circles(needs: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Yield circles of names that need each other, at least one where there are any, but not each;
    names without an entry need nothing.

    A circle begins and ends with the same name, and each in it needs the next.
    """
    done: set[str] = set()
    for start in needs:
        way = {} if start in done else {start: iter(needs[start])}
        while way:
            name, needed = way.popitem()
            for each in needed:
                if each in way or each == name:
                    names = [*way, name]
                    yield [*names[names.index(each) :], each]
                elif each in needs and each not in done:
                    way[name] = needed
                    way[each] = iter(needs[each])
                    break
            else:
                done.add(name)


def life_by_itself(life: Life) -> Life:
    """Return the life without any tie to the message that it came in; itself where it has none."""
    if not any(run.more for run in life.runs):
        return life
    return replace(life, runs=tuple(replace(run, more=_own(run.more)) for run in life.runs))


def workflow_by_itself(workflow: Workflow) -> Workflow:
    """Return the workflow with ``more`` of itself and its tasks copied, so as not to keep the
    message in memory that it came in; itself where all of that is empty."""
    spec, tasks = workflow.spec, workflow.spec.tasks
    if any(each.more for each in tasks):
        tasks = tuple(replace(each, more=_own(each.more)) if each.more else each for each in tasks)
    elif not spec.more:
        return workflow
    return replace(workflow, spec=replace(spec, more=_own(spec.more), tasks=tasks))


def _own(more: More) -> More:
    return {key: raw.copy() for key, raw in more.items()}


def with_last_words(
    workflow: Workflow, before: list[TaskLife], told: tuple[TaskLife, ...]
) -> list[TaskLife]:
    """Return what happened to tasks that leave the table (``before``), joined with what the message
    that removes them tells (``told``) of tasks of this workflow; lives with numbers that no honest
    node reaches are left out."""
    own = {spec.task for spec in workflow.spec.tasks}
    lives = {each.task: each.life for each in before}
    for each in told:
        if each.task in own and sane_life(each.life):
            lives[each.task] = join_lives(lives.get(each.task, NO_LIFE), each.life)
    return [TaskLife(task, life) for task, life in lives.items()]
