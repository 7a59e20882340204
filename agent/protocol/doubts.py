"""Results that were computed twice anyway, and are not the same.

The flock never repeats a task to check it. But after a partition both sides may have finished one, and
a run that was given up for lost may end all the same: then two machines have said what comes of the
same program with the same inputs. Where they differ, one of them may be broken or lie, or the program
gives something else each time. Nobody can tell which, so people are told, with both machines named;
which of the results counts is decided as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from types import MappingProxyType

from agent.protocol.core import Core, Part
from agent.protocol.news import News
from agent.protocol.records import DatasetId, Life, Run, TaskId, Terminated
from agent.protocol.sharing_reasons import ResultsDiffer

KEPT_MAX = 1_000


class Doubts(Part):
    """The tasks of the table whose results differ; what the disk remembers is looked through once."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._found: dict[TaskId, ResultsDiffer] = {}
        for task in core.table.specs:
            self._look(task, core.table.life(task))

    @property
    def found(self) -> Mapping[TaskId, ResultsDiffer]:
        """By task, the machines whose results differ."""
        return MappingProxyType(self._found)

    def on_news(self, news: News) -> None:
        """Note in a task's story which machines' results differ, when they have come to; forget
        removed tasks, those that agree again, and the oldest beyond ``KEPT_MAX``."""
        for part in news.lives:
            known = self._found.get(part.task)
            if part.task in self.core.table.specs:
                self._look(part.task, self.core.table.life(part.task))
            found = self._found.get(part.task)
            if found is not None and found != known:
                self.core.note(part.task, found)
        for task in news.forgotten_tasks:
            self._found.pop(task, None)

    def _look(self, task: TaskId, life: Life) -> None:
        pair = next(differing(life), None)
        if pair is None:
            self._found.pop(task, None)
            return
        self._found[task] = ResultsDiffer(pair[0].host, pair[1].host)
        while len(self._found) > KEPT_MAX:
            del self._found[next(iter(self._found))]


def differing(life: Life) -> Iterator[tuple[Run, Run]]:
    """Yield the pairs of finished runs of one generation, on two machines, that had the same inputs
    and made different outputs; those below the floor do not count."""
    if len(life.runs) < 2:
        return
    finished = [
        run
        for run in life.runs
        if isinstance(run.phase, Terminated) and run.generation >= life.floor
    ]
    for one, other in combinations(finished, 2):
        same = (one.generation, one.inputs) == (other.generation, other.inputs)
        if same and one.host != other.host and _given(one) != _given(other):
            yield one, other


def _given(run: Run) -> tuple[DatasetId, ...]:
    return tuple(
        each.dataset for each in (run.phase.outputs if isinstance(run.phase, Terminated) else ())
    )
