"""What the journal costs: flushes, and the time and memory of a start.

Latency is measured from handing records in until they are on disk, one batch after the other;
``in flight`` keeps so many submissions waiting at any time, as an agent does under load, and shows
what committing together gains. What a flush costs depends on the disk, so the bare flush of one
page is measured beside it, in the same folder. Reading back runs in a process of its own, whose
peak memory is the reading's; the records themselves, all held, are the part that must be.

Run it with ``python -m tests.bench journal [--folder PATH]``.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import (
    Claim,
    Dataset,
    InputRef,
    Life,
    PriorityWish,
    Run,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.storage.journal import Journal
from tests.bench.report import Cell, Figures, Sheet

WHAT = "what flushes cost, and the time and memory of a start"

OPTIONS = {"--folder": {"type": Path, "help": "measure on the disk of this folder"}}
BATCHES = (1, 10, 100)
ROUNDS = 300
ROUNDS_QUICK = 30
WORKFLOWS = 2_000
TASKS_PER_WORKFLOW = 10
HOSTS = ("3f0c1d6a52e94b7e", "a81be0c72d4f4c19")


def measure(*, quick: bool, folder: Path | None = None) -> Figures:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        return measured(Path(made), quick=quick)


def sheets(figures: Figures) -> list[Sheet]:
    found = [Sheet("A bare flush", ["what", "ms"], [["one page", figures["flush_ms"]]])]
    for key, title, size, what in (
        ("one_by_one", "One batch after the other", "changes in a batch", "batches"),
        ("in_flight", "Single changes, several under way", "under way", "changes"),
    ):
        columns = [size, f"{what} per second", "median ms", "p99 ms", "max ms"]
        found.append(Sheet(title, columns, [list(row.values()) for row in figures[key]]))
    start: list[list[Cell]] = [list(row) for row in figures["start"].items()]
    return [*found, Sheet("A start", ["what", "figure"], start)]


def measured(folder: Path, *, quick: bool) -> Figures:
    rounds = ROUNDS_QUICK if quick else ROUNDS
    workflows = WORKFLOWS // 10 if quick else WORKFLOWS
    with Journal.open(folder / "commits") as journal:
        one_by_one = [waiting(journal, batch, rounds) for batch in BATCHES]
        together = [flying(journal, depth, rounds * 10) for depth in BATCHES]
    return {
        "flush_ms": bare_flush_ms(folder / "flush", rounds),
        "one_by_one": one_by_one,
        "in_flight": together,
        "start": filled(folder / "start", workflows) | read_elsewhere(folder / "start"),
    }


def waiting(journal: Journal, batch: int, rounds: int) -> Figures:
    """Batches handed in one after the other, each when the one before is on disk."""
    changes = small_changes()
    latencies = []
    started = time.perf_counter()
    for _ in range(rounds):
        persists = [next(changes) for _ in range(batch)]
        before = time.perf_counter()
        journal.writer.submit(persists).result()
        latencies.append(time.perf_counter() - before)
    return speed(batch, rounds, time.perf_counter() - started, latencies)


def flying(journal: Journal, depth: int, submissions: int) -> Figures:
    """Single changes, so many of them under way at any time."""
    changes = small_changes()
    latencies: list[float] = []
    under_way: deque[tuple[float, Future[None]]] = deque()

    def land() -> None:
        before, done = under_way.popleft()
        done.result()
        latencies.append(time.perf_counter() - before)

    started = time.perf_counter()
    for _ in range(submissions):
        if len(under_way) >= depth:
            land()
        under_way.append((time.perf_counter(), journal.writer.submit([next(changes)])))
    while under_way:
        land()
    return speed(depth, submissions, time.perf_counter() - started, latencies)


def speed(size: int, count: int, took_s: float, latencies: list[float]) -> Figures:
    ordered = sorted(latencies)
    return {
        "size": size,
        "per_second": round(count / took_s),
        "median_ms": milliseconds(statistics.median(ordered)),
        "p99_ms": milliseconds(ordered[int(len(ordered) * 0.99)]),
        "max_ms": milliseconds(ordered[-1]),
    }


def bare_flush_ms(path: Path, rounds: int) -> float:
    """The median of writing one page to a file and flushing it."""
    latencies = []
    with path.open("wb", buffering=0) as file:
        for _ in range(rounds):
            before = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            latencies.append(time.perf_counter() - before)
    path.unlink()
    return milliseconds(statistics.median(latencies))


def filled(folder: Path, workflows: int) -> Figures:
    """Write a table of finished workflows, as much as a busy flock keeps."""
    started = time.perf_counter()
    with Journal.open(folder) as journal:
        done = [journal.writer.submit([finished(number)]) for number in range(workflows)]
        for future in done:
            future.result()
    return {
        "workflows": workflows,
        "tasks": workflows * TASKS_PER_WORKFLOW,
        "write_ms": milliseconds(time.perf_counter() - started),
        "file_bytes": (folder / "journal.db").stat().st_size,
    }


def read_elsewhere(folder: Path) -> Figures:
    """Open and read in a fresh process."""
    command = [sys.executable, "-m", "tests.bench.journal", str(folder)]
    figures: Figures = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return figures


def read_back(folder: Path) -> Figures:
    """In that process: the time to open, to read, and what memory it took."""
    before_kb = memory_kb("VmRSS")
    started = time.perf_counter()
    with Journal.open(folder) as journal:
        opened = time.perf_counter()
        remembered = journal.read()
        ended = time.perf_counter()
        held_kb, peak_kb = memory_kb("VmRSS"), memory_kb("VmHWM")
    assert not remembered.notices
    return {
        "open_ms": milliseconds(opened - started),
        "read_ms": milliseconds(ended - opened),
        "records_mb": round((held_kb - before_kb) / 1024, 1),
        "peak_over_held_mb": round((peak_kb - held_kb) / 1024, 1),
    }


def memory_kb(what: str) -> int:
    """A line of this process's status; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{what}:")), 0)


def small_changes() -> Iterator[Persist]:
    """Lives of 500 tasks that move on, as most changes of a table are."""
    number = 0
    while True:
        number += 1
        identity = Identity(1_700_000_000, 10, (1_700_000_000_000 + number, 0))
        yield Persist(identity, lives=(life(f"{number % 500:032x}", number),))


def life(task: str, number: int) -> TaskLife:
    claim = Claim(500, (1_700_000_000_000 + number, 0), HOSTS[0])
    outputs = (Dataset(f"{number:064x}", 1_000_000),)
    ended = Terminated(outputs, HOSTS)
    stamp = (1_700_000_000_000 + number, 1)
    inputs = (f"{number + 1:064x}",)
    run = Run(1, 1, HOSTS[0], 1_700_000_000, claim, 60_000, inputs, 3, ended, stamp)
    return TaskLife(task, Life(runs=(run,)))


def finished(number: int) -> Persist:
    """A workflow of a chain of tasks, all of them ended."""
    name = f"{number:032x}"
    names = [f"{number:016x}{place:016x}" for place in range(TASKS_PER_WORKFLOW)]
    specs = tuple(
        TaskSpec(
            task,
            f"Step {place} of {number}",
            "convert",
            inputs=(InputRef(names[place - 1], 0),) if place else (),
            parameters=f"--quality 80 --seed {number}",
        )
        for place, task in enumerate(names)
    )
    spec = WorkflowSpec(name, f"Order {number}", (1_700_000_000_000, 0), HOSTS[0], "Ann", specs)
    return Persist(
        Identity(1_700_000_000, 10, (1_700_000_000_000 + number, 0)),
        workflows=(Workflow(spec, PriorityWish(1, HOSTS[0], 50)),),
        lives=tuple(life(task, number) for task in names),
    )


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


if __name__ == "__main__":  # a process of its own, for its memory
    sys.stdout.write(json.dumps(read_back(Path(sys.argv[1]))))
