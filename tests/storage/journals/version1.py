"""The journal of version 1, and what is in it. Made once with ``python -m``; then left as it is.

A later version gets a file and a script of its own, so that every version stays readable.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import msgspec

from agent.protocol.effects import Identity, Persist
from agent.protocol.records import (
    Claim,
    Dataset,
    Evicted,
    Failed,
    InputRef,
    Life,
    Lost,
    Phase,
    PriorityWish,
    Pruning,
    Requirements,
    Run,
    Running,
    Scheduled,
    Suspended,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
    Yielded,
)
from agent.storage.journal import Journal

PHASES: tuple[Phase, ...] = (
    Scheduled(),
    Running(),
    Suspended(offered=True),
    Terminated((Dataset("d3", 3_000),), ("ant", "bee")),
    Failed("exit code 3"),
    Evicted("the node shuts down"),
    Yielded("cancelled"),
    Lost(ran=False),
)
TASKS = (
    TaskSpec("t1", "fetch", "fetch", raw=(Dataset("https://example.org/a", external=True),)),
    TaskSpec(
        "t2",
        "köche Суп 🍲",
        "cook",
        inputs=(InputRef("t1", 0),),
        after=("t3",),
        parameters="--salt 1 " * 1_000,
        requirements=Requirements("linux", "x86_64", 512, 100, 2, ("gpu",)),
        expected_ms=5_000,
        failures_max=5,
    ),
    TaskSpec("t3", "taste", "", gate=True, asks="Is there enough salt?"),
)
SPEC = WorkflowSpec(
    "kitchen/1",
    "Soup",
    (1_700_000_000_000, 3),
    "ant",
    "Ann",
    TASKS,
    {"colour": msgspec.Raw(b"\xa3red")},
)


def _run(attempt: int, phase: Phase) -> Run:
    claim = Claim(17, (1_700_000_000_500, attempt), "bee")
    stamp = (1_700_000_001_000 + attempt, 0)
    return Run(1, attempt, "bee", 4, claim, 5_000, ("d1",), 3, phase, stamp)


CHANGE = Persist(
    Identity(incarnation=1_700_000_000, reputation=11, stamp=(1_700_000_002_000, 9)),
    workflows=(Workflow(SPEC, PriorityWish(2, "bee", 100), 2),),
    lives=(
        TaskLife("t1", Life(2, 1, 1, tuple(_run(n, p) for n, p in enumerate(PHASES, 1)))),
        TaskLife("t2", Life()),
    ),
    prunings=(Pruning("kitchen/0", 3, (1_690_000_000_000, 0)),),
)


def main(target: Path) -> None:
    """Write the journal to this file."""
    with tempfile.TemporaryDirectory() as folder:
        with Journal.open(Path(folder)) as journal:
            journal.writer.submit([CHANGE]).result()
        target.write_bytes((Path(folder) / "journal.db").read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
