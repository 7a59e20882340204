"""Tasks heard of but not known: the master is asked, and when it is gone, everybody.

Whoever is asked along with everybody else answers after a delay of its own, and not at all when
told that somebody was faster; so the question of a node that has missed something costs one
answer, not thirty.

Mostly the workflow is on its way already: a claim goes ahead of records, and another's claim may be
faster than the submission. So nobody asks at once. And the answer is a whole workflow, with it come
all the tasks of it that were heard of meanwhile; so one question is put after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from zlib import crc32

from agent.protocol.core import Core, Part, Peer
from agent.protocol.election import Election
from agent.protocol.messages import AlreadyFinished, DoYouKnow, GetTask, Known, TakeTask
from agent.protocol.records import NodeId, TaskId, TaskLife
from agent.protocol.table import News
from agent.protocol.timers import TimerKind

ON_ITS_WAY_S = 0.2
"""What is not known after this long is asked for."""
MASTER_WAIT_S = 0.5
HEARD_MAX = 1_000
QUESTIONS_MAX = 100
NEXT_QUESTION = ""
"""The timer of no task: the next question is to be put."""


class Unknown(Part):
    """Questions for unknown tasks, from this node and from others."""

    def __init__(self, core: Core, election: Election) -> None:
        super().__init__(core)
        self._election = election
        self._heard: dict[TaskId, None] = {}
        self._questions: dict[TaskId, bool] = {}
        self._waiting: dict[TaskId, dict[NodeId, None]] = {}

    def handlers(self) -> dict[type, Callable[..., None]]:
        """Return which method handles which message or event."""
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
        """Find out what these tasks are, of which somebody spoke; those asked about already are
        skipped."""
        core = self.core
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
        the master did not answer in time; drop the question when that was in vain."""
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
