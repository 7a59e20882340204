"""What an administrator does with a flock, and what the recovery phrase does where one is missing.

Everything is an act that this machine signs (``acts``); whether it is enough is known before it is
signed (``charter``). What takes another administrator is said, and waits for the same words there; what
takes the phrase is refused without it, with nothing signed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from agent.api.errors import MembershipError, WantsPhraseError
from agent.net.acts import (
    ADMINISTRATOR,
    APPOINTED,
    EXPELLED,
    KEEPER,
    LEFT,
    PHRASE,
    RECOVERED,
    ROLE,
    WITHDRAWN,
    Act,
    Pen,
)
from agent.net.authority import Statement, statement_id
from agent.net.membership import Membership
from agent.net.recovery import Recovery, founded, new_phrase
from agent.net.rights import Rights


async def appoint(
    membership: Membership, node_id: str, what: str, phrase: str = "", *, withdraw: bool = False
) -> list[str]:
    """Make a member an administrator or keeper (``what``), or end that: who was an administrator is
    an operator. Return the names of who has said so where that is not enough yet, else nobody. Raise
    ``MembershipError`` in a flock without acts, on a node that may not say so, for whom is no member,
    to withdraw the only keeper, and when the disk refuses; ``WantsPhraseError`` where the phrase is
    missing."""
    if what == ADMINISTRATOR:
        return await set_role(membership, node_id, "operator" if withdraw else what, phrase)
    return await act_by_voices(
        membership, KEEPER, node_id, WITHDRAWN if withdraw else APPOINTED, phrase
    )


async def set_role(membership: Membership, node_id: str, role: str, phrase: str = "") -> list[str]:
    """Make a member an administrator, operator or helper. Return the names of who has said so where
    that is not enough yet, else nobody; raise what ``appoint`` raises."""
    return await act_by_voices(membership, ROLE, node_id, role, phrase)


async def expel(membership: Membership, node_id: str, phrase: str = "") -> list[str]:
    """Expel a member for ever, and end the invitations that it knew as a keeper; return the names of
    who has said so where that is not enough yet, else nobody. Raise ``MembershipError`` where this
    node may not, for itself or whom is no member, and when the disk refuses; ``WantsPhraseError``
    where the phrase is missing."""
    if not membership.roster.charter:
        await membership.state_expulsion(node_id)
        return []
    missing = await act_by_voices(membership, EXPELLED, node_id, "", phrase)
    await membership.end_known_invitations()
    return missing


async def recover(membership: Membership, phrase: str) -> None:
    """Make this machine the flock's only administrator, and a keeper, by its phrase alone: the way
    back when all others are lost. Raise ``MembershipError`` when it is not the phrase, the flock has
    none, this machine was taken away from its person, or the disk refuses."""
    _check_acts(membership)
    _check_not_lost(membership.roster.charter.rights, membership.node_id)
    recovery = await _recovery(membership, phrase)
    sealed = membership.roster.charter.rights.sealed
    authority = recovery.open(membership.flock, sealed) if sealed is not None else None
    act = Act(RECOVERED, membership.node_id, "", _now(membership))
    await sign_act(membership, recovery.pen, act)
    if authority is not None and not membership.keeper:
        await membership.adopt_authority(authority)


async def check_phrase(membership: Membership, phrase: str) -> None:
    """Raise ``MembershipError`` unless this is the flock's recovery phrase."""
    _check_acts(membership)
    await _recovery(membership, phrase)


async def upgrade(membership: Membership) -> str:
    """Found acts for a flock that has none, with this machine as its administrator and only keeper,
    and return the recovery phrase. Raise ``MembershipError`` on a node that is no keeper, in a flock
    that has acts, or when the disk refuses."""
    if membership.roster.charter:
        raise MembershipError("this flock has administrators already: nothing is to be upgraded")
    authority, roster = membership.authority("upgrade the flock"), membership.roster
    standing, phrase = roster.standing, new_phrase()
    act = await asyncio.to_thread(
        founded,
        authority,
        membership.pen,
        phrase,
        membership.clock(),
        [each.node_id for each in roster.members()],
        [statement_id(each) for each in standing.said.values() if standing.counts(each)],
        [each for each in roster.keepers() if each != membership.node_id],
    )
    await membership.take_acts(act)
    return phrase


async def renew_phrase(membership: Membership, phrase: str = "") -> tuple[str, list[str]]:
    """Draw a new recovery phrase in place of the old one, or agree to the one that another
    administrator has drawn; return it, empty where one was agreed to, and the names of who has said
    so where that is not enough yet. Raise ``MembershipError`` in a flock without acts, on a node that
    is no keeper or no administrator's, and when the disk refuses; ``WantsPhraseError`` where the old
    phrase is missing."""
    authority = membership.authority("seal the flock's key")
    rights = membership.roster.charter.rights
    for each in rights.pending:
        own = rights.person(membership.node_id)
        if each.act.kind == PHRASE and own not in map(rights.person, each.by):
            told = await act_by_voices(
                membership, PHRASE, "", each.act.value, phrase, each.act.data
            )
            return "", told
    fresh = new_phrase()
    recovery = await asyncio.to_thread(Recovery.of, fresh, membership.flock.flock_id)
    data = msgspec.msgpack.encode(recovery.seal(authority))
    return fresh, await act_by_voices(membership, PHRASE, "", recovery.pen.name, phrase, data)


def leaving(membership: Membership) -> Act | None:
    """Return a signed act by which this node leaves, for others to take in; None in a flock without
    acts."""
    roster = membership.roster
    if not roster.charter:
        return None
    kept = tuple(roster.standing.let_in_by(membership.node_id))
    act = Act(LEFT, membership.node_id, "", _now(membership), kept=kept)
    return membership.pen.sign(roster.charter.standing(act))


async def tell_older(membership: Membership) -> None:
    """State, with the authority's key, what the flock's acts say, for members of a version that
    knows no acts; do nothing on a node that is no keeper, or when all is stated. Raise
    ``MembershipError`` when the disk refuses."""
    roster, rights = membership.roster, membership.roster.charter.rights
    wanted = [(each.kind, node_id) for node_id, each in rights.departed.items()]
    wanted += [(KEEPER, node_id) for node_id in rights.keepers if rights.is_keeper(node_id)]
    news = [each for each in wanted if each not in roster.standing.said]
    if not (news and membership.keeper and membership.appointed):
        return
    said: list[Statement] = []
    authority, signer = membership.authority("state"), membership.signer
    for kind, node_id in news:
        kept = tuple(rights.departed[node_id].kept) if node_id in rights.departed else ()
        said.append(authority.state(kind, node_id, membership.clock(), signer, (kept, ())))
    if any(list(map(roster.record, said))):
        await membership.save_roster()


async def act_by_voices(
    membership: Membership, kind: str, whom: str, value: str, phrase: str, data: bytes = b""
) -> list[str]:
    """Sign an act that may take several administrators, also with the recovery ``phrase`` if given.
    Return the names of who has said so where that is not enough yet, else nobody. Raise
    ``MembershipError`` in a flock without acts, where this node may not say so, for a ``whom`` who is
    no member, for another phrase than the flock's, and when the disk refuses; ``WantsPhraseError``,
    with nothing signed, where only the phrase could complete it."""
    _check_acts(membership)
    roster, own = membership.roster, membership.node_id
    rights = roster.charter.rights
    if whom and roster.member(whom) is None:
        raise MembershipError(f"{whom} is not a member: choose one of the members")
    if value == WITHDRAWN and roster.keepers() == [whom]:
        raise MembershipError(
            "this is the only keeper, nobody could join or stay without it: appoint another one first"
        )
    if kind == EXPELLED and whom == own:
        raise MembershipError("this machine does not expel itself: leave the flock instead")
    if value == ADMINISTRATOR:
        _check_not_lost(rights, whom)
    membership.check_administrator("do this")
    recovery = await _recovery(membership, phrase) if phrase else None
    voices = {own, *([recovery.pen.name] if recovery else ())}
    pending = [each.by for each in rights.pending if _is_same(each.act, kind, whom, value, data)]
    voices.update(*pending)
    if not rights.is_agreed(kind, whom, value, voices) and len(rights.others(whom)) < 2:
        raise WantsPhraseError
    kept: Sequence[str] = ()
    if whom in rights.keepers and kind in (EXPELLED, KEEPER) and value != APPOINTED:
        kept = roster.standing.let_in_by(whom)
    act = Act(kind, whom, value, _now(membership), kept=tuple(kept), data=data)
    if recovery is not None:
        await sign_act(membership, recovery.pen, act)
    await sign_act(membership, membership.pen, act)
    left = [
        each.by
        for each in roster.charter.rights.pending
        if _is_same(each.act, kind, whom, value, data)
    ]
    return [_name(membership, each) for by in left for each in by]


async def sign_act(membership: Membership, pen: Pen, act: Act) -> None:
    """Sign an act, on top of all that are known, with this pen and take it in; raise
    ``MembershipError`` where it would not count or the disk refuses."""
    if not await membership.take_acts(pen.sign(membership.roster.charter.standing(act))):
        raise MembershipError(
            "nobody would take this: this machine has signed too much, or may not; do it on another one"
        )


async def _recovery(membership: Membership, phrase: str) -> Recovery:
    flock = membership.flock.flock_id
    recovery = await asyncio.to_thread(Recovery.of, phrase, flock)
    if recovery.pen.name != membership.roster.charter.rights.recovery:
        raise MembershipError(
            f"this is not the recovery phrase of {membership.flock.name}: "
            f"compare it with what was written down"
        )
    return recovery


def _check_acts(membership: Membership) -> None:
    if not membership.roster.charter:
        raise MembershipError(
            "this flock has no administrators yet: upgrade it on a keeper (`wingbeat flock upgrade`)"
        )


def _check_not_lost(rights: Rights, whom: str) -> None:
    if rights.is_lost(whom):
        raise MembershipError(
            "a machine that was taken away from its person administers nothing, for ever under its key: "
            "do it on another one, or leave the flock on it and join again"
        )


def _is_same(act: Act, kind: str, whom: str, value: str, data: bytes) -> bool:
    return (act.kind, act.whom, act.value, act.data) == (kind, whom, value, data)


def _name(membership: Membership, node_id: str) -> str:
    known = membership.roster.known(node_id)
    return known.host_name if known else node_id


def _now(membership: Membership) -> int:
    return int(membership.clock())
