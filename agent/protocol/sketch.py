"""A sketch of the lengths of runs that are alike: a histogram of quarter octaves, host by host.

64 runs later a run counts half. It has whole numbers only. A run that did not end well took *longer
than* it ran: it counts as those that took longer, or as long again where there are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

from msgspec import Struct

from agent.protocol.host_speeds import OnHost
from agent.protocol.records import EXPECTED_MS, NodeId

HALF_LIFE_RUNS = 64
LATE_MS, NEAR_MS = 250, 1
"""Ends come so late without meaning anything; then they are expected at once."""
LENGTH_MS_MAX = 2**40
AS_DEVIATION = 1.2533
"""A standard deviation is so many times the mean distance from the middle."""
_GROWTH = tuple(round(1024 * 2 ** (n / HALF_LIFE_RUNS)) for n in range(HALF_LIFE_RUNS))
_SHIFT = 8


def quarter_octave(ms: int) -> int:
    """Return the number of the bin of a length, the same on all machines: four for each doubling."""
    return (max(1, ms) ** 4).bit_length() - 1


NO_FACTORS: Mapping[NodeId, float] = {}
Atoms = tuple[tuple[int, int, int], ...]
"""Bins in order: their weights, the mean lengths in them, where they end."""


class Length(Struct, frozen=True, gc=False):
    """How long a task takes: one of ten at most ``q10_ms``, half of them ``q50_ms``, nine of ten
    ``q90_ms``. ``source`` says on what that stands: so many ``runs``, what was "told", or "none":
    then it is only there to have a number to go on, and is never shown."""

    q10_ms: int
    q50_ms: int
    q90_ms: int
    runs: int
    source: str

    def times(self, factor: float) -> Length:
        """Return these lengths multiplied by ``factor``, at least 1 ms each."""
        if factor == 1.0:
            return self
        low, middle, high = (
            max(1, round(each * factor)) for each in (self.q10_ms, self.q50_ms, self.q90_ms)
        )
        return Length(low, middle, high, self.runs, self.source)


class Sketch:
    """The lengths of runs that are alike."""

    __slots__ = ("_age", "_bins", "_ran", "runs")

    def __init__(self) -> None:
        self.runs = 0
        """How many ended well."""
        self._bins: dict[tuple[NodeId, int], tuple[int, int]] = {}
        self._ran: dict[NodeId, int] = {}
        self._age = 0

    def note(self, ran_ms: int, host: NodeId = "") -> None:
        """Count a run that took so long."""
        self.runs += 1
        self._ran[host] = self._ran.get(host, 0) + 1
        self._add(ran_ms, host, self._weight())

    def note_longer(self, ran_ms: int, host: NodeId = "") -> None:
        """Count a run that was broken off after ``ran_ms`` as one that takes longer, spread over
        the longer lengths seen, or as twice that where none was."""
        weight, first = self._weight(), quarter_octave(ran_ms) + 1
        longer = {each: bin_[0] for each, bin_ in self._bins.items() if each[1] >= first}
        whole = sum(longer.values())
        if not whole:
            self._add(2 * ran_ms, host, weight)
        for each, share in longer.items():
            had, total = self._bins[each]
            more = weight * share // whole
            self._bins[each] = (had + more, total + more * total // had)

    def _add(self, ms: int, host: NodeId, weight: int) -> None:
        ms = min(max(1, ms), LENGTH_MS_MAX)
        place = (host, quarter_octave(ms))
        had, total = self._bins.get(place, (0, 0))
        self._bins[place] = (had + weight, total + ms * weight)

    def on_hosts(self) -> dict[NodeId, OnHost]:
        """Return by host what lengths its runs had; hosts on which none ended well are left out."""
        found: dict[NodeId, list[tuple[float, int]]] = {}
        for (host, _), (had, total) in sorted(self._bins.items()):
            if had and host in self._ran:
                found.setdefault(host, []).append((log2(max(1, total // had)), had))
        return {host: _on_host(self._ran[host], lengths) for host, lengths in found.items()}

    def _weight(self) -> int:
        """Of the next one: later ones weigh more, which is as if the earlier ones faded."""
        age = self._age
        if age >= _SHIFT * HALF_LIFE_RUNS:
            age -= _SHIFT * HALF_LIFE_RUNS
            faded = {
                each: (had >> _SHIFT, total >> _SHIFT) for each, (had, total) in self._bins.items()
            }
            self._bins = {each: bin_ for each, bin_ in faded.items() if bin_[0]}
        self._age = age + 1
        return _GROWTH[age % HALF_LIFE_RUNS] << age // HALF_LIFE_RUNS

    @property
    def last_weight(self) -> int:
        """How much the last one counts."""
        turns, step = divmod(max(0, self._age - 1), HALF_LIFE_RUNS)
        return _GROWTH[step] << turns

    def atoms(self, factors: Mapping[NodeId, float] = NO_FACTORS) -> Atoms:
        """Return the counted lengths, the shortest first, those of each host divided by its factor,
        where one is given."""
        bins: dict[int, tuple[int, int]] = {}
        for (host, place), (had, total) in sorted(self._bins.items()):
            usual, at = total, place
            if (factor := factors.get(host, 1.0)) != 1.0:
                usual = max(had, round(total / factor))
                at = quarter_octave(usual // had)
            before = bins.get(at, (0, 0))
            bins[at] = (before[0] + had, before[1] + usual)
        return tuple(
            (had, total // had, bin_end_ms(place)) for place, (had, total) in sorted(bins.items())
        )


def _on_host(runs: int, lengths: list[tuple[float, int]]) -> OnHost:
    """The middle is the median, which one run that was quite another thing does not move; it makes it
    less certain. Few runs lie closer to their own middle than to the true one."""
    middle, whole = _median(lengths), sum(weight for _, weight in lengths)
    spread = AS_DEVIATION * sum(abs(each - middle) * weight for each, weight in lengths) / whole
    return OnHost(runs, middle, spread**2 * runs / max(1, runs - 1))


def _median(values: list[tuple[float, int]]) -> float:
    half = sum(weight for _, weight in values) / 2
    for value, weight in values:
        half -= weight
        if half <= 0:
            return value
    return values[-1][0]


def bin_end_ms(place: int) -> int:
    """Return below which length a bin ends."""
    return int(2 ** ((place + 1) / 4))


def quantile_ms(atoms: Atoms, permille: int) -> int:
    """Return the length in milliseconds that ``permille`` of the runs do not exceed; there must be
    some."""
    wanted, passed = sum(each[0] for each in atoms) * permille, 0
    for weight, mean_ms, _ in atoms:
        passed += weight
        if passed * 1000 >= wanted:
            return mean_ms
    return atoms[-1][1]


def remaining_ms(atoms: Atoms, ran_ms: int) -> int:
    """Return how many milliseconds longer a run takes on average that has taken ``ran_ms`` so far,
    at least 1: by those that took longer, as long again where none did, what is left of a usual
    guess where nothing is known."""
    weights = rest = 0
    for weight, mean_ms, end_ms in atoms:
        if mean_ms > ran_ms:
            left_ms = mean_ms - ran_ms
        elif ran_ms <= mean_ms + LATE_MS:
            left_ms = NEAR_MS
        elif ran_ms < end_ms:
            left_ms = (end_ms - ran_ms) // 2
        else:
            continue
        weights, rest = weights + weight, rest + weight * max(1, left_ms)
    if weights:
        return max(1, rest // weights)
    return max(1, ran_ms) if atoms else max(EXPECTED_MS - ran_ms, ran_ms)


def mean_ms(atom: tuple[int, int, int]) -> int:
    """Return the mean length of a bin."""
    return atom[1]
