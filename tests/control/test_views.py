"""What the views reckon: the word for a whole workflow, how far it is, and when it may end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agent.api.values import WorkflowState, workflow_state
from agent.control.naming import task_id
from agent.control.progress import TaskProgress
from agent.control.views import Views
from agent.protocol.effects import TaskMoved, TaskProgressed
from agent.protocol.reading import DerivedState
from agent.protocol.records import Run, TaskSpec, TaskState
from tests.control.surface import NODE, FakeNode

LONG, GATE, LAST, SPARE = (task_id("survey", name) for name in ("long", "look", "last", "spare"))
WORKFLOW: dict[str, Any] = {
    "name": "survey",
    "tasks": [
        {"id": "long", "program": "copy", "expected_s": 2},
        {"id": "look", "gate": True, "after": ["long"]},
        {"id": "last", "program": "copy", "after": ["look", "long"], "expected_s": 3},
        {"id": "spare", "program": "copy", "expected_s": 5},
    ],
}


class Scene:
    """The real table of one node, told at a time that the test sets."""

    def __init__(self, folder: Path, told: dict[str, Any] = WORKFLOW) -> None:
        self.node, self.at_ms = FakeNode(folder), 0
        self.reported = TaskProgress(lambda: self.at_ms / 1000)
        self.node.handle_submission(told)

    @property
    def views(self) -> Views:
        return Views(self.node.now(), self.reported)

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
        return self.views.progress(spec, DerivedState(state, owner=run))


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
    ("passed_ms", "permille", "left_ms"),
    [(-100, 0, 2_000), (0, 0, 2_000), (500, 250, 1_500), (1_979, 989, 21), (2_000, 990, 0)],
)
def test_what_says_nothing_is_reckoned_and_never_done(
    tmp_path: Path, passed_ms: int, permille: int, left_ms: int
) -> None:
    scene = Scene(tmp_path)
    run = scene.running()
    scene.at_ms += passed_ms
    assert scene.progress(TaskState.RUNNING, run) == (permille, left_ms)


def test_what_fetches_its_inputs_has_not_begun(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    run = scene.running()
    scene.at_ms += 1_000
    assert scene.progress(TaskState.SCHEDULED, run) == (0, 2_000)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (TaskState.TERMINATED, (1_000, 0)),
        (TaskState.READY, (0, 2_000)),
        (TaskState.CANCELLED, (0, 0)),
        (TaskState.ABORTED, (0, 0)),
    ],
)
def test_what_nobody_runs(tmp_path: Path, state: TaskState, expected: tuple[int, int]) -> None:
    assert Scene(tmp_path).progress(state, None) == expected


@pytest.mark.parametrize(
    ("passed_ms", "left_ms"), [(-50, 800), (0, 800), (300, 500), (800, 0), (2_000, 0)]
)
def test_what_a_program_says_counts_down_from_then(
    tmp_path: Path, passed_ms: int, left_ms: int
) -> None:
    scene = Scene(tmp_path)
    run = scene.running()
    scene.reported.note(TaskProgressed(LONG, NODE, 640, 800))
    scene.at_ms += passed_ms
    assert scene.progress(TaskState.RUNNING, run) == (640, left_ms)


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
    tmp_path: Path, after: TaskState, kept: bool
) -> None:
    scene = Scene(tmp_path)
    run = scene.running()
    scene.reported.note(TaskProgressed(LONG, NODE, 1_700, 800))
    scene.reported.note(TaskMoved(LONG, TaskState.RUNNING, after, ""))
    assert (scene.reported.of(LONG, NODE) is not None) is kept
    assert scene.progress(TaskState.RUNNING, run)[0] == (1_000 if kept else 0)


def test_the_word_of_another_machine_is_not_of_this_run(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    run = scene.running()
    scene.reported.note(TaskProgressed(LONG, "aldernode", 640, 800))
    assert scene.progress(TaskState.RUNNING, run) == (0, 2_000)


def test_how_far_a_workflow_is(tmp_path: Path) -> None:
    """Of 10 s that are expected, of which the longest path is 5."""
    scene = Scene(tmp_path)
    assert scene.far == ("waiting", 0, 0, 0, 0)
    scene.running()
    scene.at_ms += 1_000
    assert scene.far == ("running", 100, 5_000, scene.at_ms + 5_000, 0)
    scene.at_ms += 500
    assert scene.far == ("running", 150, 5_000, scene.at_ms + 5_000, 0)
    scene.node.succeed(LONG)
    scene.running(SPARE)
    scene.at_ms += 2_500
    assert scene.far == ("running", 450, 3_000, scene.at_ms + 3_000, 0)
    scene.node.succeed(SPARE)
    assert scene.far == ("waiting", 700, 0, 0, 0)


def test_the_end_of_a_workflow_is_that_of_its_last_run(tmp_path: Path) -> None:
    told = {**WORKFLOW, "tasks": [WORKFLOW["tasks"][0], WORKFLOW["tasks"][3]]}
    scene = Scene(tmp_path, told)
    scene.node.volunteer()
    scene.node.succeed(next(iter(scene.node.runs)))
    assert scene.far[4] == 0
    scene.node.succeed(next(iter(scene.node.runs)))
    runs = [run for task in (LONG, SPARE) for run in scene.node.table.life(task).runs]
    assert scene.far == ("finished", 1_000, 0, 0, max(run.stamp[0] for run in runs))


@pytest.mark.parametrize(
    ("helpers", "left_ms"),
    [
        ({"peers": (), "volunteering": True, "slots": 1}, 8_000),
        ({"peers": (), "volunteering": True, "slots": 2}, 5_000),
        ({"peers": (), "volunteering": False, "slots": 8}, 8_000),
    ],
)
def test_what_is_left_is_shared_among_those_who_help(
    tmp_path: Path, helpers: dict[str, Any], left_ms: int
) -> None:
    tasks = [
        {"id": "long", "program": "copy", "expected_s": 2},
        {"id": "last", "program": "copy", "after": ["long"], "expected_s": 3},
        {"id": "spare", "program": "copy", "expected_s": 3},
    ]
    scene = Scene(tmp_path, {"name": "survey", "tasks": tasks})
    scene.node.known = replace(scene.node.known, **helpers)
    scene.running()
    assert scene.far[2] == left_ms


@pytest.mark.parametrize(
    ("slots", "willing", "left_ms"), [(0, True, 4_000), (1, True, 4_000), (1, False, 8_000)]
)
def test_peers_that_help_share_the_rest(
    tmp_path: Path, slots: int, willing: bool, left_ms: int
) -> None:
    """Eight tasks of a second each; this machine helps with one slot."""
    tasks = [{"id": str(n), "program": "copy", "expected_s": 1} for n in range(7)]
    tasks.append({"id": "long", "program": "copy", "expected_s": 1})
    scene = Scene(tmp_path, {"name": "survey", "tasks": tasks})
    (alder,) = scene.node.known.peers
    peers = (structs.replace(alder, slots=slots, volunteering=willing),)
    scene.node.known = replace(scene.node.known, peers=peers, slots=1, volunteering=True)
    scene.node.volunteer()
    (run,) = scene.node.table.owned.values()
    scene.at_ms = run.stamp[0]
    assert scene.far[2] == left_ms


def test_of_a_task_that_was_given_up_the_last_run_is_shown(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {**WORKFLOW, "tasks": WORKFLOW["tasks"][:1]})
    scene.node.volunteer()
    for _ in range(3):
        scene.node.fail(LONG)
    view = scene.views.task(_spec(scene, LONG))
    last = max(scene.node.table.life(LONG).runs, key=lambda run: run.attempt)
    assert (view.state, view.host, view.attempt) == (TaskState.ABORTED, "birch", 3)
    assert (view.begun_ms, view.ended_ms) == (last.claim.stamp[0], last.stamp[0])
    assert (view.expected_end_ms, view.generation) == (0, 1)


def test_the_times_of_a_task(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    ready = scene.views.task(_spec(scene, LONG))
    assert (ready.host, ready.attempt, ready.begun_ms, ready.ended_ms) == ("", 0, 0, 0)
    assert (ready.expected_s, ready.expected_end_ms) == (2.0, 0)
    run = scene.running()
    scene.at_ms += 700
    view = scene.views.task(_spec(scene, LONG))
    assert (view.begun_ms, view.ended_ms) == (run.claim.stamp[0], 0)
    assert (view.changed_ms, view.attach) == (run.stamp[0], ())
    begun = scene.views.current(LONG, run)
    assert (begun.permille, begun.left_ms, begun.begun_ms) == (350, 1_300, run.claim.stamp[0])
    assert view.expected_end_ms == scene.at_ms + 1_300
    scene.node.succeed(LONG)
    ended = scene.views.task(_spec(scene, LONG))
    outcome = scene.node.table.reading(LONG)
    assert outcome is not None
    assert outcome.outcome is not None
    assert (ended.ended_ms, ended.expected_end_ms) == (outcome.outcome.stamp[0], 0)


def _spec(scene: Scene, task: str) -> TaskSpec:
    return scene.node.table.specs[task]
