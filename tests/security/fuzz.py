"""System calls drawn at random by a confined program: nothing of its machine may change.

``python -m tests.security.fuzz --minutes 20 [--seed 1]``. The seed is printed first; of a round each
worker draws from it alone. A round is one task on a machine made for it (``scene``), of half a minute: every
second one is over sooner, since its draws end whatever of its own they reach by signals, also what
would begin the next worker. After each of them is looked from outside: files with their modes and
times, processes of the owner with their state, priority, processors and limits, the agent's
guardian, processes that were left, and whether a secret stands in anything that the program could
write. Exit code 1 when something was found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from agent.execution.limits import USUAL, NodeLimits
from agent.protocol.events import Event
from agent.protocol.reasons import EndCause
from tests.execution.installed import state_of
from tests.security.held import working_in
from tests.security.scene import HERE, Machine, surroundings

ROUND_S = 30.0
PROGRAM = "fuzzing.py"
LIMITS = NodeLimits(replace(USUAL, wall_s=60, memory_mb=1_500, disk_mb=300))


@dataclass
class Outcome:
    """What came of all rounds."""

    found: list[str] = field(default_factory=list)
    rounds: int = 0
    workers: int = 0
    calls: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        ends = ", ".join(f"{count} {end}" for end, count in self.ends.most_common())
        return (
            f"{self.rounds} rounds ({ends}), {self.workers} workers, {self.calls} calls, "
            f"{len(self.found)} findings"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.security.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    seed = chosen.seed or Random().getrandbits(31)
    sys.stdout.write(f"seed {seed}\n")
    outcome = asyncio.run(fuzzed(seed, 60 * chosen.minutes))
    for each in outcome.found:
        sys.stdout.write(f"{each}\n")
    sys.stdout.write(f"{outcome}\n")
    return 1 if outcome.found else 0


async def fuzzed(seed: int, seconds: float) -> Outcome:
    """Return what was found, and how much was tried for that."""
    with TemporaryDirectory(prefix="wb-fuzz-") as folder:
        machine = Machine(Path(folder), "on", LIMITS)
        machine.install("fuzz", ["{python}", PROGRAM], {PROGRAM: (HERE / PROGRAM).read_text()})
        try:
            proof = await machine.children.confinement.prove(machine.groups)
            if not proof.holds:
                return Outcome([f"nothing can be confined here: {proof.told()}"])
            return await _rounds(machine, seed, seconds)
        finally:
            await machine.children.close()


async def _rounds(machine: Machine, seed: int, seconds: float) -> Outcome:
    until_s = time.monotonic() + seconds
    outcome = Outcome()
    with surroundings(machine) as (told, _):
        processes = [told[each] for each in ("process", "asked", "victim", "guardian", "agent")]
        paths = [path for path in machine.fingerprint() if not path.endswith("programs")]
        paths += [told[each] for each in ("work", "input", "socket", "bus", "datagrams")]
        paths += [
            ".",
            "..",
            "x",
            "y",
            "below",
            "/",
            "/dev/shm",
            "/proc/self/mem",
            "/proc/self/ns/mnt",
        ]
        paths += [f"/proc/{each}/{name}" for each in processes for name in ("mem", "root", "fd/1")]
        given: dict[str, object] = {"paths": paths, "processes": [*processes, 0, -1, 1]}
        before = (machine.fingerprint(), list(map(_looked_at, processes)), os.uname())
        while not outcome.found and (left_s := until_s - time.monotonic()) > 0:
            outcome.rounds += 1
            task = f"t{outcome.rounds}"
            given["seed"] = seed + 1_000_000 * outcome.rounds
            given["seconds"] = min(left_s, ROUND_S)
            given["apart"] = outcome.rounds % 2 == 0
            ended = await machine.run("fuzz", json.dumps(given), task=task)
            after = (machine.fingerprint(), list(map(_looked_at, processes)), os.uname())
            outcome.found += _differences(before, after)
            outcome.found += [f"it runs on: {each}" for each in working_in(machine.folder)]
            _count(outcome, ended, machine.log(task))
            shutil.rmtree(machine.home.log / f"task-{task}", ignore_errors=True)
            sys.stderr.write(f"\r{outcome}")
    return outcome


def _count(outcome: Outcome, ended: Event, said: str) -> None:
    cause = getattr(ended, "why", None)
    outcome.ends[cause.kind if isinstance(cause, EndCause) else type(ended).__name__] += 1
    outcome.found += [line for line in said.splitlines() if line.startswith("GOT")]
    if re.search(
        r"secret of (?!sha256)[\w.-]", said
    ):  # it may print its own text, which ends there
        outcome.found.append(f"it printed a secret: {said}")
    outcome.workers += sum(map(int, re.findall(r"^workers (\d+)$", said, re.MULTILINE)))
    outcome.calls += sum(map(int, re.findall(r"^calls (\d+)$", said, re.MULTILINE)))


def _looked_at(process: int) -> tuple[object, ...]:
    return (
        process,
        state_of(process) in ("S", "R", "D"),
        os.getpriority(os.PRIO_PROCESS, process),
        sorted(os.sched_getaffinity(process)),
        [resource.prlimit(process, each) for each in range(15)],
    )


def _differences(before: tuple[object, ...], after: tuple[object, ...]) -> Iterator[str]:
    files, *others = before
    files_after, *others_after = after
    assert isinstance(files, dict)
    assert isinstance(files_after, dict)
    for path in files.keys() | files_after.keys():
        if files.get(path) != files_after.get(path):
            yield f"changed: {path}: {files.get(path)} is {files_after.get(path)}"
    if others != others_after:
        yield f"changed: {others} are {others_after}"


if __name__ == "__main__":
    sys.exit(main())
