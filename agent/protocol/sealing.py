"""What this node wrote is signed when it is sent: all that is in one message at once.

Somebody who writes alone signs one record; a row of short tasks, or a table that a newcomer asks for,
is one signature for many. The table keeps the signed version, so nothing is signed twice; what is on
this disk without a proof is signed anew after a restart, when somebody asks for it.

An administrator's node also bears witness to what is older than the flock's signatures, and a person's
machines to what one wished that was taken away from him since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from msgspec.structs import replace

from agent.protocol.messages import (
    AlreadyFinished,
    ClaimAnswers,
    Enqueue,
    Message,
    Records,
    State,
    TakeTask,
    TryDequeue,
)
from agent.protocol.records import (
    CANCEL,
    FLOOR,
    RETRY,
    SIGNED,
    Life,
    NodeId,
    PriorityWish,
    Proof,
    Pruning,
    Run,
    RunName,
    TaskId,
    TaskLife,
    TaskPriority,
    Wish,
    Workflow,
    WorkflowId,
    WorkflowSpec,
    run_name,
)
from agent.protocol.signing import (
    WISHES,
    Keys,
    Kind,
    Statement,
    Trust,
    priority_leaf,
    pruning_leaf,
    run_leaf,
    signed_batch,
    spec_leaf,
    wish_leaf,
    with_proof,
)
from agent.protocol.table import Table

Key = tuple[object, ...]
"""Which statement, within a batch."""
R = TypeVar("R")
SaidAnew = Callable[[Kind, str, NodeId, Proof | None], bool]
"""Whether what is of this kind, about this subject, by this author, with this proof, needs another one."""


class Sealing:
    """Puts proofs on what this node sends, and keeps them in its table."""

    def __init__(self, me: NodeId, table: Table, keys: Keys) -> None:
        self.trust = Trust()
        self._me, self._table, self._keys = me, table, keys

    def follow(self, trust: Trust) -> list[WorkflowId]:
        """Go by this trust from now on, and sign again the prunings by other machines of this node's
        person that are lost by it; return the workflows that these pruned, also where there is no key
        to sign with. An administrator signs so only for those that were administrators."""
        before, self.trust = self.trust.people, trust
        people, administrators, me = trust.people, trust.administrators, self._me
        own = {
            each
            for each in before.ever
            if people.is_lost(each) and not before.is_lost(each) and people.owns(me, each)
            if each != me and (each in administrators or me not in administrators)
        }
        found = [
            each
            for each in self._table.prunings.values()
            if each.proof is not None and (each.proof.signer or each.by) in own
        ]
        if found and self._keys.flock:
            proofs = signed_batch(self._keys, [*map(pruning_leaf, found)], me)
            told = zip(found, proofs, strict=True)
            self._table.put_proven((), (), [replace(each, proof=proof) for each, proof in told])
        return [each.workflow for each in found]

    def sealed(self, message: Message) -> Message:
        """Return the message with proofs on all that this node has to sign in it and that has none,
        and put the proofs on the table's records too; as it is where there is nothing to sign."""
        if not self._keys.flock or type(message) not in _PARTS:
            return message
        batch = _Batch(self._me, self._witnessed_ms(), self._is_to_be_said_anew)
        _mapped(message, batch.look_at)
        if not batch.leaves and not batch.witnessed:
            return message
        batch.sign(self._keys)
        self._keep(batch)
        return _mapped(message, batch.put_on)

    def _keep(self, batch: _Batch) -> None:
        table = self._table
        workflows = [table.workflows[each] for each in batch.workflows if each in table.workflows]
        lives = [TaskLife(each, table.lives[each]) for each in batch.tasks if each in table.lives]
        prunings = [table.prunings[each] for each in batch.pruned if each in table.prunings]
        table.put_proven(
            map(batch.workflow, workflows),
            [TaskLife(part.task, batch.life(part.task, part.life)) for part in lives],
            map(batch.pruning, prunings),
        )

    def _is_to_be_said_anew(
        self, kind: Kind, subject: TaskId | WorkflowId, author: NodeId, proof: Proof | None
    ) -> bool:
        """Whoever has signed it may not say it any more, and this node may."""
        if proof is None or not self.trust.people.ever:
            return False
        name = self._table.workflow_of.get(subject, subject)
        workflow = self._table.workflows.get(name)
        if workflow is None:
            return False
        said = Statement(kind, author, workflow.spec.host)
        signer = proof.signer or author
        return not self.trust.may(signer, said) and self.trust.vouches(self._me, said)

    def _witnessed_ms(self) -> int:
        """What was written until then is witnessed by this node."""
        trust = self.trust
        return trust.since_ms or 0 if self._me in trust.administrators else 0


class _Batch:
    """The statements of one message: found, signed, and put in the place of those without a proof."""

    def __init__(self, me: NodeId, witnessed_ms: int, is_to_be_said_anew: SaidAnew) -> None:
        self.leaves: dict[Key, bytes] = {}
        self.witnessed: dict[Key, bytes] = {}
        self.workflows: dict[WorkflowId, None] = {}
        self.tasks: dict[TaskId, None] = {}
        self.pruned: dict[WorkflowId, None] = {}
        self._me, self._witnessed_ms = me, witnessed_ms
        self._is_to_be_said_anew = is_to_be_said_anew
        self._anew: set[Key] = set()
        self._proofs: dict[Key, Proof] = {}

    def sign(self, keys: Keys) -> None:
        """Sign what ``look_at`` noted: this node's own statements, and those of others that it
        bears witness to."""
        for found, signer in ((self.leaves, ""), (self.witnessed, self._me)):
            if found:
                proofs = signed_batch(keys, list(found.values()), signer)
                self._proofs.update(zip(found, proofs, strict=True))

    # -- finding -------------------------------------------------------------------------

    def look_at(self, kind: str, subject: str, record: Any) -> Any:
        """Note what of a record of this kind (life, workflow, pruning) has to be signed; return the
        record unchanged."""
        if kind == "life":
            self._look_at_life(subject, record)
        elif kind == "workflow":
            self._look_at_workflow(record)
        elif kind == "pruning" and record.proof is None:
            self._note(record.by, record.stamp[0], _pruning_key(record), pruning_leaf, record)
            self.pruned[record.workflow] = None
        return record

    def _look_at_life(self, task: TaskId, life: Life) -> None:
        before = len(self.leaves) + len(self.witnessed)
        for run in life.runs:
            if SIGNED not in run.more and (run.host == self._me or self._witnessed_ms):
                key = _run_key(task, run)
                self._note(run.host, run.stamp[0], key, run_leaf, task, run)
        for wish in self._wishes(life):
            self._look_at_wish(task, wish)
        if len(self.leaves) + len(self.witnessed) > before:
            self.tasks[task] = None

    def _look_at_workflow(self, workflow: Workflow) -> None:
        spec, wish, retried = workflow.spec, workflow.priority, self._retried(workflow)
        name = spec.workflow
        before = len(self.leaves) + len(self.witnessed)
        if SIGNED not in spec.more:
            self._note(spec.host, spec.submitted[0], _spec_key(spec), spec_leaf, spec)
        self._look_at_priority(name, wish)
        if retried is not None:
            self._look_at_wish(name, retried)
        for each in workflow.tasks:
            self._look_at_priority(name, each.wish, each.task)
        if len(self.leaves) + len(self.witnessed) > before:
            self.workflows[name] = None

    def _look_at_priority(self, name: WorkflowId, wish: PriorityWish, task: TaskId = "") -> None:
        said = (Kind.PRIORITY, name, wish.host, wish.proof)
        self._look_at_said(said, _priority_key(name, wish, task), priority_leaf, name, wish, task)

    def _look_at_wish(self, subject: TaskId | WorkflowId, wish: Wish) -> None:
        if wish.kind < len(WISHES):
            said = (WISHES[wish.kind], subject, wish.by, wish.proof)
            self._look_at_said(said, _wish_key(subject, wish), wish_leaf, subject, wish)

    def _look_at_said(
        self,
        said: tuple[Kind, str, NodeId, Proof | None],
        key: Key,
        leaf_of: Callable[..., bytes],
        *of: object,
    ) -> None:
        _, _, author, proof = said
        if proof is None and author == self._me:
            self.leaves[key] = leaf_of(*of)
        elif self._is_to_be_said_anew(*said):
            self.witnessed[key] = leaf_of(*of)
            self._anew.add(key)

    def _note(
        self, author: NodeId, wall_ms: int, key: Key, leaf_of: Callable[..., bytes], *of: object
    ) -> None:
        if author == self._me:
            self.leaves[key] = leaf_of(*of)
        elif wall_ms <= self._witnessed_ms:
            self.witnessed[key] = leaf_of(*of)

    def _wishes(self, life: Life) -> Iterator[Wish]:
        """Those of a life, and this node's own for what was wished before wishes had authors."""
        yield from life.wishes
        if self._witnessed_ms:
            told = {wish.kind: wish.value for wish in life.wishes}
            for kind, value in (
                (RETRY, life.generation),
                (FLOOR, life.floor),
                (CANCEL, life.cancel),
            ):
                least = max(1, life.floor) if kind == RETRY else 0
                if value > max(told.get(kind, 0), least):
                    yield Wish(kind, value, self._me)

    def _retried(self, workflow: Workflow) -> Wish | None:
        wish = workflow.retried
        if self._witnessed_ms and workflow.generation > (1 if wish is None else wish.value):
            return Wish(RETRY, workflow.generation, self._me)
        return wish

    # -- putting on ----------------------------------------------------------------------

    def put_on(self, kind: str, subject: str, record: Any) -> Any:
        """Return the record with the proofs that it lacks."""
        if kind == "life":
            return self.life(subject, record)
        return self.workflow(record) if kind == "workflow" else self.pruning(record)

    def life(self, task: TaskId, life: Life) -> Life:
        """Return the life with the proofs made for its runs and wishes, and with the wishes added
        that this node makes its own as they had no author; unchanged where no proof was made."""
        if task not in self.tasks:
            return life
        runs = tuple(self._run(task, run) for run in life.runs)
        proven = [self._wish(task, wish) for wish in self._wishes(life)]
        kept = {wish.kind: wish for wish in life.wishes} | {wish.kind: wish for wish in proven}
        wishes = tuple(kept[kind] for kind in sorted(kept))
        return replace(life, runs=runs, wishes=wishes)

    def workflow(self, workflow: Workflow) -> Workflow:
        """Return the workflow with the proofs made for it and its wishes; unchanged where none was
        made."""
        spec, wish, retried = workflow.spec, workflow.priority, self._retried(workflow)
        name = spec.workflow
        if name not in self.workflows:
            return workflow
        if (proof := self._proof(_spec_key(spec), SIGNED in spec.more)) is not None:
            spec = replace(spec, more=with_proof(spec.more, proof))
        if (proof := self._proof(_priority_key(name, wish), wish.proof is not None)) is not None:
            wish = replace(wish, proof=proof)
        tasks = tuple(self._task_priority(name, each) for each in workflow.tasks)
        again = None if retried is None else self._wish(name, retried)
        return Workflow(spec, wish, workflow.generation, tasks, again)

    def _task_priority(self, workflow: WorkflowId, told: TaskPriority) -> TaskPriority:
        key = _priority_key(workflow, told.wish, told.task)
        proof = self._proof(key, told.wish.proof is not None)
        return told if proof is None else replace(told, wish=replace(told.wish, proof=proof))

    def pruning(self, pruning: Pruning) -> Pruning:
        """Return the pruning with a proof; itself where it has one, or this node has none for it."""
        proof = self._proof(_pruning_key(pruning), pruning.proof is not None)
        return pruning if proof is None else replace(pruning, proof=proof)

    def _run(self, task: TaskId, run: Run) -> Run:
        proof = self._proof(_run_key(task, run), SIGNED in run.more)
        return run if proof is None else replace(run, more=with_proof(run.more, proof))

    def _wish(self, subject: str, wish: Wish) -> Wish:
        proof = self._proof(_wish_key(subject, wish), wish.proof is not None)
        return wish if proof is None else replace(wish, proof=proof)

    def _proof(self, key: Key, has_one: bool) -> Proof | None:
        return None if has_one and key not in self._anew else self._proofs.get(key)


def _run_key(task: TaskId, run: Run) -> Key:
    name: RunName = run_name(run)
    return ("run", task, name, run.revision, run.stamp)


def _spec_key(spec: WorkflowSpec) -> Key:
    return ("workflow", spec.workflow, spec.submitted, spec.host)


def _priority_key(workflow: WorkflowId, wish: PriorityWish, task: TaskId = "") -> Key:
    return ("priority", workflow, task, wish.revision, wish.host, wish.value)


def _wish_key(subject: str, wish: Wish) -> Key:
    return ("wish", subject, wish.kind, wish.value, wish.by)


def _pruning_key(pruning: Pruning) -> Key:
    return ("pruning", pruning.workflow, pruning.generation, pruning.stamp)


# ---- Where messages carry records ----

Change = Callable[[str, str, Any], Any]


def _records(message: Any, change: Change) -> Any:
    lives = tuple(_part(part, change) for part in message.lives)
    workflows = tuple(change("workflow", "", each) for each in message.workflows)
    if isinstance(message, Enqueue):
        return replace(message, lives=lives, workflows=workflows)
    prunings = tuple(change("pruning", "", each) for each in message.prunings)
    return replace(message, lives=lives, workflows=workflows, prunings=prunings)


def _part(part: Any, change: Change) -> Any:
    life = change("life", part.task, part.life)
    return part if life is part.life else replace(part, life=life)


def _parts(parts: Iterable[R], change: Change) -> tuple[R, ...]:
    return tuple(_part(each, change) for each in parts)


_PARTS: dict[type, Callable[[Any, Change], Any]] = {
    Enqueue: _records,
    State: _records,
    Records: _records,
    TakeTask: lambda told, change: replace(
        told, workflow=change("workflow", "", told.workflow), lives=_parts(told.lives, change)
    ),
    AlreadyFinished: lambda told, change: replace(
        told, pruning=change("pruning", "", told.pruning)
    ),
    TryDequeue: lambda told, change: replace(told, claims=_parts(told.claims, change)),
    ClaimAnswers: lambda told, change: replace(told, known=_parts(told.known, change)),
}


def _mapped(message: Message, change: Change) -> Message:
    changed: Message = _PARTS[type(message)](message, change)
    return changed
