"""Nine real agents go by each of the rules that a flock can be told to go by, chosen by the command.

``python -m tests.bench live_policies [--quick] [--json]``. For each rule an administrator's command at one
of the agents, until all nine go by it; then a workflow of 30 tasks in three layers, and two agents are
killed while it is under way. What is counted: tasks that did not end, that ended twice, that were started
again although nobody lost them, and agents that go by something else when the two are back.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence

from agent.api import settings
from agent.protocol.policy import CHOSEN, flock_rules
from tests.bench.report import Figures, Sheet, Verdict
from tests.hosts.hosts import Hosts, nap
from tests.hosts.waiting import wait_for

WHAT = "nine real agents under each of the rules: 30 tasks, two agents killed"
HOSTS, LAYERS, WIDTH = 9, 3, 10
CHOOSES, SUBMITS, KILLED = 4, 0, (2, 7)
LIMIT_S = 120.0
RULES = tuple(each.name for each in CHOSEN)
QUICK = ("FCFS", "BFGCE")
WRONG = ("did not end", "ended twice", "started again for nothing", "agents by other rules")


def measure(*, quick: bool = False) -> Figures:
    """Each rule on the same nine agents, one after the other."""
    figures: Figures = {"load before": os.getloadavg()[0], "rules": {}}
    with Hosts(HOSTS) as hosts:
        hosts.make_flock()
        for rules in QUICK if quick else RULES:
            figures["rules"][rules] = under(hosts, rules)
    return figures | {"load after": os.getloadavg()[0]}


def under(hosts: Hosts, rules: str) -> Figures:
    """Return what went wrong under these rules, and how long choosing and working took."""
    chosen_s = time.monotonic()
    hosts[CHOOSES].said("settings", "--policy", rules)
    wait_for(lambda: _others(hosts, rules) == 0, LIMIT_S, f"all go by {rules}")
    began_s = time.monotonic()
    mark = f"{rules}-{time.time_ns()}"
    names = _submit(hosts, mark)
    wait_for(lambda: len(_begun(hosts, mark)) > WIDTH, LIMIT_S, "a third has begun")
    for number in KILLED:
        hosts[number].kill()
    killed_at_s = time.time()
    hosts.wait_finished(hosts[SUBMITS], mark, LIMIT_S)
    ended_s = time.monotonic()
    ends = [each for each in hosts.traces() if each.word == "end"]
    ended = Counter(each.name for each in ends)
    survivors = Counter(each.name for each in ends if each.host not in KILLED)
    wanted = flock_rules[rules].copies.share > 0  # some rules begin whatever runs again, on purpose
    again = 0 if wanted else _again(hosts, names, killed_at_s)
    hosts.restart([hosts[number] for number in KILLED])
    hosts.wait_linked()
    hosts.wait_equal()
    return {
        "did not end": sum(not ended[name] for name in names),
        "ended twice": sum(survivors[name] > 1 for name in names),
        "started again for nothing": again,
        "agents by other rules": _others(hosts, rules),
        "s until all know": began_s - chosen_s,
        "s for the workflow": ended_s - began_s,
    }


def _submit(hosts: Hosts, mark: str) -> Sequence[str]:
    tasks = [
        nap(
            f"{mark}-{layer}-{n}",
            1.2 + 0.1 * n,
            inputs=[f"{mark}-{layer - 1}-{n}"] if layer else [],
        )
        for layer in range(LAYERS)
        for n in range(WIDTH)
    ]
    hosts[SUBMITS].submit(mark, tasks)
    return [each.id for each in tasks]


def _others(hosts: Hosts, rules: str) -> int:
    said = hosts.each(lambda host: host.call(settings.SETTINGS, settings.Settings()).rules)
    return sum(each != rules for each in said)


def _begun(hosts: Hosts, mark: str) -> set[str]:
    return {each.name for each in hosts.traces() if each.word == "start" and mark in each.name}


def _again(hosts: Hosts, names: Sequence[str], killed_at_s: float) -> int:
    """Tasks that were started more than once, but for those that a killed agent had in hand."""
    starts: dict[str, list[tuple[float, int]]] = {name: [] for name in names}
    for each in hosts.traces():
        if each.word == "start" and each.name in starts:
            starts[each.name].append((each.at_s, each.host))
    return sum(
        len(those) > 1 and not (those[0][1] in KILLED and those[0][0] <= killed_at_s)
        for those in starts.values()
    )


def judge(figures: Figures) -> list[Verdict]:
    """Return a verdict for each rule: nothing may go wrong under any."""
    return [
        Verdict(f"{rules}: tasks and agents that went wrong", sum(found[what] for what in WRONG), 0)
        for rules, found in figures["rules"].items()
    ]


def sheets(figures: Figures) -> list[Sheet]:
    """Return one table of all rules."""
    lines = [
        [rules, *(found[what] for what in WRONG), *(round(found[what], 1) for what in TIMES)]
        for rules, found in figures["rules"].items()
    ]
    return [Sheet("Thirty tasks, two agents killed", ["rules", *WRONG, *TIMES], lines)]


TIMES = ("s until all know", "s for the workflow")
