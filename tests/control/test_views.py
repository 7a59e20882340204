"""What the views reckon: the word for a whole workflow, how far it is, and when it may end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from agent.api.values import Capabilities, WorkflowState, workflow_state
from agent.api.work import Basis, Submit, TaskView
from agent.control.estimates import TaskProgress
from agent.control.naming import task_id
from agent.control.verbs.submitting import specs_of
from agent.control.views import Views, node_view, peer_view
from agent.protocol.effects import TaskMoved, TaskProgressed
from agent.protocol.likeness import PastRun
from agent.protocol.reading import DerivedState
from agent.protocol.records import (
    Claim,
    Life,
    Lost,
    Phase,
    Run,
    Running,
    Scheduled,
    TaskLife,
    TaskState,
)
from tests.control.serving import LineClient, Serving
from tests.control.surface import ALDER, NODE, WALL_MS, FakeNode

LONG, GATE, LAST, SPARE = (task_id("survey", name) for name in ("long", "look", "last", "spare"))
TASKS: tuple[dict[str, Any], ...] = (
    {"id": "long", "program": "copy", "expected_s": 2},
    {"id": "look", "gate": True, "after": ["long"]},
    {"id": "last", "program": "copy", "after": ["look", "long"], "expected_s": 3},
    {"id": "spare", "program": "copy", "expected_s": 5},
)
CHAIN = (TASKS[0], {**TASKS[2], "after": ["long"]}, {**TASKS[3], "expected_s": 3})
EIGHT = tuple({"id": str(number), "program": "copy", "expected_s": 1} for number in range(8))
MANY = tuple({"id": str(number), "program": "copy", "expected_s": 2} for number in range(1_200))
COPIER = structs.replace(ALDER, capabilities=Capabilities(programs=("copy",)))


TOLD = Basis(told=True)


def of_runs(runs: int) -> Basis:
    """Of runs that all took 4 s."""
    return Basis(runs=runs, low_ms=4_000, high_ms=4_000)


def remember(node: FakeNode, earlier: tuple[tuple[dict[str, Any], int], ...]) -> None:
    """Have it known what runs took that are like the task of this name but for what is told here."""
    for number, (told, ran_ms) in enumerate(earlier):
        task = {"id": "long", "program": "copy", "expected_s": 0} | told
        (spec,) = specs_of(msgspec.convert({"name": "before", "tasks": [task]}, Submit), str)
        lengths = node.node.lengths
        lengths.remember([PastRun(f"before {number}", lengths.kind(spec), "elm", ran_ms)])


class Scene:
    """The real table of one node, told at a time that the test sets."""

    def __init__(self, folder: Path) -> None:
        self.node, self.at_ms = FakeNode(folder), 0
        self.reported = TaskProgress(lambda: self.at_ms / 1000)

    @property
    def views(self) -> Views:
        return Views(self.node.now(), self.reported)

    def submit(self, *tasks: dict[str, Any]) -> None:
        self.node.handle_submission({"name": "survey", "tasks": tasks})

    @property
    def far(self) -> tuple[str, int, int, int, int]:
        """State, thousandths, what is left, the expected end, and when it ended."""
        view = self.views.workflow(self.node.table.workflows["survey"])
        assert view.permille is not None
        return view.state, view.permille, view.left_ms, view.expected_end_ms, view.ended_ms

    def running(self, task: str = LONG) -> Run:
        """The run of a task, begun just now."""
        self.node.volunteer()
        run = self.node.table.owned[task]
        self.at_ms = run.stamp[0]
        return run

    def progress(self, state: TaskState, run: Run | None) -> tuple[int, int]:
        spec = self.node.table.specs[LONG]
        permille, left = self.views.estimates.progress(spec, DerivedState(state, owner=run))
        return permille, left.ms

    def task(self) -> TaskView:
        return self.views.task(self.node.table.specs[LONG])


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """With the workflow, in which nothing runs yet."""
    scene = Scene(tmp_path)
    scene.submit(*TASKS)
    return scene


@pytest.mark.parametrize(
    ("states", "word"),
    [
        ("Terminated Running Aborted", "running"),
        ("Scheduled Waiting", "running"),
        ("Suspended Ready", "running"),
        ("Terminated Submitted", "waiting"),
        ("Terminated Ready Aborted", "waiting"),
        ("Terminated Waiting", "waiting"),
        ("Submitted Cancelled", "waiting"),
        ("Terminated Cancelled Aborted", "failed"),
        ("Terminated Cancelled", "cancelled"),
        ("Terminated", "finished"),
    ],
)
def test_the_word_for_a_workflow(states: str, word: WorkflowState) -> None:
    assert workflow_state(Counter(map(TaskState, states.split()))) == word


@pytest.mark.parametrize(
    ("state", "passed_ms", "permille", "left_ms"),
    [
        (TaskState.RUNNING, -100, 0, 2_000),
        (TaskState.RUNNING, 0, 0, 2_000),
        (TaskState.RUNNING, 500, 250, 1_500),
        (TaskState.RUNNING, 1_979, 989, 21),
        (TaskState.RUNNING, 2_000, 990, 1),
        (TaskState.SCHEDULED, 1_000, 0, 2_000),
        (TaskState.TERMINATED, None, 1_000, 0),
        (TaskState.READY, None, 0, 2_000),
        (TaskState.CANCELLED, None, 0, 0),
        (TaskState.ABORTED, None, 0, 0),
    ],
)
def test_what_says_nothing_is_reckoned_and_never_done(
    scene: Scene, state: TaskState, passed_ms: int | None, permille: int, left_ms: int
) -> None:
    """What fetches its inputs has not begun; None stands for what nobody runs."""
    run = None if passed_ms is None else scene.running()
    scene.at_ms += passed_ms or 0
    assert scene.progress(state, run) == (permille, left_ms)


@pytest.mark.parametrize(
    ("host", "passed_ms", "progress"),
    [
        (NODE, -50, (640, 800)),
        (NODE, 0, (640, 800)),
        (NODE, 300, (640, 500)),
        (NODE, 800, (640, 0)),
        (NODE, 2_000, (640, 0)),
        ("aldernode", 0, (0, 2_000)),
    ],
)
def test_what_a_program_says_counts_down_from_then(
    scene: Scene, host: str, passed_ms: int, progress: tuple[int, int]
) -> None:
    """But not what another machine says of a run of its own."""
    run = scene.running()
    scene.reported.note(TaskProgressed(LONG, host, 640, 800))
    scene.at_ms += passed_ms
    assert scene.progress(TaskState.RUNNING, run) == progress


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        (TaskState.RUNNING, True),
        (TaskState.SUSPENDED, True),
        (TaskState.READY, False),
        (TaskState.TERMINATED, False),
    ],
)
def test_a_programs_word_is_forgotten_when_it_runs_no_more(
    scene: Scene, after: TaskState, kept: bool
) -> None:
    run = scene.running()
    scene.reported.note(TaskProgressed(LONG, NODE, 1_700, 800))
    scene.reported.note(TaskMoved(LONG, TaskState.RUNNING, after, ""))
    assert (scene.reported.of(LONG, NODE) is not None) is kept
    assert scene.progress(TaskState.RUNNING, run)[0] == (1_000 if kept else 0)


def test_how_far_a_workflow_is(scene: Scene) -> None:
    """Of 10 s that are told, one after the other; when it ends, who does the step in it decides."""
    assert scene.far == ("waiting", 0, 0, 0, 0)
    scene.running()
    for passed_ms, permille, left_ms in ((1_000, 100, 9_000), (500, 150, 8_500)):
        scene.at_ms += passed_ms
        assert scene.far == ("running", permille, left_ms, 0, 0)
    scene.node.succeed(LONG)
    scene.running(SPARE)
    scene.at_ms += 2_500
    assert scene.far == ("running", 450, 5_500, 0, 0)
    scene.node.succeed(SPARE)
    assert scene.far == ("waiting", 700, 0, 0, 0)


def test_the_end_of_a_workflow_is_that_of_its_last_run(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.submit(TASKS[0], TASKS[3])
    scene.node.volunteer()
    scene.node.succeed(next(iter(scene.node.runs)))
    assert scene.far[4] == 0
    scene.node.succeed(next(iter(scene.node.runs)))
    runs = [run for task in (LONG, SPARE) for run in scene.node.table.life(task).runs]
    assert scene.far == ("finished", 1_000, 0, 0, max(run.stamp[0] for run in runs))


@pytest.mark.parametrize(
    ("tasks", "helpers", "left_ms"),
    [
        (CHAIN, {"peers": (), "volunteering": True, "slots": 1}, 8_000),
        (CHAIN, {"peers": (), "volunteering": True, "slots": 2}, 5_000),
        (CHAIN, {"peers": (), "volunteering": False, "slots": 8}, 0),
        (EIGHT, {"peers": (structs.replace(COPIER, slots=0),)}, 4_000),
        (EIGHT, {"peers": (structs.replace(COPIER, slots=1),)}, 4_000),
        (EIGHT, {"peers": (structs.replace(COPIER, slots=1, volunteering=False),)}, 8_000),
        (EIGHT, {"peers": (structs.replace(ALDER, slots=1),)}, 8_000),
        (({**EIGHT[0], "expected_s": 60}, *EIGHT[1:]), {"peers": ()}, 67_000),
        (({**EIGHT[0], "expected_s": 0}, *EIGHT[1:]), {"peers": ()}, 0),
    ],
)
def test_what_is_left_is_shared_among_those_who_help(
    tmp_path: Path, tasks: list[dict[str, Any]], helpers: dict[str, Any], left_ms: int
) -> None:
    """A chain of 5 s with 3 s beside it, and eight tasks of a second each; where nobody helps, or nobody
    knows how long one of them takes, no end is given. Who cannot run them is no help."""
    scene = Scene(tmp_path)
    scene.submit(*tasks)
    scene.node.known = replace(scene.node.known, **helpers)
    scene.node.volunteer()
    run = next(iter(scene.node.table.owned.values()))
    scene.at_ms = run.stamp[0]
    view = scene.views.workflow(scene.node.table.workflows["survey"])
    assert (view.left_ms, view.basis) == (left_ms, Basis(told=True) if left_ms else None)
    assert view.expected_end_ms == (scene.at_ms + left_ms if left_ms else 0)
    assert view.begun_ms == run.claim.stamp[0]


@pytest.mark.parametrize(
    ("earlier", "expected_s", "passed_ms", "told"),
    [
        ((), 0, 3_000, (0, 0, 0.0, None)),
        ((), 60, 3_000, (50, 57_000, 60.0, TOLD)),
        ((({"expected_s": 60}, 4_000),) * 12, 60, 1_000, (250, 3_000, 4.0, of_runs(12))),
        ((({"id": "other"}, 4_000),) * 12, 60, 6_000, (100, 54_000, 60.0, TOLD)),
        ((({}, 4_000),) * 12, 60, 1_000, (250, 3_000, 4.0, of_runs(12))),
        ((({"id": "other"}, 4_000),) * 12, 0, 1_000, (250, 3_000, 4.0, of_runs(12))),
        ((({"program": "copy@of-before"}, 4_000),), 0, 1_000, (250, 3_000, 4.0, of_runs(1))),
        (
            tuple(({"id": "other"}, ms) for ms in (1_000, 2_000, 40_000)),
            *(0, 1_500),
            (750, 19_600, 2.0, Basis(runs=3, low_ms=1_000, high_ms=40_000)),
        ),
        (
            ((({"parameters": "30"}, 9_000),) * 12 + (({}, 4_000),) * 4),
            *(0, 1_000),
            (250, 3_000, 4.0, of_runs(4)),
        ),
        ((), 2, 8_000, (0, 0, 2.0, None)),
    ],
    ids=[
        *("unknown", "told", "outvoted", "told before others", "told now"),
        *("other steps", "an edited script"),
        *("others differ", "other parameters", "long passed"),
    ],
)
def test_a_guess_stands_on_something(
    tmp_path: Path,
    earlier: tuple[tuple[dict[str, Any], int], ...],
    expected_s: float,
    passed_ms: int,
    told: tuple[int, int, float, Basis | None],
) -> None:
    scene = Scene(tmp_path)
    scene.submit({"id": "long", "program": "copy", "expected_s": expected_s})
    remember(scene.node, earlier)
    scene.running()
    # Machines repeat for a program that says nothing what the flock shares work out by.
    scene.reported.note(TaskProgressed(LONG, NODE, 0, 45_000))
    scene.at_ms += passed_ms
    view, (current,) = scene.task(), node_view(scene.views).tasks
    assert (view.permille, view.left_ms, view.expected_s, view.basis) == told
    assert (current.permille, current.left_ms, current.basis) == (told[0], told[1], told[3])
    ends_ms = scene.at_ms + view.left_ms if view.basis else 0
    assert (view.expected_end_ms, scene.far[1:4]) == (ends_ms, (told[0], told[1], ends_ms))
    assert (current.expected_end_ms, current.begun_ms) == (ends_ms, view.begun_ms)
    scene.reported.note(TaskProgressed(LONG, NODE, 500, 45_000))
    assert (scene.task().left_ms, scene.task().basis) == (45_000, Basis(progress=True))


def test_how_far_a_task_is_goes_by_the_machine_that_runs_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.submit({"id": "long", "program": "copy"})
    lengths, spec = scene.node.node.lengths, scene.node.table.specs[LONG]
    for number in range(64):
        took = ((NODE, 16_000), ("elm", 4_000), ("oak", 4_000))
        kind = lengths.kind(spec)
        lengths.remember(PastRun(f"{host} {number}", kind, host, ms) for host, ms in took)
    scene.running()
    scene.at_ms += 8_000
    task = scene.task()
    assert task.permille == pytest.approx(500, rel=0.06)
    assert task.left_ms == pytest.approx(8_000, rel=0.12)


@pytest.mark.parametrize(
    ("expected_s", "passed_ms", "left_ms"),
    [(2, 7_000, 0), (2, 7_001, None), (20, 30_000, 0), (20, 30_001, None)],
)
def test_a_guess_is_kept_until_it_was_passed_by_five_seconds_and_by_half_of_it(
    tmp_path: Path, expected_s: int, passed_ms: int, left_ms: int | None
) -> None:
    scene = Scene(tmp_path)
    scene.submit({"id": "long", "program": "copy", "expected_s": expected_s})
    run = scene.running()
    scene.reported.note(TaskProgressed(LONG, NODE, 500, expected_s * 1_000))
    scene.at_ms += passed_ms
    spec = scene.node.table.specs[LONG]
    left = scene.views.estimates.left(spec, DerivedState(TaskState.RUNNING, owner=run))
    assert (left.ms if left.known else None) == left_ms


@pytest.mark.parametrize(("tasks", "end_s"), [(200, 67.0), (202, 202 / 3)])
def test_of_up_to_two_hundred_tasks_each_gets_a_place(
    tmp_path: Path, tasks: int, end_s: float
) -> None:
    """On three places; the end of more is reckoned from their sum."""
    scene = Scene(tmp_path)
    scene.submit(*({**EIGHT[0], "id": str(number)} for number in range(tasks)))
    scene.node.known = replace(scene.node.known, slots=3)
    rest = scene.views.estimates.rest(scene.node.table.workflows["survey"])
    assert rest.s == pytest.approx(end_s)


def test_the_rest_of_a_large_workflow_is_shared_too(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.submit(*MANY)
    scene.node.known = replace(scene.node.known, peers=(structs.replace(COPIER, slots=1),))
    scene.running(task_id("survey", "0"))
    state, permille, left_ms, *_ = scene.far
    assert (state, permille, abs(left_ms - 1_200_000) <= 2_000) == ("running", 0, True)
    scene.node.known = replace(scene.node.known, volunteering=False, peers=(ALDER,))
    assert scene.far[:4] == ("running", 0, 0, 0)


def test_what_was_submitted_before_goes_before(tmp_path: Path) -> None:
    """And what is behind it takes nothing away; what nobody can run holds nobody up."""
    scene = Scene(tmp_path)
    for name, program in (
        ("first", "copy"),
        ("alien", "unheard-of"),
        ("survey", "copy"),
        ("last", "copy"),
    ):
        tasks = [{"id": f"{name}{n}", "program": program, "expected_s": 4} for n in range(2)]
        scene.node.handle_submission({"name": name, "tasks": tasks})
    scene.node.known = replace(scene.node.known, slots=2)
    scene.node.volunteer()
    scene.at_ms = max(run.stamp[0] for run in scene.node.table.owned.values())
    workflows = scene.node.table.workflows
    lefts = {name: scene.views.estimates.rest(each).s for name, each in workflows.items()}
    assert lefts == pytest.approx({"first": 6, "alien": inf, "survey": 8, "last": 12}, abs=0.1)


def of_alder(scene: Scene, phase: Phase, at_ms: int, task: str = LONG) -> None:
    """What is heard of a first attempt at a task on alder, which is not linked."""
    claim = Claim(1, (WALL_MS, 0), "aldernode")
    run = Run(
        1, 1, "aldernode", 1, claim, 1, phase=phase, stamp=(at_ms, 0), revision=at_ms - WALL_MS
    )
    scene.node.table.join(lives=[TaskLife(task, Life(runs=(run,)))])


def test_all_that_a_machine_runs_is_counted_and_the_first_of_it_shown(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.submit(*({"id": str(number), "program": "copy"} for number in range(70)))
    for number in range(70):
        phase = Running() if number else Scheduled()
        of_alder(scene, phase, WALL_MS + 1, task_id("survey", str(number)))
    view = peer_view(scene.views, ALDER.node)
    assert view is not None
    assert (view.running, len(view.tasks)) == (69, 64)


def test_who_comes_back_late_does_not_change_the_end(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.submit(TASKS[0])
    of_alder(scene, Running(), WALL_MS + 1)
    scene.running()
    scene.node.succeed(LONG)
    before, task = scene.far, scene.task()
    of_alder(scene, Lost(), WALL_MS + 7_200_000)
    assert (scene.far, scene.task()) == (before, task)
    assert before[4] == task.ended_ms < WALL_MS + 7_200_000


async def test_what_a_machine_has_that_is_gone_does_not_go_on(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.submit(TASKS[0])
    of_alder(scene, Running(), WALL_MS + 4_000)
    await scene.node.history.start()
    spec = scene.node.table.specs[LONG]
    history, table = scene.node.history, scene.node.table
    history.gone_ms = scene.node.node.gone_since_ms
    seen = []
    for passed_ms in (60_000, 3_600_000):
        scene.at_ms = WALL_MS + passed_ms
        view = scene.task()
        ((run,),) = [each.runs for each in await history.runs([spec], table, str)]
        told = view.state, view.gone_ms, view.expected_end_ms, view.permille, scene.far[:3]
        seen.append((*told, view.why, run.phase, run.ended_ms, run.spans))
    await scene.node.history.stop()
    assert seen[0] == seen[1]
    gone_ms = WALL_MS + 4_000
    assert seen[0][:4] == (TaskState.RUNNING, gone_ms, 0, 0)
    assert seen[0][6:8] == ("Lost", gone_ms)
    assert scene.views.workflow(scene.node.table.workflows["survey"]).gone == 1


@pytest.mark.parametrize(
    ("needs", "before", "after"),
    [
        (("north",), "waits for north", ""),
        (("north", "south"), "waits for north and south", "waits for south"),
        (tuple("abcd"), "waits for a, b, c and d", "waits for b, c and d"),
        (tuple("abcde"), "waits for 5 tasks", "waits for b, c, d and e"),
    ],
)
async def test_a_step_names_all_that_it_waits_for(
    there: Serving, client: LineClient, needs: tuple[str, ...], before: str, after: str
) -> None:
    tasks: list[dict[str, Any]] = [{"id": each, "program": "copy"} for each in needs]
    tasks.append({"id": "last", "program": "copy", "after": needs})
    there.node.handle_submission({"name": "survey", "tasks": tasks})
    told = (await client.result("show", {"workflow": "survey"}))["tasks"][-1]
    assert told["reason"] == before
    assert (await client.result("why", {"task": "last"}))["now"] == f"last {before}"
    there.node.volunteer()
    there.node.succeed(task_id("survey", needs[0]))
    told = (await client.result("show", {"workflow": "survey"}))["tasks"][-1]
    assert told["reason"] == after


def test_of_a_task_that_was_given_up_the_last_run_is_shown(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.submit(TASKS[0])
    scene.node.volunteer()
    for _ in range(3):
        scene.node.fail(LONG)
    view = scene.task()
    last = max(scene.node.table.life(LONG).runs, key=lambda run: run.attempt)
    assert (view.state, view.host, view.attempt) == (TaskState.ABORTED, "birch", 3)
    assert (view.begun_ms, view.ended_ms) == (last.claim.stamp[0], last.stamp[0])
    assert (view.expected_end_ms, view.generation) == (0, 1)


def test_the_times_of_a_task(scene: Scene) -> None:
    ready = scene.task()
    assert (ready.host, ready.attempt, ready.begun_ms, ready.ended_ms) == ("", 0, 0, 0)
    assert (ready.expected_s, ready.expected_end_ms) == (2.0, 0)
    run = scene.running()
    scene.at_ms += 700
    view, begun_ms = scene.task(), run.claim.stamp[0]
    assert (view.begun_ms, view.ended_ms) == (begun_ms, 0)
    assert (view.changed_ms, view.attach) == (run.stamp[0], ())
    begun = scene.views.current(LONG, run)
    assert (begun.permille, begun.left_ms, begun.begun_ms) == (350, 1_300, begun_ms)
    assert view.expected_end_ms == scene.at_ms + 1_300
    scene.node.succeed(LONG)
    (last,) = scene.node.table.life(LONG).runs
    ended = scene.task()
    assert (ended.ended_ms, ended.expected_end_ms) == (last.stamp[0], 0)
