"""The order of tasks, in a world without a protocol: nodes that know everything and start at once.

What an order costs must be seen apart from what claims, messages and processes cost. So the policy
is asked here by a loop of a few lines, at every decision, with what is then left: at first without
any overhead, then with a start-up of 50 ms and nodes that each decide alone at their own time.
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import inf, nan
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.protocol.policy import (
    DEFAULT_RULE,
    FlockView,
    OrderPolicy,
    Stage,
    TaskView,
    WorkflowView,
    flock_rules,
)
from agent.protocol.policy.default import TASKS_MAX, LookAhead
from agent.protocol.policy.ranking import (
    FirstCome,
    Strict,
    bands,
    level,
    remaining_paths_s,
)
from tests.bench import optimum
from tests.bench.optimum import CHAIN_TASKS, FLOCK_NODES, FLOCK_WORKFLOWS, NODES, TASK_S, WORKFLOWS
from tests.certain import certain

AGEING_STEP_S = 600.0
CELLS = [(nodes, workflows) for workflows in WORKFLOWS for nodes in NODES]
AVERAGE_RATIO_MAX = 1.01
LAST_RATIO_MAX = 1.02
KILL_RATIO_MAX = 1.03
ROUNDING = 1e-9
ROOT = Path(__file__).resolve().parents[2]
SEEDS = range(3)
DRAWN = [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.hunting) for seed in SEEDS[1:])]


@dataclass
class World:
    """Chains of equal tasks on nodes that know everything; nodes that come free decide alone."""

    nodes: int
    workflows: int
    policy: OrderPolicy = field(default_factory=LookAhead)
    start_up_s: float = 0.0
    drift_s: float = 0.0
    """A node needs up to this much longer for a task, so that decisions are never simultaneous."""
    seed: int = 0
    killed: frozenset[int] = frozenset()
    killed_at_s: float = inf

    def __post_init__(self) -> None:
        self.drift = random.Random(self.seed)
        self.now_s = 0.0
        self.idle = list(range(self.nodes))
        self.running: list[tuple[float, int, int]] = []  # end, node, workflow
        self.done = [0] * self.workflows
        self.ready_since_s: list[float | None] = [0.0] * self.workflows
        self.ends_s = [0.0] * self.workflows
        self.waited_s = 0.0

    def run(self) -> "World":
        while True:
            self._start()
            if not self.running:
                return self
            if self.running[0][0] > self.killed_at_s:
                self._kill()
            else:
                self._pass()

    @property
    def average_s(self) -> float:
        return sum(self.ends_s) / self.workflows

    @property
    def last_s(self) -> float:
        return max(self.ends_s)

    @property
    def waiting_s(self) -> float:
        return self.waited_s / (self.workflows * CHAIN_TASKS)

    def view(self) -> FlockView:
        left = [i for i, done in enumerate(self.done) if done < CHAIN_TASKS]
        ends = {workflow: end_s for end_s, _, workflow in self.running}
        views = (self._workflow(i, ends.get(i)) for i in left)
        return FlockView(len(self.idle) + len(self.running), tuple(views))

    def _workflow(self, number: int, end_s: float | None) -> WorkflowView:
        view = chain(number, CHAIN_TASKS, done=self.done[number], age_s=self.now_s)
        since_s = self.ready_since_s[number]
        first = replace(view.tasks[0], ready_s=self.now_s - (since_s or 0.0))
        if end_s is not None:
            left_s = max(0.0, end_s - self.start_up_s - self.now_s)
            first = replace(first, state=Stage.RUNNING, length_s=left_s)
        return replace(view, tasks=(first, *view.tasks[1:]))

    def _start(self) -> None:
        """Idle nodes take the first tasks of one order, each its own."""
        names = self.policy.order(self.view())[: len(self.idle)] if self.idle else []
        for name in names:
            node, workflow = self.idle.pop(0), int(name.split(".")[0])
            since_s = self.ready_since_s[workflow]
            self.waited_s += self.now_s - certain(since_s)
            self.ready_since_s[workflow] = None
            end_s = self.now_s + self.start_up_s + TASK_S + self.drift.random() * self.drift_s
            heappush(self.running, (end_s, node, workflow))

    def _pass(self) -> None:
        self.now_s = self.running[0][0]
        while self.running and self.running[0][0] <= self.now_s:
            _, node, workflow = heappop(self.running)
            self.idle.append(node)
            self.done[workflow] += 1
            self.ends_s[workflow] = self.ready_since_s[workflow] = self.now_s

    def _kill(self) -> None:
        self.now_s, self.killed_at_s = self.killed_at_s, inf
        for _, node, workflow in self.running:
            if node in self.killed:
                self.ready_since_s[workflow] = self.now_s
        self.running = [each for each in self.running if each[1] not in self.killed]
        heapify(self.running)
        self.idle = [node for node in self.idle if node not in self.killed]


def chain(
    number: int,
    tasks: int,
    *,
    done: int = 0,
    length_s: float = TASK_S,
    priority: int = 0,
    age_s: float = 0.0,
) -> WorkflowView:
    """A workflow whose tasks are called `number.0`, `number.1`, ... each needing the one before."""
    views = (
        TaskView(f"{number}.{i}", length_s, (f"{number}.{i - 1}",), Stage.WAITING)
        if i > done
        else TaskView(f"{number}.{i}", length_s, (), Stage.READY)
        for i in range(done, tasks)
    )
    return WorkflowView(f"w{number:05}", priority, (number, 0), age_s, tuple(views))


def flock(slots: int, *workflows: WorkflowView) -> FlockView:
    return FlockView(slots, workflows)


def workflow(*tasks: TaskView, number: int = 0, priority: int = 0) -> WorkflowView:
    return WorkflowView(f"w{number:05}", priority, (number, 0), 0.0, tasks)


def task(name: str, length_s: float, *needs: str, stage: Stage | None = None) -> TaskView:
    return TaskView(name, length_s, needs, stage or (Stage.WAITING if needs else Stage.READY))


def deaths() -> Iterator[tuple[int, frozenset[int]]]:
    """Which nodes die: those with the first workflows, those with the last, and three draws."""
    for failed in optimum.NODES_FAILED:
        yield failed, frozenset(range(failed))
        yield failed, frozenset(range(FLOCK_NODES - failed, FLOCK_NODES))
        for seed in SEEDS:
            yield failed, frozenset(random.Random(seed).sample(range(FLOCK_NODES), failed))


# The denominators


def test_the_optimum_of_each_cell_is_the_known_one() -> None:
    known = optimum.figures()
    for workflows in WORKFLOWS:
        cells = [optimum.of_cell(nodes, workflows) for nodes in NODES]
        name = f"{workflows}_workflows"
        average = [round(cell.average_s / 60, 2) for cell in cells]
        assert average == known["optimum_avg_workflow_makespan_min"][name]
        assert [cell.last_s / 60 for cell in cells] == known["optimum_last_workflow_min"][name]


def test_one_survivor_of_nine_can_do_as_well_as_one_node_alone() -> None:
    assert optimum.after_kill(8) == optimum.of_cell(1, FLOCK_WORKFLOWS)


def test_the_optimum_waits_nowhere_when_there_is_a_node_for_each_workflow() -> None:
    assert (optimum.waiting_s(9, 5), optimum.waiting_s(1, 1)) == (0.0, 0.0)


# How good the order is


@pytest.mark.parametrize(("nodes", "workflows"), CELLS)
def test_without_overhead_the_order_is_the_optimum(nodes: int, workflows: int) -> None:
    world, best = World(nodes, workflows).run(), optimum.of_cell(nodes, workflows)
    assert world.average_s == pytest.approx(best.average_s, rel=ROUNDING)
    assert world.last_s == pytest.approx(best.last_s, rel=ROUNDING)
    waiting_s = optimum.waiting_s(nodes, workflows)
    assert world.waiting_s == pytest.approx(waiting_s, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize(("nodes", "workflows"), CELLS)
@pytest.mark.parametrize("drift_s", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("seed", DRAWN)
def test_nodes_that_decide_alone_at_their_own_times_keep_near_the_optimum(
    nodes: int, workflows: int, drift_s: float, seed: int
) -> None:
    world = World(nodes, workflows, start_up_s=0.05, drift_s=drift_s, seed=seed).run()
    best = optimum.of_cell(nodes, workflows)
    assert world.average_s <= AVERAGE_RATIO_MAX * best.average_s
    assert world.last_s <= LAST_RATIO_MAX * best.last_s


@pytest.mark.parametrize(("failed", "killed"), list(deaths()))
@pytest.mark.parametrize("overhead_s", [0.0, 0.05])
def test_after_a_kill_the_survivors_keep_near_what_is_then_possible(
    failed: int, killed: frozenset[int], overhead_s: float
) -> None:
    world = World(FLOCK_NODES, FLOCK_WORKFLOWS, start_up_s=overhead_s, drift_s=overhead_s)
    world.killed, world.killed_at_s = killed, TASK_S / 2
    world.run()
    assert world.average_s <= KILL_RATIO_MAX * optimum.after_kill(failed).average_s


def test_neither_comparison_reaches_both_ends() -> None:
    def misses(policy: OrderPolicy) -> tuple[int, int]:
        ratios = []
        for nodes, workflows in CELLS:
            world = World(nodes, workflows, policy).run()
            best = optimum.of_cell(nodes, workflows)
            ratios.append((world.average_s / best.average_s, world.last_s / best.last_s))
        late = sum(average > AVERAGE_RATIO_MAX for average, _ in ratios)
        return late, sum(last > LAST_RATIO_MAX for _, last in ratios)

    assert misses(Strict()) == (0, 14)
    # Late in four cells too: tasks that became ready together are taken by submission, not in turn.
    assert misses(FirstCome()) == (18, 4)


@pytest.mark.parametrize(("nodes", "workflows"), [(9, 40), (30, 40), (30, 100), (7, 60), (9, 150)])
def test_large_flocks_leave_no_place_idle_at_the_end(nodes: int, workflows: int) -> None:
    world, strict = World(nodes, workflows).run(), World(nodes, workflows, Strict()).run()
    assert world.average_s <= AVERAGE_RATIO_MAX * strict.average_s
    assert world.last_s == -(-workflows * CHAIN_TASKS // nodes) * TASK_S


# Whose turn it is


def test_interactive_goes_before_low_whatever_the_ages() -> None:
    old = chain(0, 4, priority=99, age_s=1e9)
    low = [chain(i, 4, priority=50, age_s=1e6) for i in range(1, 12)]
    order = LookAhead().order(flock(3, old, *low, chain(99, 2, length_s=1e5, priority=100)))
    assert order[0] == "99.0"


def test_the_higher_level_goes_first() -> None:
    views = (chain(0, 1, priority=1), chain(1, 1, priority=3), chain(2, 1, priority=2))
    for name in ("look-ahead", "strict", "first-come"):
        assert flock_rules[name].order.order(flock(1, *views)) == ["1.0", "2.0", "0.0"]


def test_waiting_raises_a_low_workflow_a_level_each_ten_minutes_up_to_99() -> None:
    def levels(priority: int) -> list[int]:
        ages_s = (0, 599, 600, 1200, 98 * 600, 99 * 600, 1e12, inf, nan, -5)
        return [level(chain(0, 1, priority=priority, age_s=age_s)) for age_s in ages_s]

    assert levels(0) == [0, 0, 1, 2, 98, 99, 99, 99, 0, 0]
    assert (levels(97), levels(100)) == ([97, 97, 98, 99, 99, 99, 99, 99, 97, 97], [100] * 10)


def test_an_aged_workflow_goes_before_a_more_urgent_one() -> None:
    aged = chain(1, 4, priority=0, age_s=3 * AGEING_STEP_S)
    others = [chain(i, 4, priority=2) for i in range(2, 9)]
    assert LookAhead().order(flock(2, *others, aged))[0] == "1.0"


def test_nobody_is_overtaken_by_work_that_came_much_later() -> None:
    long = chain(0, 4, length_s=3600.0, age_s=AGEING_STEP_S)
    short = [chain(i, 1, length_s=60.0) for i in range(1, 9)]
    assert LookAhead().order(flock(1, long, *short))[0] == "0.0"
    assert LookAhead().order(flock(1, replace(long, age_s=0.0), *short))[-1] == "0.0"


def test_the_longest_remaining_path_goes_first_within_a_workflow() -> None:
    tasks = (task("a", 50), task("b", 10), task("c", 10, "b"), task("d", 60, "c"))
    for name in ("look-ahead", "strict"):
        assert flock_rules[name].order.order(flock(1, workflow(*tasks))) == ["b", "a"]


# Shapes of work


def test_a_fan_out_is_ordered_by_what_hangs_on_each_branch() -> None:
    branches = [task(f"b{i}", 10.0 * i) for i in range(1, 6)]
    tails = [task(f"t{i}", 100.0 - 20 * i, f"b{i}") for i in range(1, 6)]
    end = task("end", 5, *(tail.task for tail in tails))
    fan = workflow(*branches, *tails, end)
    assert remaining_paths_s(fan)[:5] == [95.0, 85.0, 75.0, 65.0, 55.0]
    assert LookAhead().order(flock(2, fan)) == ["b1", "b2", "b3", "b4", "b5"]
    # Either beginning ends the two at 835 s together, but only the chain first ends both by 480 s.
    assert LookAhead().order(flock(2, fan, chain(1, 4))) == ["1.0", "b1", "b2", "b3", "b4", "b5"]


@pytest.mark.parametrize("swapped", [False, True])
def test_of_several_that_need_a_task_the_longest_way_counts(swapped: bool) -> None:
    ways = [task("b", 10, "a"), task("c", 10, "a"), task("d", 50, "c"), task("e", 1, "b", "d")]
    paths_s = remaining_paths_s(workflow(task("a", 5), *(reversed(ways) if swapped else ways)))
    assert paths_s[0] == 5 + 10 + 50 + 1
    assert sorted(paths_s[1:]) == [1, 11, 51, 61]


def test_no_length_of_more_than_thirty_days_is_believed() -> None:
    month_s = 30 * 24 * 3600.0
    assert remaining_paths_s(workflow(task("a", 1e9), task("b", 7, "a"))) == [month_s + 7, 7]
    assert remaining_paths_s(workflow(task("a", -0.5), task("b", nan))) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("band", "age_s", "behind_s", "priority"),
    [
        (0, 400.1, 0.0, 50),
        (1, 400.0, 0.0, 50),
        (0, 1_599.9, 0.0, 50),
        (1, 1_600.0, 0.0, 50),
        (0, 900.0, 499.0, 50),
        (1, 900.0, 500.0, 50),
        (1, 1_000.0, 0.0, 51),
    ],
)
def test_a_band_spans_less_than_ten_minutes_less_what_each_is_put_back(
    band: int, age_s: float, behind_s: float, priority: int
) -> None:
    head = WorkflowView("w0", 50, (0, 0), 1_100.0, (), 100.0)
    assert bands([head, WorkflowView("w1", priority, (1, 0), age_s, (), behind_s)]) == [0, band]
    waited_for = [replace(head, priority=each) for each in (100, 150)]
    assert bands(waited_for) == [0, 0]


def test_a_need_may_lie_in_another_workflow() -> None:
    producer = workflow(task("p", 10), number=1)
    dependant = workflow(task("d", 10, "p"), task("e", 10), number=0)
    assert sorted(LookAhead().order(flock(1, dependant, producer))) == ["e", "p"]


@pytest.mark.parametrize("name", sorted(flock_rules))
def test_tasks_that_cannot_start_hang_nothing(name: str) -> None:
    unknown = workflow(task("u", 10, "nobody knows"), task("v", 10, "u"), number=1)
    circle = workflow(task("x", 10, "y"), task("y", 10, "x"), task("z", 10, "z"), number=2)
    causeless = workflow(task("w", 10, stage=Stage.WAITING), number=3)
    view = flock(1, unknown, circle, causeless)
    assert flock_rules[name].order.order(view) == []
    more = flock(1, *view.workflows, chain(4, 2), chain(5, 2), chain(6, 2))
    assert flock_rules[name].order.order(more) == ["4.0", "5.0", "6.0"]


@pytest.mark.parametrize("name", sorted(flock_rules))
@pytest.mark.parametrize("length_s", [0.0, -1.0, nan, inf, 1e300])
def test_lengths_without_sense_still_give_an_order(name: str, length_s: float) -> None:
    views = [chain(i, 3, length_s=length_s) for i in range(4)]
    assert sorted(flock_rules[name].order.order(flock(2, *views))) == ["0.0", "1.0", "2.0", "3.0"]


@pytest.mark.parametrize("name", sorted(flock_rules))
@pytest.mark.parametrize("slots", [-1, 0, 1, 2, 50])
def test_every_ready_task_is_named_once_whatever_the_slots(name: str, slots: int) -> None:
    busy = replace(chain(0, 3).tasks[0], state=Stage.RUNNING)
    views = [replace(chain(i, 3), tasks=(busy, *chain(i, 3).tasks[1:])) for i in range(3)]
    views += [chain(i, 3) for i in range(3, 9)]
    names = flock_rules[name].order.order(flock(slots, *views))
    assert sorted(names) == [f"{i}.0" for i in range(3, 9)]
    assert flock_rules[name].order.order(flock(slots)) == []


def test_too_much_work_to_look_ahead_is_taken_in_strict_order() -> None:
    many = flock(9, *(chain(i, CHAIN_TASKS) for i in range(TASKS_MAX // CHAIN_TASKS + 1)))
    assert LookAhead().order(many) == Strict().order(many)


def test_first_come_serves_by_time_in_the_queue_then_by_submission() -> None:
    waited = [replace(task(f"t{s}", 9), ready_s=float(s)) for s in (5, 7, 7, 1)]
    views = [workflow(each, number=i) for i, each in enumerate(waited)]
    assert FirstCome().order(flock(1, *views)) == ["t7", "t7", "t5", "t1"]


# Plug-ins


def test_the_defaults_are_registered() -> None:
    assert isinstance(flock_rules[DEFAULT_RULE].order, LookAhead)
    assert next(iter(flock_rules)) == DEFAULT_RULE


# Sameness


def test_the_order_does_not_depend_on_the_order_of_the_picture() -> None:
    views = [chain(i, 4, done=i % 3, priority=i % 2, age_s=37.0 * i) for i in range(12)]
    expected = LookAhead().order(flock(5, *views))
    for seed in SEEDS:
        random.Random(seed).shuffle(views)
        assert LookAhead().order(flock(5, *views)) == expected


HASH_PROBE = """
import random
from agent.protocol.policy import FlockView, Stage, TaskView, WorkflowView, flock_rules
draw = random.Random(7)
for _ in range(30):
    workflows = []
    for w in range(draw.randint(1, 20)):
        tasks = []
        for t in range(draw.randint(1, 9)):
            needs = tuple(f"{w}.{n}" for n in range(t) if draw.random() < 0.3)
            stage = Stage.WAITING if needs else draw.choice((Stage.READY, Stage.RUNNING))
            tasks.append(TaskView(f"{w}.{t}", draw.choice((2.0, 60.0, 120.0)), needs, stage))
        priority, age_s = draw.choice((0, 1, 100)), draw.choice((0.0, 700.0))
        stamp = (draw.randint(0, 3), 0)
        workflows.append(WorkflowView(f"w{w}", priority, stamp, age_s, tuple(tasks)))
    flock = FlockView(draw.randint(1, 9), tuple(workflows))
    print([flock_rules[name].order.order(flock) for name in sorted(flock_rules)])
"""


def test_the_order_is_the_same_under_different_hash_seeds() -> None:
    def orders(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", HASH_PROBE]
        return subprocess.run(
            command,
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    assert orders("0") == orders("1") != ""


def of(number: int, behind_s: float, age_s: float = 0.0) -> WorkflowView:
    """A workflow of one ready task, submitted ``number`` seconds after the first."""
    tasks = (TaskView(f"t{number}", 60.0, (), Stage.READY),)
    stamp = (1_000 * number, 0)
    return WorkflowView(f"w{number}", 50, stamp, age_s - number, tasks, behind_s)


@pytest.mark.parametrize("name", ["look-ahead", "strict"])
def test_who_has_had_less_lately_goes_first_and_waits_no_longer_than_the_bound(name: str) -> None:
    early, late, much_later = of(0, 3_600.0), of(900, 0.0), of(3_700, 0.0)
    order = flock_rules[name].order.order(FlockView(1, (early, late, much_later)))
    assert order == ["t900", "t0", "t3700"]


def test_with_one_submitter_nobody_is_put_back() -> None:
    views = tuple(of(number, 0.0) for number in range(5))
    behind = tuple(replace(each, behind_s=600.0) for each in views)
    for name in ("look-ahead", "strict"):
        asked = flock_rules[name].order.order
        assert asked(FlockView(2, views)) == asked(FlockView(2, behind))


def test_what_was_had_never_moves_low_work_before_interactive() -> None:
    waited_for = replace(of(900, 3_600.0), priority=100)
    assert Strict().order(FlockView(1, (of(0, 0.0), waited_for))) == ["t900", "t0"]
