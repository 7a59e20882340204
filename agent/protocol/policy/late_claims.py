"""Who claims late may still win a task of whoever has just begun it; and who asks for unknown tasks.

Source: document 004. A free host claims the task at the head and waits for 15 s; of several claims the
least (``ClaimOfSource``) gets it, the next the task behind it. A claim that comes when the task runs
already is *late*: if it is less than the one by which the task runs, that host stops and takes another;
who loses goes for the next task in the same manner, until it wins or finds one that nobody runs. Who hears
of a task that it does not know asks the others for it: always, only where there are enough of them, or
never.

**Where we differ.** The source ends a run however far it has come. Here only one that has just begun is
taken over, or one whose program saves its state; only once; and only by a host for which nothing waits.
What a battery tells of a phone, how likely a machine stays free tells of a workstation, so that is the
score. And the host of the run gives it back itself once it sees who is better, then the task is claimed as
any other: at no time two run it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from agent.protocol.policy.competition import Competition

WINDOW_S: Final = 15.0
ENOUGH: Final = 3
"""So many devices, this one included, and an unknown task is asked for."""


class ClaimOfSource(NamedTuple):
    """What a claim says in the source, the least of several wins: how often the task was begun, what the
    host's battery lacks, the host's rank, when, and from which address."""

    begun: int
    battery_lacks: int
    rank: int
    stamp: int
    address: str


class LateClaims(Competition):
    name = "late-claims"
    gathers_s = WINDOW_S
    just_begun = 0.05


Asks = Callable[[int], bool]
"""Tells whether to ask for a task that is not known, where there are so many devices."""


def always(devices: int) -> bool:
    """Return True: a task that is not known is asked for however few devices there are."""
    del devices
    return True


def among_enough(devices: int) -> bool:
    """Ask where enough are there that one will know."""
    return devices >= ENOUGH


def never(devices: int) -> bool:
    """Wait until somebody tells of it."""
    del devices
    return False


STRATEGIES: Final[dict[str, Asks]] = {
    "Always": always,
    "DependsOnDevicesNum": among_enough,
    "Never": never,
}
