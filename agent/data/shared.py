"""Results in a back end: found there by every node, and committed there once for each task.

What the back end has counts as held by this node, because it can be had without any peer: so work
goes on when whoever made it is gone. The success of a program is handed to the node only after its
outcome is committed; if another run of the same task was first, its outputs are what is delivered.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from agent.protocol.events import ChildNotStarted, ChildSucceeded, DatasetsChanged, Event
from agent.protocol.node import Node
from agent.protocol.reasons import EndCause
from agent.protocol.records import DatasetId, RunName, TaskId, run_name, short_text
from agent.storage.datasets.backend import BackendError, Outcome, Sharing

FOUND_MAX = 100_000
T = TypeVar("T")

log = logging.getLogger(__name__)


async def in_thread(work: Callable[..., T], *args: object) -> T:
    """Return what the work gives, done in a thread, or raise what it raises. Whoever is cancelled
    waits for its end first, so that what it uses can be closed then."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *args))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.gather(working, return_exceptions=True)
        raise


class SharedResults:
    """The back end as the node sees it; in the loop."""

    def __init__(self, sharing: Sharing, node: Node, tell: Callable[[Event], None]) -> None:
        self._sharing, self._node, self._tell = sharing, node, tell
        self._found: dict[DatasetId, None] = {}
        self._committing: set[asyncio.Task[None]] = set()

    async def look_for(self, wanted: Iterable[DatasetId]) -> None:
        """Ask the back end for those of these datasets not known to be there, and tell the node of
        each that is, at once. With ``FOUND_MAX`` known, no more are asked for. Raise
        ``BackendError`` when it cannot be asked; what was told before stays."""
        unknown = [each for each in wanted if each not in self._found]
        for dataset in unknown[: max(0, FOUND_MAX - len(self._found))]:
            if await in_thread(self._sharing.has, dataset):
                self._found[dataset] = None
                self._tell(DatasetsChanged(added=(dataset,)))

    def still_there(self, datasets: tuple[DatasetId, ...]) -> tuple[DatasetId, ...]:
        """Return those of these datasets, which left this disk, that the back end is known to
        have."""
        return tuple(each for each in datasets if each in self._found)

    def note(self, dataset: DatasetId) -> None:
        """Note that the dataset was given to the back end."""
        self._found[dataset] = None

    def commit(self, event: ChildSucceeded, then: Callable[[Event], None]) -> None:
        """Begin to commit the results of a run to the back end and return at once. ``then`` gets
        the success with the outputs that were committed first for its task, or, when the back end
        cannot be used, ``ChildNotStarted``, and nothing after ``close``."""
        task = asyncio.create_task(self._commit(event, then))
        self._committing.add(task)
        task.add_done_callback(self._committing.discard)

    async def close(self) -> None:
        """Cancel the commits under way and wait until the back end has answered; their ``then`` is
        not called. Nothing may be committed after that."""
        for task in list(self._committing):
            task.cancel()
        await asyncio.gather(*self._committing, return_exceptions=True)

    async def _commit(self, event: ChildSucceeded, then: Callable[[Event], None]) -> None:
        outcome = self._outcome(event)
        try:
            first = await in_thread(self._sharing.backend.commit, outcome)
        except BackendError as error:
            why = EndCause("NotCommitted", error=short_text(str(error)))
            then(ChildNotStarted(event.task, event.run, why))
            return
        if first.run != outcome.run:
            log.warning("task %s was committed before, by %s: that counts", event.task, first.run)
        for output in first.outputs:
            if not output.external:
                self.note(output.dataset)
        then(replace(event, outputs=first.outputs))

    def _outcome(self, event: ChildSucceeded) -> Outcome:
        generation, attempt, host, incarnation = event.run
        spec = self._node.table.specs[event.task]
        given = tuple(raw.dataset for raw in spec.raw)
        return Outcome(
            event.task,
            generation,
            f"{generation}.{attempt} by {host} ({incarnation})",
            spec.program,
            "" if spec.published is None else spec.published.dataset,
            (*given, *self._inputs(event.task, event.run)),
            event.outputs,
            int(time.time() * 1000),
        )

    def _inputs(self, task: TaskId, name: RunName) -> tuple[DatasetId, ...]:
        runs = self._node.table.life(task).runs
        return next((run.inputs for run in runs if run_name(run) == name), ())
