"""A member that lies: its certificate is as good as any, its agent is made by hand.

It greets like every other agent and then says what the agent would never send: records that it signs
itself, that it signs in others' names, that it does not sign, and that it has heard before.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from agent.control.verbs.submitting import submission_of
from agent.net import certificates, identity
from agent.net.certificates import Signer
from agent.net.wire import Kind, frame
from agent.node.agent import Agent
from agent.protocol import messages
from agent.protocol.effects import Verdict
from agent.protocol.messages import PROTOCOL_VERSION, Hello, Message
from agent.protocol.records import (
    PRIORITY_LOW,
    Claim,
    Dataset,
    NodeId,
    Phase,
    Proof,
    Requirements,
    Run,
    TaskId,
    TaskSpec,
    Terminated,
    Workflow,
    WorkflowId,
    WorkflowSpec,
)
from agent.protocol.signing import NoKeys, run_leaf, signed_batch, spec_leaf, with_proof
from tests.driver.nodes import services
from tests.hosts.stranger import Stranger, context_of
from tests.hosts.waiting import eventually
from tests.net.flocks import Node, new_node

AN_HOUR_S = 3_600.0
NOWHERE = Requirements(tags=("a machine that nobody has",))


class HandMadeKeys(NoKeys):
    """What a member signs with, whatever it says; it checks nothing."""

    def __init__(self, node: Node, flock: str) -> None:
        self._node, self.flock = node, flock

    def sign(self, data: bytes) -> bytes:
        return self._node.key.sign(data, certificates.SIGNATURE)


@dataclass
class Scene:
    """An agent with a workflow of its own person, a member that lies to it, and one that is away."""

    agent: Agent
    link: Stranger
    forger: Node
    away: Node
    workflow: WorkflowId
    task: TaskId
    gate: TaskId

    @property
    def victim(self) -> NodeId:
        return self.agent.node_id

    @property
    def spec(self) -> WorkflowSpec:
        return self.agent.table.workflows[self.workflow].spec

    def tell(self, *told: Message) -> None:
        for message in told:
            self.link.writer.write(frame(Kind.MESSAGE, messages.encode(message)))

    def proof(self, found: bytes, of: Node | None = None, signer: NodeId = "") -> Proof:
        """A signature of the forger, or of another member, over any statement."""
        flock = self.agent.flock.flock()
        assert flock is not None
        keys = HandMadeKeys(of or self.forger, flock.flock_id)
        return signed_batch(keys, [found], signer)[0]

    def run(self, host: NodeId, phase: Phase, *, attempt: int = 1) -> Run:
        """A run as nobody has proven it."""
        stamp = (int(time.time() * 1000), 0)
        claim = Claim(1, stamp, host)
        return Run(1, attempt, host, 1, claim, 0, (), 1, phase, stamp)

    def signed(self, run: Run, of: Node | None = None, signer: NodeId = "") -> Run:
        """The same run of the scene's task, signed."""
        proof = self.proof(run_leaf(self.task, run), of, signer)
        return replace(run, more=with_proof(run.more, proof))

    def signed_spec(self, spec: WorkflowSpec) -> WorkflowSpec:
        return replace(spec, more=with_proof(spec.more, self.proof(spec_leaf(spec))))

    @property
    def workflow_now(self) -> Workflow:
        return self.agent.table.workflows[self.workflow]


def success(*outputs: str) -> Terminated:
    return Terminated(tuple(Dataset(each, external=True) for each in outputs))


@asynccontextmanager
async def lied_to(folder: Path) -> AsyncIterator[Scene]:
    """An agent in a flock that signs, linked with the forger. Two older members have the places of
    keepers: who lies is none."""
    async with services(folder, "victim", volunteer="paused") as (agent,):
        await agent.flock.create("office")
        network = agent.network
        assert network is not None
        membership = network.membership
        authority = membership.authority("make members")
        signer = Signer(membership.node_id, identity.own_key(membership.folder))
        before_s = time.time() - AN_HOUR_S
        older = [new_node(authority, f"older{n}", before_s, signer=signer) for n in range(2)]
        forger, away = (new_node(authority, name, signer=signer) for name in ("forger", "away"))
        for node in (*older, forger, away):
            membership.roster.learn(node.member.certificate)
        link = await Stranger.dial(("127.0.0.1", agent.port), context_of(forger, folder))
        await link.greet(forger.node_id, agent.node_id, "one")
        scene = await _submitted(agent, link, forger, away)
        hello = Hello(PROTOCOL_VERSION, "forger", int(time.time() * 1000), 0, False)
        scene.tell(hello)
        await eventually(lambda: bool(agent.now().peers))
        try:
            yield scene
        finally:
            link.close()


async def _submitted(agent: Agent, link: Stranger, forger: Node, away: Node) -> Scene:
    tasks = (
        TaskSpec("step", "step", "tell", requirements=NOWHERE),
        TaskSpec("look", "look", "", gate=True, asks="look at it"),
    )
    event = submission_of("work", "me", agent.node_id, PRIORITY_LOW, tasks)
    answer = await agent.ask(event)
    assert answer.verdict is Verdict.ACCEPTED, answer
    step, look = (each.task for each in event.tasks)
    return Scene(agent, link, forger, away, event.workflow, step, look)
