"""What the driver needs of the world, as interfaces. None of them may call the driver back before
it returns, and none may block; whatever comes of it comes as an event later.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

from agent.protocol.capabilities import WakeAddress
from agent.protocol.effects import (
    Answer,
    CancelFinished,
    CopyCheckpoint,
    CopyOutputs,
    Fetch,
    OutcomeChanged,
    Persist,
    ResumeChild,
    StartChild,
    StopChild,
    SuspendChild,
    TaskMoved,
    TaskProgressed,
    WorkflowGone,
    WorkflowSafe,
)
from agent.protocol.link_reasons import NoLink
from agent.protocol.messages import Message
from agent.protocol.records import NodeId, RunName, TaskId

TaskNotice = (
    TaskMoved | TaskProgressed | OutcomeChanged | WorkflowSafe | WorkflowGone | CancelFinished
)
WithProgram = (
    Fetch | StartChild | SuspendChild | ResumeChild | StopChild | CopyOutputs | CopyCheckpoint
)


class Network(Protocol):
    """Sends to peers over the links that there are."""

    def send(self, peers: Sequence[NodeId], message: Message) -> None:
        """Send to those of these peers that are linked."""

    def unlink(self, peer: NodeId, why: NoLink) -> None:
        """Close the link with a peer."""


class Disk(Protocol):
    """Writes the records of the node."""

    def submit(self, persists: Sequence[Persist]) -> Future[None]:
        """Write these records and return a future that is done when they are on disk, maybe in
        another thread; it fails when the disk refuses."""

    def probe(self) -> Future[bool]:
        """Ask whether the disk takes records again; the future says so."""


class Programs(Protocol):
    """Child processes, and the datasets that they read and write."""

    def fetch(self, effect: Fetch) -> None: ...

    def start(self, effect: StartChild) -> None: ...

    def suspend(self, task: TaskId, run: RunName) -> None: ...

    def resume(self, task: TaskId, run: RunName) -> None: ...

    def stop(self, task: TaskId, run: RunName, reason: str) -> None: ...

    def copy(self, effect: CopyOutputs) -> None: ...

    def copy_checkpoint(self, effect: CopyCheckpoint) -> None: ...


class Power(Protocol):
    """Machines that sleep, and this one."""

    def wake(self, addresses: Sequence[WakeAddress]) -> None:
        """Send what wakes a machine at these addresses, where this one is on their network."""

    def woken(self) -> None:
        """Take note that a peer has woken this machine, for work."""


class NoPower:
    """Of a host that wakes nobody, and does not sleep."""

    def wake(self, addresses: Sequence[WakeAddress]) -> None:
        """Do nothing."""

    def woken(self) -> None:
        """Do nothing."""


class Audience(Protocol):
    """Whoever asked something of the node, and who watches it."""

    def answered(self, answer: Answer) -> None:
        """Take the answer to a client's request."""

    def told(self, notice: TaskNotice) -> None:
        """Take a notice of something that watchers want to know."""

    def stopped(self) -> None:
        """Take note that everything is handed back, and the node does nothing any more."""

    def failed(self, error: BaseException) -> None:
        """Take note that the node is at fault and cannot go on; it has to be stopped."""
