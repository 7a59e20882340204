"""Nine real hosts: how soon they know each other, notice a loss, agree again and dispatch.

``python -m tests.bench live_flock [--json] [--quick] [SCENARIO…]``. The agents are real processes
on hosts of their own (``tests.hosts``) on one machine, whose cores they share with whatever else
runs there: the load is stated beside the figures. Moments are those that the nodes themselves
noted in their events and the programs in their evidence; all read the same clock. All hosts share
one disk, which real ones do not: ``TMPDIR=/dev/shm`` tells what remains without it.

A start is counted from the moment when the last agent listens; what the process needed before
that is stated beside it, because nine processes on the cores of one machine start later than nine
machines do.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from agent.api import session, work
from tests.bench import live_work
from tests.bench.report import Figures, Limit
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts, nap
from tests.hosts.waiting import wait_for

WHAT = "nine real hosts: starts, losses, healing, outage, dispatch"
HOSTS = 9
LIMIT_S = 60.0
ADDRESS_BOOK = "addresses.json"
KNOWN_S, KILLED_S, CUT_S, BACK_S, EQUAL_S = 3.0, 1.0, 6.0, 3.0, 2.0
TABLE_TASKS = 1_000


def measure(*, quick: bool, only: Sequence[str] = ()) -> Figures:
    """All scenarios on one flock, each leaves it whole."""
    figures: Figures = {"hosts": HOSTS, "cores": os.cpu_count(), "load before": os.getloadavg()[0]}
    with Hosts(HOSTS, namespaces=True) as hosts:
        hosts.make_flock()
        for name, scenario in SCENARIOS.items():
            if not only or name in only:
                sys.stderr.write(f"{name} …\n")
                found = scenario(hosts, quick)
                figures |= {f"{name}: {key}": value for key, value in found.items()}
    figures["load after"] = os.getloadavg()[0]
    return figures


# -- they find each other ------------------------------------------------------------------------


def start(hosts: Hosts, quick: bool, *, forget: bool) -> Figures:
    """As after a power cut, when they remember where the others were; or with nobody that remembers
    an address, so that only multicast brings them together."""
    hosts.each(Host.stop)
    if forget:
        for host in hosts:
            (host.home.data / ADDRESS_BOOK).unlink(missing_ok=True)
    hosts.restart()
    last_process_s = max(host.started_s for host in hosts)
    up_s = max(host.listening_s for host in hosts)
    hosts.wait_linked()
    known_s = max(_all_met_at(host, host.started_s) for host in hosts)
    return {
        "s from the last agent's listening until all know all": max(0.0, known_s - up_s),
        "s from the last process's start until all know all": max(up_s, known_s) - last_process_s,
        "s that the last process needed to listen": up_s - last_process_s,
    }


def _all_met_at(host: Host, since_s: float) -> float:
    """When it was linked with the last of the others; those that it met before it could tell
    clients of it do not count."""
    first: dict[str, float] = {}
    for at_s, changed in host.happenings(session.PeerChanged, since_s):
        first.setdefault(changed.node, at_s)
    return max(first.values(), default=host.listening_s)


# -- losses ---------------------------------------------------------------------------------------


def killed(hosts: Hosts, quick: bool) -> Figures:
    """An agent dies with a task of its own; the kernel resets its links."""
    return _losses(hosts, "killed", Host.kill, lambda host: hosts.restart([host]), quick)


def cut(hosts: Hosts, quick: bool) -> Figures:
    """A host falls silent with a task of its own."""
    return _losses(hosts, "cut", hosts.cut, hosts.mend, quick)


def _losses(
    hosts: Hosts,
    how: str,
    lose: Callable[[Host], object],
    bring: Callable[[Host], object],
    quick: bool,
) -> Figures:
    seen: list[float] = []
    again: list[float] = []
    for number in range(1 if quick else 3):
        name = f"{how}{number}-{time.time_ns()}"
        victim, others = _victim_with_task(hosts, name)
        lost_s = time.time()
        lose(victim)
        seen.append(_noticed(others, victim, lost_s))
        again.append(_started_again(hosts, victim, name) - lost_s)
        others[0].call(work.CANCEL, work.Cancel(name))
        bring(victim)
        hosts.wait_linked()
        hosts.wait_equal()
    return {
        "s until seen by all": max(seen),
        "s until its task runs elsewhere": max(again),
        "times": len(seen),
    }


def _victim_with_task(hosts: Hosts, name: str) -> tuple[Host, list[Host]]:
    hosts[0].submit(name, [nap(name, 120.0)])
    wait_for(lambda: bool(_starts(hosts, name)), LIMIT_S, f"{name} runs")
    owner = _starts(hosts, name)[0][1]
    wait_for(
        lambda: all(host.tasks(name)[0].state.value == "Running" for host in hosts),
        LIMIT_S,
        f"all know that {name} runs",
    )
    return hosts[owner], [host for host in hosts if host.number != owner]


def _starts(hosts: Hosts, name: str) -> list[tuple[float, int]]:
    return [
        (trace.at_s, trace.host)
        for trace in hosts.traces()
        if trace.word == "start" and trace.name == name
    ]


def _noticed(others: Sequence[Host], victim: Host, since_s: float) -> float:
    """Until the last of the others had no link with it any more."""
    _wait_noticed(others, victim)
    return max(max(_changes(host, victim, since_s)) for host in others) - since_s


def _wait_noticed(others: Sequence[Host], victim: Host) -> None:
    wait_for(
        lambda: all(victim.name not in host.linked() for host in others),
        LIMIT_S,
        f"the loss of {victim.name} is seen",
        poll_s=0.2,
    )


def _changes(host: Host, victim: Host, since_s: float) -> list[float]:
    return [
        at_s
        for at_s, changed in host.happenings(session.PeerChanged, since_s)
        if changed.node == victim.node
    ]


def _started_again(hosts: Hosts, victim: Host, name: str) -> float:
    def elsewhere() -> list[float]:
        return [at_s for at_s, host in _starts(hosts, name) if host != victim.number]

    wait_for(lambda: bool(elsewhere()), LIMIT_S, f"{name} runs elsewhere")
    return elsewhere()[0]


# -- healing --------------------------------------------------------------------------------------


def back(hosts: Hosts, quick: bool) -> Figures:
    """A host was away while both sides got work; its cable is plugged in again."""
    victim, others = hosts[HOSTS - 1], list(hosts)[: HOSTS - 1]
    mark, half = f"back-{time.time_ns()}", TABLE_TASKS // 4
    others[0].submit(f"{mark}-both", _gates(2 * half))
    hosts.wait_equal()
    hosts.cut(victim)
    wait_for(lambda: not victim.linked(), LIMIT_S, "the cut is seen")
    _wait_noticed(others, victim)
    others[0].submit(f"{mark}-many", _gates(half))
    victim.submit(f"{mark}-one", _gates(half))
    mended_s = hosts.mend(victim)
    hosts.wait_linked()
    back_s = max(
        _all_met_at(victim, mended_s),
        *(min(_changes(host, victim, mended_s)) for host in others),
    )
    began_s = time.time()
    equal_s = began_s + hosts.wait_equal()
    for name in ("both", "many", "one"):
        others[0].call(work.CANCEL, work.Cancel(f"{mark}-{name}"))
    return {
        "s until all are linked again": back_s - mended_s,
        "s from then until the tables are equal": max(0.0, equal_s - back_s),
        "tasks in the tables": TABLE_TASKS,
    }


def _gates(count: int) -> list[work.Task]:
    return [work.Task(f"gate{number}", gate=True, asks="nothing") for number in range(count)]


SCENARIOS: dict[str, Callable[[Hosts, bool], Figures]] = {
    "start cold": partial(start, forget=True),
    "start warm": partial(start, forget=False),
    "killed": killed,
    "cut": cut,
    "back": back,
    "partition": live_work.partition,
    "outage": live_work.outage,
    "dispatch": live_work.dispatch,
}
LIMITS = [
    Limit(f"{name}: {key}", f"{name}: {key}", most, unit)
    for name, key, most, unit in (
        ("start cold", "s from the last agent's listening until all know all", KNOWN_S, "s"),
        ("start warm", "s from the last agent's listening until all know all", KNOWN_S, "s"),
        ("killed", "s until seen by all", KILLED_S, "s"),
        ("killed", "s until its task runs elsewhere", KILLED_S, "s"),
        ("cut", "s until seen by all", CUT_S, "s"),
        ("cut", "s until its task runs elsewhere", CUT_S, "s"),
        ("back", "s until all are linked again", BACK_S, "s"),
        ("back", "s from then until the tables are equal", EQUAL_S, "s"),
        *live_work.LIMITS,
    )
]
OPTIONS = {"only": {"nargs": "*", "choices": [[], *SCENARIOS], "help": "only these"}}
