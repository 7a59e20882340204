"""What peers tell is looked at before it is joined: who has signed it, and may they say that.

Records are taken apart as far as they have authors of their own: of a life whose cancel nobody may
have wished, the runs count all the same. What is known here already, or older than it, is left out
without a check, as it would change nothing.

What is refused here may be right a moment later: a cancel before its workflow is known, a newcomer's
run before the roster that names him, the pruning of work that goes on here still. It is told again
when tables are compared, as the two differ by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from agent.protocol.quotas import Quotas, Told
from agent.protocol.records import (
    FLOOR,
    NO_LIFE,
    PRIORITY_LOW,
    RETRY,
    SIGNED,
    Life,
    NodeId,
    PriorityWish,
    Proof,
    Pruning,
    Run,
    TaskId,
    TaskLife,
    TaskPriority,
    Terminated,
    Wish,
    Workflow,
    WorkflowId,
    WorkflowSpec,
    join_lives,
    join_priorities,
    join_prunings,
    run_name,
)
from agent.protocol.signing import (
    WISHES,
    Keys,
    Kind,
    Roots,
    Statement,
    Trust,
    priority_leaf,
    proof_in,
    pruning_leaf,
    run_leaf,
    spec_leaf,
    wish_leaf,
)
from agent.protocol.table import Table

REFUSED_NAMES_MAX = 200
NOBODY = ""

Lives = Callable[[TaskId], Life]


class Fault(StrEnum):
    """Why a statement does not count."""

    UNSIGNED = "unsigned"
    """As a version before writes it, or somebody who has no key."""
    FORGED = "forged"
    """By somebody else than its author."""
    NOT_THEIRS = "not theirs"
    """It is their word, but they may not say that."""
    DATA = "data"
    """No record: they have asked for data that are not for them."""
    TOO_MUCH = "too much"
    """They may say it, and have said more than one member has room for."""


class Refusal(NamedTuple):
    """What was refused: why, and in whose name it was, empty for nobody's."""

    fault: Fault
    author: NodeId


class Checking:
    """Lets the records of peers through that count, and counts the others."""

    def __init__(
        self,
        table: Table,
        keys: Keys,
        long_ago_ms: Callable[[], int],
        unhide: Callable[[WorkflowId], None],
        quotas: Quotas,
    ) -> None:
        self.trust = Trust()
        self.refused: dict[Refusal, int] = {}
        """How often what was refused in whose name, the first ``REFUSED_NAMES_MAX`` of them."""
        self.roots = Roots(keys)
        self.keys, self.quotas = keys, quotas
        self._table, self._long_ago_ms, self._unhide = table, long_ago_ms, unhide

    @property
    def on(self) -> bool:
        """Whether unsigned records are refused."""
        return self.trust.since_ms is not None and bool(self.keys.flock)

    def counting(
        self,
        workflows: Iterable[Workflow],
        lives: Iterable[TaskLife],
        prunings: Iterable[Pruning],
    ) -> Told:
        """Return what counts of these records: signed by somebody who may say it, within its author's quotas,
        and able to change the table; refusals are counted by author. All of it counts where the flock does not
        sign. A pruning held here is forgotten when its author may not remove the workflow told now."""
        if not self.on:
            return Told(list(workflows), list(lives), list(prunings))
        lives = tuple(lives)
        pruned = [each for each in prunings if self._pruning_counts(each)]
        listed = [each for told in workflows if (each := self._workflow(told)) is not None]
        self._look_at_hidden(listed, {part.task: part.life for part in lives})
        homes = {spec.task: one.spec.host for one in listed for spec in one.spec.tasks}
        parts = [kept for part in lives if (kept := self._life(part, homes)) is not None]
        told, floods = self.quotas.within(Told(listed, parts, pruned))
        for author in floods:
            self._refuse(Statement(Kind.RUN, author), Fault.TOO_MUCH)
        return told

    # -- workflows -----------------------------------------------------------------------

    def _workflow(self, told: Workflow) -> Workflow | None:
        """The workflow with what counts of it; None when nothing does."""
        name = told.spec.workflow
        known = self._table.workflows.get(name)
        spec = told.spec if known is None or not _is_same(known.spec, told.spec) else known.spec
        if (known is None or spec is not known.spec) and not self._spec_counts(spec):
            if known is None:
                return None
            spec = known.spec
        unwished = PriorityWish(0, spec.host, PRIORITY_LOW) if known is None else known.priority
        priority = self._priority(name, spec.host, told.priority, unwished)
        least = 1 if known is None else known.generation
        retried = self._retried(spec, told, least)
        highest = max(least, 0 if retried is None else retried.value)
        tasks = tuple(self._task_priorities(name, spec.host, told, known))
        return Workflow(spec, priority, min(told.generation, highest), tasks, retried)

    def _task_priorities(
        self, workflow: WorkflowId, home: NodeId, told: Workflow, known: Workflow | None
    ) -> Iterator[TaskPriority]:
        """Those that count of one task alone."""
        if not told.tasks:
            return
        own = {spec.task for spec in told.spec.tasks}
        mine = {each.task: each.wish for each in known.tasks} if known is not None else {}
        for each in told.tasks:
            if each.task not in own:
                continue
            unwished = mine.get(each.task, PriorityWish(0, home, PRIORITY_LOW))
            wish = self._priority(workflow, home, each.wish, unwished, each.task)
            if wish.revision:
                yield TaskPriority(each.task, wish)

    def _retried(self, spec: WorkflowSpec, told: Workflow, least: int) -> Wish | None:
        wish = told.retried
        if told.generation <= least:
            return None
        if wish is None or wish.kind != RETRY:
            self._refuse(Statement(Kind.RETRY, NOBODY), Fault.UNSIGNED)
            return None
        return wish if self._wish_counts(spec.workflow, spec.host, wish) else None

    def _spec_counts(self, spec: WorkflowSpec) -> bool:
        proof = proof_in(spec.more)
        said = Statement(Kind.WORKFLOW, spec.host, spec.host, spec.submitted[0])
        signer = (proof.signer if proof else "") or spec.host
        if proof is not None and not self.trust.vouches(signer, said) and not self.keys.binds(spec):
            return self._refuse(said, Fault.NOT_THEIRS)
        return self._counts(proof, spec_leaf(spec), said)

    def _priority(
        self,
        workflow: WorkflowId,
        home: NodeId,
        told: PriorityWish,
        known: PriorityWish,
        task: TaskId = "",
    ) -> PriorityWish:
        if join_priorities(known, told) is known:
            return known
        said = Statement(Kind.PRIORITY, told.host, home)
        counts = self._counts(told.proof, priority_leaf(workflow, told, task), said)
        return told if counts else known

    # -- lives ---------------------------------------------------------------------------

    def _life(self, part: TaskLife, homes: dict[TaskId, NodeId]) -> TaskLife | None:
        task, life, table = part.task, part.life, self._table
        known = table.life(task) if task in table.specs else table.orphan(task)
        runs = tuple(
            run
            for run in life.runs
            if not _adds_nothing(run, known) and self._run_counts(task, run)
        )
        if not (life.wishes or life.cancel or life.floor or life.generation > 1):
            if task in table.specs and not runs:
                return None
            return part if len(runs) == len(life.runs) else TaskLife(task, Life(runs=runs))
        home = homes.get(task) or self._home(task)
        wishes = tuple(
            wish
            for wish in life.wishes
            if wish not in known.wishes and home and self._wish_counts(task, home, wish)
        )
        wished = self._wished(life, (*known.wishes, *wishes), known)
        now = Life(*wished, runs, wishes)
        if task in table.specs and join_lives(known, now) is known:
            return None
        return TaskLife(task, now)  # of an unknown task also where nothing is told: it is asked for

    def _home(self, task: TaskId) -> NodeId:
        workflow = self._table.workflows.get(self._table.workflow_of.get(task, ""))
        return NOBODY if workflow is None else workflow.spec.host

    def _run_counts(self, task: TaskId, run: Run) -> bool:
        said = Statement(Kind.RUN, run.host, wall_ms=run.stamp[0])
        return self._counts(proof_in(run.more), run_leaf(task, run), said)

    def _wish_counts(self, subject: TaskId | WorkflowId, home: NodeId, wish: Wish) -> bool:
        if wish.kind >= len(WISHES):
            return False  # of a later version, which tells what it means
        said = Statement(WISHES[wish.kind], wish.by, home)
        return self._counts(wish.proof, wish_leaf(subject, wish), said)

    def _wished(self, life: Life, wishes: Iterable[Wish], known: Life) -> tuple[int, int, int]:
        """Generation, floor and cancel, each no higher than somebody has wished who may. What a run
        raised is not counted as a forgery: the wish for it may be on its way."""
        most = [known.generation, known.floor, known.cancel]
        for wish in wishes:
            if wish.kind < len(most):
                most[wish.kind] = max(most[wish.kind], wish.value)
        most[RETRY] = max(most[RETRY], most[FLOOR], 1)
        told = (life.generation, life.floor, life.cancel)
        for kind, (value, allowed) in enumerate(zip(told, most, strict=True)):
            if value > allowed and not life.runs and not life.wishes:
                self._refuse(Statement(WISHES[kind], NOBODY), Fault.UNSIGNED)
        generation, floor, cancel = map(min, told, most)
        return generation, floor, cancel

    # -- prunings ------------------------------------------------------------------------

    def _pruning_counts(self, told: Pruning) -> bool:
        mine = self._table.prunings.get(told.workflow)
        if mine is not None and join_prunings(mine, told) is mine:
            return False
        workflow = self._table.workflows.get(told.workflow)
        said = Statement(Kind.PRUNING, told.by)
        if not self._proves(told.proof, pruning_leaf(told), said):
            return False
        if workflow is None:
            return True  # it hides nothing here; whether it may is asked when the work comes
        may = self._hides(told, workflow, self._table.life)
        return may or self._refuse(said, Fault.NOT_THEIRS)

    def _hides(self, pruning: Pruning, workflow: Workflow, lives: Lives) -> bool:
        """Who wrote the pruning may remove this workflow, as far as this node sees it."""
        signer = (pruning.proof.signer if pruning.proof else "") or pruning.by
        over = self._is_over(workflow, lives)
        said = Statement(Kind.PRUNING, pruning.by, workflow.spec.host, pruning.stamp[0], over)
        return self.trust.may(signer, said)

    def _is_over(self, workflow: Workflow, lives: Lives) -> bool:
        """It has ended so long ago that anybody may remove it."""
        if self._table.unfinished.get(workflow.spec.workflow):
            return False
        runs = (run for spec in workflow.spec.tasks for run in lives(spec.task).runs)
        moved_ms = max([workflow.spec.submitted[0], *(run.stamp[0] for run in runs)])
        return moved_ms <= self._long_ago_ms()

    def _look_at_hidden(self, told: list[Workflow], lives: dict[TaskId, Life]) -> None:
        """A pruning that came before its workflow hides it only if its author may remove it."""
        for workflow in told:
            name = workflow.spec.workflow
            pruning = self._table.prunings.get(name)
            if pruning is None or name in self._table.workflows:
                continue
            if not self._hides(pruning, workflow, lambda task: lives.get(task, NO_LIFE)):
                self._refuse(Statement(Kind.PRUNING, pruning.by), Fault.NOT_THEIRS)
                self._unhide(name)

    # -- refusals ------------------------------------------------------------------------

    def _counts(self, proof: Proof | None, found: bytes, said: Statement) -> bool:
        """Whoever has signed it may say it, in that name."""
        if not self._proves(proof, found, said):
            return False
        signer = (proof.signer if proof else "") or said.author
        return self.trust.may(signer, said) or self._refuse(said, Fault.NOT_THEIRS)

    def _proves(self, proof: Proof | None, found: bytes, said: Statement) -> bool:
        if proof is None:
            return self._refuse(said, Fault.UNSIGNED)
        proved = self.roots.proves(proof, said.author, found)
        return proved or self._refuse(said, Fault.FORGED)

    def _refuse(self, said: Statement, fault: Fault) -> bool:
        self.count(Refusal(fault, said.author))
        return False

    def count(self, refusal: Refusal) -> None:
        """Count what is not taken in, or not given."""
        if refusal in self.refused or len(self.refused) < REFUSED_NAMES_MAX:
            self.refused[refusal] = self.refused.get(refusal, 0) + 1


def _is_same(mine: WorkflowSpec, theirs: WorkflowSpec) -> bool:
    """Of two copies of one workflow: one submission, and one proof of it."""
    if mine is theirs:
        return True
    same = (mine.submitted, mine.host) == (theirs.submitted, theirs.host)
    return same and mine.more.get(SIGNED) == theirs.more.get(SIGNED)


def _adds_nothing(run: Run, known: Life) -> bool:
    """The join would keep what is known of this run."""
    for mine in known.runs:
        if mine.attempt == run.attempt and run_name(mine) == run_name(run):
            theirs_rank = (isinstance(run.phase, Terminated), run.revision)
            my_rank = (isinstance(mine.phase, Terminated), mine.revision)
            same = theirs_rank == my_rank and run.stamp == mine.stamp
            return same or theirs_rank < my_rank
    return False
