"""The source's tables 5.3 to 5.5 with real agents: chains of four tasks on 1, 3 and 9 real nodes.

``python -m tests.bench live [--seconds 120] [--nodes 9] [--workflows 5 10] [--kill 5] [--freeze 5]
[--cut 5] [--times 3] [--json]``, and ``--throughput`` for many short tasks. Without a choice of
nodes, workflows or losses everything is run.

The agents are real processes, each on a host of its own (``tests.hosts``: a network namespace where
they can be made, else a loopback address), with its own home, journal and programs; they share the
network and nothing else but, unlike real machines, the cores of one. The tasks are timed stand-ins,
as the source's were: a shell script that sleeps and then names an output (``TIMED``).

A makespan is from the moment before the client asks until the node that it asked tells that the
last task is finished (if that node is lost, the first survivor). Waiting is from the first moment
at which any node told that a task is ready until the node that runs it told so. Optimum and the
drawing of losses are those of the simulated benchmark (``optimum``, ``tables``): each node is lost
at a moment of its own within its first task. Processor time is that of the agents alone, to the
nanosecond, not of their tasks nor of the clients.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, median
from typing import Any

from agent.api import session, work
from agent.api.values import TaskState
from tests.bench import live_work, optimum
from tests.bench.live_idle import cpu_s
from tests.bench.report import Cell, Figures, Sheet, Verdict
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.lan import why_no_namespaces
from tests.hosts.programs import describe
from tests.hosts.waiting import let_pass, wait_for

WHAT = "chains of four timed tasks on 1, 3 and 9 real nodes, and with nodes lost"
NODES, WORKFLOWS, CHAIN_TASKS = (1, 3, 9), (5, 10, 15), 4
SECONDS, LOST = 2.0, 5
LONG_S = 60.0
AVERAGE_MAX, AVERAGE_LONG_MAX, KILLED_MAX, SILENT_S_MAX = 1.02, 1.005, 1.05, 6.0
GIVE_UP_FACTOR, GIVE_UP_S = 3.0, 60.0
TIMED = "timed"
HOWS = ("kill", "freeze", "cut")
LOSSES = tuple((how, LOST) for how in HOWS)
SEED = 1
OPTIONS = {
    "--seconds": {"type": float, "default": SECONDS, "help": "length of each task"},
    "--nodes": {"type": int, "nargs": "+", "help": f"only these of {NODES}"},
    "--workflows": {"type": int, "nargs": "+", "help": f"only these of {WORKFLOWS}"},
    **{f"--{how}": {"type": int, "metavar": "N", "help": f"{how} N of 9 nodes"} for how in HOWS},
    "--times": {"type": int, "default": 1, "help": "run each cell so often"},
}

_SCRIPT = """#!/bin/sh
for last; do :; done
set -- $last
echo "start $1 0" >> "{evidence}"
sleep "$2"
echo "end $1 0" >> "{evidence}"
echo "TERMINATED out-$1"
"""


@dataclass(frozen=True, slots=True)
class Choice:
    seconds: float = SECONDS
    nodes: tuple[int, ...] = NODES
    workflows: tuple[int, ...] = WORKFLOWS
    losses: tuple[tuple[str, int], ...] = LOSSES
    times: int = 1


SMALLEST = Choice(nodes=NODES[:1], workflows=WORKFLOWS[:1], losses=())


@dataclass
class Running:
    """Workflows that were submitted, when and at which node."""

    mark: str
    submitted_s: dict[str, float] = field(default_factory=dict)
    asked: dict[str, Host] = field(default_factory=dict)
    cpu_s: dict[int, float] = field(default_factory=dict)
    """Of each host's agent when it began."""


def measure(*, quick: bool, **chosen: Any) -> Figures:
    """All cells that were chosen; the smallest one if it is to be quick."""
    choice = SMALLEST if quick else _choice(argparse.Namespace(**chosen))
    figures: Figures = {
        "seconds": choice.seconds,
        "hosts are": "loopback addresses" if why_no_namespaces() else "namespaces",
        "cores": os.cpu_count(),
        "load before": os.getloadavg()[0],
        "cells": [],
        "losses": [],
    }
    for nodes in choice.nodes:
        with Hosts(nodes) as hosts:
            _begin(hosts)
            for workflows in choice.workflows:
                figures["cells"] += [
                    _cell(hosts, workflows, choice.seconds, number)
                    for number in range(choice.times)
                ]
    for how, count in choice.losses:
        figures["losses"] += [_loss(how, count, choice.seconds, n) for n in range(choice.times)]
    figures["load after"] = os.getloadavg()[0]
    return figures


def _begin(hosts: Hosts) -> None:
    for host in hosts:
        folder = host.home.programs / TIMED
        folder.mkdir(parents=True)
        (folder / "timed.sh").write_text(_SCRIPT.replace("{evidence}", str(host.evidence)))
        describe(folder, ["sh", "timed.sh"], 1)
    hosts.make_flock()
    hosts.wait_equal()
    let_pass(1.0)


# -- cells without losses -------------------------------------------------------------------------


def _cell(hosts: Hosts, workflows: int, seconds: float, number: int) -> Figures:
    sys.stderr.write(f"{len(hosts)} nodes, {workflows} workflows …\n")
    best = optimum.of_cell(len(hosts), workflows, CHAIN_TASKS, seconds)
    draw = Random(f"live {SEED} {len(hosts)} {workflows} {number}")
    running = _submit(hosts, workflows, seconds, draw)
    _wait(running, list(hosts), best.last_s)
    return {
        "nodes": len(hosts),
        "workflows": workflows,
        "optimum_s": best.average_s,
        "optimum_last_s": best.last_s,
        "optimum_waiting_s": optimum.waiting_s(len(hosts), workflows, CHAIN_TASKS, seconds),
        **_ends(running, list(hosts), best),
        "tasks_twice": _twice(hosts, running),
    }


def _submit(hosts: Hosts, workflows: int, seconds: float, draw: Random) -> Running:
    """All at once, each at a drawn node, as the source's clients do."""
    running = Running(f"live{time.time_ns()}")
    running.cpu_s = {host.number: cpu_s(host.process_id) for host in hosts}
    answers = []
    for number in range(workflows):
        name = f"{running.mark}-{number:02}"
        host = hosts[draw.randrange(len(hosts))]
        running.submitted_s[name] = time.time()
        running.asked[name] = host
        answers.append(host.ask_submit(name, _chain(name, seconds)))
    for answer in answers:
        answer.result(GIVE_UP_S)
    return running


def _chain(workflow: str, seconds: float) -> list[work.Task]:
    names = [f"{workflow}-{number}" for number in range(CHAIN_TASKS)]
    return [
        work.Task(
            name,
            TIMED,
            inputs=(work.Input(names[number - 1]),) if number else (),
            parameters=f"{name} {seconds:g}",
            expected_s=seconds,
        )
        for number, name in enumerate(names)
    ]


def _wait(running: Running, alive: Sequence[Host], best_s: float) -> None:
    """Until each workflow has ended as its client sees it."""
    limit_s = GIVE_UP_FACTOR * best_s + GIVE_UP_S
    watches = {
        name: live_work.Finished(_client(running, name, alive), name) for name in running.asked
    }
    wait_for(
        lambda: all(watch.read() == CHAIN_TASKS for watch in watches.values()),
        limit_s,
        "all workflows have ended",
        lambda: str({name: len(watch.names) for name, watch in watches.items()}),
        poll_s=0.1,
    )


def _client(running: Running, workflow: str, alive: Sequence[Host]) -> Host:
    """The node whose word counts for this workflow."""
    asked = running.asked[workflow]
    return asked if asked in alive else alive[0]


def _ends(running: Running, alive: Sequence[Host], best: optimum.Optimum) -> Figures:
    spans = [
        _ended_s(_client(running, name, alive), name) - submitted_s
        for name, submitted_s in running.submitted_s.items()
    ]
    ready, started = live_work.moments(alive, running.mark)
    used_s = sum(cpu_s(host.process_id) - running.cpu_s[host.number] for host in alive)
    return {
        "average_s": fmean(spans),
        "last_s": max(spans),
        "ratio": fmean(spans) / best.average_s,
        "last_ratio": max(spans) / best.last_s,
        "waiting_s": fmean(at_s - ready[name] for name, at_s in started.items() if name in ready),
        "cpu_ms_a_task": 1000 * used_s / (CHAIN_TASKS * len(spans)),
        "cpu_percent_of_a_core": 100 * used_s / max(spans),
    }


def _ended_s(host: Host, workflow: str) -> float:
    return max(
        at_s
        for at_s, moved in host.happenings(session.TaskMoved)
        if moved.workflow_name == workflow and moved.after is TaskState.TERMINATED
    )


def _twice(hosts: Hosts, running: Running) -> int:
    """Starts that the programs' own evidence has beyond one for each task."""
    starts = [
        trace.name
        for trace in hosts.traces()
        if trace.word == "start" and trace.name.startswith(running.mark)
    ]
    return len(starts) - len(set(starts))


# -- cells with losses ----------------------------------------------------------------------------


def _loss(how: str, count: int, seconds: float, number: int) -> Figures:
    sys.stderr.write(f"{how} {count} of {optimum.FLOCK_NODES} …\n")
    best = optimum.after_kill(count, task_s=seconds)
    draw = Random(f"live {how} {count} {SEED} {number}")
    with Hosts(optimum.FLOCK_NODES) as hosts:
        _begin(hosts)
        running = _submit(hosts, optimum.FLOCK_WORKFLOWS, seconds, draw)
        wait_for(lambda: _started(hosts, running) == len(hosts), GIVE_UP_S, "all run their first")
        victims = draw.sample(list(hosts), count)
        alive = [host for host in hosts if host not in victims]
        _lose(hosts, how, victims, seconds, draw)
        _wait(running, alive, best.last_s)
        return {
            "how": how,
            "lost": count,
            "optimum_s": best.average_s,
            "optimum_last_s": best.last_s,
            **_ends(running, alive, best),
            "tasks_started_again": _twice(hosts, running),
        }


def _started(hosts: Hosts, running: Running) -> int:
    """On how many hosts a task of these has begun."""
    return len({trace.host for trace in hosts.traces() if trace.name.startswith(running.mark)})


def _lose(hosts: Hosts, how: str, victims: Sequence[Host], seconds: float, draw: Random) -> None:
    """Each at a moment of its own within its first task, which all have just begun."""
    pulls: dict[str, Callable[[Host], object]] = {
        "kill": lambda host: host.kill(),
        "freeze": lambda host: host.freeze(),
        "cut": hosts.cut,
    }
    began_s = time.monotonic()
    for moment_s, victim in sorted(
        ((draw.uniform(0.02, 0.9) * seconds, victim) for victim in victims),
        key=lambda each: each[0],
    ):
        let_pass(max(0.0, began_s + moment_s - time.monotonic()))
        pulls[how](victim)


# -- what they are worth --------------------------------------------------------------------------


def judge(figures: Figures) -> list[Verdict]:
    """The limits of the issue; of several runs of one cell the median counts."""
    found: list[Verdict] = []
    limit = AVERAGE_LONG_MAX if figures["seconds"] >= LONG_S else AVERAGE_MAX
    for cell in _cells(figures["cells"], ("nodes", "workflows")):
        nodes, workflows = cell[0]["nodes"], cell[0]["workflows"]
        what = f"{nodes} nodes, {workflows} workflows"
        if nodes == optimum.FLOCK_NODES:
            ratio = median(each["ratio"] for each in cell)
            found.append(Verdict(f"{what}: average makespan", ratio, limit, "x"))
        twice = max(each["tasks_twice"] for each in cell)
        found.append(Verdict(f"{what}: tasks run twice", twice, 0))
    for cell in _cells(figures["losses"], ("how", "lost")):
        how, lost = cell[0]["how"], cell[0]["lost"]
        ratio = median(each["ratio"] for each in cell)
        last_s = median(each["last_s"] for each in cell)
        best_s = KILLED_MAX * cell[0]["optimum_last_s"]
        if how == "kill":
            found.append(Verdict(f"{how} {lost}: average makespan", ratio, KILLED_MAX, "x"))
        else:
            found.append(
                Verdict(f"{how} {lost}: end of the last", last_s, best_s + SILENT_S_MAX, "s")
            )
    return found


def _cells(rows: list[Figures], keys: tuple[str, str]) -> list[list[Figures]]:
    found: dict[tuple[object, ...], list[Figures]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(found.values())


def sheets(figures: Figures) -> list[Sheet]:
    note = (
        f"Tasks of {figures['seconds']:g} s that sleep; hosts are {figures['hosts are']} on "
        f"{figures['cores']} shared cores; load {figures['load before']:.1f} before, "
        f"{figures['load after']:.1f} after. x: divided by the optimum."
    )
    columns = ["optimum s", "average s", "x", "last s", "x", "waiting s"]
    columns += ["CPU ms/task", "CPU % of a core"]
    found = []
    if figures["cells"]:
        rows = [
            [f"{each['nodes']}, {each['workflows']}", *_row(each), each["tasks_twice"]]
            for each in figures["cells"]
        ]
        found.append(Sheet(WHAT, ["nodes, workflows", *columns, "twice"], rows, note))
    if figures["losses"]:
        rows = [
            [f"{each['how']} {each['lost']}", *_row(each), each["tasks_started_again"]]
            for each in figures["losses"]
        ]
        title = f"{optimum.FLOCK_WORKFLOWS} workflows, nodes of 9 lost in their first task"
        found.append(Sheet(title, ["lost", *columns, "again"], rows, note))
    return found


def _row(each: Figures) -> list[Cell]:
    return [
        each["optimum_s"],
        f"{each['average_s']:.2f}",
        f"{each['ratio']:.3f}",
        f"{each['last_s']:.2f}",
        f"{each['last_ratio']:.3f}",
        f"{each['waiting_s']:.3f}",
        f"{each['cpu_ms_a_task']:.1f}",
        f"{each['cpu_percent_of_a_core']:.1f}",
    ]


def _choice(options: argparse.Namespace) -> Choice:
    losses = tuple((how, getattr(options, how)) for how in HOWS if getattr(options, how))
    cells = bool(options.nodes or options.workflows)
    everything = not losses and not cells
    return Choice(
        seconds=options.seconds,
        nodes=tuple(options.nodes or NODES) if cells or everything else (),
        workflows=tuple(options.workflows or WORKFLOWS),
        losses=LOSSES if everything else losses,
        times=options.times,
    )
