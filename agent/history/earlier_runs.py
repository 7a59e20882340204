"""How long programs took before, as far as this node's own history knows.

Asked for with every row that is shown, so it is kept in memory: the last few lengths of each program,
and of each of its steps, of which the middle one counts. A step that is called the same, runs the same
program and is told the same parameters is most alike; what else ran that program comes next, where that
always took about as long. A program is known by its name: an edited script mostly takes as long as before.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from statistics import median
from typing import NamedTuple
from zlib import crc32

from agent.api.programs import bare_name

KEPT = 20
"""The latest of each; a program is changed, and so are its inputs."""
OTHERS_MIN, ALIKE_FACTOR = 3, 3
"""Runs of other steps tell something if there are so many, and none is so many times as long as another."""
KEYS_MAX = 2_000
"""Those that ended longest ago make room."""


class Lengths(NamedTuple):
    """The middle of so many earlier runs; none, and 0, where nothing is known."""

    runs: int
    middle_ms: int


UNKNOWN = Lengths(0, 0)


def likeness(parameters: str) -> str:
    """Return what tells steps of one name apart that are given other parameters, short enough to be kept
    with each of them."""
    return f"{crc32(parameters.encode()):08x}"


class EarlierRuns:
    """The latest lengths by program and step."""

    def __init__(self) -> None:
        self._took: OrderedDict[tuple[str, str, str], deque[int]] = OrderedDict()
        self._known: dict[str, dict[tuple[str, str], Lengths]] = {}

    def note(self, program: str, step: str, alike: str, ran_ms: int) -> None:
        """Keep how long a run took that ended well, for its program, and for its step with the
        ``likeness`` of its parameters where ``alike`` tells that; the last ``KEPT`` of each. A run
        of no program, or that took no time at all, changes nothing. Versions of programs count as
        one."""
        program = bare_name(program)
        if not program or ran_ms <= 0:
            return
        for key in ((program, step, alike), (program, "", "")) if alike else ((program, "", ""),):
            took = self._took.setdefault(key, deque(maxlen=KEPT))
            self._took.move_to_end(key)
            took.append(ran_ms)
            agree = key[1] or (len(took) >= OTHERS_MIN and max(took) <= ALIKE_FACTOR * min(took))
            told = Lengths(len(took), round(median(took))) if agree else UNKNOWN
            self._known.setdefault(program, {})[key[1:]] = told
        while len(self._took) > KEYS_MAX:
            self._forget(*self._took.popitem(last=False)[0])

    def _forget(self, program: str, *step: str) -> None:
        del self._known[program][step[0], step[1]]
        if not self._known[program]:
            del self._known[program]

    def take(self, runs: Iterable[tuple[str, str, str, int]]) -> None:
        """Note many at once, the latest last: program, step, likeness, and how long it took."""
        for program, step, alike, ran_ms in runs:
            self.note(program, step, alike, ran_ms)

    def of(self, program: str, step: str = "", parameters: str = "") -> Lengths:
        """Return what is known of the step of this name and with these parameters of a program, or
        of all its runs if no step is named; ``UNKNOWN`` without any, and for all runs where those
        differ too much."""
        known = self._known.get(bare_name(program))
        if known is None:
            return UNKNOWN
        return known.get((step, likeness(parameters) if step else ""), UNKNOWN)
