"""New seeds of the simulator each day, and all that once found something.

The first seed comes from the day, so that every day looks elsewhere and a failure can be repeated;
``WINGBEAT_SIM_FIRST_SEED`` fixes it, and ``WINGBEAT_SIM_SEEDS`` says how many instead (500 where
``python -m tests.repeat`` hunts). It is part of each test's name, and a failing run prints its own
seed first.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.sim.classes import CLASSES
from tests.sim.run import class_of, run_seed

SEEDS = int(os.environ.get("WINGBEAT_SIM_SEEDS", "240"))
CHUNKS = 20
RECORDED = Path(__file__).parents[1] / "sim" / "seeds.txt"


def first_seed() -> int:
    """A million seeds per day, counted from the year 2000; or what the environment says."""
    fixed = os.environ.get("WINGBEAT_SIM_FIRST_SEED")
    if fixed:
        return int(fixed)
    return (datetime.now(UTC) - datetime(2000, 1, 1, tzinfo=UTC)).days * 1_000_000


def recorded() -> list[tuple[int, str, str]]:
    """Seed, class and what it once found, of each line that is not a comment."""
    lines = RECORDED.read_text("utf-8").splitlines()
    entries = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]
    return [(int(seed), kind, found) for seed, kind, found in entries]


FIRST_SEED = first_seed()


@pytest.mark.hunting
@pytest.mark.parametrize(
    "first", range(FIRST_SEED, FIRST_SEED + SEEDS, SEEDS // CHUNKS), ids=lambda seed: f"from-{seed}"
)
def test_new_seeds_keep_every_promise(first: int) -> None:
    print(f"seeds {first} to {first + SEEDS // CHUNKS - 1}")
    for seed in range(first, first + SEEDS // CHUNKS):
        run_seed(seed)


@pytest.mark.parametrize(("seed", "kind", "found"), recorded())
def test_recorded_seeds_keep_every_promise(seed: int, kind: str, found: str) -> None:
    print(f"it once found: {found}")
    run_seed(seed, only_class=kind)


@pytest.mark.hunting
@pytest.mark.parametrize("kind", sorted(CLASSES))
def test_each_class_can_be_run(kind: str) -> None:
    result = run_seed(FIRST_SEED, only_class=kind)
    assert result.kind == kind
    assert result.events > 0


def test_a_seed_stands_for_one_class() -> None:
    assert class_of(7) == class_of(7)
    drawn = {name for name, kind in CLASSES.items() if kind.weight}
    assert {class_of(seed) for seed in range(500)} == drawn == set(CLASSES) - {"liars"}


# -- two runs of one seed are the same -------------------------------------------------------------


ROOT = Path(__file__).parents[2]
TRACED = (
    ("mixed", 11),
    ("crashes", 12),
    ("two-sides", 13),
    ("claim-in-flight", 14),
    ("clients", 15),
)
PROGRAM = """
import json, sys
from tests.sim.failure import SimulationFailure
from tests.sim.run import run_seed
traces = {}
for kind, seed in json.loads(sys.argv[1]):
    try:
        traces[f"{kind} {seed}"] = run_seed(seed, only_class=kind).trace
    except SimulationFailure as failure:
        traces[f"{kind} {seed}"] = str(failure)
print(json.dumps(traces))
"""


def traces_under(hash_seed: str) -> dict[str, str]:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(TRACED)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    traces: dict[str, str] = json.loads(ended.stdout)
    return traces


@pytest.mark.hunting
def test_the_trace_does_not_depend_on_the_hash_seed() -> None:
    """Python orders sets and some dicts of strings differently in each process. A decision that
    follows such an order, in the protocol or in the simulator, shows here as two traces."""
    assert traces_under("0") == traces_under("1")
