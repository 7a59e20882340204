"""What an idle agent costs: processor, memory and network, in a flock of 9 and in one of 30.

``python -m tests.bench live_idle [--json] [--seconds 120] [--quick]``. The first flock has nine
real agents on hosts of their own; the dearest of them counts. The second has one real agent and 29
peers that are real nodes too, but share one process on another host (``tests.hosts.crowd``).

Processor time is what the scheduler gave to all threads of the agent, to the nanosecond; memory
is what the process holds resident. How much of that is in no file, and so cannot be taken from it
without swapping, is told beside it, and what the guardian holds that waits for programs. Bytes and packets are counted at the host's cable, with all
headers and multicast; messages are counted by the peers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent.api import flock
from agent.execution.process_tree import descendants
from tests.bench.report import Figures, Limit
from tests.certain import certain
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts
from tests.hosts.waiting import let_pass, wait_for
from tests.style.source import REPOSITORY

WHAT = "an idle agent: processor, memory, network"
HOSTS, PEERS, FIRST_PORT = 9, 29, 31_000
SETTLE_S = 15.0
CORE_PERCENT_MAX, MEMORY_MB_MAX = 0.2, 60.0
LIMITS = [
    Limit(f"flock of {count}: {what}", f"flock of {count}: {figure}", most, unit)
    for count in (9, 30)
    for what, figure, most, unit in (
        ("processor", "% of a core", CORE_PERCENT_MAX, "%"),
        ("memory", "MB", MEMORY_MB_MAX, "MB"),
    )
]
OPTIONS = {"--seconds": {"type": float, "default": 120.0}}


def measure(*, quick: bool, seconds: float = 120.0) -> Figures:
    seconds = 5.0 if quick else seconds
    return {
        "seconds": seconds,
        "load": os.getloadavg()[0],
        **{f"flock of 9: {key}": value for key, value in _flock_of_nine(seconds).items()},
        **{f"flock of 30: {key}": value for key, value in _flock_of_thirty(seconds).items()},
        "load after": os.getloadavg()[0],
    }


class Meter:
    """What a host has used since the meter was made."""

    def __init__(self, hosts: Hosts, host: Host) -> None:
        self._hosts, self._host = hosts, host
        self._began_s = time.monotonic()
        self._cpu_s = cpu_s(host.process_id)
        self._sent = hosts.lan.sent(host.number)
        self._received = hosts.lan.received(host.number)

    def read(self) -> Figures:
        """Per minute, and as shares of a core."""
        passed_s = time.monotonic() - self._began_s
        used_s = cpu_s(self._host.process_id) - self._cpu_s
        sent = _differences(self._hosts.lan.sent(self._host.number), self._sent)
        received = _differences(self._hosts.lan.received(self._host.number), self._received)
        return {
            "% of a core": 100 * used_s / passed_s,
            "MB": self._host.memory_mb(),
            "MB in no file": resident_mb(self._host.process_id, "RssAnon"),
            "MB of the guardian": sum(map(resident_mb, descendants(self._host.process_id))),
            "bytes sent a minute": round(60 * sent[0] / passed_s),
            "packets sent a minute": round(60 * sent[1] / passed_s),
            "bytes received a minute": round(60 * received[0] / passed_s),
            "packets received a minute": round(60 * received[1] / passed_s),
        }


def cpu_s(process: int) -> float:
    """Time on a processor of all threads that live."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


def resident_mb(process: int, kind: str = "VmRSS") -> float:
    """What a process has in memory, by the kernel's name for it."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition(f"{kind}:")[2].split()[0]) / 1024


def _differences(now: tuple[int, int], before: tuple[int, int]) -> tuple[int, int]:
    return now[0] - before[0], now[1] - before[1]


def _flock_of_nine(seconds: float) -> Figures:
    with Hosts(HOSTS, namespaces=True) as hosts:
        hosts.make_flock()
        let_pass(SETTLE_S)
        meters = [Meter(hosts, host) for host in hosts]
        let_pass(seconds)
        found = [meter.read() for meter in meters]
    dearest = max(found, key=lambda each: float(each["% of a core"]))
    shares = sorted(float(each["% of a core"]) for each in found)
    return {
        **dearest,
        "MB": max(float(each["MB"]) for each in found),
        "% of a core, median of 9": shares[len(shares) // 2],
    }


def _flock_of_thirty(seconds: float) -> Figures:
    with Hosts(2, namespaces=True) as hosts, TemporaryDirectory() as folder:
        agent, elsewhere = hosts[0], hosts[1]
        address = hosts.lan.address(elsewhere.number)
        agent.settle(addresses=[f"{address}:{FIRST_PORT + n}" for n in range(PEERS)])
        hosts.restart([agent])
        agent.call(flock.FLOCK_CREATE, flock.FlockCreate("crowd"))
        text = agent.call(flock.INVITE, flock.Invite(uses=PEERS)).text
        crowd = _start_crowd(elsewhere, folder, address, text)
        try:
            wait_for(lambda: len(agent.linked()) == PEERS, 120.0, "all are linked", poll_s=0.5)
            let_pass(SETTLE_S)
            before, meter = _asked(crowd, agent.node), Meter(hosts, agent)
            let_pass(seconds)
            found, after = meter.read(), _asked(crowd, agent.node)
        finally:
            certain(crowd.stdin).close()
            crowd.wait(60.0)
    messages = after["messages"] - before["messages"]
    return {**found, "messages a minute, both ways": round(60 * messages / seconds)}


def _start_crowd(host: Host, folder: str, address: str, invitation: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.hosts.crowd", folder, address]
    crowd = subprocess.Popen(
        [*host.inside, *command, str(PEERS), invitation, str(FIRST_PORT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    if certain(crowd.stdout).readline().strip() != "ready":
        crowd.kill()
        raise RuntimeError("the crowd did not come together")
    return crowd


def _asked(crowd: subprocess.Popen[str], agent: str) -> dict[str, Any]:
    assert crowd.stdin is not None
    crowd.stdin.write(f"{agent}\n")
    crowd.stdin.flush()
    told: dict[str, Any] = json.loads(certain(crowd.stdout).readline())
    return told
