"""Records as a node would keep them, and what a disk must hold after a row of submissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import structs

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import (
    Claim,
    Life,
    PriorityWish,
    Pruning,
    Run,
    Running,
    TaskLife,
    TaskSpec,
    Workflow,
    WorkflowSpec,
)
from agent.storage.database import Key, Record, Remembered, last_words
from agent.storage.journal import Journal


def identity(number: int) -> Identity:
    return Identity(incarnation=7, reputation=10, stamp=(number, 0))


def life(task: str, revision: int = 1) -> TaskLife:
    claim = Claim(3, (revision, 0), "ant")
    run = Run(1, 1, "ant", 7, claim, 60_000, ("d1", "d2"), revision, Running(), (revision, 0))
    return TaskLife(task, Life(runs=(run,)))


def workflow(name: str, tasks: int = 3, revision: int = 1) -> Workflow:
    specs = tuple(TaskSpec(f"{name}-{n}", f"task {n} of {name}", "count") for n in range(tasks))
    spec = WorkflowSpec(name, f"Workflow {name}", (1, 0), "ant", "somebody", specs)
    return Workflow(spec, PriorityWish(revision, "ant", 50))


def persist(number: int) -> Persist:
    """The n-th of a row of changes: lives again and again, now and then something else."""
    name = f"w{number % 40}"
    return Persist(
        identity(number),
        workflows=(workflow(name, 30, number),) if number % 5 == 0 else (),
        lives=(life(f"t{number % 150}", number), life(f"t{number * 7 % 150}", number)),
        prunings=(Pruning(name, number, (number, 0)),) if number % 11 == 0 else (),
        forgotten_workflows=(f"w{number * 3 % 40}",) if number % 13 == 0 else (),
        forgotten_tasks=(f"t{number * 11 % 150}",) if number % 3 == 0 else (),
        noted=(name,) if number % 20 == 0 else (),
        unnoted=(f"w{number * 3 % 40}",) if number % 26 == 0 else (),
    )


def replayed(
    persists: Iterable[Persist], before: Mapping[Key, Record] | None = None
) -> dict[Key, Record]:
    """What is on disk after these."""
    held: dict[Key, Record] = dict(before or {})
    for each in persists:
        for key, record in last_words([each]).items():
            if record is None:
                held.pop(key, None)
            else:
                held[key] = record
    return held


def held(remembered: Remembered) -> dict[Key, Record]:
    """What was read back, in the same shape; the order of rows means nothing."""
    assert remembered.identity is not None
    told = Persist(remembered.identity, remembered.workflows, remembered.lives, remembered.prunings)
    return replayed([structs.replace(told, noted=remembered.noted)])


def written(folder: Path, *changes: Persist) -> Remembered:
    """Open the journal of a folder, write these in one transaction, and return all that it holds."""
    with Journal.open(folder) as journal:
        journal.writer.submit(changes).result()
        return journal.read()


def flipped(path: Path, place: int, mask: int) -> bytes:
    """Turn these bits of one byte of a file over; return what the file holds then."""
    content = bytearray(path.read_bytes())
    content[place] ^= mask
    path.write_bytes(content)
    return bytes(content)
