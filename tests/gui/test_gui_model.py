"""The parts of the model that are about one thing each: graph, week, times, time line, colours."""

from __future__ import annotations

import dataclasses
import itertools
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import gui.translations
from agent.api.history import PhaseSpan, RunView, TaskRuns
from agent.api.plan import Misfit, PlanReply, TaskPlan
from agent.api.reasons import AcceptanceNeeded, NotAccepted, as_why
from agent.api.values import Dataset, TaskState
from agent.api.volunteering import Hours
from agent.api.work import Submit, Task
from gui import words
from gui.model.graph import BOX_HEIGHT, draw, label_of
from gui.model.marks import Mark
from gui.model.planning import fits_text, planned_tasks, summary_text, waits_text
from gui.model.timeline import timeline_of
from gui.model.times import ago, countdown, left, size, span
from gui.model.week import cells_of, ranges_of, with_block
from gui.theme.colours import (
    DARK,
    LIGHT,
    SHAPE_CONTRAST_MIN,
    TEXT_CONTRAST_MIN,
    WORKFLOW_HUES,
    Colours,
    contrast,
    readable_accent,
    text_on,
)
from gui.views.rows import Rows
from gui.words import tr_n
from tests.gui.values import NOW_S, task

TEXT_ROLES = (
    *("text", "quiet", "accent", "waiting", "ready", "running", "suspended"),
    *("person_edge", "done", "failed", "cancelled"),
)


# -- graph ---------------------------------------------------------------------------------


def test_a_chain_goes_from_left_to_right() -> None:
    picture = draw([task("a"), task("b", needs=("a",)), task("c", needs=("b",))])
    places = {box.key: box.x for box in picture.boxes}
    assert places["a"] < places["b"] < places["c"]
    assert [(arrow.source, arrow.target) for arrow in picture.arrows] == [("a", "b"), ("b", "c")]


def test_boxes_never_lie_on_each_other() -> None:
    tasks = [task("s"), *(task(f"m{n}", needs=("s",), program=f"p{n}") for n in range(8))]
    tasks.append(task("e", needs=tuple(f"m{n}" for n in range(8))))
    boxes = draw(tasks).boxes
    columns: dict[float, list[float]] = {}
    for box in boxes:
        columns.setdefault(box.x, []).append(box.y)
    for heights in columns.values():
        ordered = sorted(heights)
        gaps = [low - high for high, low in itertools.pairwise(ordered)]
        assert all(gap >= BOX_HEIGHT for gap in gaps)


def test_a_fan_out_folds_with_the_chains_inside_it() -> None:
    tasks = [task("split")]
    for number in range(240):
        tasks.append(task(f"a{number}", needs=("split",), program="tile"))
        tasks.append(task(f"b{number}", needs=(f"a{number}",), program="filter"))
    tasks.append(task("merge", needs=tuple(f"b{number}" for number in range(240))))
    picture = draw(tasks)
    assert [len(box.tasks) for box in picture.boxes] == [1, 240, 240, 1]
    assert picture.box_of["b17"] == "b0"


def test_tasks_that_stand_elsewhere_do_not_fold() -> None:
    same = [task(f"t{number}", program="p") for number in range(6)]
    needy = [dataclasses_free(each, "x") for each in same[:1]]
    picture = draw([task("x", program="q"), *needy, *same[1:]])
    assert sorted(len(box.tasks) for box in picture.boxes) == [1, 1, 5]


def dataclasses_free(view: object, needs: str):  # type: ignore[no-untyped-def]
    import msgspec

    return msgspec.structs.replace(view, needs=(needs,))  # type: ignore[type-var]


def test_a_long_edge_bends_around_what_lies_between() -> None:
    picture = draw([task("a"), task("b", needs=("a",)), task("c", needs=("a", "b"))])
    arrow = next(each for each in picture.arrows if (each.source, each.target) == ("a", "c"))
    assert len(arrow.bends) == 1


def test_an_arrow_is_named_by_what_flows() -> None:
    done = task("a", outputs=(Dataset("sha256:ab", 14_000), Dataset("sha256:cd", 1)))
    assert label_of(done) == "14 kB +1"
    assert label_of(done, {"sha256:ab": "points.las"}) == "points.las +1"
    assert label_of(task("b", outputs=(Dataset("scan/7", external=True),))) == "scan/7"
    assert label_of(task("c")) == ""


def test_an_empty_graph_is_empty() -> None:
    assert draw([]).boxes == ()


# -- week, times ---------------------------------------------------------------------------


def test_hours_over_midnight_are_cells_of_both_days() -> None:
    cells = cells_of((Hours("friday", "22:00", "06:00"),))
    assert (4, 23) in cells
    assert (5, 5) in cells
    assert (5, 6) not in cells
    assert len(cells) == 8


def test_cells_come_back_as_the_same_hours() -> None:
    cells = with_block(frozenset(), (0, 18), (4, 23), on=True)
    ranges = ranges_of(cells)
    assert ranges[0] == Hours("monday", "18:00", "24:00")
    assert len(ranges) == 5
    assert cells_of(ranges) == cells


def test_painting_wipes_too() -> None:
    whole = with_block(frozenset(), (0, 0), (6, 23), on=True)
    assert len(with_block(whole, (6, 23), (5, 0), on=False)) == 5 * 24


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (12, "12 s"),
        (89, "89 s"),
        (120, "2 min"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (180_000, "2 days"),
    ],
)
def test_spans(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_times_near_and_far() -> None:
    assert ago(NOW_S - 12, NOW_S) == "12 s ago"
    assert left(NOW_S - 5, NOW_S) == "any moment"
    assert countdown(NOW_S + 754, NOW_S) == "12:34"
    assert size(1_234_567) == "1.2 MB"


def test_filtering_takes_words_in_any_order(qapp: object) -> None:
    rows = Rows((), str, str)
    rows.show(["Line 42 north", "Line 17", "north gate"])
    rows.type("NORTH line")
    assert rows.rows == ["Line 42 north"]
    rows.type(" ")
    assert len(rows.rows) == 3


# -- time line -----------------------------------------------------------------------------


def run(
    host: str, begin: int, end: int, *spans: tuple[str, int], phase: str = "Terminated"
) -> RunView:
    told = tuple(PhaseSpan(name, at * 1000) for name, at in spans)  # type: ignore[arg-type]
    return RunView("r", 1, 1, host, phase, begin * 1000, end * 1000, end * 1000, spans=told)  # type: ignore[arg-type]


def runs(name: str, *each: RunView) -> TaskRuns:
    return TaskRuns(name, name, "line-42", TaskState.TERMINATED, 0, each)


def test_overlapping_runs_stand_on_lanes_of_their_own() -> None:
    timeline = timeline_of(
        [
            runs("a", run("acor", 10, 30)),
            runs("b", run("acor", 20, 40)),
            runs("c", run("acor", 31, 35)),
        ],
        50,
    )
    assert [(bar.name, bar.lane) for bar in timeline.bars] == [("a", 0), ("b", 1), ("c", 0)]
    assert timeline.rows[0].lanes == 2


def test_suspensions_are_spans_and_told() -> None:
    held = run("acor", 10, 40, ("Running", 10), ("Suspended", 20), ("Running", 25), phase="Lost")
    bar = timeline_of([runs("a", held)], 50).bars[0]
    assert bar.suspended == ((20.0, 25.0),)
    assert bar.mark is Mark.FAILED
    assert "suspended for 5 s" in bar.story
    assert "lost with its machine" in bar.story


def test_what_runs_still_ends_now() -> None:
    going = RunView("r", 1, 1, "acor", "Running", 10_000, 10_000)
    assert timeline_of([runs("a", going)], 50).bars[0].end_s == 50


# -- plans ---------------------------------------------------------------------------------


def test_a_plan_in_words() -> None:
    submit = Submit(
        "w", (Task("a", program="p", expected_s=30), Task("g", gate=True, after=("a",)))
    )
    plan = PlanReply(
        False, (), (TaskPlan("a", ("acor",), (), 0, 30),), 1, int((NOW_S + 120) * 1000)
    )
    said = summary_text(submit, plan, NOW_S)
    assert said == "1 task, 1 step for a person, about 2 min besides."
    alone = summary_text(Submit("w", submit.tasks[:1]), plan, NOW_S)
    assert alone.startswith("1 task, done about ")
    assert fits_text(plan) == "Can run on acor."
    assert planned_tasks(submit)["g"].needs == ("a",)


def test_a_plan_that_fits_nowhere_says_why() -> None:
    misfits = (Misfit("n", "acor", "needs 64 GB of memory, has 16"),)
    plan = PlanReply(False, (), (TaskPlan("a", (), misfits, 0, 0),), 0, 0)
    assert fits_text(plan) == (
        "No machine fits a: needs 64 GB of memory, has 16.\n"
        "No machine helps at the moment; it starts as soon as one does."
    )


def test_who_has_to_accept_programs_is_said_once() -> None:
    misfits = (Misfit("n", "acor", "no", as_why(NotAccepted("a@1"))),)
    waits, whys = ("acor runs a …",), (as_why(AcceptanceNeeded(("acor",), ("a",))),)
    tasks = (TaskPlan("a", (), misfits, 0, 0),)
    plan = PlanReply(False, (), tasks, 1, 0, waits=waits, whys=whys)
    assert fits_text(plan) == ""
    assert waits_text(plan.waits, plan.whys) == "Somebody on acor has to allow a first."


# -- words and colours ---------------------------------------------------------------------


def test_plurals_without_a_catalogue() -> None:
    assert (tr_n("%n task(s)", "", 1), tr_n("%n task(s)", "", 2)) == ("1 task", "2 tasks")


@pytest.mark.parametrize("code", ["en", "pt"])
def test_every_sentence_is_translated(code: str) -> None:
    folder = Path(next(iter(gui.translations.__path__)))
    tree = ET.parse(folder / f"wingbeat_{code}.ts")
    unfinished = [
        message.findtext("source")
        for message in tree.iter("message")
        if message.find("translation") is None
        or message.find("translation").get("type") == "unfinished"  # type: ignore[union-attr]
    ]
    assert unfinished == []


def test_translations_keep_the_places_of_values() -> None:
    import re

    folder = Path(next(iter(gui.translations.__path__)))
    wrong = []
    for message in ET.parse(folder / "wingbeat_pt.ts").iter("message"):
        source = message.findtext("source") or ""
        said = "".join(message.find("translation").itertext())  # type: ignore[union-attr]
        if set(re.findall(r"\{\w+\}", source)) != set(re.findall(r"\{\w+\}", said)):
            wrong.append(source)
    assert wrong == []


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("back", ["surface", "backdrop"])
@pytest.mark.parametrize("role", TEXT_ROLES)
def test_text_can_be_read(colours: Colours, back: str, role: str) -> None:
    assert contrast(getattr(colours, role), getattr(colours, back)) >= TEXT_CONTRAST_MIN


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_on_other_grounds_can_be_read(colours: Colours) -> None:
    pairs = [
        *((colours.text, each) for each in (colours.selected, colours.raised)),
        (colours.quiet, colours.selected),
        (colours.on_accent, colours.accent),
        (colours.warning_text, colours.warning_back),
        ("#1b1f24", colours.person),
    ]
    assert [pair for pair in pairs if contrast(*pair) < TEXT_CONTRAST_MIN] == []


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_bars_of_the_time_line_are_seen_and_their_names_read(colours: Colours) -> None:
    for pair in WORKFLOW_HUES:
        hue = pair[1 if colours.dark else 0]
        assert contrast(hue, colours.surface) >= SHAPE_CONTRAST_MIN
        assert contrast(text_on(hue), hue) >= TEXT_CONTRAST_MIN


def test_an_accent_that_cannot_be_read_is_not_taken() -> None:
    assert readable_accent("#ffee00", LIGHT) == LIGHT.accent
    assert readable_accent("#004a80", LIGHT) == "#004a80"
    assert dataclasses.is_dataclass(LIGHT)


@pytest.mark.parametrize(
    ("count", "said"), [(1, "1 step waits for you"), (3, "3 steps wait for you")]
)
def test_a_sentence_with_a_note_is_found(qapp: object, count: int, said: str) -> None:
    from gui.translations import speak

    speak("en")
    assert words.tr_n("%n step(s) wait for you", "gates", count) == said
    speak("pt")
    assert words.tr_n("%n step(s) wait for you", "gates", count) != said
    words.install(None)


def test_sentences_stand_where_the_translators_tool_finds_them() -> None:
    """It does not look into the braces of a formatted string."""
    folder = Path(next(iter(gui.translations.__path__))).parent
    hidden = [
        f"{path.relative_to(folder)}: {line.strip()}"
        for path in sorted(folder.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if "{tr(" in line or "{tr_n(" in line
    ]
    assert hidden == []
