"""The states of a task, one enumeration for every layer from the protocol to the window."""

from __future__ import annotations

from enum import StrEnum


class TaskState(StrEnum):
    """What people see of a task or gate; read off its life and those of its producers."""

    SUBMITTED = "Submitted"
    READY = "Ready"
    WAITING = "Waiting"
    SCHEDULED = "Scheduled"
    RUNNING = "Running"
    SUSPENDED = "Suspended"
    TERMINATED = "Terminated"
    CANCELLED = "Cancelled"
    ABORTED = "Aborted"

    __hash__ = object.__hash__
    """Each is there once. The hash of ``Enum`` is reckoned anew at every look into a dictionary."""


ENDED = (TaskState.TERMINATED, TaskState.CANCELLED, TaskState.ABORTED)
