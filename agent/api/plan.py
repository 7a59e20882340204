"""A dry run: what would become of a submission, without submitting it."""

from __future__ import annotations

from msgspec import Raw, Struct, field

from agent.api.reasons import no_why
from agent.api.values import Count, Millis
from agent.api.work import Submit

PENDING = "pending:"
"""What the name of a dataset begins with that lies with the client until the submission."""


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """What if this were submitted now?"""

    workflow: Submit


class Misfit(Struct, frozen=True):
    """A machine that cannot run a task, and why."""

    node: str
    name: str
    reason: str
    why: Raw = field(default_factory=no_why)


class TaskPlan(Struct, frozen=True):
    """Where a task could run; ``begins_s`` and ``ends_s`` from now on, as things are at present."""

    task: str
    fits: tuple[str, ...]
    misfits: tuple[Misfit, ...]
    begins_s: float
    ends_s: float


class PlanReply(Struct, frozen=True):
    """``known``: a workflow of this name is there already and would not run twice.

    ``faults`` are what the node would refuse it for, a sentence each, and ``wrong`` the same as
    values, for whoever says them in another language; without any, the ends are an
    estimate from the expected lengths, the machines that help now, and what else is to be done.
    ``missing`` says which programs nobody has described, so that lengths and outputs are guesses;
    ``waits`` which machines run none of its published programs yet.
    """

    known: bool
    faults: tuple[str, ...]
    tasks: tuple[TaskPlan, ...]
    helping: Count
    expected_end_ms: Millis
    missing: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    wrong: tuple[Raw, ...] = ()
    whys: tuple[Raw, ...] = ()
