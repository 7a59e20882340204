"""Least expected time, longer for hosts that break off more of what they begin (FR).

Source: document 003, section 4.3.2 (algorithm 5), after Amoon. Somebody central gives the task at the
head to the free host with the least (length / speed) x (1 + failed / (done + failed)).
"""

from __future__ import annotations

from agent.protocol.policy.placing import HostPast, Placing, Waiting


class FailureRate(Placing):
    name = "FR"
    looks_every_s = 0.0

    def score(self, task: Waiting, host: HostPast) -> float:
        """Return the expected time, negative, so that the shortest is the best."""
        begun = host.done + host.broken_off
        failing = host.broken_off / begun if begun else 0.0
        return -task.length_s / host.speed * (1 + failing)
