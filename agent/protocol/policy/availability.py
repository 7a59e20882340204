"""How likely a result can be had, from how long its holders stay up and down.

Source: document 003, chapter 3, which models a group of n nodes that hold the same data, of which k
must answer, as a Markov process.

* **Transient failures** (equation 3.3): a node that is away comes back with what it held. The group
  answers while at least k of n are there.
* **Memory-less failures** (3.4 to 3.11, figure 3.7): a node comes back with an empty disk. It is then
  *there but bare* until a read repairs what is read, or its repair after the start, which wants
  all others there, is done. Once nobody whole is left the data is lost for good; how long that takes
  is the mean time to failure. A request counts as answered when at least one of the k that it asks
  is whole.

A flock needs k = 1: contents are named by their hash, so one holder is as good as all of them. Its
machines differ, which the source's do not; ``reachable`` is equation 3.3 for k = 1 with a share of
its own for each holder, ``by_copies`` the mean of that over all who may hold it.

Rates lie many orders of magnitude apart (a disk fails within years, a repair takes seconds), and the
time to failure is a difference of nearly equal numbers. So the second model is reckoned in fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, log, prod

State = tuple[int, int]
"""How many nodes are there but bare, and how many are away."""


def of_group(nodes: int, needed: int, up_s: float, down_s: float) -> float:
    """Return the share of time in which at least ``needed`` of the nodes are there, each of which
    is up (more than 0) and down for these times on average and comes back with what it held."""
    ratio = down_s / up_s
    failed = range(nodes - needed + 1, nodes + 1)
    return 1 - sum(comb(nodes, i) * ratio**i for i in failed) * (1 + ratio) ** -nodes


def reachable(shares: Iterable[float]) -> float:
    """Return the share of time in which at least one of the holders is there, given the share of
    each; 0 without a holder."""
    return 1 - prod(1 - each for each in shares)


def by_copies(shares: Sequence[float], most: int) -> tuple[float, ...]:
    """Return in which share of the time a result can be had that has 1, 2, … copies, at most so many
    and one on each machine, given the share of time in which each machine is there: the mean over all
    the machines on which they may lie."""
    nobody = [1.0]  # by how many of the machines: over all sets of them, that all are away, summed
    for each in shares:
        before = [0.0, *nobody]
        nobody = [a + b * (1 - each) for a, b in zip([*nobody, 0.0], before, strict=True)]
    copies = range(1, min(most, len(shares)) + 1)
    return tuple(1 - nobody[each] / comb(len(shares), each) for each in copies)


def least_copies(available: Sequence[float], goal: float, at_least: int) -> int:
    """Return the least number of copies, but ``at_least`` so many, with which a result can be had
    in this share of the time; where none is enough the most that there can be, or ``at_least`` if
    that is more. ``available`` are the shares with 1, 2, … copies."""
    enough = (n for n, share in enumerate(available, 1) if n >= at_least and share >= goal)
    return next(enough, max(at_least, len(available)))


@dataclass(frozen=True, slots=True)
class Repairs:
    """How soon a node that came back bare holds its data again, and notices that it is to.

    ``read_rate``: reads of one object a second. ``objects``: how many the node holds.
    """

    members: int
    read_rate: float
    objects: int
    start_s: float = 5.0

    def news_s(self) -> float:
        """Return how long it takes until all members know that the node is back (3.5)."""
        return log(self.members, 3) + log(log(self.members))

    def by_read(self) -> float:
        """Return the rate at which reads repair an object (3.6)."""
        return 1 / (1 / self.read_rate + self.news_s())

    def at_start(self, nodes: int) -> float:
        """Return the rate at which the repair after a start is done in a group of this size
        (3.7, 3.12)."""
        return 1 / (exp(0.3465 * nodes + 0.002448 * self.objects + 0.3851) + self.news_s())


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long data lasts when nodes come back bare: the mean time until none is left, and in which
    share of that time it can be had, for each number of nodes that must answer, from 1."""

    until_lost_s: float
    answered: tuple[float, ...]


def lifetime(nodes: int, up_s: float, down_s: float, repairs: Repairs) -> Lifetime:
    """Return how long data on so many nodes lasts that come back bare, from when all are whole.
    Raise ``ValueError`` for fewer than two members, ``ZeroDivisionError`` for an ``up_s`` or a read
    rate of 0."""
    spent = _time_spent(nodes, up_s, down_s + repairs.start_s, repairs)
    until_lost = sum(spent.values())
    answered = tuple(
        float(sum(time * _answers(nodes, needed, state) for state, time in spent.items()))
        / float(until_lost)
        for needed in range(1, nodes + 1)
    )
    return Lifetime(float(until_lost), answered)


def _answers(nodes: int, needed: int, state: State) -> Fraction:
    """The share of requests that reach somebody whole (3.11)."""
    bare, away = state
    if needed == nodes:
        return Fraction(away == 0)
    return Fraction(comb(nodes - away, needed) - comb(bare, needed), comb(nodes, needed))


def _moves(
    nodes: int, state: State, up_s: float, down_s: float, repairs: Repairs
) -> Iterator[tuple[State, float]]:
    bare, away = state
    yield (bare, away + 1), (nodes - bare - away) / up_s
    if bare:
        yield (bare - 1, away + 1), bare / up_s
        yield (0, away), repairs.by_read() + (repairs.at_start(nodes) if not away else 0.0)
    if away:
        yield (bare + 1, away - 1), away / down_s


def _time_spent(nodes: int, up_s: float, down_s: float, repairs: Repairs) -> dict[State, Fraction]:
    """How long the group is in each state before it is lost: leaving balances coming in."""
    states = [(bare, away) for bare in range(nodes) for away in range(nodes - bare)]
    place = {state: row for row, state in enumerate(states)}
    flow = [[Fraction(0)] * (len(states) + 1) for _ in states]
    for state, row in place.items():
        for target, rate in _moves(nodes, state, up_s, down_s, repairs):
            flow[row][row] += Fraction(rate)
            if target in place:
                flow[place[target]][row] -= Fraction(rate)
    flow[0][-1] = Fraction(1)
    return dict(zip(states, _solved(flow), strict=True))


def _solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """The solution of linear equations, the constant of each behind its factors."""
    for at in range(len(rows)):
        pivot = next(row for row in range(at, len(rows)) if rows[row][at])
        rows[at], rows[pivot] = rows[pivot], rows[at]
        factor = rows[at][at]
        rows[at] = [value / factor for value in rows[at]]
        for row, values in enumerate(rows):
            if row != at and values[at]:
                factor = values[at]
                rows[row] = [a - factor * b for a, b in zip(values, rows[at], strict=True)]
    return [row[-1] for row in rows]
