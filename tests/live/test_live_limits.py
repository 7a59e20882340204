"""The live benchmark's limits: kept by good figures, missed by bad ones, cell by cell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench import live, live_throughput
from tests.bench.report import Figures


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
    runs = [cell(ratio=1.01), cell(ratio=1.5), cell(ratio=1.015)]
    assert missed(figures(runs, [])) == []


def test_too_few_tasks_a_second_are_seen() -> None:
    (verdict,) = live_throughput.judge({"tasks_a_second": 499.0})
    assert not verdict.kept
