"""What clients wait for on a large table: ``python -m tests.bench live_client``.

Two real nodes of one flock on this machine, a client of the first. A workflow of 10,000 tasks that
finish, then one of 10,000 that stay open; times are taken at the client, from the call to the
answer read, memory as the system tells it of each agent's process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from statistics import median
from typing import Any, TypeVar

from agent.api.session import WorkflowEnded
from agent.api.values import TaskState
from agent.api.work import (
    PLAN,
    SHOW,
    STATUS,
    SUBMIT,
    WHY,
    Input,
    Plan,
    Show,
    Status,
    Submit,
    Task,
    Why,
)
from agent.client import BlockingClient
from tests.bench.report import Figures, Limit
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.programs import NOTHING

WHAT = "acceptance, status and memory with 10,000 finished and 10,000 open tasks"
TASKS, QUICK_TASKS = 10_000, 500
CHAIN = 10
ASKED = 20
FINISH_S_MAX = 600.0
SLOTS = 4
LIMITS = [
    Limit(figure, figure, most, unit)
    for figure, most, unit in (
        ("tasks that did not finish", 0.0, ""),
        ("acceptance of the finishing workflow, s", 3.0, "s"),
        ("acceptance of the open workflow, s", 3.0, "s"),
        ("status with both, median ms", 200.0, "ms"),
        ("status with both, longest ms", 200.0, "ms"),
        ("memory of the first node, MB", 150.0, "MB"),
        ("memory of the second node, MB", 150.0, "MB"),
    )
]
T = TypeVar("T")


def measure(*, quick: bool) -> Figures:
    with Hosts(2, namespaces=False) as hosts:
        for host in hosts:
            host.settle(slots=SLOTS)
        hosts.make_flock()
        hosts.wait_linked()
        with BlockingClient(hosts[0].home, "bench") as client:
            figures = _figures(client, hosts[0], QUICK_TASKS if quick else TASKS)
        for name, host in zip(("first", "second"), hosts, strict=True):
            figures[f"memory of the {name} node, MB"] = host.memory_mb()
        return figures


def _figures(client: BlockingClient, host: Host, count: int) -> Figures:
    start = client.call(STATUS, Status()).position
    finishing = _chains("finishing", count, NOTHING, 0.01, lambda before: {"after": (before,)})
    opened = _chains(
        "open", count, "nobody-has-this", 0.0, lambda before: {"inputs": (Input(before),)}
    )
    _, accepted_s = _timed(lambda: client.call(SUBMIT, finishing))
    _, busy_ms = _asked(lambda: client.call(STATUS, Status()), 5)
    began_s = time.perf_counter()
    with closing(client.events(start, FINISH_S_MAX)) as events:
        done = next(e for e in events if isinstance(e.happening, WorkflowEnded))
    assert isinstance(done.happening, WorkflowEnded)
    finished_s = time.perf_counter() - began_s
    _, opened_s = _timed(lambda: client.call(SUBMIT, opened))
    status_ms, longest_ms = _asked(lambda: client.call(STATUS, Status()), ASKED)
    _, show_ms = _asked(lambda: client.call(SHOW, Show("open", limit=1_000)), ASKED)
    _, why_ms = _asked(lambda: client.call(WHY, Why("open/t-9")), ASKED)
    plan = Submit("other", opened.tasks)
    _, plan_s = _timed(lambda: client.call(PLAN, Plan(plan)))
    _, command_s = _timed(lambda: _command(host))
    return {
        "tasks": count,
        "tasks that did not finish": count - done.happening.counts.get(TaskState.TERMINATED, 0),
        "acceptance of the finishing workflow, s": accepted_s,
        "acceptance of the open workflow, s": opened_s,
        "status while it begins, longest ms": busy_ms,
        "finished tasks a second": count / finished_s,
        "status with both, median ms": status_ms,
        "status with both, longest ms": longest_ms,
        "show of 1,000 tasks, longest ms": show_ms,
        "why, longest ms": why_ms,
        "dry run of as many tasks, s": plan_s,
        "`wingbeat status` from start to end, s": command_s,
    }


def _chains(
    name: str, count: int, program: str, expected_s: float, needs: Callable[[str], dict[str, Any]]
) -> Submit:
    """Chains of tasks; ``needs`` tells how one needs the one before."""
    tasks = [
        Task(
            f"t-{number}",
            program,
            expected_s=expected_s,
            **(needs(f"t-{number - 1}") if number % CHAIN else {}),
        )
        for number in range(count)
    ]
    return Submit(name, tuple(tasks))


def _timed(ask: Callable[[], T]) -> tuple[T, float]:
    began_s = time.perf_counter()
    return ask(), time.perf_counter() - began_s


def _asked(ask: Callable[[], object], times: int) -> tuple[float, float]:
    """Median and longest in milliseconds."""
    taken_ms = [_timed(ask)[1] * 1000 for _ in range(times)]
    return median(taken_ms), max(taken_ms)


def _command(host: Host) -> None:
    """The command as a person runs it."""
    environment = {**os.environ, "WINGBEAT_HOME": str(host.home.data.parent)}
    subprocess.run(
        [sys.executable, "-m", "agent", "status"], env=environment, check=True, capture_output=True
    )
