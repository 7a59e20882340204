"""Keepers tell each other their invitations, so that any of them can let in whom one invited.

The hashes of secrets go to keepers only: who knows one can pass for a keeper towards a newcomer.
It is a question of a keeper to a keeper under ``wingbeat-join/1``, answered with the other's book,
and done with all at once and for a short time only, because nobody may wait for a keeper that is
switched off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from agent.api.errors import MembershipError
from agent.net.enrolment_messages import BookIs, ShareBook
from agent.net.joining import AddressesOf, ask_keeper
from agent.net.membership import Membership

SHARING_S_MAX = 4.0
"""For a keeper at work on a busy machine; a newcomer waits this long twice (``EXCHANGE_S_MAX``)."""


async def share_book(
    membership: Membership, addresses_of: AddressesOf, among: Collection[str] | None = None
) -> list[str]:
    """Exchange invitations with all other keepers, or with ``among`` only; return the ids of those
    that answered in time. Do nothing on a node that is no keeper."""
    if not membership.keeper:
        return []
    keepers = [
        each
        for each in membership.roster.keepers()
        if each != membership.node_id and (among is None or each in among)
    ]
    asking = [asyncio.create_task(_share(membership, each, addresses_of)) for each in keepers]
    if not asking:
        return []
    _, late = await asyncio.wait(asking, timeout=SHARING_S_MAX)
    for task in late:
        task.cancel()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    return [keeper for keeper, answer in zip(keepers, answers, strict=True) if answer is True]


async def _share(membership: Membership, keeper: str, addresses_of: AddressesOf) -> bool:
    for address in addresses_of(keeper):
        question = ShareBook(membership.book().entries)
        try:
            answer = await ask_keeper(membership, address, question)
            if isinstance(answer, BookIs):
                await membership.join_book(answer.entries)
                return True
        except MembershipError:
            continue
    return False
