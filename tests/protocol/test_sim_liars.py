"""Members that lie in a flock that signs: what is promised holds, and does not without the check.

The class has no share of the seeds that are drawn otherwise, so that these stay what they are; here it
has its own, others each day.
"""

from __future__ import annotations

import pytest

from agent.protocol.checking import Checking
from tests.protocol.test_sim_seeds import first_seed
from tests.sim.failure import SimulationFailure
from tests.sim.run import run_seed

SEEDS, CHUNKS = 24, 4
UNGUARDED_SEEDS_MAX = 6
"""The first that was tried broke a promise without the check, and so did each of the next five."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_promises_hold_among_members_that_lie(chunk: int) -> None:
    first = first_seed() + chunk * SEEDS // CHUNKS
    assert run_all(range(first, first + SEEDS // CHUNKS)), "nobody lied"


def test_they_do_not_hold_without_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checking, "on", property(lambda _: False))
    with pytest.raises(SimulationFailure):
        run_all(range(UNGUARDED_SEEDS_MAX))


def run_all(seeds: range) -> int:
    return sum(run_seed(seed, only_class="liars").counts["lies"] for seed in seeds)
