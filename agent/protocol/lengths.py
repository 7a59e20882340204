"""How long tasks take, as far as the ends of earlier runs tell: the one place that everybody asks.

Nobody knows how long a program takes until it has run, and what people say of it is a guess. So every
replica learns from each run that ends, in the order in which it hears of them, and what was told counts
as two runs that happened to take that long. Lengths decide who asks for what, in which order, and how
many at once; they are never sent, and claims decide. Replicas may therefore differ for a while.

**What is alike.** A task is known by what its program is (its content, else its name), by how long
somebody said that it takes, by its step and parameters, and by the size of its inputs in powers of two.
Those that agree in all of that are asked first. Where there are few of them, and all that ran the program
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
from zlib import crc32

from msgspec import Struct

from agent.protocol.host_speeds import fitted
from agent.protocol.identity import PROGRAM, TOLD, text_in
from agent.protocol.needs import seats_of
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
    Sketch,
    bin_end_ms,
    mean_ms,
    quantile_ms,
    quarter_octave,
    remaining_ms,
)
from agent.protocol.table import News, Table
from agent.protocol.times import end_of_run_ms, held_ms, started_ms, took

SHORT_MS = 1_000
"""What surely takes less is claimed several at once,"""
NO_MORE_SHORT_MS = 2_000
"""until half of it takes longer than this."""
ROW_MAX = 64
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
STEP_PARTS = 4
"""Of the likeness of one step, which ends with it."""
READ_EACH, READ_TOGETHER_MAX = 32, 8
"""Up to so many runs it is looked after each what they tell, later after up to so many."""
FITTED_KINDS_MAX = 32
"""Speeds of hosts come from the runs of so many kinds, the latest,"""
FITTED_AGAIN = 16
"""and are looked at again when there are so many more runs, or a share of one in so many."""


class Length(Struct, frozen=True, gc=False):
    """How long a task takes: one of ten at most ``q10_ms``, half of them ``q50_ms``, nine of ten
    ``q90_ms``. ``source`` says on what that stands: so many ``runs``, what was "told", or "none":
    then it is only there to have a number to go on, and is never shown."""

    q10_ms: int
    q50_ms: int
    q90_ms: int
    runs: int
    source: str

    def times(self, factor: float) -> Length:
        """Return the same on a machine that takes so many times as long."""
        if factor == 1.0:
            return self
        low, middle, high = (
            max(1, round(each * factor)) for each in (self.q10_ms, self.q50_ms, self.q90_ms)
        )
        return Length(low, middle, high, self.runs, self.source)


RUNS, SAID, NONE = "runs", "told", "none"
"""On what a length stands."""
NOT_KNOWN = Length(EXPECTED_MS, EXPECTED_MS, EXPECTED_MS, 0, NONE)


Likeness = tuple[object, ...]


class Kind(NamedTuple):
    """What tasks have in common that take about as long: the content of the program and its name,
    what was told (0: nothing), step with parameters (0: any), and the octave of the size of its
    inputs (-1: not known yet). Of tasks that were told about the same, lengths are to what was
    told."""

    content: str
    name: str
    told_ms: int
    step: int
    size: int

    @property
    def scale(self) -> float:
        """What lengths of tasks like it are multiplied by, as this one was told a little more or
        less than they."""
        return self.told_ms / bin_end_ms(quarter_octave(self.told_ms)) if self.told_ms else 1.0

    def asked(self) -> tuple[tuple[Likeness, float], ...]:
        """Return by what the task is compared, that of the most alike first, each with what lengths
        are multiplied by there."""
        whatever = self._whatever()
        if self.told_ms:
            return (*self._told(), whatever[0])
        return (whatever[0], *self._told(), *whatever[1:])

    def learned(self) -> tuple[tuple[Likeness, float], ...]:
        """Return what a run is alike by, each with what its length is divided by there."""
        return (*self._told(), *self._whatever())

    def _told(self) -> tuple[tuple[Likeness, float], ...]:
        """What was told as long, in particular where nothing was."""
        told = quarter_octave(self.told_ms) if self.told_ms else -1
        likenesses: tuple[Likeness, ...] = ((self.content, told, self.size),)
        if told >= 0:
            step = (self.content, told, self.size, self.step)
            likenesses = (step, *likenesses, (self.content, told))
        return tuple((each, self.scale) for each in likenesses)

    def _whatever(self) -> tuple[tuple[Likeness, float], ...]:
        """Whatever was told of them."""
        step = (self.content, "step", self.size, self.step)
        return (step, 1.0), ((self.content,), 1.0), ((self.name, "by name"), 1.0)


class PastRun(NamedTuple):
    """A run that ended well, as it is remembered elsewhere."""

    task: TaskId
    kind: Kind
    host: NodeId
    ran_ms: int


def told_ms(spec: TaskSpec) -> int:
    """Return how long somebody said that the task takes; 0 where nobody did."""
    return spec.expected_ms if spec.expected_ms != EXPECTED_MS or TOLD in spec.more else 0


class Found(NamedTuple):
    """What is known of a kind."""

    length: Length
    atoms: Atoms
    longest_ms: float
    short: bool


class Speeds(NamedTuple):
    """By which factors hosts take longer, after so many ``noted`` runs, and from how many of each."""

    noted: int
    factors: dict[NodeId, float]
    runs: dict[NodeId, int]


class Lengths:
    """What this node has learned of lengths, and what it says of a task."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._sketches: OrderedDict[tuple[object, ...], Sketch] = OrderedDict()
        self._kinds_of: dict[str, OrderedDict[Likeness, None]] = {}
        self._speeds: dict[str, Speeds] = {}
        self._noted: dict[str, int] = {}
        self._kinds: dict[TaskId, tuple[Kind, Kind]] = {}
        """What each task is compared by, and the same whatever its step."""
        self._stepped: set[object] = set()
        """Steps of which some have run."""
        self._found: dict[str, dict[Kind, Found]] = {}
        self._unread: dict[str, int] = {}
        """How many runs of a program have ended since it was looked at what they tell."""
        self._short: dict[Kind, bool] = {}
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

    def in_a_row(self, spec: TaskSpec) -> int:
        """Return how many tasks like this one may wait in a row, at least one."""
        longest_ms = self.longest_ms(spec)
        return max(1, min(ROW_MAX, int(SHORT_MS // longest_ms))) if longest_ms < inf else 1

    def host_factor(self, spec: TaskSpec, host: NodeId) -> float:
        """Return how many times as long the host takes as others: by its runs of this program where
        there are enough, else by all; 1 where nothing is known."""
        if not host:
            return 1.0
        content = self.kind(spec).content
        own = self._speeds_of(content)
        factor = own.factors.get(host) if own.runs.get(host, 0) >= ENOUGH_OF_PROGRAM else None
        return self.slowness(host) if factor is None else factor

    def slowness(self, host: NodeId) -> float:
        """Return how many times as long the host takes as others, by all that it ran; 1 where nothing
        is known."""
        return self._speeds_of("").factors.get(host, 1.0)

    def speeds_differ(self) -> bool:
        """Tell whether some host is known to take longer than others."""
        return any(each != 1.0 for each in self._speeds_of("").factors.values())

    def _speeds_of(self, content: str) -> Speeds:
        """What is known of hosts by the runs of one program; of an empty one, by those of all."""
        noted, known = self._noted.get(content, 0), self._speeds.get(content)
        if known is not None and noted - known.noted <= min(FITTED_AGAIN, noted // FITTED_AGAIN):
            return known
        kinds = [
            self._sketches[each].on_hosts()
            for each in self._kinds_of.get(content, ())
            if each in self._sketches
        ]
        runs: dict[NodeId, int] = {}
        for kind in kinds:
            for host, each in kind.items():
                runs[host] = runs.get(host, 0) + int(each.runs)
        self._speeds[content] = Speeds(noted, fitted(kinds), runs)
        return self._speeds[content]

    def kind(self, spec: TaskSpec) -> Kind:
        """Return what the task is compared by. It is kept for tasks of the table whose inputs are
        known."""
        return self._both_kinds(spec)[0]

    def _both_kinds(self, spec: TaskSpec) -> tuple[Kind, Kind]:
        kinds = self._kinds.get(spec.task)
        if kinds is None:
            kind = self._kind(spec)
            kinds = kind, kind._replace(step=0)
            if kind.size >= 0 and spec.task in self._table.specs:
                self._kinds[spec.task] = kinds
        return kinds

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
                self._note(run.kind, run.host, run.ran_ms)

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
                self._note(self.kind(spec), run.host, ran_ms)
            case Failed() | Evicted() | Yielded() | Lost():
                kind = self.kind(spec)
                for sketch, scale in self._of_all(kind):
                    sketch.note_longer(round(ran_ms / scale), run.host)
                self._found.pop(kind.name, None)
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

    def _note(self, kind: Kind, host: NodeId, ran_ms: int) -> None:
        whatever = kind._replace(step=0)
        before = self._of_kind(whatever)
        for sketch, scale in self._of_all(kind):
            sketch.note(round(ran_ms / scale), host)
        if self._read_anew(whatever, before):
            self._of_kind(kind)  # what was short is remembered of this step too
        alike, _ = kind.learned()[1 if kind.told_ms else 0]  # whatever its step
        for content in (kind.content, ""):
            self._noted[content] = self._noted.get(content, 0) + 1
            kinds = self._kinds_of.setdefault(content, OrderedDict())
            kinds[alike] = None
            kinds.move_to_end(alike)
            while len(kinds) > FITTED_KINDS_MAX:
                kinds.popitem(last=False)

    def _read_anew(self, kind: Kind, before: Found) -> bool:
        """Look at what the runs of a program tell: at first after each, later after several, which
        change little. Tell whether it was looked."""
        unread = self._unread.get(kind.name, 0) + 1
        runs = self._sketches[kind.content,].runs
        self._unread[kind.name] = unread
        if unread < (1 if runs < READ_EACH else min(READ_TOGETHER_MAX, runs // READ_EACH)):
            return False
        self._unread[kind.name] = 0
        self._found.pop(kind.name, None)
        now = self._of_kind(kind)
        self.turns += (now.short, now.length.source) != (before.short, before.length.source)
        return True

    def _of_all(self, kind: Kind) -> list[tuple[Sketch, float]]:
        """The sketches of all that a run of this kind is like, with their scales."""
        found = []
        for likeness, scale in kind.learned():
            sketch = self._sketches.get(likeness)
            if sketch is None:
                sketch = self._sketches[likeness] = Sketch()
                self._stepped.add(kind.step)
            self._sketches.move_to_end(likeness)
            found.append((sketch, scale))
        while len(self._sketches) > KEPT_MAX:
            self._sketches.popitem(last=False)
        if len(self._stepped) > 2 * KEPT_MAX:
            self._stepped = {each[3] for each in self._sketches if len(each) == STEP_PARTS}
        return found

    # -- how it is found -------------------------------------------------------------------

    def _of(self, spec: TaskSpec) -> Found:
        """A step that has never run is like any other: thousands of them are looked up once."""
        own, whatever = self._both_kinds(spec)
        return self._of_kind(own if own.step in self._stepped else whatever)

    def _of_kind(self, kind: Kind) -> Found:
        known = self._found.get(kind.name)
        if known is None:
            known = self._found[kind.name] = {}
        found = known.get(kind)
        if found is None:
            found = known[kind] = self._find(kind)
        return found

    def _find(self, kind: Kind) -> Found:
        sketch, scale = self._most_alike(kind)
        factors = self._speeds_of(kind.content).factors
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
            return Found(NOT_KNOWN, atoms, inf, self._short.get(kind, False))
        low, middle, high = (quantile_ms(atoms, permille) for permille in (100, 500, 900))
        length = Length(low, middle, high, runs, RUNS if runs else SAID)
        longest_ms = length.q90_ms * SAFETY[min(counted, len(SAFETY) - 1)]
        short = longest_ms < SHORT_MS or (
            self._short.get(kind, False) and length.q50_ms <= NO_MORE_SHORT_MS
        )
        if len(self._short) > KEPT_MAX:
            self._short.clear()
        self._short[kind] = short
        return Found(length, atoms, longest_ms, short)

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
            atoms = sketch.atoms(self._speeds_of(kind.content).factors)
            if quantile_ms(atoms, 900) <= ALIKE_FACTOR * quantile_ms(atoms, 100):
                return sketch, scale
        return next(iter((*ran, *there)), (None, 1.0))

    def _kind(self, spec: TaskSpec) -> Kind:
        name = spec.program.partition("@")[0]
        content = spec.published.dataset if spec.published else text_in(spec.more, PROGRAM)
        return Kind(
            content or spec.program,
            name,
            told_ms(spec),
            crc32(f"{spec.name}\0{spec.parameters}".encode()),
            self._size(spec),
        )

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


def _stamp(ended: tuple[TaskId, Run]) -> Stamp:
    return ended[1].stamp
