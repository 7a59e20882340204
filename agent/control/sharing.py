"""Whose work a workflow is, and who else may act on it and read what it prints.

It is its submitter's: of the person on whose machine it was submitted, or from whose it was submitted
here. Whom he named may do what he may; nobody else, whatever name he goes by. Members are named by their
ids, which are their keys; names of people are what they typed.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Raw

from agent.control.naming import find_member
from agent.control.request_context import RequestContext
from agent.protocol.identity import SHARED, shared_in, text_in
from agent.protocol.people import People
from agent.protocol.records import More, NodeId, WorkflowSpec

BY = "by"
"""By which name a record carries the member that has submitted it elsewhere."""
OPERATORS, EVERYBODY, NOBODY = "operators", "everybody", "nobody"
_encode = msgspec.msgpack.Encoder().encode


def shared(call: RequestContext, named: Sequence[str]) -> More:
    """Return what a submission carries of whose it is, and of whom its person names, by the setting of
    this machine where nothing is said. Raises ``RefusedError`` for a member that is unknown."""
    told: dict[str, Raw] = {}
    if call.member:
        told[BY] = Raw(_encode(call.member_node))
    known = named or (call.now.shared_with if not call.member else ())
    ids = [_one(call, each) for each in known if each != NOBODY]
    if ids:
        told[SHARED] = Raw(_encode(",".join(ids)))
    return told


def submitted_by(spec: WorkflowSpec) -> NodeId:
    """Return the member whose work it is."""
    return text_in(spec.more, BY) or spec.host


def is_shared_with(spec: WorkflowSpec, node: NodeId, role: str, people: People) -> bool:
    """Tell whether a member of this role may act on a workflow as its submitter may: what is shared with
    one machine of a person is shared with all of his."""
    named = shared_in(spec.more)
    if EVERYBODY in named or any(people.owns(node, each) for each in named):
        return True
    return OPERATORS in named and role != "helper"


def _one(call: RequestContext, named: str) -> str:
    if named in (OPERATORS, EVERYBODY):
        return named
    return find_member(call.rooms.flock.members(), named).node
