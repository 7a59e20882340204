"""Hosts compete for the task that fits the time that they usually last (BFC, BFGC, BFGCE).

Source: document 003, sections 4.2.2 and 4.6.1. As in ``competition``, with the score f2: the
probability of f1 divided by how far the length is from the mean time that the host is up, in
proportion to it. So hosts that fail often take short tasks and leave the others for long ones.

With a correction (BFGCE) a task counts as a tenth longer each time it was broken off, because its
length was probably told too short; so it ends up on a host that lasts.
"""

from __future__ import annotations

from math import exp
from typing import ClassVar, Final

from agent.protocol.policy.competition import GROUP
from agent.protocol.policy.placing import HostPast, Placing, Waiting

SCORE_MAX: Final = 3.40282347e38
"""Of a perfect fit, as in the source."""


class BestFit(Placing):
    name = "BFC"
    gathers_s = 10.0
    longer: ClassVar[float] = 1.0
    """By how much a task counts as longer for each time that it was broken off."""

    def score(self, task: Waiting, host: HostPast) -> float:
        """Return how likely the host lasts, and how well the task fills that time."""
        lengths = host.failure_rate * task.length_s * self.longer**task.broken_off / host.speed
        gap = abs(lengths - 1)
        return exp(-lengths) / gap if gap else SCORE_MAX


class GroupBestFit(BestFit):
    name = "BFGC"
    group = GROUP


class CorrectedBestFit(GroupBestFit):
    name = "BFGCE"
    longer = 1.1
