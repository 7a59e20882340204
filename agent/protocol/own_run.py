"""A run on its own node: what this node knows of it beyond the record, and when others hear.

The record tells peers what they must know; what only matters here stays here: the stage it is in
(``runs`` has their table), what its program said last and when, and what it still needs.

**Checkpoints**: what an earlier attempt has saved, and whether the next one may begin with it.
A program that works for long may save its state; whoever takes the task after its machine was given
back, switched off or lost then goes on from there instead of from the start. A checkpoint is a
dataset like any other, kept on two disks where there are two, and it is a help, never a need: one
that cannot be had is left out.

It counts only for the same inputs and the same generation, because a person who retries
wants a fresh start; and never from a run that failed, because the state may be what made it fail.

**Announcing**: which records of this node's runs are told at once, and which with others in a
moment. All are on disk at once, and a record that somebody may act on is told at once. But a word
to each peer costs each of them a look at its table and a commit, and where many tasks of one length
end together that is most of what the machines do before the next ones run. So a word waits that
tells nobody what to do:

* the end of a task whose successors this node goes on with, and the begin of those, are told
  together a moment later (``untold.KEPT_BACK_S``): nobody else could have run them meanwhile;
* the end of a short task for which nothing waits, while more of its row are here;
* the begin of a short task, which is told with its end. Until then each peer keeps the task promised
  to this node, so that nobody reaches for it. Where the end takes longer than was said, peers are
  told of the begin after all, well before any promise to it runs out.

If this node dies meanwhile, the flock runs again what it had not heard of, as it does after any
death: the links tell that the node is gone, and with it the end of its promises.

**Lost** are runs of this host that nothing executes: its earlier starts left them behind. At start,
and whenever a peer tells of one, an unfinished run of this host that this incarnation does not
execute is ended as ``Lost``. That is a condition read from the table, so it holds also when the
disk was lost and a peer brings the record back later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import msgspec

from agent.protocol.core import Core, Part
from agent.protocol.liveness import Liveness
from agent.protocol.news import News
from agent.protocol.reasons import EndCause, Reason
from agent.protocol.records import (
    Dataset,
    DatasetId,
    Evicted,
    Failed,
    Life,
    Lost,
    Run,
    RunName,
    Running,
    Scheduled,
    Suspended,
    TaskId,
    TaskLife,
    TaskSpec,
    Terminated,
    Yielded,
    run_name,
    short_text,
)
from agent.protocol.times import Took

STARTED = 2
"""The revision that says so, of a run that was won and started."""


class Stage(Enum):
    """What this node is doing about a run of its own."""

    FETCHING = "fetching"
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    SUSPENDED = "suspended"
    COPYING = "copying"
    STOPPING = "stopping"


ON_THE_MACHINE = (Stage.STARTING, Stage.RUNNING, Stage.SUSPENDED, Stage.STOPPING)


class BadEnd(NamedTuple):
    """How a run ends that is not the outcome, and why."""

    phase: type[Failed] | type[Evicted] | type[Yielded]
    why: Reason


@dataclass(slots=True)
class OwnRun:
    """A run that this node executes. ``then``: the end to write when it has stopped."""

    task: TaskId
    spec: TaskSpec
    run: Run
    stage: Stage
    then: BadEnd | None = None
    outputs: tuple[Dataset, ...] = ()
    permille: int = 0
    left_ms: int | None = None
    left_said_s: float = 0.0
    needs: tuple[DatasetId, ...] = ()
    checkpoint: DatasetId = ""
    told_s: float = -1e9
    told_permille: int = -1
    took: Took | None = None
    rivals: dict[RunName, None] = field(default_factory=dict)
    """Runs of other sides of a partition that were told how far this one has come."""

    def passed_ms(self, now_s: float) -> int:
        """Return how many milliseconds ago its program said what it still needs, else how many ago
        it was started."""
        return int((now_s - self.left_said_s) * 1000)

    def nearly_done(self, now_s: float, limit_ms: int) -> bool:
        """Tell whether the program, as it said last, needed at most ``limit_ms`` more (time passed
        since is not taken off), and is overdue by no more than that. False when it does not run
        now, or has said nothing."""
        if self.stage is not Stage.RUNNING or self.left_ms is None:
            return False
        overdue_ms = (now_s - self.left_said_s) * 1000 - self.left_ms
        return self.left_ms <= limit_ms and overdue_ms <= limit_ms


def left_ms(core: Core, own: OwnRun) -> int:
    """Return how many milliseconds the run still needs, at least 0: what its program said last,
    less what has passed since; where it said nothing, what is usual for such tasks."""
    passed_ms = own.passed_ms(core.now_s)
    if own.left_ms is None:
        return core.lengths.left_ms(own.spec, passed_ms, core.me)
    return max(0, own.left_ms - passed_ms)


def due_ms(core: Core, own: OwnRun) -> int | None:
    """Return in how many milliseconds the run should end as its program said, or as most others do;
    below 0 where it is late, None where nothing is known."""
    said_ms = own.left_ms
    if said_ms is None and not core.lengths.known(own.spec):
        return None
    if said_ms is None:
        said_ms = core.lengths.of(own.spec, core.me).q50_ms
    return said_ms - own.passed_ms(core.now_s)


def hand_back_after_s(core: Core, own: OwnRun) -> float:
    """Return after how many seconds of suspension a run is offered to the flock: 0 where it has a
    checkpoint, somebody is free to go on with it, and this machine's owner mostly stays once back;
    else as the settings say."""
    if own.run.checkpoint is None or not core.presence.stays:
        return core.settings.hand_back_s
    busy = core.table.owned_by
    free = any(
        peer.status is not None
        and peer.status.helps
        and not peer.suspected
        and busy.get(peer.node, 0) < peer.status.slots
        for peer in core.peers.values()
    )
    return 0.0 if free else core.settings.hand_back_s


_encode = msgspec.msgpack.Encoder().encode
_decode_outputs = msgspec.msgpack.Decoder(tuple[Dataset, ...]).decode


def unreadable(outputs: tuple[Dataset, ...]) -> EndCause | None:
    """Return why outputs that a program delivers cannot be a record that every peer reads; None
    when they can."""
    try:
        _decode_outputs(_encode(outputs))
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError, TypeError) as error:
        return EndCause("BadOutput", error=short_text(str(error)))
    return None


def newest_checkpoint(life: Life, run: Run, reachable: Callable[[DatasetId], bool]) -> DatasetId:
    """Return the dataset that the run may begin with: what the latest of the earlier attempts saved
    that did not fail, had the same generation and inputs, and can be reached; empty when there is
    none."""
    for earlier in reversed(life.runs):
        saved = _saved_for(run, earlier)
        if saved is not None and reachable(saved.dataset):
            return saved.dataset
    return ""


def _saved_for(run: Run, earlier: Run) -> Dataset | None:
    same_work = earlier.generation == run.generation and earlier.inputs == run.inputs
    if not same_work or isinstance(earlier.phase, Failed):
        return None
    return earlier.checkpoint


def write_run(
    core: Core, task: TaskId, run: Run, *, generation: int = 0, in_a_row: bool = False
) -> None:
    """Write a record of this node's run and decide when peers are told: at once, or, where that
    costs nobody time, together with what comes next, as an end for which other tasks wait is told
    with the start of the next. With ``in_a_row``, short tasks that were claimed with it, and no
    others wait for, are told together. A ``generation`` of 0 leaves that of the task as it is."""
    lives = [TaskLife(task, Life(generation, runs=(run,)))]
    waited_for = bool(core.table.dependants(task))
    if waited_for and isinstance(run.phase, Terminated):
        core.untold.kept_back[task] = None
        core.write(lives=lives, hurried=False)
    elif _begins_in_row(core, task, run, in_a_row=in_a_row):
        core.write_in_row(lives)
    elif _goes_on(core, task, run) or (in_a_row and not waited_for and _begins_or_ends(run)):
        core.write(lives=lives, hurried=False)
    else:
        core.write(lives=lives)


def _goes_on(core: Core, task: TaskId, run: Run) -> bool:
    """It begins right after an end that is kept back."""
    begins = isinstance(run.phase, Scheduled | Running)
    return begins and any(each in core.untold.kept_back for each in core.table.producers[task])


def _begins_in_row(core: Core, task: TaskId, run: Run, *, in_a_row: bool) -> bool:
    """Won or started for the first time. What starts at once is told with its start."""
    started = isinstance(run.phase, Running) and run.revision == STARTED
    if not (isinstance(run.phase, Scheduled) or (in_a_row and started)) or core.stopping:
        return False
    short = core.lengths.short(core.table.specs[task])
    return short and not core.table.interactive(task)


def _begins_or_ends(run: Run) -> bool:
    return isinstance(run.phase, Running | Terminated)


class LostRuns(Part):
    """Ends what earlier incarnations of this host began."""

    def __init__(
        self, core: Core, liveness: Liveness, executed: Callable[[TaskId], OwnRun | None]
    ) -> None:
        super().__init__(core)
        self._liveness = liveness
        self._executed = executed

    def end_all(self) -> None:
        """End, at the start, every run of this host that the disk shows unfinished."""
        self._end(list(self.core.table.lives))

    def on_news(self, news: News) -> None:
        me = self.core.me
        self._end(part.task for part in news.lives if any(run.host == me for run in part.life.runs))

    def _end(self, tasks: Iterable[TaskId]) -> None:
        lost = [
            self._lost(task, run)
            for task in tasks
            for run in self.core.table.life(task).runs
            if run.host == self.core.me and run.live and not self._is_executed(task, run)
        ]
        if lost:
            self.core.write(lives=lost)

    def _is_executed(self, task: TaskId, run: Run) -> bool:
        own = self._executed(task)
        return own is not None and run_name(own.run) == run_name(run)

    def _lost(self, task: TaskId, run: Run) -> TaskLife:
        if run.incarnation > self.core.incarnation:
            self._liveness.raise_incarnation(run.incarnation + 1)
        ran = isinstance(run.phase, Running | Suspended)
        ended = msgspec.structs.replace(
            run, revision=run.revision + 1, phase=Lost(ran), stamp=self.core.stamp()
        )
        return TaskLife(task, Life(0, runs=(ended,)))
