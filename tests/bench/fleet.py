"""Thirty machines from nothing to one flock: unattended, by one invitation file.

``python -m tests.bench fleet [--json] [--machines 30] [--quick]``. A keeper makes a flock and one
invitation for all. Then thirty machines are started at once: each a network namespace with an own home,
name and ``/etc/wingbeat`` (``tests.hosts.workstation``), in which lie the invitation, defaults and a
policy, and nothing else. Nobody types anything. The time runs from the start of the last to when every
machine has a link to every other; all of them and the keeper share the processor of this one machine.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.api import flock, settings
from agent.api import volunteering as helping
from agent.client import BlockingClient
from tests.bench.report import Figures, Limit
from tests.hosts.lan import Lan
from tests.hosts.waiting import wait_for
from tests.hosts.workstation import Workstation

WHAT = "thirty machines from nothing to one flock, unattended"
MACHINES, QUICK = 30, 4
LINKED_S_MAX = 60.0
GIVEN_UP_S = 600.0
LOOK_EVERY_S = 0.25
DEFAULTS = 'volunteer = "when idle"\n[presence]\nidle_s = 600\n'
POLICY = 'published_programs = "ask"\njoin_requests = false\n'
LIMITS = [
    Limit("all linked, after the last start", "linked s", LINKED_S_MAX, "s"),
    Limit("machines that somebody was asked at", "asked", 0),
    Limit("machines that obey the policy", "obeying", 1.0, "of all", at_least=True),
]
OPTIONS = {"--machines": {"type": int, "default": MACHINES}}


def measure(*, quick: bool, machines: int = MACHINES) -> Figures:
    count = QUICK if quick else machines
    lan = Lan(count + 1)
    try:
        with TemporaryDirectory(prefix="wingbeat-fleet-") as folder, ExitStack() as ended:
            keeper = Workstation(Path(folder, "keeper"), lan.namespace(0))
            ended.callback(keeper.kill)
            keeper.start()
            keeper.up()
            keeper.said("flock", "create", "office")
            file = Path(folder, "office.wingbeat-invitation")
            keeper.said("flock", "invite", "--uses", str(count), "--file", str(file))
            laid_down: dict[str, str | bytes] = {
                "invitation": file.read_bytes(),
                "settings.toml": DEFAULTS,
                "policy.toml": POLICY,
            }
            made = [
                Workstation(Path(folder, f"desk-{number:02}"), lan.namespace(number), laid_down)
                for number in range(1, count + 1)
            ]
            for each in made:
                ended.callback(each.kill)
            return {"machines": count, "cores": os.cpu_count(), **_come_together(keeper, made)}
    finally:
        lan.close()


def _come_together(keeper: Workstation, machines: list[Workstation]) -> Figures:
    began_s, load = time.monotonic(), os.getloadavg()[0]
    for each in machines:
        each.start()
    last_s = time.monotonic()
    for each in machines:
        each.up()
    up_s = time.monotonic()
    with ExitStack() as ended:
        every = [keeper, *machines]
        clients = [ended.enter_context(BlockingClient(each.home)) for each in every]
        waiting = list(clients)

        def all_linked() -> bool:
            waiting[:] = [each for each in waiting if _linked(each) < len(machines)]
            return not waiting

        wait_for(
            all_linked,
            GIVEN_UP_S,
            "all are linked",
            lambda: f"links: {list(map(_linked, clients))}; {machines[0].last_words()}",
            LOOK_EVERY_S,
        )
        linked_s = time.monotonic()
        return {
            "started within s": last_s - began_s,
            "agents up s": up_s - last_s,
            "linked s": linked_s - last_s,
            "tried again": sum(each.log().count("is tried again") for each in machines),
            "asked": sum(map(_asked, clients[1:])),
            "obeying": sum(map(_obeys, clients[1:])) / len(machines),
            "names": len(
                {each.name for each in clients[0].call(flock.MEMBERS, flock.Members()).members}
            ),
            "load": load,
        }


def _linked(client: BlockingClient) -> int:
    peers = client.call(flock.PEERS, flock.Peers()).peers
    return sum(each.state == "linked" for each in peers)


def _asked(client: BlockingClient) -> bool:
    """Whether it waits for a person's word."""
    return bool(client.call(flock.DOCTOR, flock.Doctor()).waiting)


def _obeys(client: BlockingClient) -> bool:
    """Whether what was laid down for it holds there."""
    told = client.call(settings.SETTINGS, settings.Settings())
    rules = client.call(helping.VOLUNTEERING, helping.Volunteering()).rules
    fixed = (told.join_requests, told.origins["join_requests"]) == (False, "policy")
    return fixed and (rules.mode, rules.idle_s) == ("when idle", 600)
