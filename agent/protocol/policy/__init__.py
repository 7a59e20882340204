"""Policies by name: what a flock starts first, and which machine gets it.

Which rules are best depends on what a flock is for, so they are plug-ins: the node knows the
protocols of `view` and a name that an administrator has chosen for the flock, never a class.
Policies are pure and keep nothing between two questions; one object of each serves every node. All
nodes of a flock should go by the same, else they race for the same tasks. README.md says which is
for whom.
"""

from __future__ import annotations

from agent.protocol.policy.copying import CopyPolicy
from agent.protocol.policy.flock_rules import CHOSEN, DEFAULT_RULE, FlockRule, flock_rules
from agent.protocol.policy.view import (
    SCORE_MAX,
    Evidence,
    FlockView,
    OrderPolicy,
    Places,
    ScorePolicy,
    Stage,
    TaskView,
    WorkflowView,
)

__all__ = [
    "CHOSEN",
    "DEFAULT_RULE",
    "SCORE_MAX",
    "CopyPolicy",
    "Evidence",
    "FlockRule",
    "FlockView",
    "OrderPolicy",
    "Places",
    "ScorePolicy",
    "Stage",
    "TaskView",
    "WorkflowView",
    "flock_rules",
]
