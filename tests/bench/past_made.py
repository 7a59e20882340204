"""Two years of finished workflows in the history of a home, as if its agent had seen all of them end.

Records as the flock has them, packed and read off by the agent's own code; who submitted what, how long it
took and why some failed is drawn from a seed.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from agent.history.past_records import Ended, Records, pack, row_of
from agent.paths import Home
from agent.protocol.reasons import EndCause, carried
from agent.protocol.records import (
    Claim,
    Dataset,
    Failed,
    InputRef,
    Life,
    Phase,
    PriorityWish,
    Run,
    TaskLife,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowSpec,
)
from agent.storage.history import FILE, History

DAY_MS = 86_400_000
DAYS = 730
SEED = 7
NAMES = ("acor", "cagarro", "garajau", "milhafre", "priolo", "roaz")
PEOPLE = ("ana", "bia", "caio", "duarte", "eva")
STEPS = ("import", "georeference", "segment", "detect", "report")
PLACES = ("north", "south", "east", "west", "coast", "ridge")
BATCH = 500


def make(home: Home, workflows: int) -> None:
    """Write so many into the history of a home whose agent does not run."""
    home.prepare()
    history, draw = History.open(home.data / FILE), random.Random(SEED)
    now_ms = int(time.time() * 1000)
    spread = DAYS * DAY_MS // workflows
    given = {}
    for begin in range(0, workflows, BATCH):
        ended = [
            _ended(draw, number, now_ms - number * spread - draw.randrange(spread))
            for number in range(begin, min(workflows, begin + BATCH))
        ]
        history.past.write((row_of(each), pack(each.records)) for each in ended)
    for hour in range((now_ms - DAYS * DAY_MS) // 3_600_000, now_ms // 3_600_000):
        given[hour] = draw.randrange(3_600_000) if hour % 24 < 7 else 0
    history.write([], given)
    history.close()


def _ended(draw: random.Random, number: int, ended_ms: int) -> Ended:
    home, fails = draw.randrange(len(NAMES)), draw.random() < 0.08
    begin_ms = ended_ms - len(STEPS) * 400_000 - draw.randrange(3_000_000)
    title = f"Line {number % 97:02} {draw.choice(PLACES)}"
    stop = draw.randrange(len(STEPS)) if fails else len(STEPS)
    specs, lives, at_ms = [], [], begin_ms
    for place, step in enumerate(STEPS):
        task = f"{number:06}-{place}"
        needs = (InputRef(f"{number:06}-{place - 1}", 0),) if place else ()
        specs.append(
            TaskSpec(task, step, step, needs, parameters=str(draw.random()), failures_max=1)
        )
        if place > stop:
            continue
        host, length_ms = draw.randrange(len(NAMES)), 60_000 + draw.randrange(300_000)
        claim = Claim(draw.randrange(1000), (at_ms, 0), f"node{host}")
        at_ms += length_ms
        cause = EndCause(
            "SaidError", error=f"the point cloud ends in record {draw.randrange(9999)}"
        )
        made = (Dataset(f"sha256:{draw.getrandbits(256):064x}", draw.randrange(10**8)),)
        phase: Phase = Failed(cause.error) if place == stop else Terminated(made, (claim.host,))
        more = carried(cause) if place == stop else {}
        run = Run(1, 1, claim.host, 1, claim, length_ms, (), 3, phase, (at_ms, 0), more)
        lives.append(TaskLife(task, Life(runs=(run,))))
    submitted = (begin_ms - draw.randrange(900_000), 0)
    spec = WorkflowSpec(
        f"w{number:06}", title, submitted, f"node{home}", draw.choice(PEOPLE), tuple(specs)
    )
    workflow = Workflow(spec, PriorityWish(1, f"node{home}", 50))
    names = {f"node{at}": name for at, name in enumerate(NAMES)}
    records = Records(workflow, tuple(lives), names)
    return Ended(records, "failed" if fails else "finished", number, ended_ms)


if __name__ == "__main__":
    make(Home.at(Path(sys.argv[1])), int(sys.argv[2]))
