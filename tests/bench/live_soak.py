"""A soak: nine real hosts under random kills, cuts, freezes and partitions, with work all the time.

``python -m tests.bench live_soak [--minutes 20] [--seed N] [--json]``. The seed is printed first;
it repeats the plan of faults and submissions, not the timing of processes. Every two minutes all
is mended, and the flock has to become whole, finish what it was given and agree. A third of the
workflows are of a published program that hands datasets on and saves its state. In the end the
six promises of DESIGN 6 are checked on what the nodes have written themselves: their journals,
their events and the evidence of their programs (``live_promises``).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from random import Random, SystemRandom

from agent.api import programs, work
from agent.api.programs import Publish, Published
from agent.client.errors import ClientError
from tests.bench.live_promises import Books, Fault, check
from tests.bench.report import Cell, Figures, Sheet, Verdict, one_a_row
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts, nap
from tests.hosts.programs import write_carrier
from tests.hosts.waiting import let_pass, wait_for

MINUTES, MINUTES_QUICK = 20.0, 1.0
WHAT = "nine real hosts under random faults, with work all the time"
OPTIONS = {
    "--minutes": {"type": float, "default": MINUTES},
    "--seed": {"type": int, "default": SystemRandom().randrange(10**9)},
}
HOSTS = 9
ROUND_S = 120.0
STEP_S = 0.1
UNWELL_MAX = 4
CARRIED_SHARE = 0.35
WHOLE_S, DONE_S, EQUAL_S = 40.0, 240.0, 5.0
KINDS = ("kill", "kill", "cut", "cut", "freeze", "freeze", "stop", "partition", "outage")
DURATIONS_S = {
    "kill": (0.3, 12.0),
    "stop": (0.3, 12.0),
    "cut": (0.5, 20.0),
    "freeze": (0.3, 15.0),
    "partition": (2.0, 20.0),
    "outage": (0.1, 1.0),
}


@dataclass
class Trouble:
    """Something that is to be mended at a moment."""

    fault: Fault
    mend: Callable[[], object]
    until_s: float


@dataclass
class Soak:
    hosts: Hosts
    random: Random
    books: Books = field(default_factory=Books)
    troubles: list[Trouble] = field(default_factory=list)
    asked: list[tuple[list[work.Task], str, Future[work.Submitted]]] = field(default_factory=list)
    carrier: Published | None = None
    submitted: int = 0
    whole_s: list[float] = field(default_factory=list)
    equal_s: list[float] = field(default_factory=list)

    def unwell(self) -> set[int]:
        return {number for each in self.troubles for number in each.fault.hosts}

    # -- faults ----------------------------------------------------------------------------

    def harm(self) -> None:
        """One more fault, if there are not too many already."""
        kind = self.random.choice(KINDS)
        well = [host for host in self.hosts if host.number not in self.unwell()]
        if kind in ("partition", "outage"):
            if self.troubles or (kind == "outage" and self.random.random() > 0.3):
                return
            chosen = (
                list(self.hosts)
                if kind == "outage"
                else sorted(self.random.sample(list(self.hosts), 4), key=lambda each: each.number)
            )
        elif len(self.unwell()) >= UNWELL_MAX or any(
            each.fault.kind == "partition" for each in self.troubles
        ):
            return
        else:
            chosen = [self.random.choice(well)]
        now_s = time.time()
        touched = tuple(host.number for host in (self.hosts if kind == "partition" else chosen))
        fault = Fault(kind, touched, now_s)
        self.books.faults.append(fault)
        mend = self._do(kind, chosen)
        self.troubles.append(Trouble(fault, mend, now_s + self.random.uniform(*DURATIONS_S[kind])))

    def _do(self, kind: str, chosen: list[Host]) -> Callable[[], object]:
        """Do it; what mends it."""
        host = chosen[0]
        match kind:
            case "kill" | "outage":
                for each in chosen:
                    each.kill()
                return partial(_start_all, chosen)
            case "stop":
                host.terminate()
                return partial(_stop_and_start, host)
            case "cut":
                self.hosts.cut(host)
                return partial(self.hosts.mend, host)
            case "freeze":
                host.freeze()
                return host.thaw
            case _:
                self.hosts.partition(chosen)
                return partial(self.hosts.partition, [])

    def mend_due(self, *, everything: bool = False) -> None:
        for trouble in list(self.troubles):
            if everything or time.time() >= trouble.until_s:
                trouble.mend()
                trouble.fault.until_s = time.time()
                self.troubles.remove(trouble)

    # -- work ------------------------------------------------------------------------------

    def submit(self) -> None:
        """A new workflow, wherever an agent answers; cut off ones too."""
        frozen = {
            n for each in self.troubles if each.fault.kind == "freeze" for n in each.fault.hosts
        }
        able = [each for each in self.hosts if each.alive and each.number not in frozen]
        if not able:
            return
        self.submitted += 1
        name = f"w{self.submitted}"
        priority = "interactive" if self.random.random() < 0.1 else "low"
        tasks = self._tasks(name) if priority == "low" else [nap(f"{name}-i", 0.5)]
        self._ask(name, tasks, priority, self.random.choice(able))

    def _ask(self, name: str, tasks: list[work.Task], priority: str, host: Host) -> None:
        asked = host.ask_submit(name, tasks, priority)
        self.asked.append((tasks, priority, asked))

    def _tasks(self, name: str) -> list[work.Task]:
        """A bunch, a chain, or several that one waits for."""
        count = self.random.randint(1, 5)
        lengths = [round(self.random.uniform(0.2, 2.0), 2) for _ in range(count)]
        names = [f"{name}-{number}" for number in range(count)]
        shape = self.random.choice(("bunch", "chain", "fan"))
        needs: list[list[str]] = [[] for _ in names]
        if shape == "chain":
            needs = [[names[number - 1]] if number else [] for number in range(count)]
        elif shape == "fan":
            needs[-1] = names[:-1]
        self.books.needs.update(zip(names, needs, strict=True))
        carried = self.carrier is not None and self.random.random() < CARRIED_SHARE
        make = self._carry if carried else nap
        return [
            make(each, length, inputs, expected_s=length)
            for each, length, inputs in zip(names, lengths, needs, strict=True)
        ]

    def _carry(
        self, name: str, seconds: float, inputs: Sequence[str], expected_s: float
    ) -> work.Task:
        """A task of the published program, half of its time on each side of its saved state."""
        assert self.carrier is not None
        self.books.carried.add(name)
        return work.Task(
            name,
            self.carrier.program,
            inputs=tuple(work.Input(each) for each in inputs),
            parameters=f"{name} {seconds / 2:.2f} {len(inputs)}",
            expected_s=expected_s,
            published=self.carrier.dataset,
        )

    def hear_answers(self, *, wait: bool = False) -> None:
        """What was accepted is promised; what was not answered may or may not be kept."""
        for entry in list(self.asked):
            tasks, priority, asked = entry
            if not wait and not asked.done():
                continue
            self.asked.remove(entry)
            try:
                answer = asked.result(90.0)
            except (ClientError, OSError, TimeoutError):
                self.books.unanswered += 1
                continue
            self.books.accepted[answer.workflow] = tuple(task.id for task in tasks)
            if priority == "interactive":
                self.books.interactive.update(task.id for task in tasks)

    # -- a round ---------------------------------------------------------------------------

    def run(self, until_s: float) -> None:
        """Faults and work until then, then all is mended and has to become whole."""
        harm_s = submit_s = time.time()
        while time.time() < until_s:
            self.mend_due()
            self.hear_answers()
            if time.time() >= harm_s:
                self.harm()
                harm_s = time.time() + self.random.uniform(1.0, 7.0)
            if time.time() >= submit_s:
                self.submit()
                submit_s = time.time() + self.random.uniform(0.2, 1.8)
            let_pass(STEP_S)
        self.mend_due(everything=True)
        self._become_whole()

    def _become_whole(self) -> None:
        self.hosts.each(Host.up)
        self.whole_s.append(self.hosts.wait_linked(limit_s=WHOLE_S))
        self.hear_answers(wait=True)
        wait_for(self._all_ended, DONE_S, "all work has ended", self._left, poll_s=0.25)
        self.equal_s.append(self.hosts.wait_equal(limit_s=60.0))
        self.books.memory_mb.append(max(host.memory_mb() for host in self.hosts))
        sys.stderr.write(
            f"{time.strftime('%H:%M:%S')} whole after {self.whole_s[-1]:.1f} s, equal after "
            f"{self.equal_s[-1]:.1f} s; {len(self.books.accepted)} workflows, "
            f"{len(self.books.faults)} faults\n"
        )

    def _all_ended(self) -> bool:
        return not self._left_of(self.hosts[0])

    def _left_of(self, host: Host) -> list[str]:
        return [
            f"{each.workflow}: {each.state} {each.counts}"
            for each in host.workflows()
            if each.state in ("waiting", "running")
        ]

    def _left(self) -> str:
        return "\n".join(f"{host.name}: {self._left_of(host)}" for host in self.hosts)


def _start_all(hosts: Sequence[Host]) -> None:
    for host in hosts:
        host.start()


def _stop_and_start(host: Host) -> None:
    host.stop()
    host.start()


def measure(*, quick: bool, minutes: float = MINUTES, seed: int = 1) -> Figures:
    sys.stderr.write(f"seed {seed}\n")
    minutes = MINUTES_QUICK if quick else minutes
    before = os.getloadavg()[0]
    with Hosts(HOSTS, namespaces=True) as hosts:
        for host in hosts:
            host.settle(published_programs="always")
        hosts.make_flock()
        program = write_carrier(hosts.folder)
        published = hosts[0].call(programs.PUBLISH, Publish(str(program)))
        soak = Soak(hosts, Random(seed), carrier=published)
        end_s = time.time() + 60.0 * minutes
        while time.time() < end_s:
            soak.run(min(end_s, time.time() + ROUND_S))
        hosts.each(Host.stop)
        promises = check(hosts, soak.books)
    kinds = [fault.kind for fault in soak.books.faults]
    return {
        "seed": seed,
        "minutes": minutes,
        "load": (before, os.getloadavg()[0]),
        "workflows accepted": len(soak.books.accepted),
        "submissions without an answer": soak.books.unanswered,
        "faults": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "worst s until whole after mending": max(soak.whole_s),
        "worst s until equal after the last end": max(soak.equal_s),
        "most MB of an agent, by rounds": soak.books.memory_mb,
        "promises": promises,
    }


def judge(figures: Figures) -> list[Verdict]:
    broken = [
        Verdict(f"broken: {promise}", float(len(found)), 0)
        for promise, found in figures["promises"]["broken"].items()
    ]
    equal = figures["worst s until equal after the last end"]
    return [*broken, Verdict("equal after healing", float(equal), EQUAL_S, "s")]


def sheets(figures: Figures) -> list[Sheet]:
    counted = {**figures, **figures["promises"]["counts"]}
    del counted["promises"]
    found: list[list[Cell]] = [
        [promise, text]
        for promise, texts in figures["promises"]["broken"].items()
        for text in texts[:20]
    ]
    return [
        one_a_row(WHAT, counted),
        *([Sheet("Broken promises", ["promise", "how"], found)] if found else []),
    ]
