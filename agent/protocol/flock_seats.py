"""Who holds the seats of the flock: never more runs at once than there are of a name.

Every claim is put to everybody alive, so each of them sees all claims on seats of one name, one after
the other. A node counts as taken: the live runs that its table shows on machines that are alive, what
it has promised, and what it claims itself. It counts a claim from its consent on until the run has
ended, without a gap. So of more runs than there are seats the last claim would have found all seats
taken at any single node that was asked for all of them, and each node that holds one was.

Of claims that are not won yet the better ones keep their seats (``claim_rank``): the worst never waits
for another, it is refused or granted, so that no circle of waiting claims can form. Who gets a seat
that falls free is decided by the plan, which deals ready tasks out in the policy's order.

A run holds its seat while it is suspended, too; instead of being offered it is handed back then.

Limits: without faults only. The two sides of a partition do not see each other's runs, and may take as
many seats each; what then runs is not ended when they meet, and nothing more begins until there are
few enough. A peer of an earlier version neither asks for seats nor counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto

from agent.protocol.core import Core, Part
from agent.protocol.needs import Seat, seats_of
from agent.protocol.news import News
from agent.protocol.records import Claim, Incarnation, NodeId, Run, TaskId, TaskSpec, claim_rank
from agent.protocol.sharing_reasons import SeatsTaken
from agent.protocol.table import Table


class Answer(Enum):
    """What is said to a claim on a task, as far as its seats go."""

    CONSENT = auto()
    WAIT = auto()
    """Worse claims have the seats, and will give them up."""
    REFUSE = auto()


class FlockSeats(Part):
    """Which runs hold seats, and whether one more may."""

    def __init__(
        self,
        core: Core,
        alive: Callable[[NodeId, Incarnation], bool],
        claims: Callable[[], Iterable[tuple[TaskId, Claim]]],
    ) -> None:
        super().__init__(core)
        self._alive, self._claims = alive, claims
        self._runs: dict[TaskId, tuple[Run, ...]] = {}
        for task in core.table.lives:
            self._look_at(task)

    def on_news(self, news: News) -> None:
        """Note which runs hold seats now (places to hold a licence in the flock), as lives changed
        or tasks were removed."""
        for part in news.lives:
            self._look_at(part.task)
        for task in news.forgotten_tasks:
            self._runs.pop(task, None)

    def _look_at(self, task: TaskId) -> None:
        table = self.core.table
        if seats_of(table.specs.get(task)) or task in self._runs:
            live = tuple(run for run in table.life(task).runs if run.live)
            if live:
                self._runs[task] = live
            else:
                self._runs.pop(task, None)

    def taken(self, name: str) -> int:
        """Return how many seats of this name are held, promised or claimed, as this node sees it."""
        return sum(1 for _ in self._holding(name)) + sum(1 for _ in self._claiming(name, ""))

    def obstacle(self, task: TaskId) -> SeatsTaken | None:
        """Return the first seat of the task of which this node finds none left, and who has them;
        None when the task needs none, or one of each is left."""
        for seat in seats_of(self.core.table.specs.get(task)):
            hosts = [run.host for run in self._holding(seat.name)]
            hosts += [claim.host for _, claim in self._claiming(seat.name, task)]
            if len(hosts) >= seat.most:
                return SeatsTaken(seat.name, seat.most, tuple(hosts))
        return None

    def answer(self, task: TaskId, claim: Claim) -> tuple[Answer, list[TaskId]]:
        """Return what to say to another's claim on a task that the table knows, and which claims of
        this node have to be given up before that is said, as they are worse; none for a refusal."""
        give_up: dict[TaskId, None] = {}
        waits = False
        for seat in seats_of(self.core.table.specs[task]):
            verdict, worse = self._answer_for(seat, task, claim)
            if verdict is Answer.REFUSE:
                return Answer.REFUSE, []
            waits |= verdict is Answer.WAIT
            give_up.update(dict.fromkeys(worse))
        return (Answer.WAIT if waits else Answer.CONSENT), list(give_up)

    def _answer_for(self, seat: Seat, task: TaskId, claim: Claim) -> tuple[Answer, list[TaskId]]:
        claims = sorted(self._claiming(seat.name, task), key=lambda each: claim_rank(each[1]))
        firm, rank, me = sum(1 for _ in self._holding(seat.name)), claim_rank(claim), self.core.me
        better = sum(claim_rank(each) < rank for _, each in claims)
        if firm + better >= seat.most:
            return Answer.REFUSE, []
        too_many = firm + len(claims) + 1 - seat.most
        mine = [other for other, each in claims[better:] if each.host == me]
        give_up = mine[-too_many:] if too_many > 0 else []
        return (Answer.WAIT if too_many > len(give_up) else Answer.CONSENT), give_up

    def _holding(self, name: str) -> Iterator[Run]:
        specs = self.core.table.specs
        for task, runs in self._runs.items():
            if _wants(specs.get(task), name):
                yield from (run for run in runs if self._alive(run.host, run.incarnation))

    def _claiming(self, name: str, but: TaskId) -> Iterator[tuple[TaskId, Claim]]:
        """Claims on other tasks that are promised or made here, and not won yet."""
        specs = self.core.table.specs
        for task, claim in self._claims():
            won = any(run.claim == claim for run in self._runs.get(task, ()))
            if task != but and not won and _wants(specs.get(task), name):
                yield task, claim


def _wants(spec: TaskSpec | None, name: str) -> bool:
    return any(seat.name == name for seat in seats_of(spec))


def holders(table: Table, name: str) -> list[tuple[TaskId, Run]]:
    """Return the live runs of a table that hold a seat of this name, with their tasks, for people."""
    return [(task, run) for task, run in table.owned.items() if _wants(table.specs.get(task), name)]
