"""What it costs to confine a task, side by side with the same task unconfined.

``python -m tests.bench confinement``. Processor time: ``true`` is started 200 times in each round by
the same guardian, confined and not in turns; counted is what guardian, keepers and programs took,
and the median of nine rounds counts. Rates: ``live_true`` and ``live --throughput`` with
``confinement = "on"`` and ``"off"``, in turns, the median of each. Pause and end: a program of
three processes in sessions of their own, which ignore signals, from the owner's word until the
kernel says of all of them that they stand still, or that they are gone.

The limits are those of this kernel: where Landlock does not hold signals back (before its version
6), programs get process numbers of their own, which cost more. The same is measured on every kernel.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from agent.execution.confinement import landlock
from agent.execution.confinement.boundary import NO_WISHES, Boundary, Means
from agent.execution.confinement.proof import Proof
from agent.execution.confinement.reachable import reads_of
from agent.execution.groups import Launch
from agent.execution.groups_linux import LinuxGroups
from agent.execution.process_tree import descendants
from tests.bench import live_throughput, live_true
from tests.bench.report import Figures, Limit, Verdict, judged
from tests.driver.worlds import RUN
from tests.execution.installed import stands_still, state_of
from tests.hosts.waiting import eventually
from tests.security.hiding import HIDES
from tests.security.scene import Machine

WHAT = "confined and not: processor time a task, tasks a second, pause, end"
ROUNDS, STARTS, RATES = 9, 200, 3
TICKS_S = os.sysconf("SC_CLK_TCK")
PROCESSES = 3
SCOPED, OWN_NUMBERS = "confined, ms more a task", "with own process numbers, ms more a task"
TRUE, THROUGHPUT = "live_true, confined / not", "live --throughput, confined / not"
SUSPENDED, GONE = "until all of it stands still, s", "until all of it is gone, s"
LIMITS = (
    Limit("processor time a task, signals held by Landlock", SCOPED, 1.2, "ms"),
    Limit("processor time a task, own process numbers", OWN_NUMBERS, 3.0, "ms"),
    Limit("a task is suspended", SUSPENDED, 0.5, "s"),
    Limit("everything of a task is gone after its stop", GONE, 1.0, "s"),
)
RATE_MIN, RATE_MIN_OLDER = 0.65, 0.45


def measure(*, quick: bool) -> Figures:
    rounds, starts, rates = (1, 20, 1) if quick else (ROUNDS, STARTS, RATES)
    figures: Figures = {"Landlock": landlock.version(), "rounds": rounds, "starts": starts}
    with TemporaryDirectory(prefix="wb-bench-") as folder:
        figures |= asyncio.run(_costs(Path(folder), rounds, starts))
        figures |= asyncio.run(_held(Path(folder) / "machine"))
    figures |= _rates(TRUE, "tasks a second", live_true.measure, rates, quick=quick)
    figures |= _rates(THROUGHPUT, "tasks_a_second", live_throughput.measure, rates, quick=quick)
    return figures | {"load after": os.getloadavg()[0]}


def judge(figures: Figures) -> list[Verdict]:
    """The rates may be lower where programs need process numbers of their own."""
    scoped = figures["Landlock"] >= landlock.SCOPES_FROM
    least = RATE_MIN if scoped else RATE_MIN_OLDER
    rates = [Limit(each, each, least, at_least=True) for each in (TRUE, THROUGHPUT)]
    return judged(figures, [*LIMITS, *rates])


# -- processor time --------------------------------------------------------------------------------


async def _costs(folder: Path, rounds: int, starts: int) -> Figures:
    home, work = folder / "run", folder / "run" / "work"
    work.mkdir(parents=True)
    version = landlock.version()
    reads = reads_of(NO_WISHES, work, ("/bin/true",), ())
    plain = Boundary(Means(version, mounts=True), reads, str(home), (str(work),))
    kinds = {OWN_NUMBERS: replace(plain, means=Means(version, mounts=True, processes=True))}
    if version >= landlock.SCOPES_FROM:
        kinds[SCOPED] = plain
    groups = LinuxGroups()
    took_ms: dict[str, list[float]] = {name: [] for name in ("", *kinds)}
    for each in (None, *kinds.values()):
        await _start(groups, work, each)
    for _ in range(rounds):
        for name, took in took_ms.items():
            before_s = _below_s()
            for _ in range(starts):
                await _start(groups, work, kinds.get(name))
            took.append(1_000 * (_below_s() - before_s) / starts)
    await groups.close()
    unconfined = median(took_ms[""])
    found = {name: median(took_ms[name]) - unconfined for name in kinds}
    return {"unconfined, ms a task": unconfined, **found}


async def _start(groups: LinuxGroups, work: Path, boundary: Boundary | None) -> None:
    launch = Launch(("/bin/true",), work, {}, spare=False, boundary=boundary)
    process = await groups.start(launch, lambda *_: None)
    ended = await process.ended
    process.close()
    assert ended.code == 0, ended


def _below_s() -> float:
    """Of all processes below this one, and of those that they have waited for."""
    total = 0
    for each in descendants(os.getpid()):
        told = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, told[11:15]))
    return total / float(TICKS_S)


# -- pause and end ---------------------------------------------------------------------------------


async def _held(folder: Path) -> Figures:
    machine = Machine(folder, "on", interactive=False)
    try:
        proof: Proof = await machine.children.confinement.prove(machine.groups)
        assert proof.holds, proof.told()
        machine.install("hide", ["{python}", "hide.py"], {"hide.py": HIDES})
        machine.start("hide")
        work = machine.home.scratch / "run-1" / "work"
        await eventually(lambda: len(list(work.glob("beats-*"))) == PROCESSES)
        keeper = _keeper_of(machine)
        suspended_s = await _until(
            lambda: machine.children.suspend("t", RUN),
            lambda: all(map(stands_still, descendants(keeper))),
        )
        below = descendants(keeper)

        def gone() -> bool:
            return not any(state_of(each) for each in below)

        gone_s = await _until(lambda: machine.children.stop("t", RUN, "measured"), gone)
        await machine.end()
    finally:
        await machine.children.close()
    return {"processes held": len(below), SUSPENDED: suspended_s, GONE: gone_s}


def _keeper_of(machine: Machine) -> int:
    """The one that has something below it."""
    guardian = machine.groups._guardian
    assert guardian is not None
    return next(each for each in descendants(guardian.pid) if len(descendants(each)) >= PROCESSES)


async def _until(do: Callable[[], object], condition: Callable[[], bool]) -> float:
    began_s = monotonic()
    do()
    await eventually(condition)
    return monotonic() - began_s


# -- rates -----------------------------------------------------------------------------------------


def _rates(
    name: str, figure: str, bench: Callable[..., Figures], rounds: int, *, quick: bool
) -> Figures:
    found: dict[str, list[float]] = {"on": [], "off": []}
    for _ in range(rounds):
        for rule, rates in found.items():
            rates.append(float(bench(quick=quick, confinement=rule)[figure]))
    on, off = median(found["on"]), median(found["off"])
    what = name.partition(",")[0]
    return {f"{what}, confined /s": on, f"{what}, not confined /s": off, name: on / off}
