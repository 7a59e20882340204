"""One member of each simulated flock lies in what it says, and every promise holds for the others' work."""

from __future__ import annotations

import pytest

from agent.protocol.claims import Claims
from agent.protocol.obstructors import Obstructors
from tests.sim.failure import SimulationFailure
from tests.sim.hostile import HostileMember
from tests.sim.run import run_seed

KINDS = ("calm", "crashes", "claim-in-flight", "partitions")
SEEDS = (1, 2, 3)
ALL_LINKED = (1, 2, 4)
"""In the flock of seed 3 who works has no link with the member that lies, and so does not ask it."""


@pytest.mark.parametrize("kind", KINDS)
def test_promises_hold_beside_a_member_that_lies(kind: str) -> None:
    for seed in SEEDS:
        run_seed(seed, HostileMember, only_class=kind)


def test_without_the_guard_work_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Claims, "_pass_by", lambda _: None)
    monkeypatch.setattr(Obstructors, "__contains__", lambda *_: False)
    for seed in ALL_LINKED:
        with pytest.raises(SimulationFailure, match="everything ends"):
            run_seed(seed, HostileMember, only_class="calm")


@pytest.mark.parametrize(
    ("seed", "kind", "found"),
    [
        (2049, "seats", "a low claim gave way to interactive work and was made again, without end"),
        (
            26120025,
            "datasets",
            "who named claims that nobody made kept interactive work from all others",
        ),
        (3, "crashes", "a claim doubted down to nothing was taken for one of a copy, without end"),
    ],
)
def test_what_lies_once_found_is_mended(seed: int, kind: str, found: str) -> None:
    print(f"it once found: {found}")
    run_seed(seed, HostileMember, only_class=kind)


def test_lies_are_the_same_in_each_run_of_a_seed() -> None:
    traces = {run_seed(2, HostileMember, only_class="calm").trace for _ in range(2)}
    assert len(traces) == 1
