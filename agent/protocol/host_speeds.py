"""By how much longer each host takes than others: a fit of all runs that are alike, on all hosts.

A run took what its kind takes, times what its host takes longer. Both are found together, in octaves:
what a kind takes is the mean over hosts of what they took less their own part, and a host's part the
mean over its runs of what is left; the host in the middle is neither fast nor slow. So it does not matter
which host ran first or most, and a host that ran only what takes long is not taken for slow.

A kind counts the more, the less its lengths vary on one and the same host: one run of something that takes
now a second and now a minute says little, three runs of what always takes the same say nearly all. What may
well be chance tells of nothing. Among nine hosts one always seems to be the fastest, and a task that is left
for it while others stand idle is late; and as each node has heard a little more or less than the others, each
may take another one for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import NamedTuple

OCTAVES_MAX = 3.0
"""A host is at most eight times as fast, or as slow, as others."""
ROUNDS = 4
DIFFER_BY = 1.0
"""Octaves squared by which hosts of an office differ;"""
VARY_BY, VARY_RUNS = 0.5, 2.0
"""and by which lengths vary on one host before anything is seen, as if that had been so many runs."""
RUNS_COUNTED_MAX = 16.0
OF_MIDDLE = 1.6
"""The middle of few runs varies so many times as much as their mean."""
SAME_WITHIN, CHANCE = 1 / 16, 3.0
"""Octaves that mean nothing, and how many standard errors: such hosts count as equal."""


class OnHost(NamedTuple):
    """The runs of one kind on one host: how many there were, the middle of their lengths in octaves,
    and by how much these vary, squared."""

    runs: int
    middle: float
    variance: float


Runs = Mapping[str, OnHost]


def fitted(kinds: Iterable[Runs]) -> dict[str, float]:
    """Return for each host how many times as long it takes as the host in the middle, fitted to its
    runs of each kind of task: from 1/8 to 8, and 1 for what may be chance. Empty where no kind has
    run on two hosts."""
    told = [kind for kind in kinds if len(kind) > 1]
    if not told:
        return {}
    certain = [1.0 / (OF_MIDDLE * _varies_by(kind)) for kind in told]
    parts = dict.fromkeys(sorted({host for kind in told for host in kind}), 0.0)
    doubts = dict.fromkeys(parts, 0.0)
    for _ in range(ROUNDS):
        weights, sums = dict.fromkeys(parts, 1.0 / DIFFER_BY), dict.fromkeys(parts, 0.0)
        for sure, kind in zip(certain, told, strict=True):
            usual = sum(each.middle - parts[host] for host, each in kind.items()) / len(kind)
            for host, each in kind.items():
                runs = sure * min(each.runs, RUNS_COUNTED_MAX)
                weights[host] += runs
                sums[host] += runs * (each.middle - usual)
        parts = {host: sums[host] / weights[host] for host in parts}
        doubts = {host: sqrt(1.0 / weight) for host, weight in weights.items()}
    usual, ran = sorted(parts.values())[(len(parts) - 1) // 2], dict.fromkeys(parts, 0)
    for kind in told:
        for host, each in kind.items():
            ran[host] += each.runs
    return {host: _factor(part - usual, doubts[host], ran[host]) for host, part in parts.items()}


def _factor(octaves: float, doubt: float, runs: int) -> float:
    """Each run tells of an octave at most; what may well be chance tells of nothing."""
    if abs(octaves) < max(SAME_WITHIN, CHANCE * doubt):
        return 1.0
    most = min(OCTAVES_MAX, runs)
    return float(2.0 ** max(-most, min(most, octaves)))


def _varies_by(kind: Runs) -> float:
    """By how much lengths of one kind vary on one host, in octaves squared. It is seen on each by
    itself: between hosts it would be taken for what they are."""
    varies, free = VARY_BY * VARY_RUNS, VARY_RUNS
    for each in kind.values():
        more = min(each.runs, RUNS_COUNTED_MAX) - 1.0
        varies += more * each.variance
        free += more
    return varies / free
