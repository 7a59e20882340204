"""What a task costs its node when the program does nothing: processor time, and tasks a second.

``python -m tests.bench live_true [--json] [--quick] [--tasks 1000]``. A real agent
in a flock of its own, 4 slots, and a workflow of 1,000 tasks that run ``true``, submitted through
the client protocol. Time counts from the submission to the moment at which the workflow is finished.

Processor time of the agent is what the scheduler gave to all its threads, to the nanosecond. What
the guardian, the keepers and the programs themselves took is told beside it and counted too: it is
what the machine pays. Each task is two commits to the disk, so its flush stands beside the figures.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from agent.api import flock, work
from agent.api.values import TaskState
from agent.execution.process_tree import descendants
from tests.bench.journal import bare_flush_ms
from tests.bench.live_idle import cpu_s
from tests.bench.report import Figures, Limit
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.programs import NOTHING

WHAT = "a task that does nothing: processor time, tasks a second"
SLOTS, TASKS, WARMING = 4, 1_000, 40
LIMIT_S = 120.0
CPU_MS_MAX, PER_SECOND_MIN = 4.0, 250.0
LIMITS = (
    Limit("processor time of the agent a task", "agent, ms a task", CPU_MS_MAX, "ms"),
    Limit("tasks a second", "tasks a second", PER_SECOND_MIN, at_least=True),
)
OPTIONS = {"--tasks": {"type": int, "default": TASKS}}
FLUSHES = 50
TICKS_S = os.sysconf("SC_CLK_TCK")


def measure(*, quick: bool, tasks: int = TASKS, confinement: str = "off") -> Figures:
    tasks = 50 if quick else tasks
    with Hosts(1, namespaces=False, confinement=confinement) as hosts:
        host = hosts[0]
        settings = host.home.settings_file
        told = settings.read_text().replace('processor = "share"', 'processor = "spare"')
        settings.write_text(f"slots = {SLOTS}\n{told}")
        hosts.restart()
        host.call(flock.FLOCK_CREATE, flock.FlockCreate("alone"))
        _run(hosts, host, "warming", WARMING)
        flush_ms = bare_flush_ms(host.home.data / "flush", FLUSHES)
        load = os.getloadavg()[0]
        before_s, below_s = cpu_s(host.process_id), _below_s(host.process_id)
        took_s = _run(hosts, host, "nothing", tasks)
        agent_s = cpu_s(host.process_id) - before_s
        programs_s = _below_s(host.process_id) - below_s
    return {
        "tasks": tasks,
        "slots": SLOTS,
        "tasks a second": tasks / took_s,
        "agent, ms a task": 1_000 * agent_s / tasks,
        "guardian, keepers and programs, ms a task": 1_000 * programs_s / tasks,
        "flush of the disk, median ms": flush_ms,
        "load": load,
    }


def _run(hosts: Hosts, host: Host, name: str, count: int) -> float:
    tasks = [work.Task(f"{name}-{n}", NOTHING, expected_s=0.01) for n in range(count)]
    began_s = time.monotonic()
    host.submit(name, tasks)
    hosts.wait_finished(host, name, LIMIT_S)
    took_s = time.monotonic() - began_s
    counts = host.call(work.SHOW, work.Show(name, 0, 1)).workflow.counts
    assert dict(counts) == {TaskState.TERMINATED: count}, counts
    return took_s


def _below_s(process: int) -> float:
    """Of all processes below the agent, and of those that they have waited for."""
    total = 0
    for each in descendants(process):
        told = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, told[11:15]))
    return total / float(TICKS_S)
