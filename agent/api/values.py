"""Words that several messages of the client contract use, with their limits.

The limits are the protocol's own, so that what a client may say is what the flock can keep. States
are the protocol's enumeration itself: there is one in all layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import astuple

from agent.protocol import messages, records
from agent.protocol.needs import NEEDED_MAX, SEATS_MAX, VERSION_NEED
from agent.protocol.records import (
    ENDED,
    PRIORITY_INTERACTIVE,
    PRIORITY_LOW,
    Count,
    ShortText,
    TaskState,
)

__all__ = [
    "CLIENT_PROTOCOL",
    "ENDED",
    "NAME_CHARACTERS_MAX",
    "PRIORITY_NAMES",
    "UNDER_WAY",
    "Capabilities",
    "Count",
    "Dataset",
    "Limits",
    "LongText",
    "Millis",
    "NamedPriority",
    "Page",
    "Position",
    "Priority",
    "Reference",
    "Requirements",
    "Seat",
    "SharedWith",
    "ShortText",
    "TaskState",
    "WorkflowId",
    "WorkflowState",
    "capabilities_of",
    "workflow_state",
]

CLIENT_PROTOCOL = 2
"""Raised when a client of before would misunderstand, or has to know what it may ask; other additions
do not raise it. 2: events of later kinds are told to who names them."""

LongText = Annotated[str, Meta(max_length=65_536)]
NAME_CHARACTERS_MAX = 128
WorkflowId = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
Millis = Annotated[int, Meta(ge=0, le=2**53)]
Page = Annotated[int, Meta(ge=1, le=2_000)]
SharedWith = Annotated[tuple[ShortText, ...], Meta(max_length=32)]

Reference = Annotated[str, Meta(min_length=1, max_length=256)]
"""What a person calls something: an id, a name, or the beginning of one as far as it is unique.
A task may be given as ``workflow/task``."""

Priority = Annotated[int, Meta(ge=0, le=PRIORITY_INTERACTIVE)]
NamedPriority = Literal["low", "interactive"] | Priority
PRIORITY_NAMES = {"low": PRIORITY_LOW, "interactive": PRIORITY_INTERACTIVE}

WorkflowState = Literal["waiting", "running", "finished", "failed", "cancelled"]
"""``failed`` and ``cancelled`` only when nothing of it goes on any more."""


class Dataset(
    records.Dataset, frozen=True, array_like=False, forbid_unknown_fields=True, omit_defaults=True
):
    """A file of the flock by its identifier; ``external`` ones live in somebody's database."""


ProgramNeed = Annotated[str, Meta(max_length=256, pattern=f"^(?:{VERSION_NEED})$")]


class Seat(Struct, frozen=True, forbid_unknown_fields=True):
    """One of at most so many runs that may hold this at once in the whole flock, as a licence."""

    name: ShortText
    most: Annotated[int, Meta(ge=1, le=SEATS_MAX)]


class Requirements(
    records.Requirements,
    frozen=True,
    array_like=False,
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """What a machine must have to run a task; empty and zero mean: anything. ``programs`` are asked
    for by version, as ``acme >= 3``; ``seats`` are of the whole flock."""

    programs: Annotated[tuple[ProgramNeed, ...], Meta(max_length=NEEDED_MAX)] = ()
    seats: Annotated[tuple[Seat, ...], Meta(max_length=NEEDED_MAX)] = ()


class Limits(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a task may take before it is ended; zero means what its program or the machine says.

    ``silent_s``: without any progress or output for so long.
    """

    memory_mb: Count = 0
    wall_s: Annotated[float, Meta(ge=0, le=31_536_000)] = 0.0
    silent_s: Annotated[float, Meta(ge=0, le=31_536_000)] = 0.0
    disk_mb: Count = 0


class Capabilities(messages.Capabilities, frozen=True, array_like=False):
    """What a machine has, with no cores where that was not told. ``takes_published``: it runs
    programs that others publish."""

    cores: Count = 0


def capabilities_of(has: messages.Capabilities) -> Capabilities:
    """Return what a machine has as clients know it; the same fields in the same order."""
    return Capabilities(*astuple(has))


class Position(Struct, frozen=True):
    """A place in the events of one start of an agent: after the event of this number.

    ``log`` names the start, because the numbers begin anew with each.
    """

    log: Annotated[str, Meta(max_length=64)]
    sequence: Annotated[int, Meta(ge=0, le=2**53)]


UNDER_WAY = (TaskState.SCHEDULED, TaskState.RUNNING, TaskState.SUSPENDED)
"""A machine has the task in hand."""


def workflow_state(counts: Mapping[TaskState, int]) -> WorkflowState:
    """Return the state of a workflow by how many of its tasks are in each state: running when a
    machine has one in hand, else waiting until all have ended; then failed if one was aborted, else
    cancelled if one was, else finished, also without tasks."""
    seen = {state for state, count in counts.items() if count}
    if not seen.isdisjoint(UNDER_WAY):
        return "running"
    if not seen.issubset(ENDED):
        return "waiting"
    if TaskState.ABORTED in seen:
        return "failed"
    return "cancelled" if TaskState.CANCELLED in seen else "finished"
