"""Tasks go to hosts in the order in which these last, so that each takes what it is best at (ours).

Source: our own. A host that fails at the rate r spends (e^(rl) - 1) / r on a task of length l until it
has run to its end, all attempts together; what it makes of its time falls with r x l. The least is
thrown away when the longest tasks go to the hosts that last, and the shortest to the others. How far
down each host may reach is reckoned from all that waits: hosts are filled with tasks, those that last
with the longest first, until each has as much as the others. Within what it may take a host begins
with the longest, so that what is left at the end is short and can be taken by any.

A task that had run for longer than its length when it was broken off is longer than was said.

Of a host that has not failed yet not much is known: it counts as one that fails within about as long
as it has been there. When nothing waits, hosts that are free run copies of what is expected to go on
for longest. Nothing is gathered and nobody looks again: an end tells all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import expm1, log2
from typing import ClassVar, Final

from agent.protocol.policy.placing import HostPast, Placing, Waiting

UNKNOWN_S: Final = 5_000.0
"""A host that has just come counts as one that fails within this."""
NEARLY: Final = 1.25
"""Hosts that fail by so much more often count as alike."""
LONGER: Final = 1.5
"""Times what it had run: what is longer than thought is expected to take so long."""
ROUNDS: Final = 30


class Lasting(Placing):
    name = "ours"
    runs: ClassVar[int] = 5
    looks_every_s = 0.0

    def score(self, task: Waiting, host: HostPast) -> float:
        """Return what the host makes of its time while it runs the task, between 0 and 1."""
        return worth(host.failure_rate * length_s(task) / host.speed)


def length_s(task: Waiting) -> float:
    """Return how long the task takes, as far as is known: longer than it has run already."""
    return task.length_s if task.ran_s <= task.length_s else LONGER * task.ran_s


def rounded_s(length: float) -> float:
    """Return the middle of the quarter octave in which a length lies: so many lengths are enough."""
    return float(2 ** ((int(log2(max(length, 1.0)) * 4) + 0.5) / 4))


def rate(host: HostPast, now_s: float) -> float:
    """Return at which rate the host fails, as far as it can be known by now."""
    return (len(host.spans_s) + 1) / (host.up_s + now_s - host.up_since_s + UNKNOWN_S)


def worth(failures: float) -> float:
    """Return which share of its time a host makes use of with tasks during which it fails so often
    on the average."""
    return failures / expm1(failures) if failures > 1e-9 else 1.0


def reach(rates: Sequence[float], waiting: Mapping[float, float]) -> dict[float, float]:
    """Return for each length that waits the highest rate of failures at which a host should take
    it, ``NEARLY`` allowed for. ``rates`` are those of all hosts, sorted; ``waiting`` is how much
    work of each length waits; neither may be empty."""
    lengths = sorted(waiting, reverse=True)
    least_s, most_s = 0.0, 2 * sum(waiting.values()) / len(rates) + 1.0
    while not _filled(rates, lengths, waiting, most_s)[1]:
        least_s, most_s = most_s, 2 * most_s
    for _ in range(ROUNDS):
        middle_s = (least_s + most_s) / 2
        if _filled(rates, lengths, waiting, middle_s)[1]:
            most_s = middle_s
        else:
            least_s = middle_s
    return {
        each: highest * NEARLY
        for each, highest in _filled(rates, lengths, waiting, most_s)[0].items()
    }


def _filled(
    rates: Sequence[float], lengths: Sequence[float], waiting: Mapping[float, float], time_s: float
) -> tuple[dict[float, float], bool]:
    """Which hosts get how far in this time, each after those that last longer; and whether that is
    enough."""
    highest: dict[float, float] = {}
    at, rest_s = 0, waiting[lengths[0]]
    for each in rates:
        free_s = time_s
        while at < len(lengths):
            highest[lengths[at]] = each
            needed_s = rest_s / max(worth(each * lengths[at]), 1e-9)
            if needed_s > free_s:
                rest_s -= free_s * worth(each * lengths[at])
                break
            free_s -= needed_s
            at += 1
            rest_s = waiting[lengths[at]] if at < len(lengths) else 0.0
        if at == len(lengths):
            return highest, True
    return highest, False
