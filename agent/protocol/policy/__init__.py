"""Policies by name: what a node starts first, which host suits a task, whether it runs any at all.

Which order is best depends on what a flock is for, so the order is a plug-in: the node knows the
three protocols of `view` and a name from its settings, never a class. Policies are pure and keep
nothing between two questions; one object of each serves every node. All nodes of a flock should
name the same order, else they race for the same tasks.
"""

from __future__ import annotations

from typing import Final

from agent.protocol.policy.copying import CopyPolicy, WhereItHelps
from agent.protocol.policy.default import LookAhead
from agent.protocol.policy.ranking import FirstCome, Strict
from agent.protocol.policy.view import (
    SCORE_MAX,
    EarliestFinish,
    Evidence,
    FlockView,
    OrderPolicy,
    Places,
    Presence,
    ScorePolicy,
    Stage,
    TaskView,
    VolunteerPolicy,
    WhileAway,
    WorkflowView,
)

__all__ = [
    "DEFAULT_POLICY",
    "DEFAULT_VOLUNTEER_POLICY",
    "SCORE_MAX",
    "CopyPolicy",
    "Evidence",
    "FlockView",
    "OrderPolicy",
    "Places",
    "Presence",
    "ScorePolicy",
    "Stage",
    "TaskView",
    "VolunteerPolicy",
    "WorkflowView",
    "copy_policies",
    "policies",
    "score_policies",
    "volunteer_policies",
]

policies: Final[dict[str, OrderPolicy]] = {
    "look-ahead": LookAhead(),
    "first-come": FirstCome(),
    "strict": Strict(),
}
DEFAULT_POLICY: Final = "look-ahead"

score_policies: Final[dict[str, ScorePolicy]] = dict.fromkeys(policies, EarliestFinish())
"""How each of these values a host for a task."""

copy_policies: Final[dict[str, CopyPolicy]] = dict.fromkeys(policies, WhereItHelps())
"""Which runs each of these begins a second time on machines that stand idle."""

volunteer_policies: Final[dict[str, VolunteerPolicy]] = {"while-away": WhileAway()}
DEFAULT_VOLUNTEER_POLICY: Final = "while-away"
