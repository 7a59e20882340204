"""What a policy sees, and what it answers.

A policy decides from values alone, so that it can be replaced, compared and replayed: the node
hands it a picture of the flock and takes back an order. A picture holds unfinished work only, in
plain frozen data, without the clock, the network or the table that it was read off.

Rules: equal pictures give equal answers. Nothing in a picture is trusted to make sense: needs may
name tasks that the picture does not hold, lengths are somebody's expectation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from msgspec import Struct

LOW_PRIORITY_MAX: Final = 99
INTERACTIVE_PRIORITY: Final = 100


class Stage(Enum):
    """How far an unfinished task has come; `RUNNING` takes a place, fetching included."""

    WAITING = "waiting"
    READY = "ready"
    RUNNING = "running"


class TaskView(Struct, frozen=True):
    """An unfinished task.

    `length_s` is the expected length, or what is left of it while running. `needs` are its
    unfinished producers, in this workflow or another. `ready_s` is how long it has been ready, its
    place in a queue of first come, first served.
    """

    task: str
    length_s: float
    needs: tuple[str, ...]
    state: Stage
    ready_s: float = 0.0


class WorkflowView(Struct, frozen=True):
    """A workflow with its unfinished tasks; `submitted` is its hybrid logical stamp.

    `behind_s`: by so much it is put back, as its submitter has had more than others lately.
    """

    workflow: str
    priority: int
    submitted: tuple[int, int]
    age_s: float
    tasks: tuple[TaskView, ...]
    behind_s: float = 0.0


class FlockView(Struct, frozen=True):
    """All unfinished work, and how many tasks can run at once: places free and taken."""

    slots: int
    workflows: tuple[WorkflowView, ...]


@dataclass(frozen=True, slots=True)
class Presence:
    """What is known of the person at this machine."""

    volunteering: bool
    owner_present: bool


class OrderPolicy(Protocol):
    """Answers in which order the flock should start what is ready."""

    def order(self, flock: FlockView) -> list[str]:
        """Return every ready task once, the one to start first in front."""
        ...


class VolunteerPolicy(Protocol):
    """Answers whether this node wants to run tasks at all just now."""

    def willing(self, presence: Presence) -> bool:
        """Tell whether to go for tasks."""
        ...


class WhileAway:
    """Willing while volunteering is on and the owner is not there: the machine is its owner's first.

    An agent that is noticed is an agent that is uninstalled. What counts as somebody sitting there
    is decided where it is sensed, not here.
    """

    def willing(self, presence: Presence) -> bool:
        """Tell whether to go for tasks."""
        return presence.volunteering and not presence.owner_present
