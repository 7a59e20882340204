"""Tables become equal again: after every new link, every dropped message, every doubt.

Two nodes compare 256 bucket hashes, then keys with versions in the buckets that differ, then one
asks the other for the records that differ. Each record is asked from one peer at a time: when two
halves of a flock meet again, the same thousand records are not sent over every new link. News
that comes by comparing is not passed on; every pair of nodes compares for itself.

A peer is *compared* when everything that it listed as different has arrived, from whomever, or
when its hashes were found equal. A starting node waits for that (``joining``).

**Unknown tasks**, heard of but not in the table: the master is asked, and when it is gone,
everybody. Whoever is asked along with everybody else answers after a delay of its own, and not at
all when told that somebody was faster; so the question of a node that has missed something costs
one answer, not thirty.

Mostly the workflow is on its way already: a claim goes ahead of records, and another's claim may be
faster than the submission. So nobody asks at once. And the answer is a whole workflow, with it come
all the tasks of it that were heard of meanwhile; so one question is put after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from zlib import crc32

from agent.protocol.allowance import Allowance
from agent.protocol.clock import TimerKind
from agent.protocol.core import Core, Part, Peer
from agent.protocol.election import Election
from agent.protocol.messages import (
    AlreadyFinished,
    AskRecords,
    BucketList,
    Digest,
    DoYouKnow,
    GetTask,
    Heartbeat,
    Known,
    Records,
    RecordVersion,
    TakeTask,
)
from agent.protocol.news import News
from agent.protocol.records import NodeId, Pruning, TaskId, TaskLife, Workflow, WorkflowId

QUIET_S = 0.5
EARLY_S = 0.1
"""A beat that comes a little early is not to put the comparison off to the next one."""
ON_ITS_WAY_S = 0.2
"""What is not known after this long is asked for."""
MASTER_WAIT_S = 0.5
HEARD_MAX = 1_000
QUESTIONS_MAX = 100
NEXT_QUESTION = ""
"""The timer of no task: the next question is to be put."""


class Healing(Part):
    """Compares tables with peers and fetches what differs."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._asked: dict[str, tuple[NodeId, float]] = {}
        self._allowance = Allowance(core)
        self._changes = 0
        self._changed_s = -1e9

    def handlers(self) -> dict[type, Callable[..., None]]:
        """Return, by the type of a message or event, the method that handles it; what is not named
        here, this part does not handle."""
        return {
            Heartbeat: self._heard,
            Digest: self._compare,
            BucketList: self._listed,
            AskRecords: self._wanted,
        }

    def on_greeted(self, peer: Peer) -> None:
        """Compare tables with a peer that has greeted, unless this node has not joined and its
        table is empty: then one peer sends all of it instead."""
        if self.core.joined or self.core.table.workflows:
            self.compare_with(peer)

    def on_gone(self, peer: Peer) -> None:
        """Forget what was asked of a lost peer; another is asked when tables are next compared."""
        for key in [key for key, (node, _) in self._asked.items() if node == peer.node]:
            del self._asked[key]

    def on_tick(self) -> None:
        """Compare tables with greeted peers that may have missed something and, once this node has
        joined, again with those where a comparison has not ended within ``transfer_wait_s``; forget
        questions unanswered for ``ask_again_s``, so that others may be asked."""
        core = self.core
        if core.table.changes != self._changes:
            self._changes, self._changed_s = core.table.changes, core.now_s
        oldest_s = core.now_s - core.settings.ask_again_s
        for key in [key for key, (_, asked_s) in self._asked.items() if asked_s <= oldest_s]:
            del self._asked[key]
        retry_s = core.now_s - core.settings.transfer_wait_s
        for peer in core.peers.values():
            unfinished = core.joined and not peer.compared and peer.compared_s <= retry_s
            if peer.greeted and (peer.stale or unfinished):
                peer.stale = False
                self.compare_with(peer)

    def compare_with(self, peer: Peer) -> None:
        """Send a peer the hashes of this table, so that it answers where its own differs; until
        that is settled it counts as not compared. Return without waiting for that."""
        peer.compared_s = self.core.now_s
        peer.compared = False
        self.core.send(peer.node, Digest(tuple(self.core.table.digest.buckets)))

    def _heard(self, peer: Peer, message: Heartbeat) -> None:
        """A hash that differs for a second means that something was missed."""
        core, settings = self.core, self.core.settings
        if message.table_hash == core.table.hash:
            peer.differs_since_s = None
            peer.compared = True
            return
        if peer.differs_since_s is None:
            peer.differs_since_s = core.now_s
        differs_s = core.now_s - max(peer.differs_since_s, peer.compared_s)
        quiet = core.now_s - self._changed_s >= QUIET_S
        limit_s = settings.hash_differs_s if quiet else settings.hash_differs_busy_s
        if core.joined and differs_s >= limit_s - EARLY_S:
            self.compare_with(peer)

    def _compare(self, peer: Peer, message: Digest) -> None:
        digest = self.core.table.digest
        buckets = digest.differing(message.buckets)
        if not buckets:
            peer.compared = True
        records = tuple(
            RecordVersion(key, version)
            for bucket in buckets
            for key, version in digest.records(bucket)
        )
        if not self._allowance.takes(peer.node, len(records)):
            return
        self.core.send(peer.node, BucketList(tuple(buckets), records))

    def _listed(self, peer: Peer, message: BucketList) -> None:
        core = self.core
        differing = [
            record.key
            for record in message.records
            if core.table.digest.version(record.key) != record.version
            and not core.checking.quotas.is_held_back(record.key)
        ]
        peer.awaited = dict.fromkeys(differing)
        peer.compared = not differing
        wanted = [key for key in differing if key not in self._asked]
        for key in wanted:
            self._asked[key] = (peer.node, core.now_s)
        size = core.settings.records_per_message_max
        for start in range(0, len(wanted), size):
            core.send(peer.node, AskRecords(tuple(wanted[start : start + size])))

    def _wanted(self, peer: Peer, message: AskRecords) -> None:
        table = self.core.table
        ids: dict[str, list[str]] = {"w": [], "t": [], "p": []}
        for key in message.keys:
            ids.get(key[0], []).append(key[1:])
        workflows = [each for each in ids["w"] if each in table.workflows]
        lives = [TaskLife(each, table.lives[each]) for each in ids["t"] if each in table.lives]
        prunings = [table.prunings[each] for each in ids["p"] if each in table.prunings]
        tasks = sum(len(table.workflows[each].spec.tasks) for each in workflows)
        if not self._allowance.takes(peer.node, tasks + len(lives) + len(prunings)):
            return
        for piece in self.in_pieces(workflows, lives, prunings):
            self.core.send(peer.node, piece)

    def in_pieces(
        self, workflows: Iterable[WorkflowId], lives: list[TaskLife], prunings: list[Pruning]
    ) -> list[Records]:
        """Return these records in messages of bounded size, an empty one where there are none. A
        workflow, given by an id that is known here, comes with its lives in one message, however
        many they are."""
        table, size = self.core.table, self.core.settings.records_per_message_max
        pieces = [
            Records(prunings=tuple(prunings[i : i + size])) for i in range(0, len(prunings), size)
        ]
        batch: list[Workflow] = []
        with_them: list[TaskLife] = []
        tasks = 0
        for workflow in workflows:
            batch.append(table.workflows[workflow])
            with_them += table.lives_of(workflow)
            tasks += len(batch[-1].spec.tasks)
            if tasks >= size:
                pieces.append(Records(tuple(batch), tuple(with_them)))
                batch, with_them, tasks = [], [], 0
        pieces.append(Records(tuple(batch), tuple(with_them)))
        told = {part.task for piece in pieces for part in piece.lives}
        rest = [part for part in lives if part.task not in told]
        pieces += [Records(lives=tuple(rest[i : i + size])) for i in range(0, len(rest), size)]
        return [piece for piece in pieces if piece != Records()] or [Records()]

    def take(self, peer: Peer, message: Records) -> None:
        """Join records that a peer sent because they were asked for, and pass them on to nobody;
        the comparisons that waited for nothing else count as complete, with whomever they are."""
        self.core.learn(peer.node, message.workflows, message.lives, message.prunings)
        waiting = [each for each in self.core.peers.values() if each.awaited]
        for key in _keys(message):
            self._asked.pop(key, None)
            for each in waiting:
                each.awaited.pop(key, None)
        for each in waiting:
            each.compared = each.compared or not each.awaited


def _keys(message: Records) -> Iterable[str]:
    for workflow in message.workflows:
        yield "w" + workflow.spec.workflow
    for part in message.lives:
        yield "t" + part.task
    for pruning in message.prunings:
        yield "p" + pruning.workflow


class Unknown(Part):
    """Questions for unknown tasks, from this node and from others."""

    def __init__(self, core: Core, election: Election) -> None:
        super().__init__(core)
        self._election = election
        self._allowance = Allowance(core)
        self._heard: dict[TaskId, None] = {}
        self._questions: dict[TaskId, bool] = {}
        self._waiting: dict[TaskId, dict[NodeId, None]] = {}

    def handlers(self) -> dict[type, Callable[..., None]]:
        """Return, by the type of a message or event, the method that handles it; what is not named
        here, this part does not handle."""
        return {
            GetTask: self._asked_as_master,
            DoYouKnow: self._asked_as_peer,
            Known: self._answered_by_another,
            TakeTask: self._take,
            AlreadyFinished: self._finished,
        }

    def on_news(self, news: News) -> None:
        self.ask(news.unknown_tasks)

    def ask(self, tasks: Iterable[TaskId]) -> None:
        """Begin to ask other nodes, one after the other, for these tasks, which somebody named and
        this table lacks. Those asked for already, and those beyond ``HEARD_MAX``, are skipped;
        under rules that do not ask, all are."""
        core = self.core
        if not core.rule.asks(1 + len(core.peers)):
            return
        for task in tasks:
            if task in self._questions or task in self._heard or len(self._heard) >= HEARD_MAX:
                continue
            core.count("unknown task")
            self._heard[task] = None
        if self._heard and not core.timers.armed(TimerKind.UNKNOWN, NEXT_QUESTION):
            core.timers.arm(TimerKind.UNKNOWN, core.now_s + ON_ITS_WAY_S, NEXT_QUESTION)

    def _ask_next(self) -> None:
        """Ask for the first that is still unknown; the rest may come with the answer."""
        core, specs = self.core, self.core.table.specs
        self._heard = {task: None for task in self._heard if task not in specs}
        if not self._heard:
            return
        if len(self._questions) < QUESTIONS_MAX:
            task = next(iter(self._heard))
            del self._heard[task]
            self._ask_master(task)
        core.timers.arm(TimerKind.UNKNOWN, core.now_s + MASTER_WAIT_S, NEXT_QUESTION)

    def _ask_master(self, task: TaskId) -> None:
        core, master = self.core, self._election.master
        self._questions[task] = False
        if master in core.peers:
            core.send(master, GetTask(task))
        core.timers.arm(
            TimerKind.UNKNOWN, core.now_s + MASTER_WAIT_S * (master in core.peers), task
        )

    def due(self, task: TaskId) -> None:
        """Handle the timer of a question: answer the peers that wait for it, and ask everybody when
        the master did not answer in time; drop the question when that was in vain. With
        ``NEXT_QUESTION`` for a task, put the next question."""
        core = self.core
        if task == NEXT_QUESTION:
            self._ask_next()
            return
        for peer in self._waiting.pop(task, {}):
            self._answer(peer, task)
        if task not in self._questions or task in core.table.specs:
            self._questions.pop(task, None)
        elif self._questions[task]:
            del self._questions[task]
        else:
            self._questions[task] = True
            core.broadcast(DoYouKnow(task))
            core.timers.arm(TimerKind.UNKNOWN, core.now_s + core.settings.ask_again_s, task)

    def _asked_as_master(self, peer: Peer, message: GetTask) -> None:
        self._answer(peer.node, message.task)

    def _asked_as_peer(self, peer: Peer, message: DoYouKnow) -> None:
        core, task = self.core, message.task
        if not self._can_answer(task):
            return
        self._waiting.setdefault(task, {})[peer.node] = None
        share = crc32(f"{core.me} {task}".encode()) % 1000 / 1000
        core.timers.arm(TimerKind.UNKNOWN, core.now_s + share * core.settings.unknown_delay_s, task)

    def _answered_by_another(self, peer: Peer, message: Known) -> None:
        self._waiting.get(message.task, {}).pop(peer.node, None)

    def _can_answer(self, task: TaskId) -> bool:
        table = self.core.table
        return task in table.specs or table.pruning_of_task(task) is not None

    def _answer(self, peer: NodeId, task: TaskId) -> None:
        core, table = self.core, self.core.table
        if peer not in core.peers:
            return
        pruning = table.pruning_of_task(task)
        if task in table.specs:
            workflow = table.workflows[table.workflow_of[task]]
            if not self._allowance.takes(peer, len(workflow.spec.tasks)):
                return
            tasks = [spec.task for spec in workflow.spec.tasks if spec.task in table.lives]
            lives = tuple(TaskLife(each, table.lives[each]) for each in tasks)
            core.send(peer, TakeTask(workflow, lives))
        elif pruning is not None:
            core.send(peer, AlreadyFinished(task, pruning))

    def _take(self, peer: Peer, message: TakeTask) -> None:
        self.core.learn(peer.node, [message.workflow], message.lives)
        for spec in message.workflow.spec.tasks:
            self._settle(peer, spec.task)

    def _finished(self, peer: Peer, message: AlreadyFinished) -> None:
        self.core.learn(peer.node, prunings=[message.pruning])
        self._settle(peer, message.task)

    def _settle(self, peer: Peer, task: TaskId) -> None:
        """The first answer stands; the others are told to save theirs."""
        if self._questions.pop(task, False):
            others = [node for node in self.core.greeted() if node != peer.node]
            self.core.send(others, Known(task))
