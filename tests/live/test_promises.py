"""The checks of soak and live benchmark see what they are for: a check that finds nothing has to be able to."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.api import session
from agent.api.values import TaskState
from agent.protocol.records import (
    Claim,
    Life,
    PriorityWish,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.storage.database import Remembered
from tests.bench import live, live_throughput
from tests.bench import live_promises as promises
from tests.bench.live_promises import Books, Fault
from tests.bench.report import Figures, judged
from tests.hosts.hosts import Hosts
from tests.hosts.programs import Trace

NOW_S = 1_000.0


def test_a_second_start_without_a_fault_is_seen() -> None:
    traces = [_start("w1-0", 0, NOW_S), _start("w1-0", 1, NOW_S + 1)]
    assert len(list(promises._repeated(traces, {}, Books()))) == 1


def test_a_fault_of_its_owner_excuses_a_second_start_and_no_third() -> None:
    books = Books(faults=[Fault("kill", (0,), NOW_S + 0.5, NOW_S + 3)])
    traces = [_start("w1-0", 0, NOW_S), _start("w1-0", 1, NOW_S + 1)]
    assert not list(promises._repeated(traces, {}, books))
    traces.append(_start("w1-0", 2, NOW_S + 2))
    assert len(list(promises._repeated(traces, {}, books))) == 1


def test_a_fault_elsewhere_or_long_ago_excuses_nothing() -> None:
    traces = [_start("w1-0", 0, NOW_S), _start("w1-0", 1, NOW_S + 1)]
    for fault in (
        Fault("kill", (5,), NOW_S, NOW_S + 3),
        Fault("kill", (0,), NOW_S - 90, NOW_S - 60),
        Fault("kill", (0,), NOW_S + 50, NOW_S + 60),
    ):
        assert list(promises._repeated(traces, {}, Books(faults=[fault])))


def test_a_start_before_its_inputs_is_seen() -> None:
    books = Books(needs={"w1-1": ["w1-0"]})
    end = Trace(0, "end", "w1-0", NOW_S)
    assert not list(promises._early([end, _start("w1-1", 1, NOW_S + 1)], books))
    assert list(promises._early([_start("w1-1", 1, NOW_S - 1), end], books))


def test_a_low_task_that_overtakes_is_seen_unless_a_fault_is_near() -> None:
    hosts = _hosts_that_told(
        _moved("w2-i", TaskState.READY), (3.0, _moved("w1-0", TaskState.RUNNING, "host0"))
    )
    books = Books(interactive={"w2-i"})
    assert list(promises._overtaken(hosts, books))
    books.faults.append(Fault("cut", (3,), NOW_S - 5, NOW_S - 1))
    assert not list(promises._overtaken(hosts, books))


def test_a_success_that_is_taken_back_is_seen() -> None:
    task = "w1-0"
    hosts = _hosts_that_told(_moved("w1-0", TaskState.TERMINATED))
    assert not list(promises._unmade(hosts, {task: Life(runs=(_run(Terminated()),))}))
    assert list(promises._unmade(hosts, {task: Life(runs=(_run(Running()),))}))


def test_journals_that_differ_and_work_that_is_missing_are_seen() -> None:
    books = Books(accepted={"w1": ("w1-0",)})
    whole = _journal(Terminated())
    assert not list(promises._unequal([whole, _journal(Terminated())]))
    assert list(promises._unequal([whole, _journal(Running())]))
    assert not list(promises._lost([whole], books))
    assert list(promises._lost([Remembered()], books))
    assert not list(promises._unfinished({whole.lives[0].task: whole.lives[0].life}, books))
    assert list(promises._unfinished({}, books))


def _start(name: str, host: int, at_s: float) -> Trace:
    return Trace(host, "start", name, at_s)


def _run(phase: Running | Terminated) -> Run:
    return Run(1, 1, "node", 1, Claim(1, (1, 0), "node"), 1_000, phase=phase)


def _journal(phase: Running | Terminated) -> Remembered:
    task = "w1-0"
    spec = WorkflowSpec("w1", "w1", (1, 0), "node", "me", (TaskSpec(task, "w1-0", "nap"),))
    return Remembered(
        workflows=(Workflow(spec, PriorityWish(1, "node", 50)),),
        lives=(TaskLife(task, Life(runs=(_run(phase),))),),
    )


def _moved(name: str, after: TaskState, host: str = "") -> session.TaskMoved:
    workflow = name.partition("-")[0]
    return session.TaskMoved(name, name, workflow, None, after, host, "test")


def _hosts_that_told(*told: session.TaskMoved | tuple[float, session.TaskMoved]) -> Hosts:
    moments = [each if isinstance(each, tuple) else (0.0, each) for each in told]
    happenings = [(NOW_S + after_s, moved) for after_s, moved in moments]
    host = SimpleNamespace(
        name="host0",
        happenings=lambda kind: (each for each in happenings if isinstance(each[1], kind)),
    )
    return cast("Hosts", [host])


# -- the live benchmark's limits: kept by good figures, missed by bad ones, cell by cell -----


def cell(**changed: Any) -> Figures:
    row: Figures = {
        "nodes": 9,
        "workflows": 10,
        "optimum_s": 8.8,
        "optimum_last_s": 10.0,
        "average_s": 8.9,
        "ratio": 1.011,
        "last_s": 10.2,
        "last_ratio": 1.02,
        "waiting_s": 0.2,
        "cpu_ms_a_task": 20.0,
        "cpu_percent_of_a_core": 9.0,
        "tasks_twice": 0,
    }
    return {**row, **changed}


def loss(**changed: Any) -> Figures:
    lost = {"how": "kill", "lost": 5, "optimum_last_s": 20.0, "tasks_started_again": 5}
    return cell(**{**lost, **changed})


def figures(cells: list[Figures], losses: list[Figures], seconds: float = 2.0) -> Figures:
    return {
        "seconds": seconds,
        "hosts are": "namespaces",
        "cores": 2,
        "load before": 0.5,
        "load after": 0.5,
        "cells": cells,
        "losses": losses,
    }


def missed(found: Figures) -> list[str]:
    return [verdict.what for verdict in live.judge(found) if not verdict.kept]


def test_good_figures_keep_every_limit() -> None:
    found = figures([cell(), cell(nodes=3, ratio=1.5)], [loss(), loss(how="cut", last_s=26.0)])
    assert missed(found) == []
    assert len(live.sheets(found)) == 2


@pytest.mark.parametrize(
    ("cells", "losses", "seconds", "what"),
    [
        ([cell(ratio=1.021)], [], 2.0, "9 nodes, 10 workflows: average makespan"),
        ([cell(ratio=1.011)], [], 120.0, "9 nodes, 10 workflows: average makespan"),
        ([cell(tasks_twice=1)], [], 2.0, "9 nodes, 10 workflows: tasks run twice"),
        ([], [loss(ratio=1.06)], 2.0, "kill 5: average makespan"),
        ([], [loss(how="freeze", last_s=27.1)], 2.0, "freeze 5: end of the last"),
    ],
)
def test_each_limit_is_seen_to_be_missed(
    cells: list[Figures], losses: list[Figures], seconds: float, what: str
) -> None:
    assert missed(figures(cells, losses, seconds)) == [what]


def test_of_several_runs_of_a_cell_the_median_counts() -> None:
    assert missed(figures([cell(ratio=1.01), cell(ratio=1.5), cell(ratio=1.015)], [])) == []


def test_too_few_tasks_a_second_are_seen() -> None:
    (verdict,) = judged({"tasks_a_second": 499.0}, live_throughput.LIMITS)
    assert not verdict.kept
