"""Why a task is on this machine and on no other: what speaks for the machine that has it, or for the
one that it waits for.

Nothing of it is said where machines are alike. It is told by the node that is asked, from what it
knows; the speed is that on which the claim stood.
"""

from __future__ import annotations

from agent.protocol.reasons import Reason


class RunsFaster(Reason, frozen=True):
    """It takes less time for such tasks than a machine that is neither fast nor slow."""

    speed_percent: int


class FreeUntil(Reason, frozen=True):
    """Its owner is expected about then."""

    until_ms: int


class FreeForLong(Reason, frozen=True):
    """Its owner is not expected within two hours."""


class AlsoOn(Reason, frozen=True):
    """A second run of the task goes on on these machines, and the first end counts."""

    hosts: tuple[str, ...]


Merit = RunsFaster | FreeUntil | FreeForLong | AlsoOn
"""What there is to say for a machine, and of those beside it."""


class TaskFetches(Reason, frozen=True):
    """A machine has it in hand and gets its inputs."""

    task: str
    host: str
    merits: tuple[Merit, ...] = ()


class TaskRuns(Reason, frozen=True):
    """Its program runs."""

    task: str
    host: str
    merits: tuple[Merit, ...] = ()


class LeftFor(Reason, frozen=True):
    """The machine is at work, and will nevertheless end the task sooner than any that is free."""

    host: str
