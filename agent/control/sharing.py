"""Whom a submission names that may act on it as its submitter may (``agent.protocol.identity``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Raw

from agent.api.errors import RefusedError
from agent.api.rpc import ErrorCode
from agent.control.naming import find_member
from agent.control.request_context import RequestContext
from agent.protocol.events import Submit
from agent.protocol.identity import BY, EVERYBODY, NOBODY, OPERATORS, SHARED, submitted_by
from agent.protocol.origins import carrying, given_to
from agent.protocol.phrases import said
from agent.protocol.records import Dataset, More

_encode = msgspec.msgpack.Encoder().encode


async def attached(call: RequestContext, event: Submit, named: Sequence[str]) -> More:
    """Return what a submission carries of whose it is, and of whom its person names, by the setting of
    this machine where nothing is said; and what shows that he has the data that it takes. Raises
    ``RefusedError`` for a member that is unknown, and for data or results that are not for him."""
    return _shared(call, named) | await _data_shown(call, event)


def _shared(call: RequestContext, named: Sequence[str]) -> More:
    told: dict[str, Raw] = {}
    if call.member:
        told[BY] = Raw(_encode(call.member_node))
    known = named or (call.now.shared_with if not call.member else ())
    ids = [_one(call, each) for each in known if each != NOBODY]
    if ids:
        told[SHARED] = Raw(_encode(",".join(ids)))
    return told


async def _data_shown(call: RequestContext, event: Submit) -> More:
    asker, rooms = call.member_node or call.now.node, call.rooms.datasets
    given = {each.dataset: each for spec in event.tasks for each in given_to(spec)}
    own = {spec.task for spec in event.tasks}
    needed = {ref.task for spec in event.tasks for ref in spec.inputs}.difference(own)
    theirs = await rooms.not_for(asker, given, needed)
    if theirs is not None:
        raise RefusedError(
            ErrorCode.UNAUTHORISED,
            said(
                "it takes data of {workflow}, which are for {submitter} on {host} and whom they share"
                " it with: ask there",
                workflow=theirs.name,
                submitter=theirs.submitter,
                host=call.now.name_of(submitted_by(theirs)),
            ),
        )
    return carrying(await shown_with(call, given.values(), event.workflow))


async def shown_with(call: RequestContext, named: Iterable[Dataset], whose: str) -> bytes:
    """Return the proof, for the record named ``whose``, that the asking member or this machine has
    the named data, as far as they are kept by the flock and lie here; empty in a flock that does
    not sign. Raises ``RefusedError`` where they cannot be read."""
    asker = call.member_node or call.now.node
    kept = [each.dataset for each in named if not each.external]
    try:
        return await call.rooms.datasets.shown(asker, kept, whose)
    except OSError as error:
        raise RefusedError(
            ErrorCode.REFUSED, said("the data cannot be read here: {error}", error=str(error))
        ) from error


def _one(call: RequestContext, named: str) -> str:
    if named in (OPERATORS, EVERYBODY):
        return named
    return find_member(call.rooms.flock.members(), named).node
