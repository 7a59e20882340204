"""By which factors hosts take longer, program by program, as the sketches of lengths tell (``host_speeds``).

They are fitted again when enough has been learned since: a fit looks at all runs of many kinds, and is
asked for at every plan.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import NamedTuple

from agent.protocol.host_speeds import fitted
from agent.protocol.likeness import Kind, Likeness
from agent.protocol.records import NodeId
from agent.protocol.sketch import Sketch

FITTED_KINDS_MAX = 32
"""Speeds of hosts come from the runs of so many kinds, the latest,"""
FITTED_AGAIN, FITTED_AGAIN_MAX = 16, 64
"""and are looked at again when there are more by one in so many, or so many more."""
ANOTHER_SPEED = 0.1
"""What differs by less is still the speed that was known."""


class Fit(NamedTuple):
    """By which factors hosts take longer, after so many ``noted`` runs, and from how many of each."""

    noted: int
    factors: dict[NodeId, float]
    runs: dict[NodeId, int]


class Speeds:
    """Of the hosts of all runs that are in these sketches. ``changed`` is called when some host is
    found to be faster or slower than was thought."""

    def __init__(self, sketches: Mapping[Likeness, Sketch], changed: Callable[[], None]) -> None:
        self._sketches, self._changed = sketches, changed
        self._kinds_of: dict[str, OrderedDict[Likeness, None]] = {}
        self._fits: dict[str, Fit] = {}
        self._noted: dict[str, int] = {}

    def count(self, kind: Kind) -> None:
        """Note that a run of this kind was added to the sketches, for its program and for all
        together, so that speeds are fitted anew after enough of them."""
        widely, _ = kind.wide()[0]
        for content in (kind.content, ""):
            self._noted[content] = self._noted.get(content, 0) + 1
            kinds = self._kinds_of.get(content)
            if kinds is None:
                kinds = self._kinds_of[content] = OrderedDict()
            kinds[widely] = None
            kinds.move_to_end(widely)
            if len(kinds) > FITTED_KINDS_MAX:
                kinds.popitem(last=False)

    def of(self, content: str) -> Fit:
        """Return how many times as long hosts take, fitted from the runs of one program (its
        ``content``), or of all programs where that is empty; fitted anew only after enough new
        runs, and ``changed`` is called when some host differs by that."""
        noted, known = self._noted.get(content, 0), self._fits.get(content)
        if known is not None and noted - known.noted <= min(
            FITTED_AGAIN_MAX, noted // FITTED_AGAIN
        ):
            return known
        kinds = [
            self._sketches[each].on_hosts()
            for each in self._kinds_of.get(content, ())
            if each in self._sketches
        ]
        runs: dict[NodeId, int] = {}
        for kind in kinds:
            for host, each in kind.items():
                runs[host] = runs.get(host, 0) + int(each.runs)
        now = self._fits[content] = Fit(noted, fitted(kinds), runs)
        if known is None or _differ(known.factors, now.factors):
            self._changed()
        return now


def _differ(before: Mapping[NodeId, float], now: Mapping[NodeId, float]) -> bool:
    return any(
        abs(factor / before.get(host, 1.0) - 1.0) > ANOTHER_SPEED for host, factor in now.items()
    )
