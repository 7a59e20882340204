"""This machine asks a flock to let it in: one request at a time, followed until its end.

It joins when a person at the flock has let it in *and* a person here has said that both see the
same code, in whatever order. Without the second, whoever stands first in the list of flocks nearby
could take this machine for a flock of its own. A request lives as long as this agent does; nothing
of it is on disk before the machine has joined.
"""

from __future__ import annotations

import asyncio
import getpass
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from agent.api.errors import ServiceError
from agent.flock.facts import AskFacts, AskMoved, NearbyFacts
from agent.flock.nearby import NearbyFlocks
from agent.flock.own_node import OwnNode
from agent.net.addresses import AddressError, parse_address
from agent.net.asking import Door, Request, begin_request
from agent.net.comparison import same_code
from agent.net.exchange import NotThereError
from agent.net.refusals import MembershipError

FOLLOW_EVERY_S = 1.0
USER_LENGTH_MAX = 64
OPEN = ("waiting", "admitted")
UNDER_WAY = (*OPEN, "joining")
NOT_ANSWERED = "nobody there has answered in time"
NOT_CONFIRMED = "it was let in, and nobody here has said in time that the codes are the same"

log = logging.getLogger(__name__)


class OwnJoinRequest:
    """What a person wants of flocks nearby."""

    def __init__(
        self,
        own: OwnNode,
        check_port: Callable[[], None],
        join: Callable[[Request], Awaitable[object]],
    ) -> None:
        self._own, self._check_port, self._join_asked = own, check_port, join
        self._lookout = NearbyFlocks(own.settings, lambda: own.network, discover=own.discovers)
        self._request: Request | None = None
        self._facts = AskFacts()
        self._following: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()

    # -- what is asked ---------------------------------------------------------------------

    async def nearby(self) -> tuple[list[NearbyFacts], str]:
        """The flocks here, and why none can be heard."""
        return await self._lookout.flocks(), self._lookout.trouble

    def asked(self) -> AskFacts:
        """What has become of the request."""
        return self._facts

    async def ask(self, reference: str) -> AskFacts:
        """Ask a flock to let this machine in, in place of an earlier request; people there see it
        when this returns. Raise ``ServiceError`` when this machine has a flock, ``MembershipError``
        when asking fails."""
        own = self._own
        if own.network is not None:
            verb = "was sent away from" if own.network.expelled else "belongs already to"
            name = own.network.membership.flock.name
            raise ServiceError(
                f"This machine {verb} the flock {name}: leave that first (`wingbeat flock leave`)."
            )
        async with self._beginning:
            return await self._begin(reference)

    async def _begin(self, reference: str) -> AskFacts:
        own = self._own
        await self._withdraw()
        door = await self._door(reference)
        self._check_port()
        request = await begin_request(own.home.identity, door, own.name, _user())
        outcome = await request.outcome()
        self._request = request
        ends_s = time.time() + outcome.left_s
        flock, keeper = door.flock.name, door.keeper
        log.info("asked %s of the flock %s to be let in", keeper, flock)
        self._become(AskFacts("waiting", flock, keeper, request.code, ends_s))
        self._following = asyncio.create_task(self._follow(request))
        return self._facts

    def confirm(self, code: str) -> AskFacts:
        """Note that a person has found the codes equal: join as soon as this machine is let in.
        Raise ``ServiceError`` for another code or without a request."""
        if self._facts.state not in UNDER_WAY:
            raise ServiceError("This machine asks no flock at present: ask one first.")
        if not same_code(self._facts.code, code):
            raise ServiceError(
                f"That is not the code of this request, which is {self._facts.code}: if the keeper "
                f"shows another one, somebody stands between; withdraw, and look who that may be."
            )
        self._facts = replace(self._facts, confirmed=True)
        return self._facts

    async def withdraw(self) -> AskFacts:
        """Ask no more, also when the asking has only begun."""
        async with self._beginning:
            return await self._withdraw()

    async def _withdraw(self) -> AskFacts:
        if self._facts.state in OPEN:
            request = self._request
            self._end_following()
            self._become(replace(self._facts, state="ended", reason="it was withdrawn here"))
            if request is not None:
                with suppress(MembershipError):  # it ends there by itself
                    await request.withdraw()
        return self._facts

    async def close(self) -> None:
        """Stop following the request and listening for flocks, as this agent stops or has joined in
        another way."""
        following = self._following
        self._end_following()
        if following is not None:
            await asyncio.gather(following, return_exceptions=True)
        await self._lookout.close()

    # -- inside ----------------------------------------------------------------------------

    async def _door(self, reference: str) -> Door:
        """The keeper of the flock that is meant: by id, by name, or by its address."""
        flocks = await self._lookout.flocks()
        found = [each for each in flocks if reference == each.flock_id] or [
            each for each in flocks if each.name.casefold() == reference.strip().casefold()
        ]
        if len(found) > 1:
            ids = ", ".join(each.flock_id for each in found)
            raise ServiceError(
                f"Several flocks here call themselves {reference}: ask the one that is meant by "
                f"its id ({ids}), and compare the codes with care."
            )
        if found:
            return await self._lookout.door_of(found[0].flock_id)
        return await self._door_at(reference, flocks)

    async def _door_at(self, reference: str, flocks: list[NearbyFacts]) -> Door:
        names = ", ".join(each.name or each.flock_id for each in flocks) or "none"
        try:
            address = parse_address(reference)
        except AddressError as error:
            raise ServiceError(
                f"No flock nearby is called {reference} (there are: {names})."
            ) from error
        try:
            return await self._lookout.door_at([address])
        except MembershipError as error:
            raise ServiceError(
                f"No flock nearby is called {reference} (there are: {names}), and no keeper of a "
                f"flock answers at that address ({error}): see that one is switched on, or ask "
                f"for an invitation."
            ) from error

    async def _follow(self, request: Request) -> None:
        """Until it is over. A keeper that is not reached for a while may be again."""
        while self._request is request and self._facts.state in OPEN:
            await asyncio.sleep(FOLLOW_EVERY_S)
            if self._own.network is not None:
                await self._withdraw()
                return
            try:
                outcome = await request.outcome()
            except NotThereError as error:
                self._unreached(error)
                continue
            except MembershipError as error:
                self._over(str(error))
                return
            ends_s = time.time() + outcome.left_s
            self._facts = replace(self._facts, expires_s=ends_s, reason="")
            if outcome.state == "refused":
                self._become(replace(self._facts, state="refused", reason="somebody there refused"))
            elif outcome.state in ("ended", "joined"):
                let_in = self._facts.state == "admitted"
                self._over(NOT_CONFIRMED if let_in else NOT_ANSWERED)
            elif outcome.state != self._facts.state:
                self._become(replace(self._facts, state=outcome.state))
            if self._facts.state == "admitted" and self._facts.confirmed:
                await self._join(request)
                return

    async def _join(self, request: Request) -> None:
        self._become(replace(self._facts, state="joining"))
        try:
            await self._join_asked(request)
        except (ServiceError, MembershipError) as error:
            self._over(str(error))
            return
        self._become(replace(self._facts, state="joined"))

    def _unreached(self, error: NotThereError) -> None:
        if time.time() > self._facts.expires_s:
            self._over(f"{self._facts.keeper} was not reached any more ({error})")
        else:
            told = f"{self._facts.keeper} cannot be reached just now ({error})"
            self._facts = replace(self._facts, reason=told)

    def _over(self, reason: str) -> None:
        log.info("the request to join %s is over: %s", self._facts.flock, reason)
        self._become(replace(self._facts, state="ended", reason=reason))

    def _become(self, facts: AskFacts) -> None:
        moved = facts.state != self._facts.state or facts.flock != self._facts.flock
        self._facts = facts
        if facts.state not in UNDER_WAY:
            self._request = None
        if moved:
            self._own.notify(AskMoved(facts.state, facts.flock))

    def _end_following(self) -> None:
        following, self._following = self._following, None
        if following is not None and following is not asyncio.current_task():
            following.cancel()


def _user() -> str:
    """Who runs this agent; a service may run as nobody whom the system knows."""
    try:
        return getpass.getuser()[:USER_LENGTH_MAX]
    except (KeyError, OSError, ImportError):
        return ""
