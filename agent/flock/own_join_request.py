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

from msgspec.structs import replace

from agent.api.admission import AskChanged, AskView, NearbyFlock, NearbyReply, same_code
from agent.api.errors import MembershipError, ServiceError
from agent.flock.nearby import NearbyFlocks
from agent.flock.own_node import OwnNode
from agent.host.key_store import native_key_store
from agent.net.addresses import AddressError, parse_address
from agent.net.asking import Door, Request, begin_request
from agent.net.joining import NotThereError

FOLLOW_EVERY_S = 1.0
USER_LENGTH_MAX = 64
OPEN = ("waiting", "admitted")
UNDER_WAY = (*OPEN, "joining")
NOT_ANSWERED = "nobody there has answered in time"
NOT_CONFIRMED = "it was let in, and nobody here has said in time that the codes are the same"

log = logging.getLogger(__name__)


class OwnJoinRequest:
    """This machine's request to join a flock nearby, and who those are."""

    def __init__(
        self,
        own: OwnNode,
        check_port: Callable[[], None],
        join: Callable[[Request], Awaitable[object]],
    ) -> None:
        self._own, self._check_port, self._join_asked = own, check_port, join
        self._lookout = NearbyFlocks(own.settings, lambda: own.network, discover=own.discovers)
        self.heard_of = self._lookout.heard_of
        self._request: Request | None = None
        self._view = AskView("none")
        self._following: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()

    # -- what is asked ---------------------------------------------------------------------

    async def nearby(self) -> NearbyReply:
        """Look for flocks on this network, for some seconds the first time; return them, and why
        the network cannot be listened to (empty when it can)."""
        return NearbyReply(tuple(await self._lookout.flocks()), self._lookout.trouble)

    def asked(self) -> AskView:
        """Return what has become of the request; the last one that ended too, in state ``none``
        before the first."""
        return self._view

    async def ask(self, reference: str) -> AskView:
        """Ask a flock, by its name, its id or a keeper's address, to let this machine in; people
        there see the request when this returns. An earlier one is withdrawn first, also where asking
        fails then. Raise ``ServiceError`` when this machine has a flock, several or none are meant,
        the port cannot be had, or asking fails."""
        own = self._own
        if own.network is not None:
            verb = "was sent away from" if own.network.expelled else "belongs already to"
            name = own.network.membership.flock.name
            raise ServiceError(
                f"This machine {verb} the flock {name}: leave that first (`wingbeat flock leave`)."
            )
        async with self._beginning:
            return await self._begin(reference)

    async def _begin(self, reference: str) -> AskView:
        own = self._own
        await self._withdraw()
        door = await self._door(reference)
        self._check_port()
        store = native_key_store(own.home.identity)
        request = await begin_request(own.home.identity, door, own.name, _user(), store=store)
        outcome = await request.outcome()
        self._request = request
        ends_ms = _now_ms() + round(outcome.left_s * 1000)
        flock, keeper = door.flock.name, door.keeper
        log.info("asked %s of the flock %s to be let in", keeper, flock)
        self._become(AskView("waiting", flock, keeper, request.code, ends_ms))
        self._following = asyncio.create_task(self._follow(request))
        return self._view

    def confirm(self, code: str) -> AskView:
        """Note that a person has found the codes equal, so that this machine joins, a little later,
        once it is let in; return the request. Raise ``ServiceError`` for another code or without a
        request under way."""
        if self._view.state not in UNDER_WAY:
            raise ServiceError("This machine asks no flock at present: ask one first.")
        if not same_code(self._view.code, code):
            raise ServiceError(
                f"That is not the code of this request, which is {self._view.code}: if the keeper "
                f"shows another one, somebody stands between; withdraw, and look who that may be."
            )
        self._view = replace(self._view, confirmed=True)
        return self._view

    async def withdraw(self) -> AskView:
        """Withdraw the request, waiting first for an asking that has begun, and return it as it is
        then; do nothing when none is open or this machine is joining already. A keeper that is not
        reached is not told: the request ends there by itself."""
        async with self._beginning:
            return await self._withdraw()

    async def _withdraw(self) -> AskView:
        if self._view.state in OPEN:
            request = self._request
            self._end_following()
            self._become(replace(self._view, state="ended", reason="it was withdrawn here"))
            if request is not None:
                with suppress(MembershipError):  # it ends there by itself
                    await request.withdraw()
        return self._view

    async def close(self) -> None:
        """Stop following the request and listening for flocks, and wait until both have ended; the
        keeper is not told."""
        following = self._following
        self._end_following()
        if following is not None:
            await asyncio.gather(following, return_exceptions=True)
        await self._lookout.close()

    # -- inside ----------------------------------------------------------------------------

    async def _door(self, reference: str) -> Door:
        """The keeper of the flock that is meant: by id, by name, or by its address."""
        flocks = await self._lookout.flocks()
        found = [each for each in flocks if reference == each.flock] or [
            each for each in flocks if each.name.casefold() == reference.strip().casefold()
        ]
        if len(found) > 1:
            ids = ", ".join(each.flock for each in found)
            raise ServiceError(
                f"Several flocks here call themselves {reference}: ask the one that is meant by "
                f"its id ({ids}), and compare the codes with care."
            )
        if found:
            return await self._lookout.door_of(found[0].flock)
        return await self._door_at(reference, flocks)

    async def _door_at(self, reference: str, flocks: list[NearbyFlock]) -> Door:
        names = ", ".join(each.name or each.flock for each in flocks) or "none"
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
        while self._request is request and self._view.state in OPEN:
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
            ends_ms = _now_ms() + round(outcome.left_s * 1000)
            self._view = replace(self._view, expires_ms=ends_ms, reason="")
            if outcome.state == "refused":
                self._become(replace(self._view, state="refused", reason="somebody there refused"))
            elif outcome.state in ("ended", "joined"):
                let_in = self._view.state == "admitted"
                self._over(NOT_CONFIRMED if let_in else NOT_ANSWERED)
            elif outcome.state != self._view.state:
                self._become(replace(self._view, state=outcome.state))
            if self._view.state == "admitted" and self._view.confirmed:
                await self._join(request)
                return

    async def _join(self, request: Request) -> None:
        self._become(replace(self._view, state="joining"))
        try:
            await self._join_asked(request)
        except ServiceError as error:
            self._over(str(error))
            return
        self._become(replace(self._view, state="joined"))

    def _unreached(self, error: NotThereError) -> None:
        if _now_ms() > self._view.expires_ms:
            self._over(f"{self._view.keeper} was not reached any more ({error})")
        else:
            told = f"{self._view.keeper} cannot be reached just now ({error})"
            self._view = replace(self._view, reason=told)

    def _over(self, reason: str) -> None:
        log.info("the request to join %s is over: %s", self._view.flock, reason)
        self._become(replace(self._view, state="ended", reason=reason))

    def _become(self, view: AskView) -> None:
        moved = view.state != self._view.state or view.flock != self._view.flock
        self._view = view
        if view.state not in UNDER_WAY:
            self._request = None
        if moved:
            self._own.notify(AskChanged(view.state, view.flock))

    def _end_following(self) -> None:
        following, self._following = self._following, None
        if following is not None and following is not asyncio.current_task():
            following.cancel()


def _now_ms() -> int:
    return round(time.time() * 1000)


def _user() -> str:
    """Who runs this agent; a service may run as nobody whom the system knows."""
    try:
        return getpass.getuser()[:USER_LENGTH_MAX]
    except (KeyError, OSError, ImportError):
        return ""
