"""Work for a simulated flock: workflows of every shape, and how their programs behave.

Programs run, fail, fail only on some hosts, hang, or take the agent down with them; whatever they
do is drawn before the run, so that the protocol cannot influence what it is tested with.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from random import Random

from agent.protocol.messages import Capabilities
from agent.protocol.needs import Seat, with_needs
from agent.protocol.priorities import with_priority
from agent.protocol.records import (
    PRIORITY_INTERACTIVE,
    PRIORITY_LOW,
    Dataset,
    InputRef,
    More,
    Requirements,
    TaskSpec,
)

PROGRAMS = ("import", "georeference", "segment", "detect")
ANY_REQUIREMENTS = Requirements()
SEATS = {"acme": 2, "bolt": 1}
"""What there is of the flock's seats, by name."""


class Course(Enum):
    """How a program ends."""

    WELL = "well"
    FAILS = "fails"
    HANG = "hangs"
    KILLS_AGENT = "kills the agent"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one program does, wherever it runs."""

    duration_s: float
    outputs: int = 1
    course: Course = Course.WELL
    failing_hosts: tuple[str, ...] = ()
    failing_share: float = 0.0
    same_content: bool = False

    def fails_on(self, host: str, draw: Random) -> bool:
        """Whether this execution ends with a failure."""
        if self.course in (Course.FAILS, Course.HANG) or host in self.failing_hosts:
            return True
        return bool(self.failing_share) and draw.random() < self.failing_share


@dataclass(frozen=True, slots=True)
class Job:
    """A submission, and the raw data that its client has on the disk of the node it goes to."""

    workflow: str
    priority: int
    tasks: tuple[TaskSpec, ...]
    raw: tuple[Dataset, ...] = ()

    @property
    def interactive(self) -> bool:
        """Somebody waits for it in front of the screen."""
        return self.priority == PRIORITY_INTERACTIVE


@dataclass(slots=True)
class WorkStyle:
    """Ranges and shares from which work is drawn; a share is a chance per task or workflow."""

    workflows: tuple[int, int] = (2, 7)
    tasks: tuple[int, int] = (1, 8)
    duration_s: tuple[float, float] = (0.2, 6.0)
    expected: tuple[float, float] = (0.5, 2.0)
    """As a share of what they take."""
    interactive: float = 0.15
    gates: float = 0.05
    cross: float = 0.2
    after: float = 0.1
    raw: float = 0.1
    requirements: float = 0.1
    seats: float = 0.0
    own_priority: float = 0.0
    failing: float = 0.05
    flaky: float = 0.05
    host_bound_failing: float = 0.05
    hanging: float = 0.0
    killing: float = 0.0
    same_content: float = 0.3


def capable(capabilities: Capabilities, spec: TaskSpec) -> bool:
    """Whether a machine could run a task at all."""
    needs = spec.requirements
    return (
        needs.system in ("", capabilities.system)
        and needs.architecture in ("", capabilities.architecture)
        and needs.memory_mb <= capabilities.memory_mb
        and needs.disk_mb <= capabilities.disk_mb
        and needs.cores <= capabilities.cores
        and set(needs.tags) <= set(capabilities.tags)
        and (spec.gate or spec.program in capabilities.programs)
    )


def draw_capabilities(draw: Random) -> Capabilities:
    """An office machine."""
    return Capabilities(
        system=draw.choice(("linux", "windows", "windows")),
        architecture="x86_64",
        memory_mb=draw.choice((4_000, 8_000, 16_000)),
        disk_mb=100_000,
        cores=draw.choice((2, 4, 8)),
        programs=PROGRAMS,
        tags=draw.choice(((), (), ("gpu",))),
    )


class Workshop:
    """Draws jobs one after the other; later ones may use what earlier ones make."""

    def __init__(self, draw: Random, style: WorkStyle, hosts: list[str]) -> None:
        self.draw = draw
        self.style = style
        self.hosts = hosts
        self.behaviours: dict[str, Behaviour] = {}
        self.jobs: list[Job] = []
        self.more: More = {}

    def job(self, priority: int | None = None) -> Job:
        """One more workflow, of the given priority or of a drawn one."""
        draw, style = self.draw, self.style
        name = f"w{len(self.jobs) + 1}"
        needs = draw_shape(draw, draw.randint(*style.tasks))
        interactive = draw.random() < style.interactive
        drawn = PRIORITY_INTERACTIVE if interactive else draw.choice((PRIORITY_LOW, 20, 80))
        raw: list[Dataset] = []
        tasks = [self._task(name, n, of, interactive, raw) for n, of in enumerate(needs)]
        job = Job(name, drawn if priority is None else priority, tuple(tasks), tuple(raw))
        self.jobs.append(job)
        return job

    def _task(
        self, name: str, number: int, of: tuple[int, ...], interactive: bool, raw: list[Dataset]
    ) -> TaskSpec:
        draw, style = self.draw, self.style
        task = f"{name}/{number}"
        gate = not interactive and draw.random() < style.gates
        behaviour = self._behaviour()
        self.behaviours[task] = behaviour
        producers = [f"{name}/{n}" for n in of]
        inputs = [self._ref(p) for p in producers]
        if self.jobs and draw.random() < style.cross:
            inputs.append(self._ref(draw.choice(draw.choice(self.jobs).tasks).task))
        after: tuple[str, ...] = ()
        if inputs and draw.random() < style.after:
            after = (inputs.pop().task,)
        return TaskSpec(
            task=task,
            name=f"step {number}",
            program="" if gate else draw.choice(PROGRAMS),
            inputs=tuple(inputs),
            raw=() if gate else self._raw(task, raw),
            after=after,
            requirements=ANY_REQUIREMENTS if gate else self._requirements(),
            expected_ms=max(1, int(behaviour.duration_s * 1000 * draw.uniform(*style.expected))),
            gate=gate,
            asks="look at it" if gate else "",
            more={**self.more, **({} if gate else self._seats() | self._own_priority())},
        )

    def _ref(self, producer: str) -> InputRef:
        return InputRef(producer, self.draw.randrange(self.behaviours[producer].outputs))

    def _raw(self, task: str, raw: list[Dataset]) -> tuple[Dataset, ...]:
        draw = self.draw
        if draw.random() >= self.style.raw:
            return ()
        dataset = Dataset(f"{task}.raw", 5_000, external=draw.random() < 0.4)
        if not dataset.external:
            raw.append(dataset)
        return (dataset,)

    def _requirements(self) -> Requirements:
        draw = self.draw
        if draw.random() >= self.style.requirements:
            return ANY_REQUIREMENTS
        return draw.choice(
            (
                Requirements(system="windows"),
                Requirements(memory_mb=8_000),
                Requirements(cores=4, architecture="x86_64"),
                Requirements(tags=("gpu",)),
            )
        )

    def _seats(self) -> More:
        """Nothing is drawn where no scenario asks for seats: others stay as they are."""
        draw, share = self.draw, self.style.seats
        if not share or draw.random() >= share:
            return {}
        names = draw.choice((("acme",), ("acme",), ("bolt",), ("acme", "bolt")))
        return with_needs((), tuple(Seat(name, SEATS[name]) for name in names))

    def _own_priority(self) -> More:
        """Likewise of priorities of their own."""
        draw, share = self.draw, self.style.own_priority
        if not share or draw.random() >= share:
            return {}
        return with_priority(draw.choice((PRIORITY_INTERACTIVE, PRIORITY_LOW, 80)))

    def _behaviour(self) -> Behaviour:
        draw, style = self.draw, self.style
        chance = draw.random()
        course = Course.WELL
        for share, kind in (
            (style.failing, Course.FAILS),
            (style.hanging, Course.HANG),
            (style.killing, Course.KILLS_AGENT),
        ):
            if chance < share:
                course = kind
                break
            chance -= share
        hosts: tuple[str, ...] = ()
        if draw.random() < style.host_bound_failing:
            hosts = tuple(h for h in self.hosts if draw.random() < 0.4)
        return Behaviour(
            duration_s=draw.uniform(*style.duration_s),
            outputs=draw.choice((1, 1, 2)),
            course=course,
            failing_hosts=hosts,
            failing_share=0.3 if draw.random() < style.flaky else 0.0,
            same_content=draw.random() < style.same_content,
        )


def draw_shape(draw: Random, size: int) -> list[tuple[int, ...]]:
    """For each task the tasks it needs: a chain, a diamond, a fan, singles, or anything."""
    shape = draw.choice(("chain", "diamond", "fan out", "fan in", "singles", "any"))
    last = size - 1
    if shape == "chain" or size < 3:
        return [(n - 1,) if n else () for n in range(size)]
    if shape == "diamond":
        middle = tuple(range(1, last))
        return [(), *((0,) for _ in middle), middle]
    if shape == "fan out":
        return [(0,) if n else () for n in range(size)]
    if shape == "fan in":
        return [() if n < last else tuple(range(last)) for n in range(size)]
    if shape == "singles":
        return [() for _ in range(size)]
    return [tuple(sorted(draw.sample(range(n), draw.randint(0, min(n, 2))))) for n in range(size)]
