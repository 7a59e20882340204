"""The second document's evaluation of fairness: twenty machines in a ring, and a job every 110 s.

Its set-up (section 4): 60 jobs of 116.632 s, so that two machines can carry all of them; every machine tells
its group how it is doing each 30 s, for 8,000 s. In table 1 groups have ten members, and one machine is away
from 100 to 900 s and from 3,080 s on. A job is offered to the machines in the same order each time, which is
how the published variance without fairness comes about to the last digit: two machines with 30 jobs each.

How a fault is met: *not at all* (what ran there is lost), *reactively* (it goes back to the queue), or
*proactively* (a machine that is about to go has its job run by a second one as well).

**How it was read, where the source says nothing:** how a machine is doing is the number of jobs that it has
taken and not lost, and how good its link is, drawn for each and worth less than one job; so no two are alike,
or *equal or worse* would stop every job. A change is told at once beside the rounds; with news that is 30 s
old several strategies do not even out at all. A job costs a message to each worker, one to take it and one when it is
done, of which the published counts show about 22 to 25.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from statistics import variance

from agent.protocol.policy.refraining import LEFT_S, STRATEGIES, neighbours

WORKERS, JOBS = 20, 60
EVERY_S, JOB_S, ROUND_S, END_S = 110.0, 116.632, 30.0, 8_000.0
AWAY_S = ((100.0, 900.0), (3_080.0, END_S))
PREDICTED_S = 120.0
"""So long before it goes a machine knows of it."""
FAULTS = ("no error", "no FT", "proactive FT", "reactive FT")


@dataclass(slots=True)
class Worker:
    """``taken`` counts what it did or does; ``jobs`` what it has ended."""

    name: str
    link: float
    there: bool = True
    taken: int = 0
    ended: int = 0
    job: int = -1
    turn: int = 0

    @property
    def well_off(self) -> float:
        return self.link - self.taken


@dataclass(slots=True)
class Ring:
    """One run; ``waits_s`` are those of all jobs, ``forced`` how often nobody wanted a job for too
    long."""

    strategy: str
    fault: str = "no error"
    group: int = 10
    seed: int = 1
    link_worth: float = 1.0
    workers: list[Worker] = field(default_factory=list)
    queue: list[tuple[float, int]] = field(default_factory=list)
    waits_s: list[float] = field(default_factory=list)
    forced: int = 0
    messages: int = 0
    now_s: float = 0.0

    def run(self) -> None:
        """Play it to its end."""
        rng = Random(self.seed)
        self.workers = [Worker(f"w{n:02}", self.link_worth * rng.random()) for n in range(WORKERS)]
        events: list[tuple[float, int, str, int, int]] = []

        def at(when_s: float, what: str, which: int, turn: int = 0) -> None:
            heappush(events, (when_s, len(self.waits_s) + which, what, which, turn))

        for job in range(JOBS):
            at(job * EVERY_S, "submitted", job)
        if self.fault != "no error":
            for gone_s, back_s in AWAY_S:
                at(gone_s, "away", 0)
                at(back_s, "back", 0)
        for step in range(int(END_S / ROUND_S)):
            at(step * ROUND_S, "round", 0)
        while events:
            self.now_s, _, what, which, turn = heappop(events)
            if self.now_s >= END_S:
                break
            self._handle(what, which, turn)
            for worker, ends_s in self._dealt():
                at(ends_s, "ended", self.workers.index(worker), worker.turn)

    @property
    def variance(self) -> float:
        """Of the jobs that the workers have ended."""
        return variance([each.ended for each in self.workers])

    def _handle(self, what: str, which: int, turn: int) -> None:
        if what == "submitted":
            self.queue.append((self.now_s, which))
            self.messages += WORKERS
        elif what == "round":
            there = sum(each.there for each in self.workers)
            self.messages += there * (min(self.group, WORKERS) - 1)
        elif what == "ended" and self.workers[which].turn == turn:
            worker = self.workers[which]
            worker.ended += 1
            worker.job = -1
            self.messages += 1
        elif what == "away":
            self._goes(self.workers[which])
        elif what == "back":
            self.workers[which].there = True

    def _goes(self, worker: Worker) -> None:
        worker.there = False
        worker.turn += 1
        if worker.job < 0:
            return
        worker.taken -= 1
        if self.fault == "reactive FT":
            self.queue.insert(0, (self.now_s, worker.job))
        worker.job = -1

    def _dealt(self) -> list[tuple[Worker, float]]:
        """Jobs go to whoever is free and does not refrain, the first in the queue first."""
        begun = []
        while self.queue:
            since_s, job = self.queue[0]
            free = [each for each in self.workers if each.there and each.job < 0]
            takers = [each for each in free if not self._refrains(each)]
            if not takers and free and self.now_s - since_s >= LEFT_S * len(free):
                self.forced += 1
                takers = free
            if not takers:
                break
            del self.queue[0]
            begun.append(self._take(takers[0], job, since_s))
            if self.fault == "proactive FT" and self._soon_gone(takers[0]) and len(takers) > 1:
                begun.append(self._take(takers[1], job, self.now_s))
        return begun

    def _take(self, worker: Worker, job: int, since_s: float) -> tuple[Worker, float]:
        worker.taken += 1
        worker.job = job
        worker.turn += 1
        self.waits_s.append(self.now_s - since_s)
        self.messages += 1 + min(self.group, WORKERS) - 1
        return worker, self.now_s + JOB_S

    def _soon_gone(self, worker: Worker) -> bool:
        if worker is not self.workers[0]:
            return False
        return any(0 <= gone_s - self.now_s <= PREDICTED_S for gone_s, _ in AWAY_S)

    def _refrains(self, worker: Worker) -> bool:
        by_name = {each.name: each for each in self.workers}
        near = [by_name[each] for each in neighbours(sorted(by_name), worker.name, self.group)]
        known = [each.well_off for each in near if each.there]
        return bool(known) and STRATEGIES[self.strategy](worker.well_off, known)
