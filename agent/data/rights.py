"""Who may have data: whose work they are, whom that is shared with, who runs it, and administrators.

Every member knows the hashes of all data from the table, so a hash opens nothing. Data belong to the
workflow that named them first (``agent.protocol.origins``); whoever submits another one that names them
gets at them, by its tasks or by running them, only where he may read that first one, or has shown that he
has them: his machine tells with the workflow what only the content gives (``agent.data.possession``), and
each machine that has the content too compares. Two people who hand in the same file need not know of
each other.

Programs that come with work are for all, who have to judge them before they run them. A machine that is
told among the holders of a result may fetch it again, as its copy may have been damaged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator

from agent.data.possession import possession, proofs, proofs_in
from agent.net.acts import ADMINISTRATOR
from agent.protocol.identity import is_shared_with, submitted_by
from agent.protocol.node import Node
from agent.protocol.records import (
    DatasetId,
    More,
    NodeId,
    TaskId,
    Terminated,
    WorkflowId,
    WorkflowSpec,
)
from agent.storage.datasets.store import DatasetStore

SHOWN_MAX = 20_000

log = logging.getLogger(__name__)


class DataRights:
    """Answers from the table as it is; what is shown by content is looked at meanwhile."""

    def __init__(self, me: NodeId, node: Node, store: DatasetStore, role: Callable[[NodeId], str]):
        self._me, self._node, self._store, self._role = me, node, store, role
        self._shown: dict[tuple[WorkflowId, DatasetId], bool] = {}
        self._looking: dict[tuple[WorkflowId, DatasetId], asyncio.Task[None]] = {}
        self._brought: dict[tuple[NodeId, DatasetId], None] = {}

    def may_have(self, peer: NodeId, dataset: DatasetId) -> bool:
        """Tell whether this member may fetch the dataset here now; a moment later more may be known."""
        if not self._node.signs or peer == self._me or self._role(peer) == ADMINISTRATOR:
            return True
        if (peer, dataset) in self._brought:
            return True
        first = self._first(dataset)
        if first is None:
            return False
        if self._reads(first, peer) or _is_program(first, dataset):
            return True
        return self._keeps(first, peer, dataset) or any(
            self._lends(self._spec(task), dataset) for task in self._runs(peer, dataset)
        )

    def may_take(self, task: TaskId, dataset: DatasetId) -> bool:
        """Tell whether a task may be given what lies on this disk: its submitter could read it in
        what it makes."""
        return not self._node.signs or self._lends(self._spec(task), dataset)

    def brought(self, peer: NodeId, dataset: DatasetId) -> None:
        """Note that a member has brought the data, and so may name them."""
        while len(self._brought) >= SHOWN_MAX:
            del self._brought[next(iter(self._brought))]
        self._brought[peer, dataset] = None

    def not_for(
        self, asker: NodeId, given: Collection[DatasetId], tasks: Collection[TaskId]
    ) -> WorkflowSpec | None:
        """Return whose data or results a submission names that are not for who submits it here; None
        where all are. Who sits here may name what lies here."""
        table = self._node.table
        specs = [self._spec(task) for task in tasks if task in table.workflow_of]
        for dataset in given:
            has = asker == self._me and self._store.has(dataset)
            first = self._first(dataset)
            if first is not None and not (has or (asker, dataset) in self._brought):
                specs += [] if _is_program(first, dataset) else [first]
        if not self._node.signs or self._role(asker) == ADMINISTRATOR:
            return None
        return next((each for each in specs if not self._reads(each, asker)), None)

    async def shown(
        self, asker: NodeId, given: Collection[DatasetId], workflow: WorkflowId
    ) -> More:
        """Return what a workflow carries to show that its submitter has data that others have handed
        in too. Raise ``OSError`` where they cannot be read."""
        firsts = [(each, self._first(each)) for each in given]
        theirs = [each for each, first in firsts if first and not self._reads(first, asker)]
        return await asyncio.to_thread(proofs, self._store, theirs, workflow) if theirs else {}

    def close(self) -> None:
        """Look at no content any more."""
        for looking in self._looking.values():
            looking.cancel()

    def _spec(self, task: TaskId) -> WorkflowSpec:
        table = self._node.table
        return table.workflows[table.workflow_of[task]].spec

    def _first(self, dataset: DatasetId) -> WorkflowSpec | None:
        found = self._node.table.workflows.get(self._node.origins.of(dataset))
        return None if found is None else found.spec

    def _reads(self, spec: WorkflowSpec, node: NodeId) -> bool:
        role, people = self._role(node), self._node.people
        owns = any(people.owns(node, each) for each in (submitted_by(spec), spec.host))
        return owns or role == ADMINISTRATOR or is_shared_with(spec, node, role, people)

    def _lends(self, spec: WorkflowSpec, dataset: DatasetId) -> bool:
        """Whoever submitted this work may read the data: the machine that signed it, and for whom it says
        that it did. What was submitted here was looked at then."""
        first = self._first(dataset)
        if first is None or first.workflow == spec.workflow or _is_program(first, dataset):
            return True
        owners = {spec.host, submitted_by(spec)}
        may = spec.host == self._me or all(self._reads(first, each) for each in owners)
        return may or self._has_shown(spec, dataset)

    def _runs(self, peer: NodeId, dataset: DatasetId) -> Iterator[TaskId]:
        """Tasks that it runs, or was promised, and that take the dataset."""
        node = self._node
        for task in node.work_of(peer):
            saved = (run.checkpoint for run in node.table.life(task).runs)
            if dataset in node.needed(task) or any(s and s.dataset == dataset for s in saved):
                yield task

    def _keeps(self, first: WorkflowSpec, peer: NodeId, dataset: DatasetId) -> bool:
        """Somebody else has told that it keeps a copy of this result."""
        for each in first.tasks:
            reading = self._node.table.reading(each.task)
            run = None if reading is None else reading.outcome
            if run is None or run.host == peer or not isinstance(run.phase, Terminated):
                continue
            if peer in run.phase.holders and dataset in {out.dataset for out in run.phase.outputs}:
                return True
        return False

    def _has_shown(self, spec: WorkflowSpec, dataset: DatasetId) -> bool:
        """The workflow came with what only the content gives; False while that is looked at."""
        key, told = (spec.workflow, dataset), proofs_in(spec.more).get(dataset)
        if told is None or key in self._shown or key in self._looking:
            return self._shown.get(key, False)
        self._looking[key] = asyncio.create_task(self._look(key, told))
        return False

    async def _look(self, key: tuple[WorkflowId, DatasetId], told: bytes) -> None:
        try:
            found = await asyncio.to_thread(possession, self._store, key[1], key[0])
            while len(self._shown) >= SHOWN_MAX:
                del self._shown[next(iter(self._shown))]
            self._shown[key] = found == told
        except OSError as error:
            log.info("%s cannot be compared with what %s tells: %s", key[1], key[0], error)
        finally:
            del self._looking[key]


def _is_program(first: WorkflowSpec, dataset: DatasetId) -> bool:
    published = (each.published for each in first.tasks)
    return any(each is not None and each.dataset == dataset for each in published)
