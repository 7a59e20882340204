"""Effects in the order in which they must be done, with commits on the way.

Each event leads to one list of effects, a batch. What stands behind the ``Persist`` of a batch
waits until that is on disk, and so does every later batch: what a later event tells of may be
what an earlier one wrote. Several commits may be under way, which lets the journal flush them
together. A batch whose ``Persist`` is refused ends there; those behind it go on, but for words that
vouch for what was refused: the node said them before it knew.

What suspends or stops a program stands in front of the ``Persist`` and is done at once, whatever
the disk does, because the owner of the machine is waiting. Only when something about the same run
waits in the queue (it is about to be started, say) it takes its place behind that; there is
nothing yet that it could stop. Words about claims do not wait either (``protocol.effects``).

A record behind which nothing but notices wait is submitted with those that come in the next moment:
peers tell of thousands of runs, a few at a time, and each commit costs the same, be it of one record
or of many. What is this node's own to say or to start is submitted at once, and all before it.

The queue needs no limit of its own: the journal refuses when too much waits for it, and what is
queued without a ``Persist`` is a few words per second and link, for as long as links live.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from agent.driver.ports import TaskNotice
from agent.protocol.effects import (
    Answer,
    Effect,
    Fetch,
    Overtaking,
    Persist,
    ResumeChild,
    Send,
    StartChild,
    StopChild,
    SuspendChild,
    Verdict,
)
from agent.protocol.messages import Stored
from agent.protocol.records import RunName, TaskId, WorkflowId

Urgent = SuspendChild | StopChild
AboutRun = Fetch | StartChild | SuspendChild | ResumeChild | StopChild


UNSUBMITTED_MAX = 64
"""Records of so many events are submitted together at most."""


@dataclass(slots=True)
class Batch:
    """Effects that wait: for their own commit if there is one, and for the batches before."""

    effects: deque[Effect]
    links_made: int
    """How many links there had been when the effects were asked for."""
    persist: Persist | None = None
    commit: Future[None] | None = None
    """None, too, while its record has not been submitted."""


class Outbox:
    """Carries effects out through ``do``, in order."""

    def __init__(
        self,
        do: Callable[[Effect, int], None],
        submit: Callable[[Persist], Future[None]],
        refused: Callable[[Persist, tuple[Effect, ...], BaseException], None],
        later: Callable[[], None],
    ) -> None:
        """``later`` is called when records wait for ``submit`` to be called, now or in a moment."""
        self._do, self._submit, self._refused, self._later = do, submit, refused, later
        self._waiting: deque[Batch] = deque()
        self._unsubmitted: list[Batch] = []
        self._overtaking = Overtaking()

    def put(self, effects: Sequence[Effect], links_made: int) -> None:
        """Take in the effects of one event: submit their records to the disk, now or soon, do at
        once what waits for no commit or may go ahead of it, and keep the others until the commits
        before them are done. Waits for nothing. ``links_made`` is handed to ``do`` with each of these
        effects."""
        batch: Batch | None = None
        hurries = False
        for effect in effects:
            if isinstance(effect, Persist):
                batch = Batch(deque(), links_made, effect)
                self._waiting.append(batch)
                self._unsubmitted.append(batch)
            elif not self._waiting or self._goes_ahead(effect):
                self._do(effect, links_made)
            else:
                if batch is None:
                    batch = Batch(deque(), links_made)
                    self._waiting.append(batch)
                batch.effects.append(effect)
                self._overtaking.hold(effect)
                hurries = hurries or not isinstance(effect, TaskNotice)
        if self._unsubmitted:
            if hurries or len(self._unsubmitted) >= UNSUBMITTED_MAX:
                self.submit()
            else:
                self._later()
        if self._waiting:
            self.advance()

    def submit(self) -> None:
        """Hand the records that were not yet to the journal, in order, without waiting for it."""
        unsubmitted, self._unsubmitted = self._unsubmitted, []
        for batch in unsubmitted:
            assert batch.persist is not None
            batch.commit = self._submit(batch.persist)

    def advance(self) -> None:
        """Do the effects whose commits are done, in order, up to the first commit that is not; wait
        for none. What stands behind a commit that failed, and what vouches for its workflows in
        later batches, is handed to ``refused`` instead."""
        while self._waiting:
            batch = self._waiting[0]
            if batch.persist is not None:
                if batch.commit is None or not batch.commit.done():
                    return
                self._settle(batch)
            while batch.effects:
                effect = batch.effects.popleft()
                self._overtaking.free(effect)
                self._do(effect, batch.links_made)
            self._waiting.popleft()

    def discard(self) -> None:
        """Submit the records that were not yet, and forget everything that waits, without doing
        it."""
        self.submit()
        self._waiting.clear()
        self._overtaking = Overtaking()

    def __len__(self) -> int:
        return len(self._waiting)

    def _settle(self, batch: Batch) -> None:
        """The commit is over; what stood behind a refused one is handed back, not done."""
        commit, persist = batch.commit, batch.persist
        batch.commit = batch.persist = None
        assert commit is not None
        assert persist is not None
        error = commit.exception()
        if error is not None:
            dropped = tuple(batch.effects)
            batch.effects.clear()
            for effect in dropped:
                self._overtaking.free(effect)
            self._refused(persist, dropped + self._take_vouching(persist), error)

    def _take_vouching(self, refused: Persist) -> tuple[Effect, ...]:
        workflows = {each.spec.workflow for each in refused.workflows}
        taken: list[Effect] = []
        for batch in self._waiting if workflows else ():
            vouching = [each for each in batch.effects if _vouches(each, workflows)]
            for effect in vouching:
                batch.effects.remove(effect)
                self._overtaking.free(effect)
            taken += vouching
        return tuple(taken)

    def _goes_ahead(self, effect: Effect) -> bool:
        if isinstance(effect, Urgent):
            return not self._is_awaited(effect)
        return self._overtaking.may_go_ahead(effect)

    def _is_awaited(self, effect: Urgent) -> bool:
        run = (effect.task, effect.run)
        return any(_about(other) == run for each in self._waiting for other in each.effects)


def _vouches(effect: Effect, workflows: set[WorkflowId]) -> bool:
    """It says that one of them is on this disk; an answer may say it of any."""
    if isinstance(effect, Answer):
        return effect.verdict is Verdict.ALREADY_KNOWN
    if isinstance(effect, Send) and isinstance(effect.message, Stored):
        return not workflows.isdisjoint(effect.message.workflows)
    return False


def _about(effect: Effect) -> tuple[TaskId, RunName] | None:
    return (effect.task, effect.run) if isinstance(effect, AboutRun) else None
