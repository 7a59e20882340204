"""Who may have data: whose work they are, whom that is shared with, who runs it, and administrators.

Every member knows the hashes of all data from the table, so a hash opens nothing. Where several workflows
name a dataset (``agent.protocol.origins``), it is for the people of those alone that show that they had
it: with the workflow, or the run that made it, came what only the content gives
(``agent.data.possession``), and each machine that has the content compares. Any of them suffices, so two
people who hand in the same file, or whose programs make the same, need not know of each other; who names
it without having it gets nothing, whenever that was heard.

Programs that come with work are for all, who have to judge them before they run them. A machine that is
told among the holders of a result may fetch it again, as its copy may have been damaged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator

from agent.data.possession import Possession
from agent.net.acts import ADMINISTRATOR
from agent.protocol.identity import is_shared_with, submitted_by
from agent.protocol.node import Node
from agent.protocol.records import DatasetId, NodeId, TaskId, Terminated, WorkflowSpec
from agent.storage.datasets.store import DatasetStore

BROUGHT_MAX = 20_000
SHOWN_MAX = 5_000
"""Of what one submission is given so many are looked at, those first that are others' too."""

log = logging.getLogger(__name__)


class DataRights:
    """Answers from the table as it is; what is shown by content is looked at meanwhile."""

    def __init__(
        self,
        me: NodeId,
        node: Node,
        store: DatasetStore,
        possession: Possession,
        role: Callable[[NodeId], str],
    ) -> None:
        self._me, self._node, self._store, self._role = me, node, store, role
        self._possession = possession
        self._looking: dict[DatasetId, asyncio.Task[None]] = {}
        self._brought: dict[tuple[NodeId, DatasetId], None] = {}

    def may_have(self, peer: NodeId, dataset: DatasetId) -> bool:
        """Tell whether this member may fetch the dataset from here, by what is known now: whoever
        administers may, and anybody in a flock that does not sign; others what is theirs, shared
        with them, brought by them, a program, or input of what they run. False while it is still
        read whose work shows that it had the data."""
        if not self._node.signs or peer == self._me or self._administers(peer):
            return True
        if (peer, dataset) in self._brought:
            return True

        def opens(spec: WorkflowSpec) -> bool:
            return self._reads(spec, peer) or self._keeps(spec, peer, dataset)

        return self._is_for(dataset, opens) or any(
            self._lends(self._spec(task), dataset) for task in self._runs(peer, dataset)
        )

    def may_take(self, task: TaskId, dataset: DatasetId) -> bool:
        """Tell whether a task may be given what lies on this disk: its submitter could read it in
        what it makes."""
        return not self._node.signs or self._lends(self._spec(task), dataset)

    def refused(self, peer: NodeId, dataset: DatasetId) -> None:
        """Count against a member that it asked for a dataset that is not for it; not where the
        dataset's owner is unknown, or the member was promised a task that may take it."""
        node = self._node
        his = [task for task, claimant in node.promises.given if claimant == peer]
        was_at = (self._spec(task) for task in his if dataset in node.needed(task))
        lent = any(self._lends(spec, dataset) for spec in was_at)
        if node.origins.naming(dataset) and not lent:
            node.refuse_data(peer)

    def brought(self, peer: NodeId, dataset: DatasetId) -> None:
        """Note that a member has brought the data, and so may name them."""
        while len(self._brought) >= BROUGHT_MAX:
            del self._brought[next(iter(self._brought))]
        self._brought[peer, dataset] = None

    async def not_for(
        self, asker: NodeId, given: Collection[DatasetId], tasks: Collection[TaskId]
    ) -> WorkflowSpec | None:
        """Return a workflow whose data or results a submission names although the submitter may not
        read them; None where it may read all. A submitter on this machine may name what lies
        here."""
        if not self._node.signs or self._administers(asker):
            return None
        for dataset in given:
            named = self._node.origins.naming(dataset)
            if not named or self._brings(asker, dataset):
                continue
            if len(named) > 1:
                await self._look(dataset)
            if not self._is_for(dataset, lambda each: self._reads(each, asker)):
                return named[0]
        specs = [self._spec(task) for task in tasks if task in self._node.table.workflow_of]
        return next((each for each in specs if not self._reads(each, asker)), None)

    async def shown(self, asker: NodeId, given: Collection[DatasetId], whose: str) -> bytes:
        """Return the proof, for the record named ``whose``, that the asker has these data, as far
        as they lie here and it may read them, and of the first 5,000 only; empty in a flock that
        does not sign. Raise ``OSError`` where they cannot be read."""
        node = self._node
        if not node.signs:
            return b""
        his = [
            each
            for each in given
            if self._brings(asker, each)
            or self._is_for(each, lambda spec: self._reads(spec, asker))
        ]
        his.sort(key=lambda each: not node.origins.naming(each))
        del his[SHOWN_MAX:]

        def look() -> None:
            for each in filter(self._store.has, his):
                self._possession.look(each)

        await asyncio.to_thread(look)
        return self._possession.show(his, whose)

    def close(self) -> None:
        """Look at no content any more."""
        for looking in self._looking.values():
            looking.cancel()

    def _spec(self, task: TaskId) -> WorkflowSpec:
        table = self._node.table
        return table.workflows[table.workflow_of[task]].spec

    def _administers(self, node: NodeId) -> bool:
        return self._role(node) == ADMINISTRATOR and not self._node.people.is_lost(node)

    def _brings(self, asker: NodeId, dataset: DatasetId) -> bool:
        """He sits here and it lies here, or he has brought it."""
        here = asker == self._me and self._store.has(dataset)
        return here or (asker, dataset) in self._brought

    def _reads(self, spec: WorkflowSpec, node: NodeId) -> bool:
        role, people = self._role(node), self._node.people
        if people.is_lost(node):
            return False
        owns = any(people.owns(node, each) for each in (submitted_by(spec), spec.host))
        return owns or role == ADMINISTRATOR or is_shared_with(spec, node, role, people)

    def _lends(self, spec: WorkflowSpec, dataset: DatasetId) -> bool:
        """Whoever submitted this work may read the data: the machine that signed it, and for whom it says
        that it did. What was submitted by who sits here was looked at then."""
        by = submitted_by(spec)
        if by == self._me == spec.host or self._node.origins.is_alone(spec.workflow, dataset):
            return True
        if self._has(spec, dataset):
            return True
        owners = {by} if spec.host == self._me else {by, spec.host}

        def opens(each: WorkflowSpec) -> bool:
            return each is spec or all(self._reads(each, owner) for owner in owners)

        return self._is_for(dataset, opens)

    def _is_for(self, dataset: DatasetId, opens: Callable[[WorkflowSpec], bool]) -> bool:
        """Tell whether a workflow whose data they are opens them, or has them as a program; False while
        that is looked at. Where none shows that it had them, the first here counts."""
        origins, is_open, shut = self._node.origins, list[WorkflowSpec](), list[WorkflowSpec]()
        named = origins.naming(dataset)
        for each in named:
            found = opens(each) or origins.is_program(each.workflow, dataset)
            (is_open if found else shut).append(each)
        if not shut or not is_open:
            return bool(is_open)
        for each in is_open:
            has = self._has(each, dataset)
            if has is not False:
                return has or False
        first = is_open[0] is named[0]
        return first and all(self._has(each, dataset) is False for each in shut)

    def _has(self, spec: WorkflowSpec, dataset: DatasetId) -> bool | None:
        """Whether this workflow shows that it had the data; None while that is looked at."""
        told = list(self._node.origins.shown(spec, dataset))
        if not told:
            return False
        if not self._possession.knows(dataset):
            if dataset not in self._looking:
                self._looking[dataset] = asyncio.create_task(self._look(dataset))
                self._looking[dataset].add_done_callback(lambda _: self._looking.pop(dataset))
            return None
        return any(self._possession.is_in(shown, dataset, whose) for whose, shown in told)

    async def _look(self, dataset: DatasetId) -> None:
        try:
            await asyncio.to_thread(self._possession.look, dataset)
        except OSError as error:
            log.info("what shows that somebody has %s cannot be compared: %s", dataset, error)

    def _runs(self, peer: NodeId, dataset: DatasetId) -> Iterator[TaskId]:
        """Tasks that it runs, or was promised, and that take the dataset."""
        node = self._node
        for task in node.work_of(peer):
            saved = (run.checkpoint for run in node.table.life(task).runs)
            if dataset in node.needed(task) or any(s and s.dataset == dataset for s in saved):
                yield task

    def _keeps(self, spec: WorkflowSpec, peer: NodeId, dataset: DatasetId) -> bool:
        """Somebody else has told that it keeps a copy of this result."""
        for task in self._node.origins.makers(spec.workflow, dataset):
            reading = self._node.table.reading(task)
            run = None if reading is None else reading.outcome
            if run is None or run.host == peer or not isinstance(run.phase, Terminated):
                continue
            if peer in run.phase.holders and dataset in {out.dataset for out in run.phase.outputs}:
                return True
        return False
