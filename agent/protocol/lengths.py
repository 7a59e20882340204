"""How long tasks take, as far as the ends of earlier runs tell: the one place that everybody asks.

Nobody knows how long a program takes until it has run, and what people say of it is a guess. So every
replica learns from each run that ends, in the order in which it hears of them, and what was told counts
as two runs that happened to take that long. Lengths decide who asks for what, in which order, and how
many at once; they are never sent, and claims decide. Replicas may therefore differ for a while.

**What is alike** (``likeness``). Those that agree in program, step, parameters and size of inputs, and in
what was told of them, are asked first. Where there are few of them, and all that ran the program
took about as long, these count; so do those of an earlier version that is called the same.

**Hosts** differ, so a sketch knows which lengths are of which host, and what is said is for one that is
neither fast nor slow. By which factor each takes longer comes from the same sketches (``host_speeds``).

**Short tasks** are claimed several at once, so a wrong word is dear. How long one may take is taken to be
a multiple of what nine of ten took, the larger the fewer runs there were; and what was short once stays so
until half of them take much longer.

A run without a measured length, by a version that told none, is learned from the stamps of its record
where these say that it took ten seconds or more; they hold a second of waiting and the copying of outputs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from agent.protocol.likeness import Kind, Likeness, PastRun, kind_of
from agent.protocol.needs import seats_of
from agent.protocol.news import News
from agent.protocol.records import (
    EXPECTED_MS,
    Evicted,
    Failed,
    Lost,
    NodeId,
    Run,
    Stamp,
    TaskId,
    TaskSpec,
    Terminated,
    Yielded,
)
from agent.protocol.sketch import (
    Atoms,
    Length,
    Sketch,
    bin_end_ms,
    mean_ms,
    quantile_ms,
    quarter_octave,
    remaining_ms,
)
from agent.protocol.speeds import Speeds
from agent.protocol.table import Table
from agent.protocol.times import end_of_run_ms, held_ms, started_ms, took

SHORT_MS = 1_000
"""What surely takes less is claimed several at once,"""
NO_MORE_SHORT_MS = 2_000
"""until half of it takes longer than this."""
ROW_MS, ROW_MAX = 2_000, 64
"""Where there are plenty a row takes so long for each place; it never has more tasks."""
SAFETY = (8, 8, 4, 3, 2)
"""By how much nine of ten are exceeded at the worst, after so many runs."""
TOLD_RUNS, TOLD_UNTIL_RUNS = 2, 8
"""A told length counts as so many runs, until there have been so many real ones."""
ENOUGH_RUNS = 4
ENOUGH_OF_PROGRAM = 3
"""After so many runs of a program on a host its speed is judged by these alone."""
ALIKE_FACTOR = 4
"""Lengths are about the same where nine of ten take at most so many times as long as one of ten."""
STAMPED_MS_MIN = 10_000
KEPT_MAX = 4_000
"""Sketches; those that were not added to for the longest time make room."""
SHARES_PER_SLOT = 2
READ_EACH, READ_TOGETHER_MAX = 32, 32
"""Up to so many runs it is looked after each what they tell, later after up to so many."""

RUNS, SAID, NONE = "runs", "told", "none"
"""On what a length stands."""
NOT_KNOWN = Length(EXPECTED_MS, EXPECTED_MS, EXPECTED_MS, 0, NONE)


class Found(NamedTuple):
    """What is known of a kind."""

    length: Length
    atoms: Atoms
    longest_ms: float
    short: bool
    row: int
    """How many may wait in a row; 0 where they are not short."""
    long_row: int
    """The same where there are plenty."""
    enough: bool
    """It stands on runs that are enough by themselves."""


class _Program:
    """How often it was looked what the runs of one name tell, and what was found since then of kinds
    of which few have run."""

    __slots__ = ("looks", "rare")

    def __init__(self) -> None:
        self.looks = 0
        self.rare: dict[Kind, Found] = {}

    def look_again(self) -> None:
        self.looks += 1
        self.rare.clear()


class _Alike:
    """A kind whatever its step, shared by all tasks of it, and what was found at which look."""

    __slots__ = ("found", "kind", "look", "program")

    def __init__(self, kind: Kind, program: _Program) -> None:
        self.kind, self.program = kind, program
        self.found: Found | None = None
        self.look = -1


class _Likened:
    """What a task is compared by, with others whatever their step, and with its own step alone; and
    what was found of it last, at which reading of all that is known."""

    __slots__ = ("alike", "found", "own", "read", "steps")

    def __init__(self, own: Kind, alike: _Alike) -> None:
        self.own, self.alike = own, alike
        self.steps = tuple(each for each, _ in own.steps())
        self.found: Found | None = None
        self.read = -1


class Lengths:
    """What this node has learned of lengths, and what it says of a task."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._sketches: OrderedDict[tuple[object, ...], Sketch] = OrderedDict()
        self._speeds = Speeds(self._sketches, self._other_speeds)
        self._kinds: dict[TaskId, _Likened] = {}
        self._programs: dict[str, _Program] = {}
        self._alike: dict[Kind, _Alike] = {}
        self._often: dict[Likeness, None] = {}
        """Steps that have run often enough to be judged by themselves,"""
        self._found_of_step: OrderedDict[Kind, Found] = OrderedDict()
        """and what is known of them, which their own runs change."""
        self._short: dict[Kind, bool] = {}
        self._reading = 0
        """Another number after all that changes what is said of some task."""
        self.turns = 0
        """How often a kind of tasks became known, short, or short no more."""

    # -- what is asked ---------------------------------------------------------------------

    def of(self, spec: TaskSpec, host: NodeId = "") -> Length:
        """Return how long the task takes on this host; without one, on any."""
        found = self._of(spec).length
        return found.times(self.host_factor(spec, host)) if host else found

    def left_ms(self, spec: TaskSpec, ran_ms: int, host: NodeId = "") -> int:
        """Return how long the task still takes that has run for so long, on the average, never 0:
        one of which nothing is known takes as long again."""
        atoms = self._of(spec).atoms
        factor = self.host_factor(spec, host)
        if factor == 1.0:
            return remaining_ms(atoms, ran_ms)
        return max(1, round(factor * remaining_ms(atoms, round(ran_ms / factor))))

    def short(self, spec: TaskSpec) -> bool:
        """Tell whether tasks like this one are so short that several are claimed at once; none that
        would keep a seat of the flock while it waits in a row."""
        return self._of(spec).short and not seats_of(spec)

    def known(self, spec: TaskSpec) -> bool:
        """Tell whether anything is known of the length, be it what was told."""
        return self._of(spec).length.source != NONE

    def longest_ms(self, spec: TaskSpec) -> float:
        """Return what the task surely does not exceed, as far as is known; infinite where nothing
        is."""
        return self._of(spec).longest_ms

    def in_a_row(self, spec: TaskSpec, share: int = ROW_MAX) -> int:
        """Return how many tasks like this one may wait in a row, at least one; 0 where they are not
        short. Long rows have no more than this ``share`` of what waits."""
        found = self._of(spec)
        return 0 if seats_of(spec) else min(found.long_row, max(found.row, share))

    def host_factor(self, spec: TaskSpec, host: NodeId) -> float:
        """Return how many times as long the host takes as others: by its runs of this program where
        there are enough, else by all; 1 where nothing is known."""
        if not host:
            return 1.0
        content = self.kind(spec).content
        own = self._speeds.of(content)
        factor = own.factors.get(host) if own.runs.get(host, 0) >= ENOUGH_OF_PROGRAM else None
        return self.slowness(host) if factor is None else factor

    def slowness(self, host: NodeId) -> float:
        """Return how many times as long the host takes as others, by all that it ran; 1 where nothing
        is known."""
        return self._speeds.of("").factors.get(host, 1.0)

    def speeds_differ(self) -> bool:
        """Tell whether some host is known to take longer than others."""
        return any(each != 1.0 for each in self._speeds.of("").factors.values())

    def kind(self, spec: TaskSpec) -> Kind:
        """Return what the task is compared by. It is kept for tasks of the table whose inputs are
        known."""
        return self._likened(spec).own

    def _likened(self, spec: TaskSpec) -> _Likened:
        known = self._kinds.get(spec.task)
        if known is None:
            own = kind_of(spec, self._size(spec))
            known = _Likened(own, self._whatever(own))
            if own.size >= 0 and spec.task in self._table.specs:
                self._kinds[spec.task] = known
        return known

    def _whatever(self, kind: Kind) -> _Alike:
        """What all of this kind share, whatever their step."""
        whatever = kind.whatever()
        alike = self._alike.get(whatever)
        if alike is None:
            if len(self._alike) >= KEPT_MAX:
                self._alike.clear()
            program = self._programs.setdefault(kind.name, _Program())
            alike = self._alike[whatever] = _Alike(whatever, program)
        return alike

    # -- what is learned -------------------------------------------------------------------

    def on_news(self, news: News) -> None:
        """Learn from the runs that have ended, and forget tasks that were removed."""
        for task in news.forgotten_tasks:
            self._kinds.pop(task, None)
        for task, run in sorted(news.ended, key=_stamp) if len(news.ended) > 1 else news.ended:
            self._learn(task, run)

    def remember(self, past: Iterable[PastRun]) -> None:
        """Learn from runs of tasks that are not in the table any more, the oldest first."""
        for run in past:
            if run.task not in self._table.specs:
                self._note(run.kind, self._whatever(run.kind), run.host, run.ran_ms)

    def past_run(self, task: TaskId) -> PastRun | None:
        """Return what is to be remembered of how a task of the table ended; None where it did not
        end well, or nobody knows how long it took."""
        reading = self._table.reading(task)
        run = None if reading is None else reading.outcome
        ran_ms = 0 if run is None else self._ran_ms(task, run)
        if run is None or ran_ms <= 0:
            return None
        return PastRun(task, self.kind(self._table.specs[task]), run.host, ran_ms)

    def _learn(self, task: TaskId, run: Run) -> None:
        spec = self._table.specs.get(task)
        if spec is None or spec.gate:
            return
        ran_ms = self._ran_ms(task, run)
        if ran_ms <= 0:
            return
        match run.phase:
            case Terminated():
                likened = self._likened(spec)
                self._note(likened.own, likened.alike, run.host, ran_ms)
            case Failed() | Evicted() | Yielded() | Lost():
                kind = self.kind(spec)
                for sketch, scale in self._of_all(kind):
                    sketch.note_longer(round(ran_ms / scale), run.host)
                self._whatever(kind).program.look_again()
                self._found_of_step.pop(kind, None)
                self._reading += 1
            case _:
                pass

    def _ran_ms(self, task: TaskId, run: Run) -> int:
        """As it was measured, else by its stamps where these can be relied upon."""
        measured = took(run)
        if measured is not None:
            return measured.run_ms
        reading = self._table.reading(task)
        if reading is None or isinstance(run.phase, Yielded):
            return 0
        if isinstance(run.phase, Lost) and not run.phase.ran:
            return 0
        ended_ms = end_of_run_ms(run, self._table.life(task), reading)
        ran_ms = ended_ms - started_ms(run) - held_ms(run)
        return ran_ms if ran_ms >= STAMPED_MS_MIN else 0

    def _note(self, kind: Kind, alike: _Alike, host: NodeId, ran_ms: int) -> None:
        before = self._of_alike(alike)
        sketches = self._of_all(kind)
        for sketch, scale in sketches:
            sketch.note(ran_ms if scale == 1.0 else round(ran_ms / scale), host)
        step = sketches[0][0]
        if step.runs == ENOUGH_RUNS:
            self._often[kind.steps()[0][0]] = None
            self._reading += 1
        if _changes_much(sketches[-1][0].runs):
            alike.program.look_again()
            self._reading += 1
            now = self._of_alike(alike)
            self.turns += (now.short, now.length.source) != (before.short, before.length.source)
        if kind in self._found_of_step and _changes_much(step.runs):
            self._found_of_step[kind] = self._find(kind)
            self._reading += 1
        self._speeds.count(kind)

    def _of_all(self, kind: Kind) -> list[tuple[Sketch, float]]:
        """The sketches of all that a run of this kind is like, with their scales."""
        found = []
        for likeness, scale in (*kind.steps(), *kind.wide()):
            sketch = self._sketches.get(likeness)
            if sketch is None:
                sketch = self._sketches[likeness] = Sketch()
            else:
                self._sketches.move_to_end(likeness)
            found.append((sketch, scale))
        while len(self._sketches) > KEPT_MAX:
            likeness, _ = self._sketches.popitem(last=False)
            self._often.pop(likeness, None)
        return found

    # -- how it is found -------------------------------------------------------------------

    def _of(self, spec: TaskSpec) -> Found:
        """Steps that have not run enough are like any other where there are enough of those, so
        that thousands are looked up once; and each is asked of many times between two ends."""
        likened = self._kinds.get(spec.task) or self._likened(spec)
        if likened.found is None or likened.read != self._reading:
            likened.found = self._look_up(likened)
            likened.read = self._reading
        return likened.found

    def _look_up(self, likened: _Likened) -> Found:
        alike, steps = likened.alike, likened.steps
        found = self._of_alike(alike)
        if found.enough:
            return self._of_step(likened.own) if steps[0] in self._often else found
        ran = steps[0] in self._sketches or steps[-1] in self._sketches
        return self._of_rare(likened.own, alike.program) if ran else found

    def _of_alike(self, alike: _Alike) -> Found:
        found, looks = alike.found, alike.program.looks
        if found is None or alike.look != looks:
            alike.look, alike.found = looks, self._find(alike.kind)
            return alike.found
        return found

    def _other_speeds(self) -> None:
        self._found_of_step.clear()
        self._reading += 1

    def _of_step(self, kind: Kind) -> Found:
        found = self._found_of_step.get(kind)
        if found is None:
            found = self._found_of_step[kind] = self._find(kind)
            if len(self._found_of_step) > KEPT_MAX:
                self._found_of_step.popitem(last=False)
        return found

    def _of_rare(self, kind: Kind, program: _Program) -> Found:
        found = program.rare.get(kind)
        if found is None:
            found = program.rare[kind] = self._find(kind)
        return found

    def _find(self, kind: Kind) -> Found:
        sketch, scale = self._most_alike(kind)
        was_short = self._short.get(kind, self._short.get(kind.whatever(), False))
        factors = self._speeds.of(kind.content).factors
        runs, atoms = (sketch.runs, sketch.atoms(factors)) if sketch is not None else (0, ())
        if scale != 1.0:
            atoms = tuple((had, round(scale * ms), round(scale * end)) for had, ms, end in atoms)
        counted = runs
        if kind.told_ms and runs < TOLD_UNTIL_RUNS:
            counted += TOLD_RUNS
            weight = TOLD_RUNS * (sketch.last_weight if sketch is not None else 1)
            place = quarter_octave(kind.told_ms)
            atoms = tuple(sorted((*atoms, (weight, kind.told_ms, bin_end_ms(place))), key=mean_ms))
        if not counted:
            return Found(NOT_KNOWN, atoms, inf, was_short, *2 * (int(was_short),), enough=False)
        low, middle, high = (quantile_ms(atoms, permille) for permille in (100, 500, 900))
        length = Length(low, middle, high, runs, RUNS if runs else SAID)
        longest_ms = length.q90_ms * SAFETY[min(counted, len(SAFETY) - 1)]
        short = longest_ms < SHORT_MS or (was_short and length.q50_ms <= NO_MORE_SHORT_MS)
        if len(self._short) > KEPT_MAX:
            self._short.clear()
        self._short[kind] = short
        rows = _rows(length, longest_ms) if short else (0, 0)
        return Found(length, atoms, longest_ms, short, *rows, enough=runs >= ENOUGH_RUNS)

    def _most_alike(self, kind: Kind) -> tuple[Sketch | None, float]:
        """The sketch that the kind is judged by: the most alike with enough runs, else the widest
        in which all took about as long, else the most alike that has any."""
        there = [
            (sketch, scale)
            for likeness, scale in kind.asked()
            if (sketch := self._sketches.get(likeness)) is not None
        ]
        ran = [each for each in there if each[0].runs]
        for sketch, scale in ran:
            if sketch.runs >= ENOUGH_RUNS:
                return sketch, scale
        for sketch, scale in reversed(ran):
            atoms = sketch.atoms(self._speeds.of(kind.content).factors)
            if quantile_ms(atoms, 900) <= ALIKE_FACTOR * quantile_ms(atoms, 100):
                return sketch, scale
        return next(iter((*ran, *there)), (None, 1.0))

    def _size(self, spec: TaskSpec) -> int:
        """The octave of the bytes of all inputs; -1 while one of them is not there."""
        size_bytes = sum(each.size_bytes for each in spec.raw)
        for ref in spec.inputs:
            reading = self._table.reading(ref.task)
            if reading is None or reading.outcome is None:
                return -1
            if ref.output < len(reading.outputs):
                size_bytes += reading.outputs[ref.output].size_bytes
        return size_bytes.bit_length()


def share_of(ready: int, slots: int) -> int:
    """Return how many of what is ready a long row has at most: half of what is there for its place, so
    that none is left with more than others when the last ones run."""
    return ready // max(1, SHARES_PER_SLOT * slots)


def _rows(length: Length, longest_ms: float) -> tuple[int, int]:
    """As many as surely take no longer than a short task, and where there are plenty as many as usually
    take ``ROW_MS``; the fewer runs there were, the fewer."""
    row = max(1, min(ROW_MAX, int(SHORT_MS // longest_ms)))
    doubt = longest_ms / (length.q90_ms * SAFETY[-1])
    return row, max(row, min(ROW_MAX, int(ROW_MS / (length.q50_ms * doubt))))


def _changes_much(runs: int) -> bool:
    """Tell whether it is looked again what so many runs tell: at first after each, later after several,
    which change little."""
    return runs < READ_EACH or not runs % min(READ_TOGETHER_MAX, runs // READ_EACH)


def _stamp(ended: tuple[TaskId, Run]) -> Stamp:
    return ended[1].stamp
