"""Who runs which tests next, where several workers do.

A file is begun by one worker, so that what it has started once serves all its tests; a long one is
shared out in pieces. Files whose tests wait for processes take turns with such as only compute: while
the former wait, the latter have the processors. Some of the latter come last, so that no worker is
left alone with a row of long tests. (xdist hands out hundreds of neighbours at a time instead: the
last worker was alone for a third of the time.) What is measured or parsed once for several tests is left
to one worker.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from xdist.workermanage import WorkerController

PIECE_MAX = 24
"""Tests of one file that one worker runs in a row; an agent that a file has started for all its tests
costs half a second, and the last pieces of all run while the other workers are idle."""

MEASURED = "tests/protocol/test_bench.py"
"""Its pieces are the benchmarks: each is run once, and its figures are what all tests of it look at."""
PARSED = "tests/style/"
"""One piece: to parse all sources takes as long as to look at them."""
LAST = 0.2
"""Of the files that only compute."""


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Pieces of files, in the order in which they were collected."""

    _pieces: dict[str, str]
    _places: dict[str, int]

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        self._pieces = pieces(collection)
        self._places = {piece: at for at, piece in enumerate(dict.fromkeys(self._pieces.values()))}

    def _split_scope(self, nodeid: str) -> str:
        return self._pieces[nodeid]

    def remove_node(self, node: WorkerController) -> str | None:
        """Return the test that ended its worker, which is not tried again, and hand on the rest.

        xdist would try it again until it has ended all workers, and those that come after them.
        """
        pieces = self.assigned_work.pop(node)
        left = [(piece, test) for piece, tests in pieces.items() for test in _not_run(tests)]
        if not left:
            return None
        piece, crashed = left[0]
        pieces[piece][crashed] = True
        self.workqueue.update({name: tests for name, tests in pieces.items() if _not_run(tests)})
        for each in self.nodes:
            self._reschedule(each)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        """Hand out enough: a worker begins a test when it knows the next, or that there is none.

        With xdist alone, a worker that replaces another waits for ever with the last test of all.
        """
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        by_place = sorted(self.workqueue.items(), key=lambda unit: self._places[unit[0]])
        self.workqueue: OrderedDict[str, dict[str, bool]] = OrderedDict(by_place)
        super()._assign_work_unit(node)


def _not_run(tests: Mapping[str, bool]) -> list[str]:
    return [test for test, done in tests.items() if not done]


def pieces(tests: Sequence[str]) -> dict[str, str]:
    """Return the piece to which each test belongs, by its name."""
    seen: Counter[str] = Counter()
    found = {}
    for test in tests:
        file = test.partition("::")[0]
        measured = re.search(r"\[(\w+)", test) if file == MEASURED else None
        if test.startswith(PARSED):
            found[test] = PARSED
        elif measured:
            found[test] = f"{file} {measured[1]}"
        else:
            found[test] = f"{file} {seen[file] // PIECE_MAX}"
        seen[file] += 1
    return found


def places(files: Mapping[Path, bool]) -> dict[Path, float]:
    """Return where in the order each file stands; of each is told whether its tests wait."""
    waiting = [file for file, waits in files.items() if waits]
    computing = [file for file, waits in files.items() if not waits]
    last = len(computing) - round(LAST * len(computing))
    rows = (waiting, 0), (computing[:last], 0), (computing[last:], 1)
    return {file: begins + at / len(row) for row, begins in rows for at, file in enumerate(row)}
