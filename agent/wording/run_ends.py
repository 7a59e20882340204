"""Why a run ended without being the outcome, in a sentence, and how runs are called."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import assert_never

from msgspec import structs

from agent.protocol.reasons import Reason
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
_TASK_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def run_id(run: Run) -> str:
    """What clients call a run: generation, attempt and the beginning of its machine's id."""
    return f"{run.generation}.{run.attempt}.{run.host[:HOST_LETTERS]}"


def with_names(text: str, table: Table) -> str:
    """The text with names of tasks for their ids, which nobody can look up later."""

    def name(found: re.Match[str]) -> str:
        spec = table.specs.get(found.group())
        return spec.name if spec else found.group()

    return _TASK_ID.sub(name, text)


def named(reason: Reason, table: Table, name_of: Callable[[NodeId], str] = str) -> Reason:
    """Return the reason with names in the places of ids, as clients know tasks and machines."""
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


def why_ended(run: Run, name_of: Callable[[NodeId], str]) -> str:
    """Why the task did not end with this run; empty while it goes on, or where it succeeded."""
    host = name_of(run.host)
    match run.phase:
        case Failed(error):
            return f"it failed on {host}: {error}" if error else f"it failed on {host}"
        case Evicted(reason):
            return f"{host} gave it back: {reason}" if reason else f"{host} gave it back"
        case Yielded(reason):
            return f"{host} left off: {reason}" if reason else f"{host} left off"
        case Lost(ran):
            return f"the agent of {host} died {'running it' if ran else 'before it began'}"
        case Scheduled() | Running() | Suspended() | Terminated():
            return ""
        case _:
            assert_never(run.phase)
