"""Policies by name: what a node starts first, and whether it runs anything at all.

Which order is best depends on what a flock is for, so the order is a plug-in: the node knows the
two protocols of `view` and a name from its settings, never a class. Policies are pure and keep
nothing between two questions; one object of each serves every node. All nodes of a flock should
name the same order, else they race for the same tasks.
"""

from __future__ import annotations

from typing import Final

from agent.protocol.policy.default import LookAhead
from agent.protocol.policy.ranking import FirstCome, Strict
from agent.protocol.policy.view import (
    FlockView,
    OrderPolicy,
    Presence,
    Stage,
    TaskView,
    VolunteerPolicy,
    WhileAway,
    WorkflowView,
)

__all__ = [
    "DEFAULT_POLICY",
    "DEFAULT_VOLUNTEER_POLICY",
    "FlockView",
    "OrderPolicy",
    "Presence",
    "Stage",
    "TaskView",
    "VolunteerPolicy",
    "WorkflowView",
    "policies",
    "volunteer_policies",
]

policies: Final[dict[str, OrderPolicy]] = {
    "look-ahead": LookAhead(),
    "first-come": FirstCome(),
    "strict": Strict(),
}
DEFAULT_POLICY: Final = "look-ahead"

volunteer_policies: Final[dict[str, VolunteerPolicy]] = {"while-away": WhileAway()}
DEFAULT_VOLUNTEER_POLICY: Final = "while-away"
