"""Rules of somebody central: work queues with replication (WQR, WQR-FA), and by failure rate (FR).

Source: document 003, section 4.3.1 (algorithm 4, equation 4.10). In WQR each task goes to a free host
that is drawn by lot. Once nothing waits, hosts that are free run copies of what is running, up to 2 or
4 of each task; the first end cancels the others.

WQR-FA gives it to the best free host. The score is a lower bound for how long the host stays: of m
past times that it was up, sorted, the k-th, with the largest k for which a binomial with m draws and
the chance q = 0.05 is at most k with a probability of at most 1 - C = 0.02. Below 77 past times
there is none, and the host counts as one that is about to go.

FR (section 4.3.2, algorithm 5, after Amoon) gives the task at the head to the free host with the least
(length / speed) x (1 + failed / (done + failed)).
"""

from __future__ import annotations

from functools import cache
from math import comb, log
from typing import ClassVar, Final

from agent.protocol.policy.placing import HostPast, Placing, Waiting

QUANTILE: Final = 0.05
DOUBT: Final = 0.02


class Replication2(Placing):
    name = "WQR-2"
    runs: ClassVar[int] = 2
    looks_every_s = 0.0


class Replication4(Replication2):
    name = "WQR-4"
    runs = 4


class LastingReplication2(Replication2):
    name = "WQR-FA-2"

    def score(self, task: Waiting, host: HostPast) -> float:
        """Return for how many seconds the host stays at least, as far as its past tells, or as it
        foretells that itself; 0 where its past is too short to tell."""
        if host.foretold:
            return -log(1 - QUANTILE) / host.failure_rate
        at = _place(len(host.spans_s))
        return host.spans_s[at] if at >= 0 else 0.0


class LastingReplication4(LastingReplication2):
    name = "WQR-FA-4"
    runs = 4


class FailureRate(Placing):
    name = "FR"
    looks_every_s = 0.0

    def score(self, task: Waiting, host: HostPast) -> float:
        """Return the expected time, negative, so that the shortest is the best."""
        begun = host.done + host.broken_off
        failing = host.broken_off / begun if begun else 0.0
        return -task.length_s / host.speed * (1 + failing)


@cache
def _place(spans: int) -> int:
    """The largest k of the bound, -1 where there is none."""
    chance, place = 0.0, -1
    for k in range(spans + 1):
        chance += comb(spans, k) * (1 - QUANTILE) ** (spans - k) * QUANTILE**k
        if chance > DOUBT:
            break
        place = k
    return place
