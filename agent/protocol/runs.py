"""The life of a run on its own node, from the won claim to one of the ends.

The record of a run (``records.Run``) tells peers what they must know; here is what this node is
doing about it. What each happening means in each stage stands in one table, ``_life_cycle``; a pair
that is missing there is an old word about a run that has moved on, and is counted.

=========  ======================================================================  ===========
stage      meaning                                                                 record says
=========  ======================================================================  ===========
FETCHING   inputs are being brought here                                           Scheduled
QUEUED     inputs are here, no slot is free                                        Scheduled
STARTING   the program is being started                                            Running
RUNNING    it runs                                                                 Running
SUSPENDED  the owner is back; its processes are stopped where they are             Suspended
COPYING    it succeeded; outputs go to a second disk                               Running
STOPPING   it is being ended; the record is written when nothing of it runs        any live
=========  ======================================================================  ===========

After every event ``reconcile`` compares what runs with what should: a run that is not read off
as owner any more is stopped (unless it is nearly done), the owner's presence suspends what runs
for others, a free slot starts what is queued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import get_args
from zlib import crc32

import msgspec

from agent.protocol.clock import TimerKind
from agent.protocol.core import Core, Part, Peer
from agent.protocol.datasets import Datasets
from agent.protocol.effects import (
    CopyCheckpoint,
    CopyOutputs,
    Fetch,
    ResumeChild,
    StartChild,
    StopChild,
    Stopped,
    SuspendChild,
)
from agent.protocol.events import (
    ChildCheckpointed,
    ChildFailed,
    ChildNotStarted,
    ChildProgressed,
    ChildStarted,
    ChildStopped,
    ChildSucceeded,
    FetchFailed,
    InputsFetched,
    OutputsCopied,
    RunWord,
    Shutdown,
)
from agent.protocol.going_on import (
    ended_before,
    has_to_lead,
    is_beside,
    leading,
    met,
    plain,
    superseded,
    told_how_far,
)
from agent.protocol.messages import Goodbye
from agent.protocol.needs import seats_of
from agent.protocol.origins import HAS_SAVED, with_shown
from agent.protocol.output_names import with_output_names
from agent.protocol.own_run import (
    ON_THE_MACHINE,
    BadEnd,
    OwnRun,
    Stage,
    due_ms,
    hand_back_after_s,
    newest_checkpoint,
    unreadable,
    write_run,
)
from agent.protocol.phrases import LocalProtocolError
from agent.protocol.reasons import CauseKind, EndCause, carried
from agent.protocol.records import (
    DatasetId,
    Evicted,
    Failed,
    NodeId,
    Phase,
    Run,
    RunName,
    Running,
    Suspended,
    TaskId,
    Terminated,
    Yielded,
    run_name,
    short_text,
)
from agent.protocol.seats import banned_in, evictions
from agent.protocol.times import with_times, with_took

SEEN_TO = (Stage.STOPPING, Stage.COPYING)
"""Stages in which a run goes to its end, whatever the table says."""
RESTING_S = 5.0
RESTING_S_MAX = 600.0


class Runs(Part):
    """Follows the runs of this node, from the won claim to their ends."""

    def __init__(
        self,
        core: Core,
        datasets: Datasets,
        promised: Callable[[TaskId], bool],
        alive: Callable[[NodeId, int], bool],
    ) -> None:
        super().__init__(core)
        self._alive = alive
        self.mine: dict[TaskId, OwnRun] = {}
        self.resting: dict[TaskId, float] = {}
        """Tasks that could not be started here, and until when this node leaves them alone."""
        self._datasets = datasets
        self._promised = promised
        self._said_goodbye = False
        self._rules = self._life_cycle()

    def handlers(self) -> dict[type, Callable[..., None]]:
        return {**dict.fromkeys(get_args(RunWord), self._word), Shutdown: self._shutdown}

    def _life_cycle(self) -> dict[tuple[Stage, type], Callable[..., None]]:
        return {
            (Stage.FETCHING, InputsFetched): self._fetched,
            (Stage.FETCHING, FetchFailed): self._fetch_failed,
            (Stage.STARTING, ChildStarted): self._started,
            (Stage.STARTING, ChildNotStarted): self._not_started,
            (Stage.SUSPENDED, ChildNotStarted): self._not_started,
            (Stage.STOPPING, ChildNotStarted): self._not_started,
            (Stage.RUNNING, ChildNotStarted): self._not_started,
            (Stage.RUNNING, ChildProgressed): self._progressed,
            (Stage.RUNNING, ChildCheckpointed): self._checkpointed,
            (Stage.SUSPENDED, ChildCheckpointed): self._checkpointed,
            (Stage.STARTING, ChildSucceeded): self._succeeded,
            (Stage.RUNNING, ChildSucceeded): self._succeeded,
            (Stage.SUSPENDED, ChildSucceeded): self._succeeded,
            (Stage.STOPPING, ChildSucceeded): self._succeeded,
            (Stage.STARTING, ChildFailed): self._failed,
            (Stage.RUNNING, ChildFailed): self._failed,
            (Stage.SUSPENDED, ChildFailed): self._failed,
            (Stage.STOPPING, ChildFailed): self._failed,
            (Stage.STOPPING, ChildStopped): self._stopped,
            (Stage.COPYING, OutputsCopied): self._copied,
        }

    def executing(self) -> int:
        """Return how many runs hold or will take a slot; those copying outputs or beside others do not."""
        return len(
            [own for own in plain(self.core, self.mine.values()) if own.stage is not Stage.COPYING]
        )

    def begin(self, task: TaskId, run: Run) -> None:
        """Take on a run whose claim is won and recorded: ask for its inputs that are not on this
        disk, or queue it at once when all are."""
        spec = self.core.table.specs[task]
        own = self.mine[task] = OwnRun(task, spec, run, Stage.QUEUED)
        own.needs = tuple(self._datasets.needed(spec))
        own.checkpoint = newest_checkpoint(self.core.table.life(task), run, self._can_have)
        self._fetch_missing(own)

    def _can_have(self, dataset: DatasetId) -> bool:
        return dataset in self.core.holdings or bool(self._datasets.holders(dataset))

    def _fetch_missing(self, own: OwnRun) -> bool:
        """Have inputs brought that are not on this disk; False when all are."""
        if own.checkpoint and not self._can_have(own.checkpoint):
            own.checkpoint = ""
        wanted = (*own.needs, own.checkpoint) if own.checkpoint else own.needs
        missing = [
            (dataset, self._datasets.holders(dataset))
            for dataset in wanted
            if dataset not in self.core.holdings
        ]
        if missing:
            own.stage = Stage.FETCHING
            self.core.emit(Fetch(own.task, run_name(own.run), tuple(missing)))
        return bool(missing)

    # -- what is told of a run -----------------------------------------------------------

    def _word(self, word: RunWord) -> None:
        own = self.mine.get(word.task)
        if own is None or run_name(own.run) != word.run:
            self.core.count("word about a run that is over")
            return
        rule = self._rules.get((own.stage, type(word)))
        if rule is None:
            self.core.count(f"{type(word).__name__} while {own.stage.value}")
            return
        self.core.wake |= not isinstance(word, ChildStarted)
        rule(own, word)

    def _fetched(self, own: OwnRun, word: InputsFetched) -> None:
        own.stage = Stage.QUEUED

    def _fetch_failed(self, own: OwnRun, word: FetchFailed) -> None:
        times = evictions(self.core.table.life(own.task), self.core.me)
        self._datasets.refuse(word.dataset, self._datasets.holders(word.dataset), times)
        if word.dataset == own.checkpoint and word.dataset not in own.needs:
            own.checkpoint = ""
            if not self._fetch_missing(own):
                own.stage = Stage.QUEUED
            return
        missing = EndCause("InputMissing", dataset=word.dataset)
        self._end(own, BadEnd(Evicted, word.why or missing))

    def _started(self, own: OwnRun, word: ChildStarted) -> None:
        """It has its slot already: nothing else is to be thought of anew."""
        own.stage = Stage.RUNNING

    def _not_started(self, own: OwnRun, word: ChildNotStarted) -> None:
        """No failure of the task: it is given back, and this node rests before it tries again."""
        times = evictions(self.core.table.life(own.task), self.core.me)
        rest_s = min(RESTING_S * 2.0 ** min(times, 10), RESTING_S_MAX)
        self.resting[own.task] = self.core.now_s + rest_s
        self._end(own, own.then or BadEnd(Evicted, word.why))

    def _progressed(self, own: OwnRun, word: ChildProgressed) -> None:
        own.permille = min(max(word.permille, 0), 1000)
        own.left_ms, own.left_said_s = max(word.left_ms, 0), self.core.now_s

    def _checkpointed(self, own: OwnRun, word: ChildCheckpointed) -> None:
        """Recorded once it is on this disk; another one is to have it before this one is gone."""
        if unreadable((word.checkpoint,)):
            self.core.count("checkpoint that cannot be named")
            return
        self._datasets.hold((word.checkpoint.dataset,))
        own.run = with_shown(own.run, word.shown, HAS_SAVED)
        own.run = msgspec.structs.replace(own.run, checkpoint=word.checkpoint)
        self._write(own, own.run.phase)
        peers = self._copy_targets(own.task)
        if peers and self.core.settings.copies > 1:
            self.core.emit(CopyCheckpoint(own.task, run_name(own.run), word.checkpoint, peers))

    def _succeeded(self, own: OwnRun, word: ChildSucceeded) -> None:
        core = self.core
        if (fault := unreadable(word.outputs)) is not None:
            self._end(own, BadEnd(Failed, fault))
            return
        own.outputs, own.took = word.outputs, word.took
        own.run = with_shown(with_output_names(own.run, word.names), word.shown)
        own.stage = Stage.COPYING
        core.timers.disarm(TimerKind.HAND_BACK, own.task)
        kept = tuple(output for output in word.outputs if not output.external)
        self._datasets.hold(output.dataset for output in kept)
        peers = self._copy_targets(own.task)
        if kept and peers and core.settings.copies > 1:
            core.emit(CopyOutputs(own.task, run_name(own.run), kept, peers, core.settings.copies))
        else:
            self._end(own, Terminated(word.outputs, (core.me,)))

    def _copy_targets(self, task: TaskId) -> tuple[NodeId, ...]:
        """Peers to put outputs on: those whose owners are away first, spread by task."""

        def rank(peer: Peer) -> tuple[bool, int, str]:
            helps = peer.status is not None and peer.status.helps
            return (not helps, crc32(f"{task} {peer.node}".encode()), peer.node)

        reachable = [p for p in self.core.peers.values() if p.greeted and not p.suspected]
        return tuple(peer.node for peer in sorted(reachable, key=rank))

    def _copied(self, own: OwnRun, word: OutputsCopied) -> None:
        holders = tuple(dict.fromkeys((self.core.me, *word.holders)))
        self._end(own, Terminated(own.outputs, holders))

    def _failed(self, own: OwnRun, word: ChildFailed) -> None:
        """That a copy fails does not count: the run beside which it was made goes on."""
        own.took = word.took
        kind: type[Evicted | Failed] = Evicted if is_beside(self.core, own) else Failed
        self._end(own, own.then or BadEnd(kind, word.why))

    def _stopped(self, own: OwnRun, word: ChildStopped) -> None:
        if own.then is None:
            raise LocalProtocolError(f"{own.task} stopped, nobody knows why: {own.run}")
        own.took = word.took
        self._end(own, own.then)

    # -- what should run, and what does --------------------------------------------------

    def reconcile(self) -> None:
        """Stop, suspend or resume the runs of this node where the table, the owner's presence or a
        shutdown asks for it; what stops or copies already, and a superseded one that is nearly
        done, goes on. When stopping, say goodbye once none is left."""
        core, owned = self.core, self.core.table.owned
        told = core.presence
        undisturbed = not (core.stopping or told.owner_present or told.bans)
        for own in list(self.mine.values()):
            if own.stage in SEEN_TO:
                continue
            # Nearly always the very record that this node wrote last is the one that counts.
            if (
                undisturbed
                and owned.get(own.task) is own.run
                and own.run.incarnation == core.incarnation
                and own.stage is not Stage.SUSPENDED
            ):
                continue
            self._reconcile_one(own)
        if core.stopping:
            self._go_when_empty()

    def _reconcile_one(self, own: OwnRun) -> None:
        core = self.core
        if met(core, own):
            own.run = told_how_far(core, own)
            self._write(own, own.run.phase)
        why = superseded(core, own)
        if why is not None:
            self._stop(own, BadEnd(Yielded, why))
        elif core.stopping:
            self._stop(own, BadEnd(Evicted, EndCause("AgentStops")))
        elif not core.own.has(own.task) and banned_in(core, core.presence.bans, own.task):
            self._stop(own, BadEnd(Evicted, EndCause("OwnerBans")))
        elif core.presence.owner_present and not self._at_home(own.task):
            if not self._may_end(own):
                self._make_way(own)
        elif own.stage is Stage.SUSPENDED and not self._promised(own.task):
            self._resume(own)
        elif is_beside(core, own) and has_to_lead(core, own, owner_gone=self._is_gone(own.task)):
            own.run = leading(own)
            self._write(own, own.run.phase)

    def _is_gone(self, task: TaskId) -> bool:
        owner = self.core.table.owned.get(task)
        return owner is None or not self._alive(owner.host, owner.incarnation)

    def _may_end(self, own: OwnRun) -> bool:
        """The owner is back but lets end what expects to end soon, and no longer than that."""
        core = self.core
        left = core.presence.lets_end_ms - int((core.now_s - core.owner_since_s) * 1000)
        due = due_ms(core, own) if own.stage is Stage.RUNNING and left > 0 else None
        return due is not None and due <= left

    def _make_way(self, own: OwnRun) -> None:
        core = self.core
        if own.stage in (Stage.FETCHING, Stage.QUEUED) or is_beside(core, own):
            self._stop(own, BadEnd(Evicted, EndCause("OwnerBack")))
        elif own.stage in (Stage.STARTING, Stage.RUNNING):
            own.stage = Stage.SUSPENDED
            core.emit(SuspendChild(own.task, run_name(own.run)))
            self._write(own, Suspended())
            deadline_s = core.now_s + hand_back_after_s(core, own)
            core.timers.arm(TimerKind.HAND_BACK, deadline_s, own.task)

    def _resume(self, own: OwnRun) -> None:
        own.stage = Stage.RUNNING
        self.core.timers.disarm(TimerKind.HAND_BACK, own.task)
        self.core.emit(ResumeChild(own.task, run_name(own.run)))
        self._write(own, Running())

    def hand_back(self, task: TaskId) -> None:
        """Offer a task suspended for long, so that whoever takes it supersedes this run; end one
        that holds a seat of the flock instead. Do nothing when it is not suspended here."""
        own = self.mine.get(task)
        if own is not None and own.stage is Stage.SUSPENDED:
            if seats_of(own.spec):
                self._stop(own, BadEnd(Evicted, EndCause("OwnerBack")))
                return
            self._write(own, Suspended(offered=True))

    def _at_home(self, task: TaskId) -> bool:
        """Interactive work of this machine's own user runs whether or not the user is there, until
        the user pauses."""
        core = self.core
        return not core.presence.paused and core.table.interactive(task) and core.own.has(task)

    def active(self) -> int:
        """Return how many runs hold a slot or fetch inputs; not those queued, copying outputs or beside others."""
        resting = (Stage.QUEUED, Stage.COPYING)
        return len(
            [own for own in plain(self.core, self.mine.values()) if own.stage not in resting]
        )

    def idle(self) -> bool:
        """Tell whether nothing runs here or is about to. Suspended runs, those copying outputs and
        copies beside other runs do not count; queued and stopping ones do."""
        resting = (Stage.SUSPENDED, Stage.COPYING)
        return all(own.stage in resting for own in plain(self.core, self.mine.values()))

    def start_queued(self, interactive_waits: Callable[[], bool]) -> None:
        """Start queued runs, but no copies beside others, in free slots, interactive ones first; a
        low task does not start while ``interactive_waits``, and one whose inputs are gone has them
        fetched instead. Do nothing without a free slot, or while the node stops."""
        core = self.core
        runs = plain(core, self.mine.values())
        free = core.slots - len([own for own in runs if own.stage in ON_THE_MACHINE])
        if free <= 0 or core.stopping:
            return
        queued = [own for own in runs if own.stage is Stage.QUEUED]
        for own in sorted(queued, key=lambda own: not core.table.interactive(own.task)):
            if free <= 0:
                return
            if not core.table.interactive(own.task) and interactive_waits():
                return
            free -= self.start(own)

    def start(self, own: OwnRun) -> bool:
        """Start the program of a queued run, or have inputs fetched that are not here any more; tell
        whether it was started."""
        core = self.core
        if self._fetch_missing(own):
            return False  # it was here when it was claimed, and is not any more
        own.stage, own.left_said_s = Stage.STARTING, core.now_s
        if core.lengths.short(own.spec):
            own.told_s = core.now_s  # it has ended before there is any progress to tell
        self._write(own, Running())
        workflow = core.table.workflows[core.table.workflow_of[own.task]].spec.name
        urgent, name = core.table.interactive(own.task), run_name(own.run)
        ordered = (own.task, name, own.spec, own.run.inputs, own.checkpoint, workflow, urgent)
        core.emit(StartChild(*ordered))
        return True

    # -- ends ----------------------------------------------------------------------------

    def _stop(self, own: OwnRun, then: BadEnd) -> None:
        if own.stage is Stage.QUEUED:
            self._end(own, then)
            return
        own.then = then
        own.stage = Stage.STOPPING
        self.core.timers.disarm(TimerKind.HAND_BACK, own.task)
        self.core.emit(StopChild(own.task, run_name(own.run), self.core.settings.words(then.why)))

    def _end(self, own: OwnRun, end: BadEnd | Terminated) -> None:
        """Why it was no good end is a value in the record, and text for versions that read none.
        What went on from a checkpoint does not tell how long a whole run takes."""
        del self.mine[own.task]
        self.core.timers.disarm(TimerKind.HAND_BACK, own.task)
        self.core.wake = True
        took = own.took._replace(run_ms=0) if own.took and own.checkpoint else own.took
        own.run = msgspec.structs.replace(own.run, more=with_took(own.run.more, took))
        if isinstance(end, Terminated) and (first := ended_before(self.core, own)):
            end = BadEnd(Yielded, EndCause("FinishedBy", host=first))
        if isinstance(end, Terminated):
            self._write(own, end)
            return
        own.run = msgspec.structs.replace(own.run, more={**own.run.more, **carried(end.why)})
        self._write(own, end.phase(short_text(self.core.settings.words(end.why))))

    def _write(self, own: OwnRun, phase: Phase) -> None:
        core = self.core
        own.run = msgspec.structs.replace(
            own.run,
            revision=own.run.revision + 1,
            phase=phase,
            stamp=core.stamp(),
            more=with_times(own.run, phase, core.wall_ms),
        )
        write_run(core, own.task, own.run, in_a_row=self._in_a_row(own))

    def _in_a_row(self, own: OwnRun) -> bool:
        """A short task, and this node has the next in its row."""
        if self.core.stopping or not self.core.lengths.short(own.spec):
            return False
        return any(other.stage is Stage.QUEUED for other in self.mine.values())

    def give_back(self, tasks: Iterable[TaskId], why: CauseKind = "RowStands") -> None:
        """Give back these tasks, as what runs before them takes long, say."""
        for task in tasks:
            self._stop(self.mine[task], BadEnd(Evicted, EndCause(why)))

    def withdraw(self, task: TaskId, run: RunName) -> None:
        """End a run that was about to begin, as the disk refused its record, and write it as given
        back; an unknown run is ignored."""
        own = self.mine.get(task)
        if own is not None and run_name(own.run) == run:
            self._end(own, BadEnd(Evicted, EndCause("DiskFull")))

    def _shutdown(self, event: Shutdown) -> None:
        self.core.stopping = self.core.wake = True

    def _go_when_empty(self) -> None:
        if not self.mine and not self._said_goodbye:
            self._said_goodbye = True
            self.core.tell_own()
            self.core.broadcast(Goodbye("the agent stops"))
            self.core.emit(Stopped())

    def on_tick(self) -> None:
        """Let tasks that could not be started here be taken again when their rest is over; have all runs looked at
        again while a present owner lets some end."""
        core = self.core
        for task in [task for task, until_s in self.resting.items() if until_s <= core.now_s]:
            del self.resting[task]
            core.wake = True
        if core.presence.owner_present and core.presence.lets_end_ms and self.mine:
            core.wake = True
