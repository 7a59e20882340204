"""Whether a run of this node goes on, as far as other runs of its task decide that.

A run that is not read off as owner stops, but for two that may go on beside the owner: a copy and its
original (``second_runs``), and what is nearly done. A rival of another side of a partition is told first
how far this one has come; only when it is read off behind that it stops. What was offered to others has no
rivals: whoever took it goes on.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from agent.protocol.core import Core
from agent.protocol.own_run import OwnRun, Stage
from agent.protocol.reasons import Became, EndCause, Reason
from agent.protocol.records import NodeId, Run, Suspended, claim_rank, run_name
from agent.protocol.second_runs import (
    COPY,
    LEADING,
    HowFar,
    how_far,
    is_copy,
    leads,
    of_one_attempt,
    with_how_far,
)
from agent.protocol.times import held_ms, started_ms


def superseded(core: Core, own: OwnRun) -> Reason | None:
    """Return why a run of this node has to end: an older start of this node began it, its task was
    removed, is finished or has no owner any more (it was cancelled, say), or another run owns it. None
    when it owns the task, or may go on beside the owner as its copy, its original or nearly done."""
    if own.run.incarnation != core.incarnation:
        return EndCause("NewIncarnation")
    reading = core.table.reading(own.task)
    if reading is None:
        return EndCause("Pruned")
    if reading.owner is not None:
        goes_on = _goes_on(core, own, reading.owner)
        return None if goes_on else EndCause("SupersededBy", host=reading.owner.host)
    if reading.outcome is not None:
        return EndCause("FinishedBy", host=reading.outcome.host)
    return reading.reason or Became(reading.state.value)


def _goes_on(core: Core, own: OwnRun, owner: Run) -> bool:
    if run_name(owner) == run_name(own.run):
        return True
    if of_one_attempt(owner, own.run):
        return not is_copy(own.run) or _is_best_copy(core, own)
    return own.nearly_done(core.now_s, core.settings.nearly_done_ms)


def _is_best_copy(core: Core, own: OwnRun) -> bool:
    """Two sides of a partition may both have made one."""
    copies = [
        each
        for each in core.table.life(own.task).runs
        if each.live and is_copy(each) and of_one_attempt(each, own.run)
    ]
    mine = (not leads(own.run), claim_rank(own.run.claim))
    better = sum((not leads(each), claim_rank(each.claim)) < mine for each in copies)
    return better < copies_max(core)


def copies_max(core: Core) -> int:
    """Return how many copies of one run there may be: by the settings, or by rules that want more;
    none where the settings want none."""
    most = core.settings.copies_max
    return max(most, core.rule.copies.most) if most else 0


def met(core: Core, own: OwnRun) -> bool:
    """Tell whether another machine's run of the task is its owner, and this run has not told it yet
    how far it has come; note that one as a rival if so. False for a copy or the original of this
    run, for a run of another generation, and while this run is offered."""
    reading = core.table.reading(own.task)
    owner = None if reading is None else reading.owner
    if owner is None or owner.generation != own.run.generation or run_name(owner) in own.rivals:
        return False
    offered = isinstance(own.run.phase, Suspended) and own.run.phase.offered
    if offered or owner.host == core.me or of_one_attempt(owner, own.run):
        return False
    own.rivals[run_name(owner)] = None
    return True


def told_how_far(core: Core, own: OwnRun) -> Run:
    """Return the run with its record of how far it has come filled in, for the rivals that it has
    met: whether it is suspended, its progress in thousandths and its running time as on a usual
    machine; never less than it told before. Neither ``own`` nor the table is changed."""
    begun = own.stage not in (Stage.FETCHING, Stage.QUEUED)
    ran_ms = core.wall_ms - started_ms(own.run) - held_ms(own.run) if begun else 0
    ran_ms = int(max(0, ran_ms) / core.lengths.host_factor(own.spec, core.me))
    before, *told = how_far(own.run)
    met_now = max((name[1] for name in own.rivals), default=0)
    far = max([int(own.stage is not Stage.SUSPENDED), own.permille, ran_ms], told)
    furthest: HowFar = (max(before, met_now), far[0], far[1], far[2])
    return structs.replace(own.run, more=with_how_far(own.run.more, furthest))


def is_beside(core: Core, own: OwnRun) -> bool:
    """Tell whether this is a copy beside another run, which owns its task: it takes no place from
    others. False for a copy that owns the task, or whose task has no owner."""
    if COPY not in own.run.more:
        return False
    owner = core.table.owned.get(own.task)
    return owner is not None and run_name(owner) != run_name(own.run)


def plain(core: Core, runs: Iterable[OwnRun]) -> list[OwnRun]:
    """Return those that are no copies beside others. Rows are long, and few in them are copies of
    anything."""
    return [own for own in runs if COPY not in own.run.more or not is_beside(core, own)]


def has_to_lead(core: Core, own: OwnRun, owner_gone: bool) -> bool:
    """Tell whether a copy is to be what its task is read by from now on."""
    owner = core.table.owned.get(own.task)
    held = owner is not None and isinstance(owner.phase, Suspended)
    return (held or owner_gone) and not leads(own.run) and own.stage is not Stage.SUSPENDED


def leading(own: OwnRun) -> Run:
    """Return the record of a copy that leads from now on."""
    return structs.replace(own.run, more={**own.run.more, COPY: LEADING})


def ended_before(core: Core, own: OwnRun) -> NodeId:
    """Return the machine whose run of the same attempt (original or copy) is the task's outcome, so
    that this run comes to nothing; empty where there is no such run, and where this run is the
    outcome."""
    reading = core.table.reading(own.task)
    first = None if reading is None else reading.outcome
    return first.host if first is not None and of_one_attempt(first, own.run) else ""
