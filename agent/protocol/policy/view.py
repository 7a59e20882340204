"""What a policy sees, and what it answers.

A policy decides from values alone, so that it can be replaced, compared and replayed: the node
hands it a picture of the flock and takes back an order. A picture holds unfinished work only, in
plain frozen data, without the clock, the network or the table that it was read off.

Rules: equal pictures give equal answers. Nothing in a picture is trusted to make sense: needs may
name tasks that the picture does not hold, lengths are somebody's expectation.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final, Protocol

from msgspec import Meta, Struct

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
    place in a queue of first come, first served. `host` is where it runs.
    """

    task: str
    length_s: float
    needs: tuple[str, ...]
    state: Stage
    ready_s: float = 0.0
    host: str = ""


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


class Places(Struct, frozen=True):
    """How many tasks a node runs at once, and how many times their length they take there."""

    node: str
    slots: int
    slowness: float = 1.0


class FlockView(Struct, frozen=True):
    """All unfinished work, and how many tasks can run at once: places free and taken. `places` says
    where these are, if they are not all equal."""

    slots: int
    workflows: tuple[WorkflowView, ...]
    places: tuple[Places, ...] = ()


SCORE_MAX: Final = 1_000_000
PERMILLE_MAX: Final = 1000
Span = Annotated[int, Meta(ge=0, le=2**53)]
"""Milliseconds."""


class Evidence(Struct, frozen=True, array_like=True, gc=False):
    """What is known of a task on a host, in milliseconds and thousandths.

    `usual_ms` is what it takes on a host that is neither fast nor slow, `length_ms` what it takes
    on this one, `fetch_ms` what bringing its inputs there takes, `wait_ms` how long the host still
    works at other things, `lasts_permille` how likely its owner stays away until the task has
    ended. `broken_off`: so often runs of the task ended before their program did.
    """

    usual_ms: Span
    length_ms: Span
    fetch_ms: Span = 0
    wait_ms: Span = 0
    lasts_permille: Annotated[int, Meta(ge=0, le=1000)] = 1000
    broken_off: Annotated[int, Meta(ge=0, le=2**20)] = 0


class OrderPolicy(Protocol):
    """Answers in which order the flock should start what is ready."""

    def order(self, flock: FlockView) -> list[str]:
        """Return every ready task once, the one to start first in front. A task among them that is
        not ready keeps the place on which it will end first; without any, none is kept."""
        ...


class ScorePolicy(Protocol):
    """Answers how good a host is for a task."""

    def score(self, evidence: Evidence) -> int:
        """Return from 0 to `SCORE_MAX`, more for a better host."""
        ...


class EarliestFinish:
    """The sooner a host is expected to have ended a task, the better it is.

    What counts is the time until the end: until the host is free, to bring the inputs there, and to run.
    Where the owner may come back before that, the part that would then be lost is run again, and is
    added. That time is compared with what the task usually takes, so that scores of long and of short
    tasks mean the same: half of the most is a host like any other, two thirds one that is twice as fast.
    """

    def score(self, evidence: Evidence) -> int:
        """Return half of the most for a free host like any other, more for an earlier end, less for
        a later one; never the most itself, nor nothing."""
        usual_ms = max(1, evidence.usual_ms)
        lost_ms = evidence.length_ms * (PERMILLE_MAX - evidence.lasts_permille) // PERMILLE_MAX
        ends_ms = evidence.wait_ms + evidence.fetch_ms + evidence.length_ms + lost_ms
        score = SCORE_MAX * usual_ms // (usual_ms + max(0, ends_ms))
        return min(max(score, 1), SCORE_MAX - 1)
