"""Claims that are made early: of what follows a task before that task has ended, so that it starts the
moment it may. Between the end of a task and the start of the next on the same node lies the round
of questions. Where many nodes end tasks of one length together, all of them ask all others at the
very moment at which the programs need the machine. A claim relies on consent and on nothing else,
and nobody else can run what follows while that task goes on; so who runs a task asks shortly before
its expected end for what follows. The claim is *held*: nothing is won, recorded or started before
the task has ended and everything that a claim needs is there (``claims``, ``claimability``).

* It is asked only for what would have a place if all that ends about now had ended: what is wanted
  more, and waits already, comes first. And only where nobody has more room.
* It takes no place meanwhile: neither this node nor others see less room here.
* It is withdrawn when the task ends in another way or later than any claim waits, when this node may
  not run what follows any more, when work comes that is wanted more, and when the place is taken
  by then.

Short tasks are claimed in rows anyway, and for long tables the order is dear: nothing is asked.
"""

from __future__ import annotations

from agent.protocol.claims import Claims
from agent.protocol.clock import TimerKind
from agent.protocol.core import Core, Part
from agent.protocol.news import News
from agent.protocol.own_run import Stage, due_ms
from agent.protocol.planning import Planning
from agent.protocol.queue import Queue
from agent.protocol.reading import DerivedState
from agent.protocol.records import TaskId, TaskState
from agent.protocol.runs import Runs

AHEAD_S = 0.2
"""Long enough for a round of questions on a busy machine, and for an end that comes early."""

TOGETHER_S = 2 * AHEAD_S
"""What is expected to end within this ends together: when it does, its places are dealt out anew."""


class EarlyClaims(Part):
    """Looks at each run of this node shortly before its end."""

    def __init__(
        self, core: Core, runs: Runs, queue: Queue, planning: Planning, claims: Claims
    ) -> None:
        super().__init__(core)
        self._runs, self._queue, self._planning, self._claims = runs, queue, planning, claims

    def on_news(self, news: News) -> None:
        """Set a timer shortly before the end of each longer task that runs here and that others
        wait for, and drop it for one that does no more. When a workflow changed, withdraw held
        claims if other work is wanted more."""
        for task, _, now in news.moved:
            if self._is_followed(task, now):
                self._wait_for_end(task)
            else:
                self.core.timers.disarm(TimerKind.AHEAD, task)
        if news.workflows:
            self._look_again()

    def _is_followed(self, task: TaskId, now: DerivedState) -> bool:
        """A longer task that runs here, and others wait for it."""
        own = self._runs.mine.get(task)
        if own is None or now.state is not TaskState.RUNNING or now.owner is not own.run:
            return False
        ends = not self.core.lengths.short(own.spec) and due_ms(self.core, own) is not None
        return ends and bool(self.core.table.dependants(task))

    def _wait_for_end(self, task: TaskId) -> None:
        core = self.core
        due_s = (due_ms(self.core, self._runs.mine[task]) or 0) / 1000
        core.timers.arm(TimerKind.AHEAD, core.now_s + max(0.0, due_s - AHEAD_S), task)

    def end_is_near(self, task: TaskId) -> None:
        """Claim what follows a run of this node, if that goes on here; when the program has said
        meanwhile that its end is not near, set the timer again. Do nothing for a task that does not
        run here now."""
        own = self._runs.mine.get(task)
        if own is None or own.stage is not Stage.RUNNING:
            return
        if (due_ms(self.core, own) or 0) > 1000 * AHEAD_S:
            self._wait_for_end(task)
            return
        waiting = self.core.table.dependants(task)
        first = self._queue.after([task], TOGETHER_S)
        following = next((each for each in first if each in waiting), None)
        if following is None:
            return
        before = first[: first.index(following)]
        if self._planning.goes_on_here(following, before):
            self._claims.go_for_ahead(following)

    def _look_again(self) -> None:
        """Other work has come, or is wanted more than before."""
        held = self._claims.held()
        if held:
            producers = self.core.table.producers
            ending = [each for task in held for each in producers[task]]
            first = self._queue.after(ending, TOGETHER_S, frozenset(held))
            passed = [task for task in held if task not in first]
            self._claims.withdraw(passed, "other work is wanted more")
