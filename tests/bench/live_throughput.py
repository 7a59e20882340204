"""How many short tasks a flock of nine real agents ends in a second: 2,000 times ``true``.

``python -m tests.bench live --throughput``. One workflow of independent tasks, each the program
``/bin/true``, submitted at one node. Counted is from before the submission until that node says
that all are finished. Nobody follows events meanwhile: nine clients that read everything would
take the cores from the agents that share two of them. What the agents used is stated beside it,
as processor time for each task: divided by the cores it is what this machine can reach at most.
"""

from __future__ import annotations

import os
import time
from typing import Final

from agent.api import work
from tests.bench.live_idle import cpu_s
from tests.bench.report import Figures, Limit
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.programs import NOTHING
from tests.hosts.waiting import let_pass, wait_for

WHAT: Final = "2,000 independent tasks that do nothing, over 9 real nodes"
NODES: Final = 9
TASKS: Final = 2_000
RATE_MIN: Final = 500.0
LIMITS: Final = (Limit("tasks a second", "tasks_a_second", RATE_MIN, "/s", at_least=True),)
EXPECTED_S: Final = 0.01
LIMIT_S: Final = 300.0
POLL_S: Final = 0.05


def measure(*, quick: bool, confinement: str = "off") -> Figures:
    count = 100 if quick else TASKS
    load = os.getloadavg()[0]
    with Hosts(NODES, confinement=confinement) as hosts:
        hosts.make_flock()
        hosts.wait_equal()
        for host in hosts:
            host.client.unfollow()
        _run(hosts, 50)
        let_pass(1.0)
        before = [cpu_s(host.process_id) for host in hosts]
        accepted_s, ended_s = _run(hosts, count)
        used = [cpu_s(host.process_id) - was for host, was in zip(hosts, before, strict=True)]
        ran = _ran(hosts[0], f"many{count}")
    return {
        "tasks": count,
        "accepted_s": accepted_s,
        "ended_s": ended_s,
        "tasks_a_second": count / ended_s,
        "agents_cpu_ms_a_task": 1000 * sum(used) / count,
        "dearest_agent_cpu_s": max(used),
        "tasks_by_node": ran,
        "load before": load,
        "load after": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }


def _run(hosts: Hosts, count: int) -> tuple[float, float]:
    """Seconds until accepted and until all are finished."""
    name = f"many{count}"
    tasks = [work.Task(f"t{n}", NOTHING, expected_s=EXPECTED_S) for n in range(count)]
    began_s = time.monotonic()
    hosts[0].submit(name, tasks)
    accepted_s = time.monotonic() - began_s

    def finished() -> bool:
        return hosts[0].call(work.SHOW, work.Show(name, 0, 1)).workflow.state == "finished"

    wait_for(finished, LIMIT_S, f"{count} tasks are finished", poll_s=POLL_S)
    return accepted_s, time.monotonic() - began_s


def _ran(host: Host, workflow: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for task in host.tasks(workflow):
        found[task.host] = found.get(task.host, 0) + 1
    return dict(sorted(found.items()))
