"""Keepers tell each other their invitations, so that any of them can let in whom one invited.

The hashes of secrets go to keepers only: who knows one can pass for a keeper towards a newcomer.
It is a question of a keeper to a keeper under ``wingbeat-join/1``, answered with the other's book,
and done with all at once and for a short time only, because nobody may wait for a keeper that is
switched off.
"""

from __future__ import annotations

import asyncio

from agent.net.enrolment_messages import BookIs, ShareBook
from agent.net.joining import AddressesOf, ask_keeper
from agent.net.membership import Membership
from agent.net.refusals import MembershipError

SHARING_S_MAX = 4.0
"""For a keeper at work on a busy machine; two such waits fit into the limit of one exchange."""


async def share_book(membership: Membership, addresses_of: AddressesOf) -> int:
    """Joins the books of all keepers that answer in time; how many did."""
    if not membership.keeper:
        return 0
    keepers = [each for each in membership.roster.keepers() if each != membership.node_id]
    asking = [asyncio.create_task(_share(membership, each, addresses_of)) for each in keepers]
    if not asking:
        return 0
    done, late = await asyncio.wait(asking, timeout=SHARING_S_MAX)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return sum(task.result() for task in done)


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
