"""What the model works out, row by row: plans, presence, hours, files, time line, graph.

As with its words, values lie on both sides of each bound, so that one that moves is seen.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import replace

from agent.api.again import AgainReply, Step
from agent.api.history import PhaseSpan, RunView, TaskRuns
from agent.api.reasons import LacksExtra, NotAccepted, as_why
from agent.api.values import PRIORITY_NAMES, Dataset, NamedPriority, TaskState
from agent.api.volunteering import Hours
from agent.api.work import ATTACHED_MAX, Basis, Input, Misfit, PlanReply, Submit, Task, TaskPlan
from gui.model.again import again_text
from gui.model.attaching import Attaching
from gui.model.graph import (
    BENDS_MAX,
    FOLD_MIN,
    closer,
    count_marks,
    draw,
    label_of,
    output_name,
    shape_of,
)
from gui.model.marks import Mark
from gui.model.planning import (
    fits_text,
    is_for_here,
    nobody_helps,
    planned_tasks,
    summary_text,
    summary_tip,
    urgency_words,
)
from gui.model.timeline import RECENT_MAX, Row, outcome_text, recent, timeline_of
from gui.model.times import clock
from gui.model.week import cells_of, ranges_of, with_block
from tests.gui.values import (
    NOW_S,
    connected,
    status,
    task,
    workflow,
)

NOW_MS = int(NOW_S * 1000)
S = TaskState


# -- plans -----------------------------------------------------------------------------------


def test_a_plan_line_by_line() -> None:
    tasks = (
        Task("a", program="p", expected_s=30),
        Task("b", program="p", inputs=(Input("a"), Input("x", workflow="other")), after=("a",)),
        Task("g", gate=True, asks="look", after=("b",)),
        Task("s", gate=True),
    )
    submit = Submit("w", tasks)
    seen = planned_tasks(submit)
    rows = [(each.name, each.state, each.needs, each.gate, each.reason) for each in seen.values()]
    assert rows == [
        ("a", S.READY, (), False, "30 s"),
        ("b", S.SUBMITTED, ("a",), False, ""),
        ("g", S.SUBMITTED, ("b",), True, "step for a person"),
        ("s", S.WAITING, (), True, "step for a person"),
    ]
    earlier = TaskPlan("b", (), (), 30.0, 42.0, Basis(told=True), Basis(told=True, runs=12))
    plan = PlanReply(False, (), (earlier,), 1, NOW_MS + 42_000, basis=earlier.ends)
    assert planned_tasks(submit, plan)["b"].reason == "12 s"
    assert summary_tip(plan) == "from 12 earlier runs and the lengths that were told"
    assert (seen["a"].expected_s, seen["g"].asks, seen["a"].workflow) == (30, "look", "w")
    plan = PlanReply(False, (), (), 1, NOW_MS + 120_000)
    ends = clock(NOW_S + 120)
    plain = Submit("w", tasks[:2])
    rows_said = [
        (Submit("w", tasks[1:3]), plan, "1 task, 1 step for a person, about 2 min besides."),
        (Submit("w", tasks[:1]), plan, f"1 task, done about {ends}, in 2 min."),
        (submit, plan, "2 tasks, 2 steps for a person, about 2 min besides."),
        (plain, plan, f"2 tasks, done about {ends}, in 2 min."),
        (plain, None, "2 tasks."),
        (plain, replace(plan, faults=("no",)), "2 tasks."),
        (plain, replace(plan, expected_end_ms=0), "2 tasks, how long it takes is not known yet."),
        (plain, replace(plan, expected_end_ms=0, helping=0), "2 tasks."),
    ]
    assert [summary_text(a, b, NOW_S) for a, b, _ in rows_said] == [said for *_, said in rows_said]


STEPS = (Step("a", kept=True, before=TaskState.TERMINATED), Step("b"), Step("c", gate=True))


@pytest.mark.parametrize(
    ("steps", "how", "text"),
    [
        (STEPS[:2], {}, "1 step will run, 1 unchanged and kept, about 9 min, from 12 earlier runs."),
        (STEPS[:2], {"anew": True}, "2 steps will run, about 20 min."),
        (STEPS[:2], {"anew": False, "retried": True}, None),
        (STEPS, {}, "2 steps will run, 1 unchanged and kept, about 9 min besides, from 12 earlier runs."),
    ],
)  # fmt: skip
def test_how_long_what_runs_again_takes_is_told_where_it_is_known(
    steps: tuple[Step, ...], how: dict[str, bool], text: str | None
) -> None:
    known = AgainReply(
        "w", "w", steps, lasts_s=540, lasts=Basis(runs=12), all_s=1200, all_lasts=Basis()
    )
    told = again_text(known, **{"anew": False, **how})
    assert told == (text or again_text(known, anew=False))
    unknown = again_text(
        structs.replace(known, lasts=None, all_lasts=None), **{"anew": False, **how}
    )
    assert "about" not in unknown
    other = replace(
        known, steps=(*steps, Step("d", kept=True))
    )  # it failed before, and is not kept
    assert "about" not in again_text(other, anew=False, retried=True)


def test_which_machines_fit_and_what_keeps_the_others() -> None:
    def plan(*tasks: TaskPlan, **changes: object) -> PlanReply:
        return replace(PlanReply(False, (), tasks, 1, 0), **changes)

    def homeless(name: str, *reasons: str) -> TaskPlan:
        misfits = tuple(Misfit("n", "acor", each) for each in reasons)
        return TaskPlan(name, (), misfits, 0, 0)

    fits = TaskPlan("a", ("acor", "garajau"), (Misfit("n", "x", "no."),), 0, 0)
    many = [homeless(str(each), "no.") for each in range(4)]
    pending = homeless("p", "too small")
    unaccepted = Misfit("n", "acor", "no", as_why(NotAccepted("p@1")))
    pending = replace(pending, misfits=(unaccepted, *pending.misfits))
    lacks = Misfit("n", "acor", "no", as_why(LacksExtra("wingbeat[x]")))
    rows = [
        (plan(fits, fits), "Can run on acor, garajau."),
        (plan(homeless("a", "x", "y", "y", "z")), "No machine fits a: y; x."),
        (plan(*many), "\n".join(f"No machine fits {each}: no." for each in range(3))),
        (plan(pending, waits=("somebody",)), "No machine fits p: too small."),
        (
            plan(replace(pending, misfits=(lacks, lacks))),
            (
                "No machine has wingbeat[x]; the command that brings it is "
                "pip install 'wingbeat[x]'."
            ),
        ),
        (plan(fits, faults=("no",)), ""),
        (plan(homeless("a")), ""),
        (
            plan(homeless("a", "too small"), helping=0),
            (
                "No machine fits a: too small.\n"
                "No machine helps at the moment; it starts as soon as one does."
            ),
        ),
    ]
    assert [fits_text(each) for each, _ in rows] == [said for _, said in rows]


# -- presence, week, files -------------------------------------------------------------------


HERE_FITS = TaskPlan("a", ("acor", "brisa"), (), 0, 0)
ELSEWHERE = TaskPlan("b", ("brisa",), (), 0, 0)
NOT_SAID = TaskPlan("gate", (), (), 0, 0)


@pytest.mark.parametrize(
    ("plan", "nobody"),
    [
        (None, False),
        (PlanReply(False, (), (HERE_FITS, NOT_SAID), 0, 0), True),
        (PlanReply(False, (), (HERE_FITS, ELSEWHERE), 0, 0), False),
        (PlanReply(False, (), (HERE_FITS,), 1, 0), False),
        (PlanReply(False, ("a fault",), (HERE_FITS,), 0, 0), False),
    ],
)
def test_that_nobody_helps_is_told_where_it_could_run_here(
    plan: PlanReply | None, nobody: bool
) -> None:
    assert nobody_helps(plan, "acor") is nobody


def test_when_work_may_run_in_words() -> None:
    named = {"low": "when machines are idle", "interactive": "now, on this computer"}
    low, urgent = PRIORITY_NAMES["low"], PRIORITY_NAMES["interactive"]
    told: tuple[tuple[NamedPriority, bool], ...] = (
        *(("low", False), (low, False)),
        *(("interactive", True), (urgent, True)),
    )
    for urgency, here in told:
        assert urgency_words(urgency) == named
        assert is_for_here(urgency) is here
    assert urgency_words(33) == named | {33: "with priority 33"}
    assert not is_for_here(33)


def test_hours_that_touch_a_cell_paint_it() -> None:
    rows = [
        (Hours("monday", "08:00", "10:00"), {(0, 8), (0, 9)}),
        (Hours("monday", "08:59", "10:01"), {(0, 8), (0, 9), (0, 10)}),
        (Hours("sunday", "23:30", "01:00"), {(6, 23), (0, 0)}),
        (Hours("monday", "22:00", "24:00"), {(0, 22), (0, 23)}),
    ]
    assert [cells_of((each,)) for each, _ in rows] == [cells for _, cells in rows]
    assert len(cells_of((Hours("monday", "08:00", "08:00"),))) == 24
    assert with_block(frozenset(), (1, 9), (0, 8), on=True) == {(0, 8), (0, 9), (1, 8), (1, 9)}
    assert ranges_of(frozenset({(0, 0), (0, 1), (0, 3), (6, 23)})) == (
        Hours("monday", "00:00", "02:00"),
        Hours("monday", "03:00", "04:00"),
        Hours("sunday", "23:00", "24:00"),
    )


def test_files_find_their_names() -> None:
    scan, wires, other = Path("a/scan.las"), Path("WIRES.txt"), Path("other.las")
    chosen = Attaching(("scan", "wires", "report"))
    assert chosen.missing().startswith("Still missing: scan, wires, report.")
    assert chosen.gap() == ""
    assert chosen.offer([wires]) == []
    assert chosen.gap() == "scan comes before what you chose: choose a file for it too."
    assert chosen.offer([scan]) == []
    assert [chosen.gap(), *chosen.paths] == ["", scan, wires]
    assert chosen.missing().startswith("Still missing: report.")
    assert chosen.offer([other, Path("b"), Path("c")]) == [Path("b"), Path("c")]
    assert (chosen.path_of("report"), chosen.missing()) == (other, "")
    chosen.remove(wires)
    assert (chosen.path_of("wires"), chosen.paths) == (None, [scan, other])
    chosen.choose("wires", other)
    assert chosen.path_of("wires") == other
    open_ = Attaching(("scan?", "wires"))
    assert open_.missing().startswith("Still missing: wires.")
    open_.offer([Path("wires.las")])
    assert (open_.gap(), open_.missing()) == ("", "")
    assert open_.in_places == [None, Path("wires.las")]
    assert open_.offer([Path("scan.las")]) == []
    assert open_.in_places == [Path("scan.las"), Path("wires.las")]
    free = Attaching(())
    paths = [Path(str(each)) for each in range(ATTACHED_MAX)]
    assert free.offer([scan, scan, *paths]) == paths[-1:]
    assert free.offer([scan]) == []
    assert len(free.paths) == ATTACHED_MAX
    free.remove(scan)
    assert free.offer([scan, other]) == [other]


# -- time line -------------------------------------------------------------------------------


def test_bars_of_the_time_line() -> None:
    def run(phase: str, begun: int, ended: int = 0, *spans: tuple[str, int]) -> RunView:
        told = tuple(PhaseSpan(name, at * 1000) for name, at in spans)  # type: ignore[arg-type]
        return RunView("r", 1, 1, "acor", phase, begun * 1000, 0, ended * 1000, "", told)  # type: ignore[arg-type]

    held = run("Suspended", 10, 0, ("Running", 10), ("Suspended", 20))
    tasks = [
        TaskRuns("t", "t", "line-42", S.RUNNING, 0, (held, run("Yielded", 5, 6), run("Lost", 0))),
        TaskRuns("u", "u", "line-42", S.RUNNING, 0, (run("Yielded", 40, 50, ("Running", 40)),)),
        TaskRuns("v", "v", "line-42", S.RUNNING, 0, (run("Terminated", 60, 70),)),
    ]
    told = timeline_of(tasks, 60)
    assert [(each.name, each.lane, each.begin_s, each.end_s, each.mark) for each in told.bars] == [
        ("t", 0, 10, 60, Mark.SUSPENDED),
        ("u", 1, 40, 50, Mark.CANCELLED),
        ("v", 0, 60, 70, Mark.DONE),
    ]
    assert [*told.rows, told.begin_s, told.end_s] == [Row("acor", 2), 10, 70]
    assert list(told.bars[0].suspended) == [(20, 60)]
    assert told.bars[0].story.splitlines()[2:] == ["suspended for 40 s", "suspended"]
    assert told.bars[0].story.splitlines()[1].endswith(" to now, 50 s")
    assert told.bars[1].story.splitlines()[1] == f"{clock(40)} to {clock(50)}, 10 s"
    empty = timeline_of([], 7)
    assert (empty.bars, empty.begin_s, empty.end_s) == ((), 7, 7)
    ahead = timeline_of([TaskRuns("t", "t", "w", S.RUNNING, 0, (run("Running", 90),))], 60)
    assert (ahead.bars[0].begin_s, ahead.bars[0].end_s) == (90, 90)


def test_how_runs_ended_and_which_workflows_moved_last() -> None:
    def said(phase: str, text: str = "") -> str:
        return outcome_text(RunView("r", 1, 1, "acor", phase, 1, 1, 1, text))  # type: ignore[arg-type]

    phases = (
        "Scheduled",
        "Running",
        "Suspended",
        "Terminated",
        "Failed",
        "Evicted",
        "Yielded",
        "Lost",
    )
    assert [said(each) for each in phases] == [
        *("fetching inputs", "running", "suspended", "ended well", "failed"),
        *("given back: its machine was needed", "not needed any more", "lost with its machine"),
    ]  # fmt: skip
    assert said("Failed", "disk full") == "failed: disk full"
    views = [workflow(str(each), submitted_ms=each) for each in range(RECENT_MAX)]
    first = workflow("runs", state="running", submitted_ms=0)
    second = workflow("ended", state="finished", submitted_ms=0, ended_ms=50)
    assert recent(connected(status(*views, second, first))) == [
        *("runs", "ended"),
        *(str(each) for each in range(RECENT_MAX - 1, 1, -1)),
    ]


# -- graph -----------------------------------------------------------------------------------


def test_places_of_boxes_and_bends_of_arrows() -> None:
    tasks = [task("a"), task("b", needs=("a",)), task("c", needs=("a", "b")), task("late"),
             task("d", needs=("elsewhere", "c", "late")), task("x"), task("y", needs=("a", "x"))]  # fmt: skip
    picture = draw(tasks)
    assert {each.key: each.x for each in picture.boxes} == {
        "a": 0.0, "b": 210.0, "c": 420.0, "late": 420.0, "d": 630.0, "x": 0.0, "y": 210.0,
    }  # fmt: skip
    (bent,) = [each for each in picture.arrows if each.bends]
    assert min(bent.bends[0][1] - 27.0, *(each.y for each in picture.boxes)) == 0.0
    assert {each.y % 76.0 for each in picture.boxes} <= {0.0, 38.0}
    assert (bent.source, bent.target, bent.bends[0][0]) == ("a", "c", 210.0 + 72.0)
    assert (bent.bends[0][1] - 27.0) % 76.0 in (0.0, 38.0)
    near = closer(picture)
    assert [round(each.x) for each in near.boxes] == [0, 170, 340, 340, 510, 0, 170]
    (nearer,) = [each for each in near.arrows if each.bends]
    assert nearer.bends[0][0] == pytest.approx(170.0 + 72.0)
    assert draw([]).boxes == ()
    assert shape_of(tasks)[1] == ("b", ("a",)) == picture.shape[1]


def test_only_many_that_are_alike_are_one_box() -> None:
    def boxes(count: int) -> list[tuple[str, int]]:
        tasks = [task(f"t{each}", program="tile@1") for each in range(count)]
        return [(each.title, len(each.tasks)) for each in draw(tasks).boxes]

    assert boxes(FOLD_MIN) == [("tile", 5)]
    assert boxes(FOLD_MIN - 1) == [(f"t{each}", 1) for each in range(4)]
    gates = [task(f"g{each}", program="tile@1", gate=each > 4) for each in range(10)]
    assert [len(each.tasks) for each in draw(gates).boxes] == [5, 5]
    assert [each.key for each in draw(gates).boxes] == ["g0", "g5"]
    known = {each.task: each for each in gates[:3]}
    assert count_marks(draw(gates).boxes[0], known) == {Mark.WAITING: 3}
    assert BENDS_MAX == 2000


def test_names_of_what_flows() -> None:
    external = task("a", outputs=(Dataset("scan/7", external=True), Dataset("b", 1)))
    assert label_of(external) == "scan/7 +1"
    done = task("a", outputs=(Dataset("sha256:ab", 14_000), Dataset("sha256:cd", 1)))
    assert label_of(done) == "14 kB +1"
    assert label_of(structs.replace(done, output_names=("points.las",))) == "points.las +1"
    step = task("look", gate=True, attach=("corrected", "notes"), outputs=(Dataset("a", 1),) * 3)
    assert [output_name(step, place) for place in range(3)] == ["corrected", "notes", ""]
    assert label_of(task("c")) == ""
    kept = task("a", outputs=(Dataset("sha256:ab", 4),), output_names=("points",))
    assert draw([kept, task("b", needs=("a",))]).arrows[0].label == "points"
    many = [task(f"t{each}", program="p", outputs=(Dataset("d", 1000 + 1000 * each),))
            for each in range(FOLD_MIN)]  # fmt: skip
    (merged,) = draw([*many, task("m", needs=tuple(each.task for each in many))]).arrows
    assert (merged.source, merged.target, merged.label) == ("t0", "m", "1.0 kB")
