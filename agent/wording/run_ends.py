"""Why a run ended without being the outcome, and how runs are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from msgspec import structs

from agent.protocol.reasons import NO_REASON, Reason, RunEnd, reason_in
from agent.protocol.records import (
    Evicted,
    Failed,
    Lost,
    NodeId,
    Run,
    Running,
    Scheduled,
    Suspended,
    Terminated,
    Yielded,
)
from agent.protocol.table import Table

HOST_LETTERS = 12
HOSTS = ("host", "left", "before")
"""Fields of reasons that hold the id of a machine."""


def run_id(run: Run) -> str:
    """Return what clients call a run: generation, attempt and the beginning of its machine's id."""
    return f"{run.generation}.{run.attempt}.{run.host[:HOST_LETTERS]}"


def named(reason: Reason, table: Table, name_of: Callable[[NodeId], str] = str) -> Reason:
    """Return the reason, and those inside it, with names in the places of ids: of tasks as this
    table has them, of machines as ``name_of`` says. Tasks that are not in the table keep their
    ids."""
    names: dict[str, object] = {}
    for field in reason.__struct_fields__:
        value = getattr(reason, field)
        if field == "task" and value in table.specs:
            names[field] = table.specs[value].name
        elif field in HOSTS and value:
            names[field] = name_of(value)
        elif isinstance(value, Reason):
            names[field] = named(value, table, name_of)
    return structs.replace(reason, **names) if names else reason


def why_ended(run: Run) -> Reason:
    """Return why the task did not end with this run, with machines and tasks by their ids;
    ``NO_REASON`` while it goes on, or where it succeeded."""
    match run.phase:
        case Failed(text) | Evicted(text) | Yielded(text):
            kind: Any = type(run.phase).__name__
            why: Any = reason_in(run.more, text)
            return RunEnd(kind, run.host, None if why == NO_REASON else why)
        case Lost(ran):
            return RunEnd("Lost" if ran else "Died", run.host)
        case Scheduled() | Running() | Suspended() | Terminated():
            return NO_REASON
        case _:
            assert_never(run.phase)
