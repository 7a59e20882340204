"""What a large flock says, made by numbers: the window's questions answered as an agent would.

2,000 workflows with 20,000 tasks on 30 machines are more than real agents on one machine could be
made to have. The types, the lengths of texts and the order of things are the real ones; beside the
workflows of ten tasks there is one of a thousand, whose graph is wide and tangled.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from agent.api import session
from agent.api.datasets import Datasets, DatasetsReply, DatasetView
from agent.api.flock import MembersReply, MemberView, PeersReply, PeerView
from agent.api.history import (
    BalanceView,
    PhaseSpan,
    RunPhase,
    Runs,
    RunsReply,
    RunView,
    StatisticsReply,
    TaskRuns,
    WeekView,
)
from agent.api.logs import AgentLog, AgentLogReply, LogLine
from agent.api.programs import ProgramsReply, ProgramView
from agent.api.session import TaskMoved, TaskProgressed
from agent.api.settings import SettingsView
from agent.api.values import Capabilities, Dataset, Position, TaskState
from agent.api.volunteering import SourceView, VolunteeringView, VolunteerRules
from agent.api.work import (
    CurrentTask,
    Misfit,
    Move,
    NodeView,
    Plan,
    PlanReply,
    Show,
    ShowReply,
    Status,
    StatusReply,
    Story,
    TaskPlan,
    TaskView,
    Why,
    WorkflowView,
)

TASKS, TASKS_LARGE = 10, 1_000
MACHINES, PROGRAMS = 30, 20
WEEK_MS = 7 * 86_400_000
LOG = "generated"
STATES = (TaskState.READY, TaskState.SCHEDULED, TaskState.RUNNING, TaskState.TERMINATED)
REASON = "waits for a machine with 16 GB of memory: the free ones have 8"
IN_SIGHT = 16
"""So many workflows stand in a list that nobody has scrolled."""
PHASES: tuple[RunPhase, ...] = ("Running", "Suspended", "Running")
SEED, TANGLE = 1, 40


class Flock:
    """Workflows of ten tasks and a large one; events walk every task through its life."""

    def __init__(self, workflows: int) -> None:
        self.now_ms = int(time.time() * 1000)
        self.sequence = 0
        self.states = [[TaskState.SUBMITTED] * TASKS for _ in range(workflows)]
        self.states.append([TaskState.SUBMITTED] * TASKS_LARGE)
        for own in self.states:
            own[0] = TaskState.READY
        self._needs_large = tuple(_tangled(TASKS_LARGE))
        self._turns = [0] * len(self.states)

    @property
    def position(self) -> Position:
        return Position(LOG, self.sequence)

    # -- machines ----------------------------------------------------------------------------

    def node(self) -> NodeView:
        return NodeView(
            "n0", "machine 0", "1", "large", volunteering=True, slots=4, capabilities=_made_of()
        )

    def peers(self) -> PeersReply:
        """The others, each with two tasks in hand."""
        others = tuple(
            PeerView(
                f"n{number}", f"machine {number}", "linked", f"10.0.0.{number}:7420", "1",
                0.4 + number / 10, number * 3, True, False, number, "", 4, 2,
                tuple(self._in_hand(number, slot) for slot in range(2)), _made_of(),
            )
            for number in range(1, MACHINES)
        )  # fmt: skip
        return PeersReply(self.node(), others)

    def _in_hand(self, number: int, slot: int) -> CurrentTask:
        permille = (self.sequence // 7 + 31 * number) % 1000
        return CurrentTask(
            f"line {number}/step {slot}", f"step {slot}", f"line {number}", "segment",
            TaskState.RUNNING, permille, 60 * (1000 - permille), self.now_ms,
        )  # fmt: skip

    def members(self) -> MembersReply:
        """Two keepers among them."""
        views = tuple(
            MemberView(f"n{number}", f"machine {number}", number < 2, number == 0, self.now_ms * 2)
            for number in range(MACHINES)
        )
        return MembersReply("large", views, ())

    def programs(self) -> ProgramsReply:
        nodes = tuple(f"machine {number}" for number in range(MACHINES))
        names = [f"program {number}" for number in range(PROGRAMS)]
        return ProgramsReply(
            tuple(ProgramView(name, nodes, "installed", "It segments a line.") for name in names)
        )

    def settings(self) -> SettingsView:
        return SettingsView("settings.toml", "machine 0", 7420, ("0.0.0.0",), (), 4, ("gpu",))

    def volunteering(self) -> VolunteeringView:
        """The clock of a source goes on, as it does in life."""
        now_ms = int(time.time() * 1000)
        seen = f"last input seen {now_ms // 1000 % 600} s ago"
        sources = tuple(SourceView(name, True, False, seen, now_ms) for name in ("X11", "logind"))
        return VolunteeringView(True, False, "nobody uses it", VolunteerRules(), sources=sources)

    # -- work --------------------------------------------------------------------------------

    def workflow(self, number: int) -> WorkflowView:
        own = self.states[number]
        counts = {state: own.count(state) for state in dict.fromkeys(own)}
        busy = any(state in counts for state in (TaskState.RUNNING, TaskState.SCHEDULED))
        name = f"line {number}"
        done = counts.get(TaskState.TERMINATED, 0) * 1000 // len(own)
        return WorkflowView(
            name, name, "running" if busy else "waiting", number % 100, "ana", "machine 0",
            self.now_ms - number * 1000, len(own), counts, done,
        )  # fmt: skip

    def task(self, number: int, place: int) -> TaskView:
        """With a reason while it waits, and outputs once it is done."""
        state = self.states[number][place]
        name = f"line {number}"
        host = f"machine {number % MACHINES}" if state in STATES[1:] else ""
        done = state is TaskState.TERMINATED
        outputs = (Dataset(f"sha256:{number:032x}{place:032x}", 1_000_000),) if done else ()
        return TaskView(
            f"{name}/step {place}", f"step {place}", name, f"program {place % PROGRAMS}", state,
            host=host, needs=self._needs(number, place), expected_s=60, outputs=outputs,
            reason="" if host else REASON, attempt=int(bool(host)),
            changed_ms=self.now_ms, begun_ms=self.now_ms if host else 0,
        )  # fmt: skip

    def _needs(self, number: int, place: int) -> tuple[str, ...]:
        before = self._needs_large[place] if len(self.states[number]) > TASKS else (place - 1,)
        return tuple(f"line {number}/step {each}" for each in before if each >= 0)

    def status(self, asked: Status) -> StatusReply:
        last = min(len(self.states), asked.first + asked.limit)
        views = tuple(self.workflow(number) for number in range(asked.first, last))
        return StatusReply(self.node(), views, len(self.states), self.position)

    def show(self, asked: Show) -> ShowReply:
        number = _number(asked.workflow)
        last = min(len(self.states[number]), asked.first + asked.limit)
        tasks = tuple(self.task(number, place) for place in range(asked.first, last))
        return ShowReply(self.workflow(number), tasks, asked.first, self.position)

    def why(self, asked: Why) -> Story:
        """Thirty moves are as many as are shown."""
        workflow, _, task = asked.task.partition("/")
        place = _number(task)
        moves = tuple(Move(self.now_ms + each, "moved on", "generated") for each in range(30))
        return Story(self.task(_number(workflow), place), REASON, moves)

    def datasets(self, asked: Datasets) -> DatasetsReply:
        """Names of what its tasks made."""
        number = _number(asked.workflow)
        found = tuple(
            DatasetView(f"sha256:{number:032x}{place:032x}", 1_000_000, name=f"strip {place}.laz")
            for place in range(min(asked.limit, len(self.states[number])))
        )
        return DatasetsReply(found, len(found))

    def plan(self, asked: Plan) -> PlanReply:
        """Two machines fit, the others do not."""
        misfits = tuple(
            Misfit(f"n{number}", f"machine {number}", "it has no program segment")
            for number in range(2, MACHINES)
        )
        plans = tuple(
            TaskPlan(task.id, ("machine 0", "machine 1"), misfits, 0.0, 60.0)
            for task in asked.workflow.tasks
        )
        return PlanReply(False, (), plans, MACHINES, int(time.time() * 1000) + 3_600_000)

    # -- what was ----------------------------------------------------------------------------

    def runs(self, asked: Runs) -> RunsReply:
        """One run of each task, suspended once."""
        number = _number(asked.workflow)
        tasks = tuple(
            self._runs_of(number, place)
            for place in range(min(asked.limit, len(self.states[number])))
        )
        return RunsReply(tasks, len(tasks))

    def _runs_of(self, number: int, place: int) -> TaskRuns:
        begun_ms = self.now_ms - 3_600_000 + place * 5_000
        spans = tuple(
            PhaseSpan(phase, begun_ms + 10_000 * each) for each, phase in enumerate(PHASES)
        )
        run = RunView(
            f"r{place}", 1, 1, f"machine {place % MACHINES}", "Terminated", begun_ms,
            begun_ms + 60_000, begun_ms + 60_000, spans=spans,
        )  # fmt: skip
        name = f"line {number}"
        return TaskRuns(
            f"{name}/step {place}", f"step {place}", name, TaskState.TERMINATED, begun_ms, (run,)
        )

    def statistics(self) -> StatisticsReply:
        """Eight weeks alike."""
        weeks = tuple(
            WeekView(self.now_ms - each * WEEK_MS, 30.5, 400, 20_000, 3, 40, 12.0, 600.0)
            for each in range(8)
        )
        balance = (BalanceView(7, 12.5, 1.5, 30.0), BalanceView(30, 60.0, 0.0, 101.0))
        return StatisticsReply(weeks, self.now_ms - 8 * WEEK_MS, 244.0, 3_200, 160_000, balance)

    def log(self, asked: AgentLog) -> AgentLogReply:
        """What was asked for at first, then what was said since: a line for every ten events."""
        last = self.sequence // 10
        first = int(asked.after) if asked.after else last - asked.limit
        lines = tuple(
            LogLine(
                self.now_ms + number, "info" if number % 9 else "warning",
                f"task step {number % 10} of line {number} runs on machine {number % MACHINES}",
            )
            for number in range(max(first, last - asked.limit), last)
        )  # fmt: skip
        return AgentLogReply(lines, str(last), matching=last)

    # -- events ------------------------------------------------------------------------------

    def event(self) -> session.Event:
        """The next one: mostly tasks that move, some that tell how far they are, a machine."""
        self.sequence += 1
        number = self._whose()
        happening: session.Happening
        if self.sequence % 100 == 0:
            happening = session.PeerChanged(f"n{number % MACHINES}")
        elif self.sequence % 10 < 3:
            name = f"line {number}"
            happening = TaskProgressed(
                f"{name}/step 1", "step 1", name, "machine 1", self.sequence % 1000, 30_000
            )
        else:
            happening = self._moved(number)
        return session.Event(self.sequence, int(time.time() * 1000), happening)

    def _whose(self) -> int:
        """Every fourth is of one in sight, every twentieth of the large one, the others in turn."""
        if self.sequence % 20 == 5:
            return len(self.states) - 1
        if self.sequence % 4 == 0:
            return self.sequence // 4 % IN_SIGHT
        return self.sequence % len(self.states)

    def _moved(self, number: int) -> TaskMoved:
        own, turn = self.states[number], self._turns[number]
        self._turns[number] += 1
        place, after = (turn // len(STATES)) % len(own), STATES[turn % len(STATES)]
        before, own[place] = own[place], after
        return TaskMoved(
            f"line {number}/step {place}", f"step {place}", f"line {number}", before, after,
            f"machine {number % MACHINES}", "generated",
        )  # fmt: skip


def _number(name: str) -> int:
    return int(name.rpartition(" ")[2])


def _made_of() -> Capabilities:
    names = tuple(f"program {number}@1.0" for number in range(PROGRAMS))
    return Capabilities("Linux", "x86_64", 16_000, 100_000, 8, names, ("gpu",), True)


def _tangled(tasks: int) -> Iterator[tuple[int, ...]]:
    """Each needs one or two of those before it, so that nothing can be folded."""
    draw = random.Random(SEED)
    for place in range(tasks):
        nearest = range(max(0, place - TANGLE), place) or range(-1, 0)
        yield tuple(sorted({draw.choice(nearest) for _ in range(draw.randint(1, 2))}))
