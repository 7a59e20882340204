"""Hosts compete for a task by how likely each lasts as long as it takes (EC, EGC).

Source: document 003, sections 4.1.2, 4.1.3 and 4.2.1 (algorithms 2 and 3). A free host enrols for the
task at the head; 10 s after the first has, the best of them gets it, and the others try the next.
The score f1 is the probability that the host is still there when the task ends, with times between
failures distributed exponentially: e^(-rate x length).

In groups (EGC) a host enrols for whichever of the first 10 tasks it suits best. A task that was
passed over at the head 20 times is the only one to compete for: the source bounds that too and does
not say where.
"""

from __future__ import annotations

from math import exp
from typing import Final

from agent.protocol.policy.placing import HostPast, Placing, Waiting

GROUP: Final = 10
PASSED_OVER_MAX: Final = 20


class Competition(Placing):
    name = "EC"
    gathers_s = 10.0

    def score(self, task: Waiting, host: HostPast) -> float:
        """Return the probability that the host lasts until the task has ended."""
        return exp(-host.failure_rate * task.length_s / host.speed)


class GroupCompetition(Competition):
    name = "EGC"
    group = GROUP
