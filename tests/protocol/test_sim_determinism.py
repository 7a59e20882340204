"""The simulator repeats itself: the same seed, the same steps, whatever the hash seed.

Python orders sets and some dicts of strings differently in each process. A decision that follows
such an order, in the protocol or in the simulator, shows here as two different traces.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = (
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
        [sys.executable, "-c", PROGRAM, json.dumps(SEEDS)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    traces: dict[str, str] = json.loads(ended.stdout)
    return traces


def test_the_trace_does_not_depend_on_the_hash_seed() -> None:
    assert traces_under("0") == traces_under("1")
