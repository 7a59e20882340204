"""Programs and their data as the driver's one port: each request goes to whoever does it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.data.leave import NotAcceptedError
from agent.data.publishing import PublishedPrograms
from agent.data.transfers import DatasetTransfers
from agent.execution.children import Children
from agent.execution.programs import ProgramError
from agent.protocol.effects import StartChild
from agent.protocol.events import ChildFailed, ChildNotStarted, Event
from agent.protocol.reasons import CauseKind, EndCause
from agent.protocol.records import RunName, TaskId, short_text


class WorkPort:
    """Programs and their data for the driver; satisfies ``agent.driver.ports.Programs``."""

    def __init__(
        self,
        children: Children,
        transfers: DatasetTransfers,
        published: PublishedPrograms,
        tell: Callable[[Event], None],
    ) -> None:
        self._children, self._transfers = children, transfers
        self._published, self._tell = published, tell
        self._preparing: dict[tuple[TaskId, RunName], asyncio.Task[None]] = {}
        self.fetch, self.copy = transfers.fetch, transfers.copy
        self.copy_checkpoint = transfers.copy_checkpoint
        self.suspend, self.resume = children.suspend, children.resume

    def start(self, effect: StartChild) -> None:
        """Have the program of a run started, and return at once; how it goes is told as events. One
        that came with the work is laid out first; where that fails, ``ChildNotStarted`` or
        ``ChildFailed`` is told."""
        if effect.spec.published is None:
            self._children.start(effect)
            return
        key = (effect.task, effect.run)
        task = self._preparing[key] = asyncio.create_task(self._prepare_and_start(effect))
        task.add_done_callback(lambda _: self._preparing.pop(key, None))

    def stop(self, task: TaskId, run: RunName, reason: str) -> None:
        """Begin to end fetching, laying out, program and processes of a run, and return at once.
        Its end is told as an event when nothing is left, soon for an unknown run."""
        self._transfers.stop(task, run)
        preparing = self._preparing.pop((task, run), None)
        if preparing is not None:
            preparing.cancel()
        self._children.stop(task, run, reason)

    async def _prepare_and_start(self, effect: StartChild) -> None:
        key = (effect.task, effect.run)
        try:
            await self._published.ready(effect.spec)
        except (OSError, NotAcceptedError) as error:
            self._tell(ChildNotStarted(*key, _of(effect, "ProgramNotReady", error)))
            return
        except ProgramError as error:  # its folder is the same everywhere: it will not get better
            self._tell(ChildFailed(*key, _of(effect, "CannotRun", error)))
            return
        self._preparing.pop((effect.task, effect.run), None)
        self._children.start(effect)


def _of(effect: StartChild, kind: CauseKind, error: Exception) -> EndCause:
    return EndCause(kind, program=effect.spec.program, error=short_text(str(error)))
