"""Whether a machine leaves a task to others that are better off: five strategies of fairness.

Source: document 002, section 3.2. Each machine knows how well its neighbours are off, as a number of
which more is better, and takes no task while that of others is better: while anybody's is (*not best*),
everybody's (*worst*), that of the average, or of most (*majority*, and *equal or worse*, where ties count
as better). Neighbours are those before and behind it when all are sorted into a ring. What nobody takes
for 10 s times the number of machines that could is anybody's, or all might wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

LEFT_S: Final = 10.0
"""For each machine that could take it, a task is left lying so long at most."""

Strategy = Callable[[float, Sequence[float]], bool]
"""Tells whether to refrain, from the own number and those of the neighbours, of which there are some."""


def _never(own: float, others: Sequence[float]) -> bool:
    del own, others
    return False


def _not_best(own: float, others: Sequence[float]) -> bool:
    return any(each > own for each in others)


def _worst(own: float, others: Sequence[float]) -> bool:
    return all(each > own for each in others)


def _worse_than_average(own: float, others: Sequence[float]) -> bool:
    return sum(others) / len(others) > own


def _worse_than_most(own: float, others: Sequence[float]) -> bool:
    return 2 * sum(each > own for each in others) > len(others)


def _no_better_than_most(own: float, others: Sequence[float]) -> bool:
    return 2 * sum(each >= own for each in others) > len(others)


STRATEGIES: Final[dict[str, Strategy]] = {
    "no fairness": _never,
    "not best": _not_best,
    "worst": _worst,
    "worse than average": _worse_than_average,
    "worse than the majority": _worse_than_most,
    "equal or worse than the majority": _no_better_than_most,
}


def neighbours(ring: Sequence[str], own: str, group: int) -> list[str]:
    """Return who is in a group of this size with a machine of the ring, itself not counted: as many
    before as behind it, one more behind where that is odd. All others where the group is as large
    as the ring. Raise ``ValueError`` for a machine that is not in the ring."""
    here, count = ring.index(own), len(ring)
    others = min(group, count) - 1
    before, behind = others // 2, others - others // 2
    places = [*range(here - before, here), *range(here + 1, here + behind + 1)]
    return [ring[place % count] for place in places]
