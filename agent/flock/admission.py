"""The machines that ask to be let in, as a member knows them, and what a person does about it.

The keeper that was asked holds a request; the other members hear of it by gossip, so that a person
at any of them can be told that somebody waits. Only a keeper lets anybody in, by the act of a person
there: at the keeper that was asked, or at another one, which passes the decision on.
"""

from __future__ import annotations

from agent.api.errors import ServiceError
from agent.flock.facts import JoinRequestFacts
from agent.flock.own_node import OwnNode
from agent.net.refusals import MembershipError


class Admission:
    """What people of this node do about requests."""

    def __init__(self, own: OwnNode) -> None:
        self._own = own

    def requests(self) -> list[JoinRequestFacts]:
        """All that are open; none without a flock."""
        network = self._own.network
        return [] if network is None else network.admissions.requests(self._own.name_of)

    async def decide(self, request: str, code: str, *, admit: bool) -> JoinRequestFacts:
        """Let in or not; raises ``ServiceError``."""
        network = self._own.network
        wanted = [each for each in self.requests() if each.request == request]
        if network is None or not wanted:
            raise ServiceError("This request is over: let the machine ask again.")
        try:
            await network.admissions.decide(wanted[0], code, network.addresses_of, admit=admit)
        except MembershipError as error:
            raise ServiceError(str(error)) from error
        return wanted[0]
