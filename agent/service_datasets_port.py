"""Programs and their data as the driver's one port: each request goes to whoever does it."""

from __future__ import annotations

from agent.execution.children import Children
from agent.protocol.effects import CopyCheckpoint, CopyOutputs, Fetch, StartChild
from agent.protocol.records import RunName, TaskId
from agent.service_datasets_transfers import DatasetTransfers


class WorkPort:
    """What ``agent.driver.ports.Programs`` asks for."""

    def __init__(self, children: Children, transfers: DatasetTransfers) -> None:
        self._children, self._transfers = children, transfers

    def fetch(self, effect: Fetch) -> None:
        """Bring the inputs of a run here."""
        self._transfers.fetch(effect)

    def copy(self, effect: CopyOutputs) -> None:
        """Have its outputs on more disks."""
        self._transfers.copy(effect)

    def copy_checkpoint(self, effect: CopyCheckpoint) -> None:
        """Have what it saved on one more disk."""
        self._transfers.copy_checkpoint(effect)

    def start(self, effect: StartChild) -> None:
        """Start the program of a run."""
        self._children.start(effect)

    def suspend(self, task: TaskId, run: RunName) -> None:
        """Stop its processes where they are."""
        self._children.suspend(task, run)

    def resume(self, task: TaskId, run: RunName) -> None:
        """Let them go on."""
        self._children.resume(task, run)

    def stop(self, task: TaskId, run: RunName, reason: str) -> None:
        """End fetching, program and processes; it is told when nothing is left."""
        self._transfers.stop(task, run)
        self._children.stop(task, run, reason)
