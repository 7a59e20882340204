"""A long line on nine agents of this machine, two of them killed: the same bytes, and what it costs.

The line is one real scan, copied end to end. Nine agents inspect it as `wingbeat inspect` has them do,
twice: undisturbed, and with two agents killed in the middle. The results are compared byte for byte,
and the time with the processor time that all programs took, over the cores of this machine. ``--km``
names less than the whole, of which each kilometre takes some 25 s of a core, and that twice.

How far it has come is told on the standard error. It gives up where nothing happens for long; then,
and where it is ended before, agents, tasks and files go.
"""

from __future__ import annotations

import asyncio
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil

from agent.api.session import TaskMoved, WorkflowEnded
from agent.api.values import Position, TaskState
from agent.api.work import SHOW, STATUS, Show, Status
from agent.client.inspecting import look_at_flight
from agent.commands.demo.machines import DemoError, Machine, Machines
from agent.workflow.submission import Wanted, submit_file
from tasks.line.cloud import Points, read, write
from tasks.line.routes import principal_axis
from tests.bench.inspection_scans import FOLDER, WIRES
from tests.bench.report import Figures, Sheet, Verdict

WHAT: Final = "a long line on nine agents, two killed: same bytes, time over processor time"
OPTIONS: Final = {"--km": {"type": float, "default": 50.0, "help": "how long the line is"}}
MACHINES, KILLED = 9, 2
KILL_AFTER = (0.3, 0.5)
"""Of all tasks, so much has ended when an agent is killed."""
OVER_PROCESSOR: Final = 1.05
TILES_A_KM: Final = 2.5
MEMORY_MB_MAX: Final = 1000.0
STAGES: Final = ("import", "georeference", "segment", "detect")
PROCESSOR_S_A_KM: Final = 25.0
"""What one run takes of all cores together, the agents too; on a busy machine half as much again."""
STILL_S_MAX: Final = 300.0
"""So long no task begins or ends before it is given up: on a busy machine one has taken four minutes."""
TOLD_EACH: Final = 20
"""After so many parts of the tasks it is told how far it has come."""


class GivenUpError(Exception):
    """One sentence: why a run did not come to its end."""


def measure(*, quick: bool, km: float) -> Figures:
    """Inspect the line twice; ``quick``: a kilometre."""
    if not FOLDER.is_dir():
        sys.exit("the labelled scans are not there: ../shared/data/lidar is looked for")
    for each in (signal.SIGTERM, signal.SIGINT):  # the latter is ignored in the background
        signal.signal(each, signal.default_int_handler)
    km, runs = 1.0 if quick else km, []
    minutes = 2 * km * PROCESSOR_S_A_KM / (os.cpu_count() or 1) / 60
    _say(f"{km:g} km twice: some {math.ceil(minutes)} min where nothing else runs")
    with tempfile.TemporaryDirectory() as made:
        flight = Path(made, "flight")
        long_km = copied(FOLDER / WIRES[0], flight, km)
        for name, kills in (("undisturbed", 0), ("killed", KILLED)):
            folder = Path(made, name)
            try:
                runs.append(asyncio.run(_run(folder, flight, kills)))
            except (GivenUpError, DemoError, KeyboardInterrupt) as error:
                sys.exit(f"{name}: {str(error) or 'ended from outside'}")
            shutil.rmtree(folder, ignore_errors=True)
    largest_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"km": long_km, "runs": runs, "memory_mb": round(largest_kb / 1024)}


def judge(figures: Figures) -> list[Verdict]:
    """Hold what was measured against the limits."""
    whole, killed = figures["runs"]
    others = sum(killed["results"].get(name) != told for name, told in whole["results"].items())
    long = f"{figures['km']:.1f} km"
    return [
        Verdict(f"{long}: results that differ with two killed", others, 0),
        Verdict(f"{long}: results", len(whole["results"]), whole["tasks"], at_least=True),
        Verdict(f"{long}: agents killed", killed["killed"], KILLED, at_least=True),
        Verdict(f"{long}: time times cores over processor time", killed["ratio"], OVER_PROCESSOR),
        Verdict(f"{long}: undisturbed", whole["ratio"], OVER_PROCESSOR),
        Verdict(
            f"{long}: tasks a stage",
            min(whole["stages"][each] for each in STAGES),
            math.floor(figures["km"] * TILES_A_KM),
            at_least=True,
        ),
        Verdict(f"{long}: largest process", figures["memory_mb"], MEMORY_MB_MAX, "MB"),
    ]


def sheets(figures: Figures) -> list[Sheet]:
    """Return the tables."""
    keys = ("tasks", "killed", "begun_again", "seconds", "processor_s", "ratio", "load")
    rows = [[each[key] for key in keys] for each in figures["runs"]]
    return [Sheet(f"{figures['km']:.1f} km on nine agents", [*keys], rows)]


def copied(scan: Path, flight: Path, km: float) -> float:
    """Write so many copies of a scan, each behind the other along its axis, that they are so long;
    return how many kilometres they are."""
    flight.mkdir()
    points = read(scan)
    axis = principal_axis(points.x, points.y)[0]
    step = np.subtract(axis[-1], axis[0])
    each_m = float(np.hypot(*step))
    count = max(1, math.ceil(1000 * km / each_m))
    for number in range(count):
        east, north = number * step
        moved: Points = replace(points, x=points.x + east, y=points.y + north)
        write(flight / f"{number:04}.laz", [moved])
    return count * each_m / 1000


async def _run(folder: Path, flight: Path, kills: int) -> dict[str, Any]:
    folder.mkdir()
    machines = Machines(folder, MACHINES)
    try:
        return await _inspected(machines, folder, flight, kills)
    finally:
        await machines.end()


async def _inspected(machines: Machines, folder: Path, flight: Path, kills: int) -> dict[str, Any]:
    said = {"crs": "EPSG:28992", "heights": "EPSG:5709", "name": "line"}
    found = await look_at_flight(flight, said, folder / "plan")
    assert not found.faults, found.faults
    await machines.start(lambda _: None)
    await machines.make_flock(lambda _: None)
    client = machines.first.client
    position = (await client.call(STATUS, Status(limit=1))).position
    wanted = Wanted({"flight": str(flight), "gates": "none"}, submitter="bench")
    used_s, load = sum(map(_of, machines.all)), os.getloadavg()[0]
    began_s = time.monotonic()
    accepted = await submit_file(client, Path(found.workflow), wanted)
    tasks = (await client.call(SHOW, Show(accepted.workflow, limit=1))).workflow.tasks
    gone, gone_s = await _worked(machines, accepted.workflow, position, tasks, kills)
    seconds = time.monotonic() - began_s
    left = [each for each in machines.all if each not in gone]
    processor_s = sum(map(_of, left)) + gone_s - used_s
    shown = await client.call(SHOW, Show(accepted.workflow, limit=2_000))
    results = {
        f"{task.name}/{number}": each.dataset
        for task in shown.tasks
        for number, each in enumerate(task.outputs)
    }
    return {
        "tasks": tasks,
        "stages": Counter(task.name.partition(".")[0] for task in shown.tasks),
        "killed": len(gone),
        "begun_again": sum(task.attempt > 1 for task in shown.tasks),
        "seconds": round(seconds, 1),
        "processor_s": round(processor_s, 1),
        "ratio": round(seconds * (os.cpu_count() or 1) / processor_s, 3),
        "load": round(load, 1),
        "results": dict(results),
    }


async def _worked(
    machines: Machines, workflow: str, position: Position, tasks: int, kills: int
) -> tuple[list[Machine], float]:
    """Wait for the end, and kill so many in the middle of a task; return them, and what they had taken
    of the processor. Raise ``GivenUpError`` where it ends otherwise or not at all."""
    gone_s, ended, began_s = 0.0, 0, time.monotonic()
    gone: list[Machine] = []
    running: dict[str, str] = {}
    async with (
        _limited(running) as limit,
        aclosing(machines.first.client.events(position)) as events,
    ):
        async for event in events:
            match event.happening:
                case TaskMoved(after=TaskState.RUNNING) as moved:
                    running[moved.name] = moved.host
                case TaskMoved(after=TaskState.TERMINATED) as moved:
                    running.pop(moved.name, None)
                    ended += 1
                    _tell(ended, tasks, time.monotonic() - began_s)
                case WorkflowEnded(workflow=name) as over if name == workflow:
                    if over.state != "finished":
                        raise GivenUpError(f"the workflow {over.state}: {over.counts}")
                    break
                case _:
                    continue
            limit.reschedule(asyncio.get_running_loop().time() + STILL_S_MAX)
            due = len(gone) < kills and ended >= KILL_AFTER[len(gone)] * tasks
            busy = [each for each in machines.all[1:] if each.name in running.values()]
            if due and (victim := next((each for each in busy if each not in gone), None)):
                gone.append(victim)
                gone_s += _of(victim)
                machines.kill(victim)
                _say(f"{victim.name} is killed")
    return gone, gone_s


@asynccontextmanager
async def _limited(running: Mapping[str, str]) -> AsyncIterator[asyncio.Timeout]:
    """Raise ``GivenUpError`` when the limit, which is put off at each move of a task, is over."""
    try:
        async with asyncio.timeout(STILL_S_MAX) as limit:
            yield limit
    except TimeoutError:
        told = ", ".join(f"{name} on {host}" for name, host in running.items()) or "nothing"
        raise GivenUpError(
            f"for {STILL_S_MAX:.0f} s no task began or ended; there runs {told}, and the load is "
            f"{os.getloadavg()[0]:.0f}: run it where little else runs"
        ) from None


def _tell(ended: int, tasks: int, seconds: float) -> None:
    if ended * TOLD_EACH // tasks > (ended - 1) * TOLD_EACH // tasks:
        _say(f"{ended} of {tasks} tasks, {seconds:.0f} s, load {os.getloadavg()[0]:.1f}")


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")


def _of(machine: Machine) -> float:
    """What an agent and all that it has started took of the processor so far, what ended too."""
    agent = psutil.Process(machine.process)
    used_s = 0.0
    for each in (agent, *agent.children(recursive=True)):
        with suppress(psutil.Error):
            told = each.cpu_times()
            used_s += told.user + told.system + told.children_user + told.children_system
    return used_s
