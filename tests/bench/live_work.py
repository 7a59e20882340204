"""Work on nine real hosts: a partition, an outage of all, and a thousand dispatches.

The second half of ``live_flock``. What ran is read from the evidence of the programs, what
counts from the tables, when from the nodes' events.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable

from agent.api import session, work
from agent.api.values import TaskState
from tests.bench.journal import bare_flush_ms
from tests.bench.report import Figures, quantile
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts, nap
from tests.hosts.programs import NOTHING
from tests.hosts.waiting import wait_for

LIMIT_S = 120.0
DISPATCHES = 1_000
SMALLER_SIDE = 4
FLUSHES = 100
LIMITS: list[tuple[str, str, float, str]] = [
    ("partition", "tasks with more than one outcome", 0, ""),
    ("partition", "tasks lost", 0, ""),
    ("partition", "s from all linked until the tables are equal", 2.0, "s"),
    ("outage", "finished tasks that ran again", 0, ""),
    ("outage", "tasks lost", 0, ""),
    ("dispatch", "median ms", 10.0, "ms"),
    ("dispatch", "p99 ms", 100.0, "ms"),
]


def partition(hosts: Hosts, quick: bool) -> Figures:
    """Four against five, work on both sides, some of it the same; then one network again."""
    mark = f"split-{time.time_ns()}"
    small, large = list(hosts)[:SMALLER_SIDE], list(hosts)[SMALLER_SIDE:]
    small[0].submit(f"{mark}-both", [nap(f"{mark}-b{n}", 1.0) for n in range(27)])
    hosts.partition(small)
    small[1].submit(f"{mark}-small", [nap(f"{mark}-s{n}", 0.5) for n in range(12)])
    large[1].submit(f"{mark}-large", [nap(f"{mark}-l{n}", 0.5) for n in range(15)])
    hosts.wait_finished(small[0], f"{mark}-both", LIMIT_S)
    hosts.wait_finished(large[0], f"{mark}-both", LIMIT_S)
    hosts.wait_finished(small[0], f"{mark}-small", LIMIT_S)
    hosts.wait_finished(large[0], f"{mark}-large", LIMIT_S)
    hosts.partition([])
    hosts.wait_linked()
    equal_s = hosts.wait_equal()
    names = [f"{mark}-{which}" for which in ("both", "small", "large")]
    outcomes = [_outcomes(host, names) for host in hosts]
    tasks = {name for each in outcomes for name in each}
    both = [name for name, starts in _starts(hosts, mark).items() if starts > 1]
    return {
        "s from all linked until the tables are equal": equal_s,
        "tasks with more than one outcome": sum(
            len({each.get(name) for each in outcomes}) > 1 for name in tasks
        ),
        "tasks lost": 27 + 12 + 15 - len(outcomes[0]),
        "tasks that ran on both sides": len(both),
    }


def outage(hosts: Hosts, quick: bool) -> Figures:
    """All agents are killed in the middle of a workflow, and started again."""
    mark = f"outage-{time.time_ns()}"
    chains, length = 18, 4
    tasks = [
        nap(f"{mark}-{chain}-{n}", 0.5, inputs=[f"{mark}-{chain}-{n - 1}"] if n else [])
        for chain in range(chains)
        for n in range(length)
    ]
    hosts[3].submit(mark, tasks)
    wait_for(lambda: len(_seen_finished(hosts, mark)) >= len(tasks) // 3, LIMIT_S, "a third")
    for host in hosts:
        host.kill()
    finished = _seen_finished(hosts, mark)
    hosts.restart()
    began_s = time.time()
    hosts.wait_finished(hosts[0], mark, LIMIT_S)
    ended_s = time.time()
    hosts.wait_linked()
    hosts.wait_equal()
    starts = _starts(hosts, mark)
    return {
        "tasks": len(tasks),
        "finished before": len(finished),
        "finished tasks that ran again": sum(starts[name] > 1 for name in finished),
        "tasks lost": len(tasks) - len(_outcomes(hosts[0], [mark])),
        "other tasks that ran again": sum(
            starts[name] > 1 for name in starts if name not in finished
        ),
        "s from the restart to the end": ended_s - began_s,
    }


def dispatch(hosts: Hosts, quick: bool) -> Figures:
    """One task at a time for idle hosts, submitted on each host in turn.

    Ready is the first moment at which any node told that the task is ready; Running is when the
    node that runs it told so, after the program was started and that was on its disk. In between
    are two commits of that node; nine hosts that share a disk wait for each other's.
    """
    count = 50 if quick else DISPATCHES
    waits = dispatched(hosts, "dispatch", lambda number: number < count)
    assert len(waits) == count
    return {
        "dispatches": count,
        "median ms": quantile(waits, 0.5),
        "p90 ms": quantile(waits, 0.9),
        "p99 ms": quantile(waits, 0.99),
        "worst ms": max(waits),
        "median ms of one flush of the disk that all hosts share": bare_flush_ms(
            hosts.folder / "flushed", FLUSHES
        ),
    }


def dispatched(hosts: Hosts, what: str, more: Callable[[int], bool]) -> list[float]:
    """One task after the other on idle hosts while ``more`` holds of their number; return how long
    each took from Ready to Running, in milliseconds."""
    mark = f"{what}-{time.time_ns()}"
    for number in itertools.takewhile(more, itertools.count()):
        host, name = hosts[number % len(hosts)], f"{mark}-{number}"
        host.submit(name, [work.Task(name, NOTHING, expected_s=1.0)])
        wait_for(Finished(host, name, back=50).any, LIMIT_S, f"{name} ends", poll_s=0.003)
    hosts.wait_equal()
    ready, running = moments(hosts, mark)
    return [1000 * (running[name] - ready[name]) for name in ready]


class Finished:
    """The tasks of a workflow that a host has told to have finished; reads each event once."""

    def __init__(self, host: Host, workflow: str, back: int | None = None) -> None:
        self._noticed, self._workflow = host.client.noticed, workflow
        self._at = 0 if back is None else max(0, len(self._noticed) - back)
        self.names: dict[str, None] = {}

    def read(self) -> int:
        """Return how many there are by now."""
        while self._at < len(self._noticed):
            moved = self._noticed[self._at].event.happening
            self._at += 1
            if (
                isinstance(moved, session.TaskMoved)
                and moved.workflow_name == self._workflow
                and moved.after is TaskState.TERMINATED
            ):
                self.names[moved.name] = None
        return len(self.names)

    def any(self) -> bool:
        return self.read() > 0


def moments(hosts: Iterable[Host], mark: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return when each task of these workflows was first ready anywhere, and when its last run
    was told by the node that runs it."""
    ready: dict[str, float] = {}
    running: dict[str, float] = {}
    for host in hosts:
        for at_s, moved in host.happenings(session.TaskMoved):
            if not moved.workflow_name.startswith(mark):
                continue
            if moved.after is TaskState.READY:
                ready[moved.name] = min(at_s, ready.get(moved.name, at_s))
            elif moved.after is TaskState.RUNNING and moved.host == host.name:
                running[moved.name] = max(at_s, running.get(moved.name, at_s))
    return ready, running


def _outcomes(host: Host, workflows: list[str]) -> dict[str, tuple[object, ...]]:
    return {
        task.name: (task.host, task.attempt, task.outputs)
        for workflow in workflows
        for task in host.tasks(workflow)
        if task.state is TaskState.TERMINATED
    }


def _starts(hosts: Hosts, mark: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for trace in hosts.traces():
        if trace.word == "start" and trace.name.startswith(mark):
            found[trace.name] = found.get(trace.name, 0) + 1
    return found


def _seen_finished(hosts: Hosts, workflow: str) -> set[str]:
    """Finished, as at least one node has told."""
    return {
        moved.name
        for host in hosts
        for _, moved in host.happenings(session.TaskMoved)
        if moved.workflow_name == workflow and moved.after is TaskState.TERMINATED
    }
