"""The keys of the flock's members, as the protocol signs and checks with them.

A node signs with the key of its certificate, and others find that in the roster; there is no other
key to be lost. Before it belongs to a flock nobody is there who could check, and nothing is signed.

What the ids of a workflow bind is made where submissions are (``agent.control``), and made again here.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.control.naming import task_id
from agent.control.rights import HELPER
from agent.flock.network import FlockNetwork
from agent.net.membership import Membership
from agent.protocol.identity import CONTENT, KEY, called, content_of, text_in, workflow_id
from agent.protocol.records import NodeId, WorkflowSpec


class MemberKeys:
    """Asks the membership that this node has at the moment, by its network."""

    def __init__(self, network: Callable[[], FlockNetwork | None]) -> None:
        self._network = network

    def _membership(self) -> Membership | None:
        network = self._network()
        return None if network is None else network.membership

    @property
    def flock(self) -> str:
        """The id of the flock; empty without one."""
        membership = self._membership()
        return "" if membership is None else membership.flock.flock_id

    def sign(self, data: bytes) -> bytes:
        """Return this node's signature of these bytes; nothing without a flock."""
        membership = self._membership()
        return b"" if membership is None else membership.sign(data)

    def is_signed(self, signer: NodeId, data: bytes, signature: bytes) -> bool:
        """Tell whether this is the signature of a member, or of somebody who was one."""
        membership = self._membership()
        return membership is not None and membership.is_signed(signer, data, signature)

    def role(self, node: NodeId) -> str:
        """Return what a member is in the flock; a helper without one."""
        membership = self._membership()
        return HELPER if membership is None else membership.roster.standing.role(node)

    def binds(self, spec: WorkflowSpec) -> bool:
        """Tell whether a workflow's id and its tasks' ids are the digests that they should be, of
        its content, its submitter and its node; False too where two tasks share a name."""
        names = {each.task: each.name for each in spec.tasks}
        if len(set(names.values())) < len(spec.tasks):
            return False
        if any(task_id(spec.workflow, name) != task for task, name in names.items()):
            return False
        content = content_of(spec.name, called(spec.tasks, lambda task: names[task]))
        key = text_in(spec.more, KEY)
        if text_in(spec.more, CONTENT) != content:
            return False
        return workflow_id(spec.submitter, key, content, spec.host) == spec.workflow
