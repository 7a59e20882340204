"""Which dataset is meant: by its identifier, the beginning of one, or the task that made it."""

from __future__ import annotations

from agent.api.rpc import ErrorCode
from agent.control.naming import find_task
from agent.control.refusal import RefusedError
from agent.control.request_context import RequestContext
from agent.protocol.records import Dataset
from agent.protocol.table import Table

PREFIXES = ("sha256:", "tree:")
LETTERS_MIN = 6


def find_dataset(table: Table, reference: str) -> Dataset:
    """Return the dataset with this identifier or beginning, or that a task made: ``workflow/task``
    is its first output, ``workflow/task/2`` the second one. Raises ``RefusedError`` where none or
    several are meant."""
    known = known_datasets(table)
    if reference in known:
        return known[reference]
    if reference.startswith(PREFIXES):
        return _beginning(known, reference)
    task, slash, number = reference.rpartition("/")
    if slash and task and number.isascii() and number.isdecimal() and len(number) <= 5:
        return _output(table, task, int(number))
    return _output(table, reference, 1)


def known_datasets(table: Table) -> dict[str, Dataset]:
    """Return all datasets that the table names, by identifier, those of the flock's own store and
    others."""
    found: dict[str, Dataset] = {}
    for workflow in table.workflows.values():
        for spec in workflow.spec.tasks:
            found.update((each.dataset, each) for each in spec.raw)
            if spec.published is not None:
                found[spec.published.dataset] = spec.published
            reading = table.reading(spec.task)
            if reading is not None:
                found.update((each.dataset, each) for each in reading.outputs)
    return found


def _beginning(known: dict[str, Dataset], reference: str) -> Dataset:
    digest = reference.partition(":")[2]
    found = [each for name, each in known.items() if name.startswith(reference)]
    if len(digest) >= LETTERS_MIN and len(found) == 1:
        return found[0]
    if len(digest) == 64:
        return Dataset(reference)
    if len(found) > 1:
        sentence = f'"{reference}" may mean {len(found)} datasets: write more of it'
        raise RefusedError(ErrorCode.AMBIGUOUS, sentence)
    raise RefusedError(ErrorCode.UNKNOWN, f'no dataset is called "{reference}"')


def _output(table: Table, task: str, number: int) -> Dataset:
    spec = find_task(table, task)
    reading = table.reading(spec.task)
    outputs = reading.outputs if reading is not None else ()
    if 1 <= number <= len(outputs):
        return outputs[number - 1]
    made = f"it made {len(outputs)}" if outputs else "it has made none"
    raise RefusedError(ErrorCode.UNKNOWN, f"{spec.name} has no output {number}: {made}")


async def bring_dataset(call: RequestContext, reference: str) -> Dataset:
    """Bring the dataset that is meant to this disk, and return it. Raises ``RefusedError`` where it
    is unknown, not kept by the flock or cannot be had."""
    dataset = find_dataset(call.now.table, reference)
    if dataset.external or ":" not in dataset.dataset:
        sentence = f"{dataset.dataset} is not kept by the flock: only its identifier is known"
        raise RefusedError(ErrorCode.REFUSED, sentence)
    try:
        await call.rooms.datasets.bring(dataset.dataset)
    except OSError as error:
        sentence = f"{dataset.dataset[:20]} cannot be had: {error}"
        raise RefusedError(ErrorCode.REFUSED, sentence) from error
    return dataset
