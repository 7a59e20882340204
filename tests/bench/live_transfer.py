"""A gigabyte between two hosts: how fast, how much memory, and do the agents go on meanwhile.

``python -m tests.bench live_transfer [--json] [--quick]``. The same size is moved by a plain TLS copy
between the same two hosts (``tests.bench.plain_copy``) and by the agents, in turn; both end when it is
flushed to the disk. The agents do more: the content is hashed, kept under its hash, and told to
peers. Memory is what both processes hold resident at most, above what they held before. During one
more transfer tasks that do nothing are dispatched one after the other, and timed as ``live_flock``
times them; its speed is told and not compared, because the faster the dispatches, the more of them
share the cores with it. Both ends and the clients share the cores of this machine.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable

from agent.api import datasets
from agent.storage.datasets.store import DatasetStore
from tests.bench import live_work
from tests.bench.live_idle import resident_mb
from tests.bench.plain_copy import make_certificate
from tests.bench.report import Figures, Limit, quantile
from tests.certain import certain
from tests.hosts.hosts import Hosts
from tests.hosts.waiting import wait_for
from tests.style.source import REPOSITORY

WHAT = "a gigabyte between two hosts, against a plain TLS copy"
SIZE_BYTES, SIZE_QUICK_BYTES = 1_000_000_000, 50_000_000
TIMES = 3
IDLE_DISPATCHES = 30
PORT = 31_500
LIMIT_S = 120.0
SHARE_MIN, MEMORY_MB_MAX, MEDIAN_MS_MAX, P99_MS_MAX = 0.6, 100.0, 10.0, 100.0
BLOCK_BYTES = 1_000_000
LIMITS = (
    Limit("share of the plain copy", "share of the plain copy, medians", SHARE_MIN, at_least=True),
    Limit("extra memory of an agent", "extra MB, of the one with more", MEMORY_MB_MAX, "MB"),
    Limit("dispatch meanwhile, median", "dispatch meanwhile, median ms", MEDIAN_MS_MAX, "ms"),
    Limit("dispatch meanwhile, p99", "dispatch meanwhile, p99 ms", P99_MS_MAX, "ms"),
)


def measure(*, quick: bool) -> Figures:
    size = SIZE_QUICK_BYTES if quick else SIZE_BYTES
    figures: Figures = {"bytes": size, "times": TIMES, "load before": os.getloadavg()[0]}
    with Hosts(2, namespaces=True) as hosts:
        names = _fill(hosts, size)
        hosts.make_flock()
        idle_ms = live_work.dispatched(hosts, "idle", lambda number: number < IDLE_DISPATCHES)
        before_mb = [host.memory_mb() for host in hosts]
        plain: list[float] = []
        ours: list[float] = []
        meanwhile: list[float] = []
        for number in range(TIMES):
            plain.append(_plain(hosts, number))
            ours.append(_fetched(hosts, names[number]))
        beside_s = _fetched(
            hosts,
            names[TIMES],
            lambda more: meanwhile.extend(live_work.dispatched(hosts, "busy", lambda _: more())),
        )
        peaks_mb = [resident_mb(host.process_id, "VmHWM") for host in hosts]
        extra_mb = [peak - before for peak, before in zip(peaks_mb, before_mb, strict=True)]
        figures |= {
            "plain MB/s": [size / each / 1e6 for each in plain],
            "agents MB/s": [size / each / 1e6 for each in ours],
            "agents MB/s, with dispatches": size / beside_s / 1e6,
            "share of the plain copy": min(plain) / min(ours),
            "share of the plain copy, medians": sorted(plain)[TIMES // 2]
            / sorted(ours)[TIMES // 2],
            "extra MB, giving and taking": extra_mb,
            "extra MB, of the one with more": max(extra_mb),
            "dispatches idle": len(idle_ms),
            "dispatch idle, median ms": quantile(idle_ms, 0.5),
            "dispatches meanwhile": len(meanwhile),
            "dispatch meanwhile, median ms": quantile(meanwhile, 0.5),
            "dispatch meanwhile, p99 ms": quantile(meanwhile, 0.99),
            "load after": os.getloadavg()[0],
        }
    return figures


def _fill(hosts: Hosts, size: int) -> list[str]:
    """What is moved lies in the store of the first host before its agent starts."""
    for host in hosts:
        host.settle(slots=4)
    make_certificate(hosts.folder / "certificate.pem")
    store = DatasetStore(hosts[0].home.data / "datasets")
    found = []
    for number in range(TIMES + 1):
        path = hosts.folder / f"content{number}"
        with path.open("wb") as file:
            block = os.urandom(BLOCK_BYTES)
            for place in range(size // BLOCK_BYTES):
                file.write(hashlib.sha256(f"{number} {place}".encode()).digest() + block[32:])
        found.append(store.keep(path).dataset)
    store.close()
    os.sync()
    return found


def _plain(hosts: Hosts, number: int) -> float:
    """Seconds of a plain copy; the file is removed again."""
    place = [str(hosts.folder / "certificate.pem"), hosts.lan.address(0), str(PORT)]
    module = [sys.executable, "-m", "tests.bench.plain_copy"]
    copy = hosts.folder / "copy"
    giver = subprocess.Popen(
        [*hosts[0].inside, *module, "give", *place, str(hosts.folder / f"content{number}")],
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    try:
        assert certain(giver.stdout).readline()
        command = [*hosts[1].inside, *module, "take", *place, str(copy)]
        told = subprocess.run(command, check=True, capture_output=True, cwd=REPOSITORY)
        assert copy.stat().st_size == (hosts.folder / f"content{number}").stat().st_size
    finally:
        giver.kill()
        giver.communicate()
        copy.unlink(missing_ok=True)
    return float(told.stdout)


def _fetched(
    hosts: Hosts, dataset: str, meanwhile: Callable[[Callable[[], bool]], None] = lambda _: None
) -> float:
    """Seconds until it is on the disk of the second host; something may be done until then."""
    done_s: list[float] = []
    began_s = time.monotonic()
    asked = hosts[1].client.ask(datasets.DATASET_FILES, datasets.DatasetFiles(dataset))
    asked.add_done_callback(lambda _: done_s.append(time.monotonic()))
    meanwhile(lambda: not asked.done())
    assert asked.result(LIMIT_S).dataset == dataset
    wait_for(lambda: bool(done_s), LIMIT_S, "its end is told")
    return done_s[0] - began_s
