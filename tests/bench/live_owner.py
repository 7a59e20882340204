"""What an owner loses while the machine helps others: a job of their own, with and without.

``python -m tests.bench live_owner [--json] [--quick] [--rounds 5]``. The owner's job computes on
all cores at normal priority, as a compile does. It is timed alone and while a real agent runs a
task that computes on every core, in turns, so that a slow minute of the machine meets both. Beside
it stands what the same job loses to programs at the same priority, which shows that it can be lost.

Presence is told *always*: the programs are not suspended, only the scheduler protects the owner.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from agent.api import flock, work
from tests.bench.report import Figures, Limit, quantile
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.waiting import wait_for

WHAT = "an owner's own job while the machine helps others"
CORES = os.cpu_count() or 1
ROUNDS, TURNS = 5, 40_000_000
OPTIONS = {"--rounds": {"type": int, "default": ROUNDS}}
START_S_MAX = 30.0
SLOWER_PERCENT_MAX = 5.0
LIMITS = (Limit("slower while helping", "slower while helping, %", SLOWER_PERCENT_MAX, "%"),)
SPIN = "n = 0\nfor _ in range({turns}): n += 1\n"
SPINNING = "spinning"


def measure(*, quick: bool, rounds: int = ROUNDS) -> Figures:
    """Rounds of three: alone, with the agent computing, with programs of the same priority."""
    rounds, turns = (1, TURNS // 10) if quick else (rounds, TURNS)
    alone, helping, beside = [], [], []
    with Hosts(1, namespaces=False) as hosts:
        host = hosts[0]
        _install(host)
        hosts.restart()
        host.call(flock.FLOCK_CREATE, flock.FlockCreate("alone"))
        for number in range(rounds):
            alone.append(_job_s(turns))
            _compute(host, f"spin-{number}")
            helping.append(_job_s(turns))
            host.call(work.CANCEL, work.Cancel(f"spin-{number}"))
            wait_for(lambda: not _spinning(host), START_S_MAX, "nothing computes any more")
            beside.append(_beside_s(turns))
    usual = quantile(alone, 0.5)
    return {
        "rounds": rounds,
        "cores": CORES,
        "alone, median s": usual,
        "while helping, median s": quantile(helping, 0.5),
        "slower while helping, %": 100 * (quantile(helping, 0.5) / usual - 1),
        "beside programs of its own priority, median s": quantile(beside, 0.5),
        "slower beside those, %": 100 * (quantile(beside, 0.5) / usual - 1),
        "slowest and fastest alone, %": 100 * (max(alone) / min(alone) - 1),
        "load": os.getloadavg()[0],
    }


def _install(host: Host) -> None:
    folder = host.home.programs / SPINNING
    folder.mkdir()
    (folder / "spin.py").write_text("while True: pass\n")
    (folder / "program.yaml").write_text('command: ["{python}", -I, -S, spin.py]\n')
    settings = host.home.settings_file
    told = settings.read_text().replace('processor = "share"', 'processor = "spare"')
    settings.write_text(f"slots = {CORES}\n{told}")


def _compute(host: Host, name: str) -> None:
    """A task for every core; wait until they run."""
    tasks = [work.Task(f"{name}-{core}", SPINNING) for core in range(CORES)]
    host.submit(name, tasks)
    wait_for(lambda: _spinning(host) == CORES, START_S_MAX, "all cores compute")


def _spinning(host: Host) -> int:
    listed = subprocess.run(
        ["pgrep", "-f", str(host.home.programs / SPINNING)], stdout=subprocess.PIPE, check=False
    )
    return len(listed.stdout.split())


def _job_s(turns: int) -> float:
    """The owner's job, on all cores."""
    began_s = time.monotonic()
    jobs = [_spin(turns) for _ in range(CORES)]
    for job in jobs:
        job.wait()
    return time.monotonic() - began_s


def _beside_s(turns: int) -> float:
    others = [_spin(1_000 * turns) for _ in range(CORES)]
    try:
        return _job_s(turns)
    finally:
        for other in others:
            other.kill()
            other.wait()


def _spin(turns: int) -> subprocess.Popen[bytes]:
    """In a session of its own, as programs that an owner starts from a desktop are."""
    command = [sys.executable, "-I", "-S", "-c", SPIN.format(turns=turns)]
    return subprocess.Popen(command, start_new_session=True)
