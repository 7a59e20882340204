"""System calls drawn at random by a confined program: nothing of its machine may change.

``python -m tests.security.fuzz --minutes 20 [--seed 1]``. The seed is printed first; of a round each
worker draws from it alone. A round is one task of half a minute on a machine made for it (``scene``), and
after each of them is looked from outside: files with their modes and times, processes of the owner
with their state, priority, processors and limits, the agent's guardian, and whether a secret stands
in anything that the program could write. Exit code 1 when something was found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.execution.installed import state_of
from tests.security.scene import HERE, Machine, surroundings

ROUND_S = 30.0
PROGRAM = "fuzzing.py"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.security.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    seed = chosen.seed or Random().getrandbits(31)
    sys.stdout.write(f"seed {seed}\n")
    found, rounds, workers = asyncio.run(fuzzed(seed, 60 * chosen.minutes))
    for each in found:
        sys.stdout.write(f"{each}\n")
    sys.stdout.write(f"{rounds} rounds, {workers} workers ended, {len(found)} findings\n")
    return 1 if found else 0


async def fuzzed(seed: int, seconds: float) -> tuple[list[str], int, int]:
    """Return what was found, how many rounds there were, and how many workers came to an end."""
    with TemporaryDirectory(prefix="wb-fuzz-") as folder:
        machine = Machine(Path(folder), "on")
        machine.install("fuzz", ["{python}", PROGRAM], {PROGRAM: (HERE / PROGRAM).read_text()})
        try:
            proof = await machine.children.confinement.prove(machine.groups)
            if not proof.holds:
                return [f"nothing can be confined here: {proof.told()}"], 0, 0
            return await _rounds(machine, seed, seconds)
        finally:
            await machine.children.close()


async def _rounds(machine: Machine, seed: int, seconds: float) -> tuple[list[str], int, int]:
    until_s = time.monotonic() + seconds
    found: list[str] = []
    rounds = workers = 0
    with surroundings(machine) as (told, _):
        processes = [told[each] for each in ("process", "asked", "victim", "guardian", "agent")]
        paths = [path for path in machine.fingerprint() if Path(path).is_file()]
        paths += [told["work"], told["input"], told["socket"], told["owner"], ".", "..", "x", "/"]
        paths += [f"/proc/{each}/mem" for each in processes]
        before = (machine.fingerprint(), list(map(_looked_at, processes)))
        while not found and (left_s := until_s - time.monotonic()) > 0:
            rounds += 1
            given: dict[str, object] = {
                "seed": seed + 1_000_000 * rounds,
                "seconds": min(left_s, ROUND_S),
            }
            given |= {"paths": paths, "processes": [*processes, 0, -1, 1]}
            await machine.run("fuzz", json.dumps(given), task=f"t{rounds}")
            after = (machine.fingerprint(), list(map(_looked_at, processes)))
            said = machine.log(f"t{rounds}")
            found += _differences(before, after)
            found += [line for line in said.splitlines() if line.startswith("GOT")]
            workers += sum(map(int, re.findall(r"^workers (\d+)$", said, re.MULTILINE)))
    return found, rounds, workers


def _looked_at(process: int) -> tuple[object, ...]:
    return (
        process,
        state_of(process) in ("S", "R", "D"),
        os.getpriority(os.PRIO_PROCESS, process),
        sorted(os.sched_getaffinity(process)),
        [resource.prlimit(process, each) for each in range(15)],
    )


def _differences(before: tuple[object, ...], after: tuple[object, ...]) -> Iterator[str]:
    files, processes = before
    files_after, processes_after = after
    assert isinstance(files, dict)
    assert isinstance(files_after, dict)
    for path in files.keys() | files_after.keys():
        if files.get(path) != files_after.get(path):
            yield f"changed: {path}: {files.get(path)} is {files_after.get(path)}"
    if processes != processes_after:
        yield f"changed: {processes} are {processes_after}"


if __name__ == "__main__":
    sys.exit(main())
