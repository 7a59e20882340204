"""The machines that ask to be let in, as a member knows them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.api.admission import JoinRequested, JoinRequestEnded, JoinRequestView, same_code
from agent.api.errors import MembershipError
from agent.flock.gossip import RequestWord
from agent.net.addresses import Address
from agent.net.enrolment import requests_of
from agent.net.enrolment_messages import DecideRequest, Refused
from agent.net.join_requests import OPEN, JoinRequest
from agent.net.joining import AddressesOf, ask_keeper
from agent.net.membership import Membership
from agent.protocol.records import NodeId

Notify = Callable[[JoinRequested | JoinRequestEnded], None]
Known = Mapping[str, RequestWord]
Outcome = Literal["joined", "refused", "ended"]


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a keeper said, and when, by the monotonic clock: its words count from then."""

    words: Known
    at_s: float


class Admissions:
    """The requests that are known here, of this keeper and of others."""

    def __init__(
        self,
        membership: Membership,
        tell: Callable[[Sequence[RequestWord]], None],
        notify: Notify,
        name_of: Callable[[NodeId], str],
    ) -> None:
        self._membership, self._tell, self._notify = membership, tell, notify
        self._name_of = name_of
        self.own = requests_of(membership, self._changed)
        self._heard: dict[NodeId, _Heard] = {}
        self._announced: dict[str, None] = {}

    # -- for people ------------------------------------------------------------------------

    def requests(self) -> list[JoinRequestView]:
        """Return the requests of machines that wait to be let in or have been let in and not joined
        yet, of this keeper and of those that are linked, the oldest first."""
        found = [view for _, view in self._open()]
        return sorted(found, key=lambda each: (each.asked_ms, each.request))

    async def decide(
        self,
        request: str,
        code: str,
        addresses_of: AddressesOf,
        *,
        admit: bool,
    ) -> JoinRequestView:
        """Let a machine in that asks (``admit``), or refuse it, here or by asking the keeper that
        it asked, and return its request as it was. An empty ``code`` is not compared. Raise
        ``MembershipError`` when this node is no administrator's, the request is over or has another
        code, or that keeper refuses or is not reached; nothing is decided then, as far as is known."""
        self._membership.check_administrator("let machines in")
        found = [each for each in self._open() if each[1].request == request]
        if not found:
            raise MembershipError("This request is over: let the machine ask again.")
        keeper, wanted = found[0]
        if code and not same_code(wanted.code, code):
            raise MembershipError(f"{wanted.name} shows another code, {wanted.code}: compare again")
        if keeper == self._membership.node_id:
            self.own.decide(request, code, admit=admit)
        else:
            await self._pass_on(wanted, addresses_of(keeper), admit=admit)
        return wanted

    # -- for the network -------------------------------------------------------------------

    def told(self) -> list[RequestWord]:
        """Return what this keeper tells other members: all of its open requests."""
        return [self._word(each) for each in self.own.open()]

    def hear(self, peer: NodeId, words: Sequence[RequestWord]) -> None:
        """Take in all open requests that a keeper tells of, in place of those it told of before,
        and announce which are new and which have ended, by its word or because it tells of them no
        more. A peer that is no keeper is ignored."""
        if peer not in self._membership.roster.keepers():
            return
        before = self._heard.pop(peer, _Heard({}, 0.0)).words
        still = {each.request: each for each in words}
        for gone in [each for key, each in before.items() if key not in still]:
            self._ended(gone.request, gone.name, "ended")
        open_ones = {key: each for key, each in still.items() if each.state in OPEN}
        if open_ones:
            self._heard[peer] = _Heard(open_ones, asyncio.get_running_loop().time())
        for word in words:
            self._announce(word, self._name_of(peer))

    def lost(self, peer: NodeId) -> None:
        """Forget the requests that a keeper told of whose link is gone, and announce their end:
        they cannot be answered from here."""
        for word in self._heard.pop(peer, _Heard({}, 0.0)).words.values():
            self._ended(word.request, word.name, "ended")

    def close(self) -> None:
        """Stop the timers of this keeper's own requests, as this node belongs no more, or stops;
        nothing is announced."""
        self.own.close()

    # -- inside ----------------------------------------------------------------------------

    def _open(self) -> Iterator[tuple[NodeId, JoinRequestView]]:
        """Each with the keeper that was asked."""
        own_id, now_s = self._membership.node_id, asyncio.get_running_loop().time()
        heard = {own_id: _Heard({each.request: each for each in self.told()}, now_s), **self._heard}
        for keeper, said in heard.items():
            for word in said.words.values():
                if word.state in OPEN:
                    yield keeper, _view(word, self._name_of(keeper), now_s - said.at_s)

    async def _pass_on(
        self, wanted: JoinRequestView, addresses: Sequence[Address], *, admit: bool
    ) -> None:
        """To the keeper that was asked."""
        question = DecideRequest(wanted.request, wanted.code, admit)
        reports: list[str] = []
        for address in addresses:
            try:
                answer = await ask_keeper(self._membership, address, question)
            except MembershipError as error:
                reports.append(f"{address}: {error}")
                continue
            if isinstance(answer, Refused):
                raise MembershipError(answer.reason)
            return
        told = "; ".join(reports) or "no address of it is known"
        raise MembershipError(f"{wanted.keeper}, which was asked, is not reached: {told}")

    def _changed(self, request: JoinRequest) -> None:
        """One of this keeper's own; the others hear how it ended together with what is left."""
        word = self._word(request)
        self._tell([*self.told(), *([] if word.state in OPEN else [word])])
        self._announce(word, self._name_of(self._membership.node_id))

    def _announce(self, word: RequestWord, keeper: str) -> None:
        if word.state in ("joined", "refused", "ended"):
            self._ended(word.request, word.name, word.state)
        elif word.request not in self._announced:
            self._announced[word.request] = None
            self._notify(JoinRequested(word.request, word.name, word.user, word.code, keeper))

    def _ended(self, request: str, name: str, outcome: Outcome) -> None:
        if request in self._announced:
            del self._announced[request]
            self._notify(JoinRequestEnded(request, name, outcome))

    def _word(self, request: JoinRequest) -> RequestWord:
        assert request.state != "begun"
        age_s = max(0.0, self._membership.clock() - request.asked_s)
        return RequestWord(
            request.request,
            request.name,
            request.user,
            request.address,
            request.code,
            age_s,
            self.own.left_s(request),
            request.state,
        )


def _view(word: RequestWord, keeper: str, since_s: float) -> JoinRequestView:
    now_s = time.time() - since_s
    return JoinRequestView(
        word.request,
        word.name,
        word.user,
        word.address,
        word.code,
        keeper,
        max(0, round((now_s - word.age_s) * 1000)),
        max(0, round((now_s + word.left_s) * 1000)),
        word.state == "admitted",
    )
