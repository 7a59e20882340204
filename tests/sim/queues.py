"""A flock on the level of queues: hosts that come and go, one queue, and a rule of the policies.

The simulator of the protocol says what every message costs, and takes seconds for a flock of thirty. The
third document's evaluation has a thousand hosts, months of virtual time and half a million runs; there only
who runs what counts. So nothing is sent here: all know at once who is free, and a host that fails is missed
at once, as in the source. The rules are the product's own classes.

**As the source has it** (003, section 4.4): all tasks wait from the beginning, in drawn order; a host fails
and returns after times that are drawn; what it was running is thrown away and goes back to the head of the
queue; a task that was begun 100 times is given up. Where rules compete for a task, the first that enrols
sets the time at which it is decided; who loses tries again at once (the source does not say).

**What is ours**: with ``saves_every_s`` programs save their state so often, and a task goes on from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice
from math import exp
from random import Random

from agent.protocol.policy.competition import PASSED_OVER_MAX
from agent.protocol.policy.placing import HostPast, Placing, Waiting
from agent.protocol.policy.reaching import Lasting, length_s, rate, reach, rounded_s

TRIES_MAX = 100
REACH_EVERY_S = 5_000.0
LENGTHS = {"S": (1.0, 1_500.0), "M": (1_500.0, 6_000.0), "L": (6_000.0, 25_000.0)}
MIXES = {"small": (80, 10, 10), "medium": (10, 80, 10), "large": (10, 10, 80)}
STABLE_SHARES = {"stable": 0.9, "mixed": 0.5, "unstable": 0.1}


@dataclass(frozen=True, slots=True)
class Manner:
    """How long a kind of host stays and is away, in seconds: a mean, or the scale of a Weibull
    distribution with these shapes."""

    up_s: float
    down_s: float
    up_shape: float = 1.0
    down_shape: float = 1.0


EXPONENTIAL = (Manner(1e6, 1e4), Manner(1e4, 1e3))
WEIBULL = (Manner(789_999.5, 5_000.0, 0.7, 0.5), Manner(7_899.995, 500.0, 0.7, 0.5))


@dataclass(slots=True, eq=False)
class Task(Waiting):
    """``takes_s`` is its real length, ``left_s`` what is left of it."""

    takes_s: float = 0.0
    left_s: float = 0.0
    begun: int = 0
    passed_over: int = 0
    done: bool = False
    runs: dict[Host, float] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Host(HostPast):
    manner: Manner = EXPONENTIAL[0]
    stable: bool = True
    there: bool = True
    runs: Task | None = None
    turn: int = 0
    """Counts what it began and left, so that an event which comes late means nothing."""
    enrolled: bool = False


@dataclass(slots=True)
class Outcome:
    """``executions``: for each task; ``wasted_s``: for each task, in runs that came to nothing."""

    makespan_s: float
    tasks: int
    executions: float
    wasted_s: float
    given_up: int


def hosts(count: int, share: str, manners: tuple[Manner, Manner] = EXPONENTIAL) -> list[Host]:
    """Return hosts of which a share is stable."""
    stable = round(count * STABLE_SHARES[share])
    return [Host(str(n), manner=manners[n >= stable], stable=n < stable) for n in range(count)]


def work(kind: str, seconds: float, rng: Random, wrong: float = 1.0) -> list[Task]:
    """Return tasks that take so many seconds together; with ``wrong`` each takes up to so many times
    as long, or as short, as was told."""
    found: list[Task] = []
    told_s = 0.0
    while told_s < seconds:
        low, high = LENGTHS[rng.choices("SML", MIXES[kind])[0]]
        length_s = rng.uniform(low, high)
        takes_s = rng.uniform(length_s / wrong, length_s * wrong) if wrong > 1 else length_s
        found.append(Task(length_s, takes_s=takes_s, left_s=takes_s))
        told_s += length_s
    return found


class Line:
    """What waits, in order."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = deque(tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def pair(
        self, free: Sequence[Host], best: Callable[[Task, Sequence[Host]], Host], now_s: float
    ) -> tuple[Task, Host]:
        """Take a task out and return it with the host that gets it: the head, and who suits it best."""
        del now_s  # only others look at it
        task = self._tasks.popleft()
        return task, best(task, free)

    def group(self, count: int) -> list[Task]:
        """Return so many tasks at the head."""
        return list(islice(self._tasks, count))

    def remove(self, task: Task) -> None:
        """Take a task out; the head may be passed over by it."""
        if self._tasks[0] is not task:
            self._tasks[0].passed_over += 1
        self._tasks.remove(task)

    def put_back(self, task: Task) -> None:
        """Put a task in front."""
        self._tasks.appendleft(task)


class Reaching(Line):
    """By lengths, a quarter octave each, with which hosts reach for which of them."""

    def __init__(self, members: Sequence[Host], tasks: Iterable[Task]) -> None:
        super().__init__(())
        self._members = members
        self._by_length: dict[float, list[Task]] = {}
        self._reach: dict[float, float] = {}
        self._reckoned_s = -REACH_EVERY_S
        for task in tasks:
            self.put_back(task)

    def __len__(self) -> int:
        return sum(map(len, self._by_length.values()))

    def __bool__(self) -> bool:
        return bool(self._by_length)

    def put_back(self, task: Task) -> None:
        """Put a task among those of its length."""
        self._by_length.setdefault(rounded_s(length_s(task)), []).append(task)

    def pair(
        self, free: Sequence[Host], best: Callable[[Task, Sequence[Host]], Host], now_s: float
    ) -> tuple[Task, Host]:
        """Return who lasts longest with the longest task that it should take, else the shortest."""
        del best  # the host does not depend on the task
        if now_s - self._reckoned_s >= REACH_EVERY_S:
            self._reckoned_s = now_s
            waiting = {
                each: sum(task.left_s for task in tasks) for each, tasks in self._by_length.items()
            }
            self._reach = reach(sorted(rate(each, now_s) for each in self._members), waiting)
        host = min(free, key=lambda each: rate(each, now_s))
        fails = rate(host, now_s)
        shortest = min(self._by_length)
        within = (each for each in self._by_length if fails <= self._reach.get(each, 0.0))
        longest = max(within, default=shortest)
        task = self._by_length[longest].pop()
        if not self._by_length[longest]:
            del self._by_length[longest]
        return task, host


class Queues:
    """One run of a rule."""

    def __init__(
        self,
        rule: Placing,
        members: Sequence[Host],
        tasks: Sequence[Task],
        rng: Random,
        saves_every_s: float = 0.0,
    ) -> None:
        self._rule, self._rng, self._saves_s = rule, rng, saves_every_s
        self._hosts, self._tasks = members, tasks
        self._line: Line = Reaching(members, tasks) if isinstance(rule, Lasting) else Line(tasks)
        self._free: dict[Host, float] = dict.fromkeys(members, 0.0)
        """Since when."""
        self._running: dict[Task, None] = {}
        self._contests: dict[Task, list[tuple[Host, int]]] = {}
        self._events: list[tuple[float, int, str, Host | Task, int]] = []
        self._count = 0
        self._left = len(tasks)
        self.now_s = 0.0
        self._executions, self._wasted_s, self._given_up = 0, 0.0, 0

    def run(self) -> Outcome:
        """Run until every task has ended or was given up."""
        for host in self._hosts:
            self._at(self._drawn(host.manner.up_s, host.manner.up_shape), "fails", host)
        self._wake()
        handlers = {
            "fails": self._fails,
            "returns": self._returns,
            "ends": self._ends,
            "looks": self._looks,
        }
        while self._left:
            self.now_s, _, what, whom, turn = heappop(self._events)
            if isinstance(whom, Task):
                self._decide(whom)
            elif what in ("fails", "returns") or whom.turn == turn:
                handlers[what](whom)
        tasks = len(self._tasks)
        return Outcome(
            self.now_s, tasks, self._executions / tasks, self._wasted_s / tasks, self._given_up
        )

    # -- what happens ----------------------------------------------------------------------

    def _fails(self, host: Host) -> None:
        host.failed(self.now_s)
        host.there = host.enrolled = False
        self._free.pop(host, None)
        task = host.runs
        if task is None:
            host.turn += 1
        else:
            host.broken_off += 1
            task.broken_off += 1
            self._leave(task, host)
            if not task.runs:
                self._back(task)
        self._at(self._drawn(host.manner.down_s, host.manner.down_shape), "returns", host)

    def _back(self, task: Task) -> None:
        self._running.pop(task, None)
        if task.begun >= TRIES_MAX:
            self._given_up += 1
            self._left -= 1
        else:
            self._line.put_back(task)
            self._stir()

    def _returns(self, host: Host) -> None:
        host.there, host.up_since_s = True, self.now_s
        self._free[host] = self.now_s
        self._at(self._drawn(host.manner.up_s, host.manner.up_shape), "fails", host)
        self._wake(host)

    def _ends(self, host: Host) -> None:
        task = host.runs
        assert task is not None
        host.done += 1
        task.done = True
        self._left -= 1
        self._running.pop(task, None)
        del task.runs[host]
        self._freed(host)
        for other in list(task.runs):
            self._leave(task, other)
            self._free[other] = self.now_s
        self._wake(host)

    def _looks(self, host: Host) -> None:
        self._wake(host)

    def _begin(self, task: Task, host: Host) -> None:
        self._executions += 1
        task.begun += 1
        task.runs[host] = self.now_s
        self._running[task] = None
        self._free.pop(host, None)
        host.runs, host.enrolled = task, False
        host.turn += 1
        self._at(task.left_s, "ends", host, host.turn)

    def _leave(self, task: Task, host: Host) -> None:
        """What it has done is lost, but for what its program has saved."""
        ran_s = self.now_s - task.runs.pop(host)
        task.ran_s = max(task.ran_s, ran_s)
        kept_s = ran_s // self._saves_s * self._saves_s if self._saves_s else 0.0
        if not task.runs and not task.done:
            task.left_s -= kept_s
            ran_s -= kept_s
        self._wasted_s += ran_s
        host.runs = None
        host.turn += 1

    def _freed(self, host: Host) -> None:
        host.runs = None
        host.turn += 1
        self._free[host] = self.now_s

    # -- who runs what ---------------------------------------------------------------------

    def _wake(self, host: Host | None = None) -> None:
        if self._rule.gathers_s:
            for each in [host] if host is not None else list(self._free):
                if each in self._free and not each.enrolled:
                    self._enrol(each)
            return
        free = [host] if host is not None and self._rule.looks_every_s else self._free
        while self._line and (there := [each for each in free if each in self._free]):
            self._begin(*self._line.pair(there, self._best, self.now_s))
        if self._free and self._rule.runs > 1:
            self._copy()

    def _stir(self) -> None:
        """Something waits again: who found nothing notices when it looks the next time."""
        every_s = self._rule.looks_every_s
        if not every_s:
            self._wake()
            return
        for host, since_s in self._free.items():
            if not host.enrolled:
                self._at(every_s - (self.now_s - since_s) % every_s, "looks", host, host.turn)

    def _best(self, task: Task, free: Sequence[Host]) -> Host:
        if len(free) == 1:
            return free[0]
        scored = [(self._rule.score(task, each), self._rng.random(), each) for each in free]
        return max(scored, key=lambda each: each[:2])[2]

    def _copy(self) -> None:
        """Nothing waits: free hosts run what others run already, the fewest copies first."""
        few = [each for each in self._running if len(each.runs) < self._rule.runs]
        self._rng.shuffle(few)
        few.sort(key=self._copied_first)
        for task in few:
            if not self._free:
                return
            self._begin(task, self._best(task, list(self._free)))

    def _copied_first(self, task: Task) -> float:
        """The source draws; ours copies what is expected to go on for longest."""
        if not isinstance(self._rule, Lasting):
            return len(task.runs)
        host, since_s = next(iter(task.runs.items()))
        rest_s = max(1.0, task.length_s - (self.now_s - since_s))
        lasts = exp(-rate(host, self.now_s) * rest_s)
        return -(lasts * rest_s + (1 - lasts) * (rest_s / 2 + task.length_s))

    def _enrol(self, host: Host) -> None:
        """It tries for the task of the group that it suits best."""
        group = self._line.group(self._rule.group)
        if not group:
            self._take_over(host)
            return
        if group[0].passed_over >= PASSED_OVER_MAX:
            group = group[:1]
        task = max(group, key=lambda each: self._rule.score(each, host))
        if task not in self._contests:
            self._contests[task] = []
            self._at(self._rule.gathers_s, "decided", task)
        self._contests[task].append((host, host.turn))
        host.enrolled = True

    def _take_over(self, late: Host) -> None:
        """Nothing waits: a late claim for what runs on a host that suits it less, as the product's."""
        score, just_begun = self._rule.score, self._rule.just_begun
        for task in self._running if just_begun else ():
            host, since_s = next(iter(task.runs.items()))
            has_just = self.now_s - since_s < just_begun * task.length_s or self._saves_s
            if has_just and not task.broken_off and score(task, late) > score(task, host):
                task.broken_off += 1
                self._leave(task, host)
                self._free[host] = self.now_s
                self._begin(task, late)
                self._enrol(host)
                return

    def _decide(self, task: Task) -> None:
        candidates = [host for host, turn in self._contests.pop(task) if host.turn == turn]
        for host in candidates:
            host.enrolled = False
        if not candidates:
            return
        winner = self._best(task, candidates)
        self._line.remove(task)
        self._begin(task, winner)
        for host in candidates:
            if host is not winner:
                self._enrol(host)

    def _at(self, after_s: float, what: str, whom: Host | Task, turn: int = 0) -> None:
        self._count += 1
        heappush(self._events, (self.now_s + after_s, self._count, what, whom, turn))

    def _drawn(self, scale_s: float, shape: float) -> float:
        if shape == 1.0:
            return self._rng.expovariate(1 / scale_s)
        return self._rng.weibullvariate(scale_s, shape)
