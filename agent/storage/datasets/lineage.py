"""What made a dataset: which task, of which version of a program, from which inputs, and when.

An outcome is written once for each output of a task. The table of the flock says the same as long as
the workflow is in it; this stays as long as the dataset does, which may be years.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from agent.protocol.records import DatasetId, TaskId
from agent.storage.datasets.index import Index


@dataclass(frozen=True, slots=True)
class Lineage:
    """One output of one task. ``version`` is the published program's dataset, where it is one."""

    task: TaskId
    output: int
    dataset: DatasetId
    run: str
    program: str
    version: str
    inputs: tuple[DatasetId, ...]
    finished_s: float


_PUT = (
    "INSERT INTO lineage VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task, output) DO UPDATE SET"
    " dataset = excluded.dataset, run = excluded.run, program = excluded.program,"
    " version = excluded.version, inputs = excluded.inputs, finished_s = excluded.finished_s"
)


def note(index: Index, outputs: list[Lineage]) -> None:
    """Record which run made these outputs of tasks, in place of what counted before."""
    with index.change() as change:
        change.executemany(
            _PUT,
            [
                (
                    each.task,
                    each.output,
                    each.dataset,
                    each.run,
                    each.program,
                    each.version,
                    json.dumps(each.inputs),
                    each.finished_s,
                )
                for each in outputs
            ],
        )


def of_dataset(index: Index, dataset: DatasetId) -> list[Lineage]:
    """Return all tasks whose output the dataset is, the last one first."""
    found = index.rows("SELECT * FROM lineage WHERE dataset = ? ORDER BY finished_s DESC", dataset)
    return [_lineage(each) for each in found]


def of_task(index: Index, task: TaskId) -> list[Lineage]:
    """Return the recorded outputs of a task, in their order."""
    found = index.rows("SELECT * FROM lineage WHERE task = ? ORDER BY output", task)
    return [_lineage(each) for each in found]


def _lineage(row: tuple[object, ...]) -> Lineage:
    task, output, dataset, run, program, version, inputs, finished_s = row
    return Lineage(
        str(task),
        int(str(output)),
        str(dataset),
        str(run),
        str(program),
        str(version),
        tuple(json.loads(str(inputs))),
        float(str(finished_s)),
    )
