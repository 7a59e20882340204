"""Keys of simulated machines: real ones, which sign alike in every run of a seed.

A live node signs with the key of its certificate; a signature of that kind has chance in it. These are
of a kind that has none. What the ids of a workflow bind is asked of the people who submitted it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec.structs import replace

from agent.protocol.records import (
    SIGNED,
    Life,
    More,
    NodeId,
    Pruning,
    Wish,
    Workflow,
    WorkflowSpec,
)
from agent.protocol.signing import Keys, NoKeys, Roots, Trust, proof_in, run_leaf
from tests.sim.failure import Broken

if TYPE_CHECKING:
    from tests.sim.simulation import Simulation

ADMINISTRATORS = 2
"""The first machines of a flock are."""
SEEDS_PER_SIGNED, SIGNED_SEED = 4, 1
"""The flock signs in the runs of every fourth seed, but where they are about one request that reaches
two machines: those are two workflows then."""


@cache
def key_of(node: NodeId) -> Ed25519PrivateKey:
    """Return the key of the machine with this id, the same in each run."""
    return Ed25519PrivateKey.from_private_bytes(sha256(b"sim " + node.encode()).digest())


@cache
def public_key_of(node: NodeId) -> Ed25519PublicKey:
    """Return the public half of it."""
    return key_of(node).public_key()


class SimulatedKeys:
    """What a machine signs and checks with."""

    flock = "simulated"

    def __init__(self, simulation: Simulation, node: NodeId) -> None:
        self._simulation, self._node = simulation, node

    def sign(self, data: bytes) -> bytes:
        """Sign as this machine."""
        return key_of(self._node).sign(data)

    def is_signed(self, signer: NodeId, data: bytes, signature: bytes) -> bool:
        """Check as every machine does."""
        if signer not in self._simulation.by_id:
            return False
        try:
            public_key_of(signer).verify(signature, data)
        except InvalidSignature:
            return False
        return True

    def binds(self, spec: WorkflowSpec) -> bool:
        """Somebody has submitted just these tasks under this id on that machine."""
        clients = self._simulation.clients
        job, machine = clients.jobs.get(spec.workflow), self._simulation.by_id.get(spec.host)
        if job is None or machine is None:
            return False
        return spec.tasks == job.tasks and clients.homes.get(spec.workflow) == machine.index


def keys_of(simulation: Simulation, node: NodeId) -> Keys:
    """Return the keys of a machine, which are none where the run is not about them: they cost time."""
    return SimulatedKeys(simulation, node) if simulation.plan.signed else NoKeys()


def trust_of(simulation: Simulation, since_ms: int) -> Trust:
    """Return whose word counts: of the first two machines as administrators."""
    machines = simulation.plan.machines[:ADMINISTRATORS]
    return Trust(since_ms, tuple(machine.node for machine in machines))


Record = TypeVar("Record", Life, Workflow, Pruning)


def bare(records: Mapping[str, Record]) -> dict[str, Record]:
    """Return the records without their proofs, in which copies may differ: a node keeps what it wrote
    without them, and signs it when it is asked for it. Of two who wished the same either is named."""
    return {key: _bare(record) for key, record in records.items()}


def _bare(record: Record) -> Record:
    if isinstance(record, Pruning):
        return replace(record, proof=None)
    if isinstance(record, Life):
        runs = tuple(replace(run, more=_without(run.more)) for run in record.runs)
        return replace(record, runs=runs, wishes=tuple(map(_anybodys, record.wishes)))
    spec = replace(record.spec, more=_without(record.spec.more))
    retried = None if record.retried is None else _anybodys(record.retried)
    priority = replace(record.priority, proof=None)
    tasks = tuple(replace(each, wish=replace(each.wish, proof=None)) for each in record.tasks)
    return replace(record, spec=spec, priority=priority, tasks=tasks, retried=retried)


def _without(more: More) -> More:
    return {name: raw for name, raw in more.items() if name != SIGNED}


def _anybodys(wish: Wish) -> Wish:
    return replace(wish, by="anybody", proof=None)


def everything_is_proven(simulation: Simulation) -> None:
    """Where the flock signs, what a machine has of another one carries its proof."""
    for machine in simulation.running():
        if machine.node is None or simulation.trust.since_ms is None:
            continue
        roots = Roots(keys_of(simulation, machine.node_id))
        for task, life in machine.node.table.lives.items():
            for run in life.runs:
                proof = proof_in(run.more)
                if run.host == machine.node_id or run.stamp[0] <= simulation.trust.since_ms:
                    continue
                if not roots.proves(proof, run.host, run_leaf(task, run)):
                    raise Broken("all is proven", f"{machine} has {run}", task)
