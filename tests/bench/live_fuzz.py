"""One real agent against whoever reaches its port: garbage, mutants, strangers, replays.

``python -m tests.bench live_fuzz [--frames 1000000] [--seed N] [--json] [--quick]``. The agent
has a peer, finished work in its table, and must not notice: it lives, its table stays, its memory
does not grow, it logs no fault, whoever sends what is no message loses its link, no connection without a
valid certificate gets as far as a greeting, and nobody comes to belong or ceases to by the word of
an expelled keeper. Afterwards it still works.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from tempfile import TemporaryDirectory

from agent.api import flock
from agent.api.admission import JoinRequested
from agent.node.agent import PROGRAMS_EVERY_S
from tests.bench import live_attacks, live_intruders
from tests.bench.live_attacks import Target
from tests.bench.report import Figures, Limit
from tests.hosts.host import Host
from tests.hosts.hosts import Hosts, nap
from tests.hosts.stranger import run_in
from tests.hosts.waiting import let_pass

WHAT = "one real agent against garbage, mutants, strangers and replays"
ATTACKS = live_attacks.ATTACKS | live_intruders.ATTACKS
FRAMES = 1_000_000
OPTIONS = {
    "--frames": {"type": int, "default": FRAMES},
    "--seed": {"type": int, "default": SystemRandom().randrange(10**9)},
    "--only": {"nargs": "+", "choices": ATTACKS, "default": tuple(ATTACKS)},
}
SLICES, WARM_UP_SLICES = 10, 5
REST_S = PROGRAMS_EVERY_S + 5.0
GROWTH_MB_MAX = 4.0
NOTHING = (
    *("crashes", "changes of the table", "faults in the log"),
    *("malformed frames that cost no link", "strangers let in", "strangers given something"),
    *("requests beyond the bound", "requests told that nobody made", "intruders that are members"),
)
GROWN, WORKED = "MB grown in the second half", "hosts that worked afterwards"
LIMITS = (
    *(Limit(each, each, 0) for each in NOTHING),
    Limit("memory grown in the second half", GROWN, GROWTH_MB_MAX, "MB"),
    Limit(WORKED, WORKED, 2, at_least=True),
)
FAULT_WORDS = ("the node failed at", "Traceback", "fault of", "could not be carried out")


@dataclass
class Attack:
    hosts: Hosts
    target: Target
    figures: Figures = field(default_factory=dict)
    chosen: Sequence[str] = ()

    @property
    def agent(self) -> Host:
        return self.hosts[0]

    def run(self, frames: int) -> None:
        """All attacks, a tenth at a time. What is bounded fills up in the first half (members,
        refusals, parts of unknown lives); what still grows in the second half is not bounded.

        What a crowd of connections needed for a moment is the C library's until the agent gives it
        back to the system, which it does twice a minute; the two readings that are compared are
        taken behind that, all are stated."""
        table = self.agent.table()
        memory_mb = []
        rested_mb = []
        for number in range(1, SLICES + 1):
            self._attack(frames // SLICES)
            memory_mb.append(round(self.agent.memory_mb(), 1))
            if number in (WARM_UP_SLICES, SLICES):
                let_pass(REST_S)
                rested_mb.append(round(self.agent.memory_mb(), 1))
        self.figures["MB after each tenth"] = memory_mb
        self.figures["MB after half and all, at rest"] = rested_mb
        self.figures[GROWN] = rested_mb[1] - rested_mb[0]
        self.figures["crashes"] = int(not self.agent.alive)
        self.figures["changes of the table"] = int(self.agent.table() != table)
        self.figures["intruders that are members"] = self._intruders()
        self.figures["requests told that nobody made"] = self._made_up()
        log = self.agent.log()
        self.figures["faults in the log"] = sum(log.count(words) for words in FAULT_WORDS)

    def _intruders(self) -> int:
        """Members that nobody who may has let in, and those that were pushed out."""
        reply = self.agent.call(flock.MEMBERS, flock.Members())
        names = {each.name for each in reply.members if not each.name.startswith("attacker")}
        return len(names ^ {host.name for host in (self.hosts[0], self.hosts[1])})

    def _made_up(self) -> int:
        """Requests that the agent told of by the word of somebody that it never made a keeper."""
        members = self.agent.call(flock.MEMBERS, flock.Members()).members
        keepers = {each.name for each in members if each.keeper}
        told = [each for _, each in self.agent.happenings(JoinRequested)]
        return sum(each.name == "made up" and each.keeper not in keepers for each in told)

    def _attack(self, frames: int) -> None:
        outside = self.hosts[2].spot.namespace
        for name in self.chosen:
            attack = ATTACKS[name]
            sys.stderr.write(f"{name} …\n")
            found = run_in(outside, attack(self.target, frames))
            for key, value in found.items():
                self.figures[key] = self.figures.get(key, 0) + value


def measure(
    *, quick: bool, frames: int = FRAMES, seed: int = 1, only: Sequence[str] = tuple(ATTACKS)
) -> Figures:
    """The whole run, or only some of the attacks of it."""
    sys.stderr.write(f"seed {seed}\n")
    with TemporaryDirectory() as folder, Hosts(3, namespaces=True) as hosts:
        agent, peer = hosts[0], hosts[1]
        hosts.make_flock([agent, peer])
        agent.submit("before", [nap(f"before{n}", 0.2) for n in range(20)])
        hosts.wait_finished(peer, "before", 60.0)
        target = Target(agent, hosts.lan.address(0), Path(folder), Random(seed), peer=peer.node)
        run_in(hosts[2].spot.namespace, live_attacks.record(target, peer))
        hosts.wait_equal([agent, peer])
        attack = Attack(
            hosts,
            target,
            {"seed": seed, "load": os.getloadavg()[0]} | dict.fromkeys(NOTHING, 0),
            only,
        )
        attack.run(20_000 if quick else frames)
        peer.submit("after", [nap(f"after{n}", 0.5) for n in range(6)])
        hosts.wait_finished(agent, "after", 60.0)
        attack.figures[WORKED] = len(
            {trace.host for trace in hosts.traces() if trace.name.startswith("after")}
        )
    return attack.figures
