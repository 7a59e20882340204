"""Why work waits for what the flock shares: versions of programs, seats, and the word of owners.

They are said where people ask, and by the node that finds them; no record carries them. And what the
flock is told of why a machine helps or not.
"""

from __future__ import annotations

from agent.protocol import reasons as told
from agent.protocol.reasons import NO_REASON, Reason

_OF_THE_MACHINE = (
    told.Starting,
    told.SetToAlways,
    told.NobodyAnswered,
    told.OwnWorkOnly,
    told.NobodyUsesIt,
    told.CannotConfine,
    told.NotOfFlock,
    told.HelpsNotNow,
)
"""These say how a machine is set up, and nothing of what its owner does."""


def for_colleagues(reason: Reason) -> Reason:
    """Return the reason as colleagues are told it: as it is where it speaks of the machine alone,
    "does not help now" where it says something of its owner."""
    if reason == NO_REASON or isinstance(reason, _OF_THE_MACHINE):
        return reason
    return told.HelpsNotNow()


class OtherVersion(Reason, frozen=True):
    """It has a program in no such version, or does not say in which; ``needed`` is what the task
    asks for, as ``acme >= 3``, ``installed`` the version that is there."""

    needed: str
    installed: str
    host: str = ""


class OwnerTakesNoWork(Reason, frozen=True):
    """Its owner has banned it: whoever submitted this, the machine it came from, or its program."""

    banned: str
    host: str = ""


class Prioritised(Reason, frozen=True):
    """A person has given it a priority of its own."""

    priority: int


class CopyClaimed(Reason, frozen=True):
    """The host has nothing else to do, and begins a second run beside the first."""

    host: str


class MachineWoken(Reason, frozen=True):
    """The host was asleep, and this node has called it for the work."""

    host: str


class SeatsTaken(Reason, frozen=True):
    """All seats of this name in the flock are taken: by what these hosts run, or are about to.

    A host that runs several such tasks is named for each where the node itself says it, and once
    where people are told.
    """

    seat: str
    most: int
    hosts: tuple[str, ...]


class ResultsDiffer(Reason, frozen=True):
    """Two machines ran it with the same inputs, and what came of it is not the same."""

    host: str
    other: str


class PassedBy(Reason, frozen=True):
    """This host kept a task from beginning without a reason that anybody can see, so that its word
    was not waited for."""

    host: str
