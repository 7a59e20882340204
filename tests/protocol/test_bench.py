"""The benchmarks run, show and judge; what they measure is said by them, not here.

A benchmark that cannot fail proves nothing, so each is given figures of a tiny run, and the same
figures with one of them made worse than its limit allows.
"""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.bench import __main__ as command
from tests.bench import live_policies, page, policies, policies_page, source_rules
from tests.bench import random as random_work
from tests.bench.report import Figures, Verdict, hand_over, judge, sheets
from tests.sim.lan import Flock, Step
from tests.sim.rings import FAULTS

WORSE: dict[str, tuple[tuple[Any, ...], float]] = {
    "tables": (("cells", 0, "last_ratio"), 1.03),
    "messages": (("rows", -1, "idle", "Heartbeat"), 1e9),
    "lengths": (("messages", "per_task"), 6.6),
    "twice": (("rows", 0, "twice"), 1),
    "speed": (("simulator", "events_per_s"), 49_999.0),
    "dispatch": (("elsewhere", 0, "max_s"), 1.1),
    "random": (("waits_max_ms",), 20.1),
    "events": (("events", "p99_ms"), 5.1),
    "policies_nodes": (("cells", 0, "makespan_s"), 1_001.0),
    "policies": (("fairness", "variance", "no fairness", "no error"), 85.28),
}
EVERY_LIMIT: dict[str, list[tuple[tuple[Any, ...], float]]] = {
    "tables": [
        (("cells", 0, "average_ratio"), 1.011),
        (("cells", 0, "average_ratio_copies"), 1.011),
        (("cells", 0, "last_ratio_copies"), 1.021),
        (("cells", 0, "waiting_ours_s"), 1e6),
        (("failures", 0, "ratio"), 1.031),
    ],
    "messages": [(("rows", -1, "task", "State"), 1e9)],
    "lengths": [
        (("wrongly", "long"), 1.06),
        (("wrongly", "empty"), 1.06),
        (("wrongly", "mixed_s"), 21.2),
        (("wrongly", "behind_s"), 3.1),
        (("cells", 0, "average"), 1.011),
        (("cells", 0, "last"), 1.021),
        (("programs", 0, "makespan"), 1.031),
    ],
    "twice": [(("rows", 1, "broken"), 1)],
    "events": [(("events", "max_ms"), 250.1)],
    "random": [(("average_ratio",), 1.031), (("last_ratio",), 1.031)],
    "dispatch": [
        (("starts", 0, "median_ms"), 10.1),
        (("starts", 0, "p99_ms"), 100.1),
        (("elsewhere", 1, "max_s"), 6.1),
        (("healing", 0, "since_healed_s"), 2.1),
    ],
}


@cache
def tiny(name: str) -> Figures:
    return command.benchmark(name).measure(quick=True)


def kept(name: str) -> Figures:
    """Figures of a tiny run, as if it had kept every limit: no test depends on how fast it was."""
    figures = copy.deepcopy(tiny(name))
    if name == "speed":
        figures["simulator"]["events_per_s"] = 50_000.0
    if name == "events":
        figures["events"].update(p99_ms=5.0, max_ms=250.0)
    if name == "tables":
        for cell in figures["cells"]:
            cell.update(average_ratio=1.0, last_ratio=1.0, average_ratio_copies=1.0)
            cell.update(last_ratio_copies=1.0, waiting_ours_s=cell["waiting_limit_s"])
        for failure in figures["failures"]:
            failure["ratio"] = 1.0
    if name == "policies_nodes":
        for row in figures["cells"]:
            row["makespan_s"] = 1_000.0
    if name == "policies":
        _keep_policies(figures)
    return figures


def _keep_policies(figures: Figures) -> None:
    for row in (*figures["rules"], *figures["full"]):
        row["executions"] = policies.EXECUTIONS[row["kind"]]
        row["makespan_s"] = {"FCFS": 1.0, "BFGCE": 0.8, "ours": 0.7}.get(row["rule"], 0.75)
    for row in figures["wrong"]:
        row["given_up"] = 0
    figures["fairness"]["variance"]["worse than average"].update(dict.fromkeys(FAULTS, 0.1))


def put(figures: Figures, path: tuple[Any, ...], value: float) -> Figures:
    inner: Any = figures
    for step in path[:-1]:
        inner = inner[step]
    assert path[-1] in inner if isinstance(inner, dict) else True
    inner[path[-1]] = value
    return figures


def all_limits() -> Iterator[tuple[str, tuple[Any, ...], float]]:
    for name, (path, value) in WORSE.items():
        yield name, path, value
    for name, worse in EVERY_LIMIT.items():
        for path, value in worse:
            yield name, path, value


@pytest.mark.parametrize("name", command.SIMULATED)
def test_it_runs_and_shows_what_it_measured(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    bench = command.benchmark(name)
    assert hand_over(bench, kept(name), as_json=False) == 0
    shown = capsys.readouterr().out
    assert "Limits" in shown
    assert "MISSED" not in shown
    assert all(sheet.title in shown for sheet in sheets(bench, kept(name)))


@pytest.mark.parametrize("name", command.SIMULATED)
def test_its_figures_are_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert hand_over(command.benchmark(name), kept(name), as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(verdict["kept"] for verdict in told["verdicts"])
    assert told["figures"].keys() == tiny(name).keys()


@pytest.mark.parametrize(("name", "path", "value"), list(all_limits()))
def test_a_figure_over_its_limit_fails(
    name: str, path: tuple[Any, ...], value: float, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = command.benchmark(name)
    figures = put(kept(name), path, value)
    assert hand_over(bench, figures, as_json=False) == 1
    assert "MISSED" in capsys.readouterr().out
    assert [verdict.kept for verdict in judge(bench, figures)].count(False) == 1


def test_every_benchmark_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in (*command.NAMES, "journal"))


def test_the_command_hands_back_the_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = put(kept("twice"), ("rows", 0, "twice"), 1)
    bench = command.benchmark("twice")
    monkeypatch.setattr(bench, "measure", lambda **_: figures)
    assert command.main(["twice", "--json"]) == 1
    assert '"kept": false' in capsys.readouterr().out


def test_what_is_kept_stands_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    measured = kept("twice")  # before it is what is told
    monkeypatch.setattr(command.benchmark("twice"), "measure", lambda **_: measured)
    assert command.main(["twice", "--keep"]) == 0
    assert "Limits" in capsys.readouterr().out
    before = f"above\n{page.MARK.format('here')}\n| old |\n{page.END}\nbelow\n"
    head, table = page.written(before, {"here": ("twice", "speed")}).split(page.HEAD)
    assert head == f"above\n{page.MARK.format('here')}\n"
    rows = table.partition(page.END)[0].strip().splitlines()
    assert rows[0].startswith("| `python -m tests.bench twice` | ")
    assert rows[1].startswith("| | ")
    assert len(rows) == len(judge(command.benchmark("twice"), kept("twice")))
    assert table.endswith(f"{page.END}\nbelow\n")


def test_the_page_is_what_the_benchmarks_kept() -> None:
    told = page.PAGE.read_text("utf-8")
    assert page.written(told, command.GROUPS) == told
    assert {each.stem for each in page.RESULTS.iterdir()} <= set(command.NAMES)


def test_the_page_of_policies_is_what_the_benchmarks_kept() -> None:
    assert policies_page.PAGE.read_text("utf-8") == policies_page.page()
    figures = policies_page.kept("policies")
    assert figures is not None
    assert policies_page.PICTURE.read_text("utf-8") == policies_page.picture(figures["rules"])


def test_what_a_benchmark_of_policies_keeps_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies_page, "FIGURES", tmp_path / "figures")
    assert policies_page.kept("live_policies") is None
    wrong = dict.fromkeys(live_policies.WRONG, 0) | dict.fromkeys(live_policies.TIMES, 1.0)
    figures = {"rules": {"EC": wrong, "BFC": wrong | {"ended twice": 1}}}
    policies_page.keep("live_policies", figures)
    assert policies_page.kept("live_policies") == figures
    told = policies_page.page()
    assert "| EC: tasks and agents that went wrong | ≤ 0 | 0 |  |" in told
    assert "| BFC: tasks and agents that went wrong | ≤ 0 | 1 | missed |" in told


def test_a_benchmark_without_limits_keeps_its_figures(tmp_path: Path) -> None:
    figures = {"flush_ms": 1.5, "one_by_one": [], "in_flight": [], "start": {"records": 7}}
    kept_there = tmp_path / "journal.json"
    keep = (kept_there, "the command")
    assert hand_over(command.benchmark("journal"), figures, as_json=True, keep=keep) == 0
    assert json.loads(kept_there.read_text()) == {
        "command": "the command",
        "rows": [["A bare flush, one page", "", "1.5"], ["A start, records", "", "7"]],
    }


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("requests", {"a_minute": 53.1, "methods": {"hello": 53.1}, "ended": 1, "seconds": 60.0}),
        ("gui", {"open_s": 1.01, "all_tasks_s": 9.0}),
        ("gui_start", {"icon_s": 2.01}),
        ("gui_history", {"search_ms": 100.1}),
    ],
)
def test_a_figure_of_the_window_over_its_limit_fails(
    name: str, figures: Figures, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hand_over(command.benchmark(name), figures, as_json=False) == 1
    assert capsys.readouterr().out.count("MISSED") == 1


def test_what_is_not_a_number_keeps_no_limit() -> None:
    assert not Verdict("ratio", float("nan"), 1.0).kept
    assert not Verdict("rate", float("nan"), 1.0, at_least=True).kept


def source_flock(nodes: int, reading: source_rules.Reading) -> Flock:
    flock = Flock(
        nodes,
        node_class=source_rules.NODE_CLASSES[reading],
        watch_class=source_rules.SourceWatch,
    )
    flock.run_until(130.0)
    return flock


def test_a_low_task_of_the_source_waits_for_its_window() -> None:
    flock = source_flock(3, source_rules.Reading.WHEN_ASKED)
    task = flock.submit("w", [Step(120.0, name=source_rules.LOW)])[0]
    assert flock.run()
    assert len(flock.times[task].started) == 1
    assert flock.times[task].waited_s == pytest.approx(15.05, abs=0.01)


def test_an_interactive_task_of_the_source_starts_at_once_where_it_was_asked_for() -> None:
    flock = source_flock(3, source_rules.Reading.WHEN_ASKED)
    task = flock.submit("w", [Step(120.0, name=source_rules.INTERACTIVE)], node=2)[0]
    assert flock.run()
    (started_s, host), *others = flock.times[task].started
    assert not others
    assert host == flock.simulation.machines[2].plan.name
    assert started_s - 130.0 == pytest.approx(0.05, abs=0.001)


def test_a_node_of_the_source_is_missed_after_a_minute_of_silence() -> None:
    flock = source_flock(2, source_rules.Reading.WHEN_ASKED)
    task = flock.submit("w", [Step(120.0, name=source_rules.INTERACTIVE)], node=0)[0]
    flock.kill(0, at=190.0)
    assert flock.run()
    again_s, host = flock.times[task].started[-1]
    assert host == flock.simulation.machines[1].plan.name
    assert 190.0 + 60.0 - 15.0 <= again_s <= 190.0 + 60.0 + 60.0 + 60.0 + 15.1


def test_a_list_schedule_takes_what_comes_first_and_interactive_before_low() -> None:
    low = random_work.Drawn("low", 0.0, 0, False, (Step(10.0), Step(5.0, (0,)), Step(2.0)))
    now = random_work.Drawn("now", 1.0, 0, True, (Step(3.0),))
    assert random_work.list_schedule([low, now], 1) == {"low": 20.0, "now": 13.0}
    assert random_work.list_schedule([low, now], 2) == {"low": 15.0, "now": 5.0}
