"""This machine joins by itself: by an invitation that was laid down for it when it was installed.

Thirty machines are set up from one share; nobody sits at them. So an agent without a flock looks
for an invitation, in its own settings folder (handed over to its account), then in the machine's
(for all accounts), and joins by it. Where that fails it tries again, ever more rarely, and also where
machines of the flock are heard by multicast: the keeper may be switched off until Monday, or have
another address by then. An invitation that can do no more (used up, over, not one at all)
is tried once, told of, and remembered.

One that was used is deleted where this account may; elsewhere only a hash of it is kept. Either way
it does nothing a second time: whoever leaves the flock does not find the machine in it again after
the next start. What is laid down for all must be alterable by administrators only (``administered``).

What is tried has one task, from ``start`` to ``stop``; all of it in the loop.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from agent.api.errors import InVainError, ServiceError
from agent.api.reasons import Diagnosis
from agent.api.session import FlockChanged
from agent.flock.own_node import OwnNode
from agent.host.administered import NotAdministeredError, WithheldError, read_administered
from agent.host.private_files import write_whole
from agent.net.addresses import Address
from agent.net.invitation import Invitation, parse_invitation

FILE = "invitation-done.json"
FILE_BYTES_MAX = 64 * 1024
INVITATION_BYTES_MAX = 8 * 1024
REMEMBERED_MAX = 16
LOOK_EVERY_S = 60.0
FIRST_PAUSE_S, PAUSE_S_MAX = 1.0, 300.0

log = logging.getLogger(__name__)


class Done(Struct, frozen=True):
    """What became of one invitation, by the hash of its text; ``error`` where it was in vain."""

    digest: str
    outcome: Literal["joined", "in vain", "not needed"]
    error: str = ""


_done = msgspec.json.Decoder(tuple[Done, ...])


@dataclass(frozen=True, slots=True)
class Found:
    """An invitation that was laid down here."""

    path: Path
    text: str

    @property
    def digest(self) -> str:
        """What is remembered of it."""
        return hashlib.sha256(" ".join(self.text.split()).encode()).hexdigest()


class StandingInvitation:
    """Looks for an invitation as long as this node has no flock, and joins by it."""

    def __init__(
        self,
        own: OwnNode,
        join: Callable[[str, Sequence[Address]], Awaitable[object]],
        heard_of: Callable[[str], Awaitable[Sequence[Address]]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._own, self._join, self._heard_of, self._clock = own, join, heard_of, clock
        self._following: asyncio.Task[None] | None = None
        self._given_up: dict[str, str] = {}
        """By hash, with the error. Not for ever where only the clock here says that one is over: it
        may be wrong, so the next start tries once more."""
        self.state: Diagnosis | None = None
        """What is tried, or was tried in vain; None when nothing is to be told."""

    def start(self) -> None:
        """Begin to look, at once and then now and then; to be called in the loop, once."""
        self._following = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Stop looking and joining, and wait until that has ended."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _follow(self) -> None:
        tries = 0
        while True:
            found = await asyncio.to_thread(self._look)
            if not isinstance(found, Found):
                self._become(found)
                tries, pause_s = 0, LOOK_EVERY_S
            else:
                done = await self._try(found)
                tries = 0 if done else tries + 1
                pause_s = min(PAUSE_S_MAX, FIRST_PAUSE_S * 2 ** min(tries, 16))
                pause_s *= random.uniform(0.5, 1.0)
            await asyncio.sleep(pause_s)

    async def _try(self, found: Found) -> bool:
        """Whether that was all there is to do with it."""
        if self._own.network is not None:
            log.info("%s is not needed: this machine has a flock", found.path)
            self._become(None)
            await asyncio.to_thread(self._conclude, found, Done(found.digest, "not needed"))
            return True
        try:
            invitation = parse_invitation(found.text)
            return await self._joined(found, invitation)
        except InVainError as error:
            await self._in_vain(found, str(error), lasting=True)
            return True

    async def _joined(self, found: Found, invitation: Invitation) -> bool:
        pending = _pending(found, invitation, self.state)
        self._become(pending)
        try:
            heard = await self._heard_of(invitation.flock_id) if pending.error else ()
            await self._join(found.text, heard)
        except InVainError:
            raise
        except ServiceError as error:
            return await self._failed(found, invitation, str(error))
        log.info("joined by the invitation in %s", found.path)
        self._become(None)
        await asyncio.to_thread(self._conclude, found, Done(found.digest, "joined"))
        return True

    async def _failed(self, found: Found, invitation: Invitation, error: str) -> bool:
        if invitation.expires_s <= self._clock():
            await self._in_vain(found, error, lasting=False)
            return True
        if self.state is None or self.state.error != error:
            log.warning("joining by the invitation in %s is tried again: %s", found.path, error)
        self._become(_pending(found, invitation, self.state, error))
        return False

    async def _in_vain(self, found: Found, error: str, *, lasting: bool) -> None:
        log.warning("this machine did not join by the invitation in %s: %s", found.path, error)
        self._become(_vain(found.path, error))
        self._given_up[found.digest] = error
        if lasting:
            done = Done(found.digest, "in vain", error)
            await asyncio.to_thread(self._conclude, found, done)

    def _become(self, state: Diagnosis | None) -> None:
        if state == self.state:
            return
        self.state = state
        if self._own.network is None:
            self._own.notify(FlockChanged(""))

    # -- files, beside the loop ------------------------------------------------------------------

    def _look(self) -> Found | Diagnosis | None:
        """The first that may still do something here; else why one cannot."""
        home, vain = self._own.home, None
        errors = {**{each.digest: each.error for each in self._remembered()}, **self._given_up}
        for path in (home.invitation, *([home.machine.invitation] if home.machine else [])):
            try:
                found = self._read(path)
            except NotAdministeredError as error:
                vain = vain or _vain(path, str(error))
                continue
            if found is not None and found.digest not in errors:
                return found
            if found is not None and errors[found.digest]:
                vain = vain or _vain(path, errors[found.digest])
        return vain

    def _read(self, path: Path) -> Found | None:
        try:
            if path == self._own.home.invitation:
                with path.open("rb") as file:
                    content: bytes | None = file.read(INVITATION_BYTES_MAX)
            else:
                content = read_administered(path, INVITATION_BYTES_MAX)
        except (WithheldError, OSError):  # it is for another account, or there is none
            return None
        return None if content is None else Found(path, content.decode("utf-8", "replace"))

    def _remembered(self) -> tuple[Done, ...]:
        try:
            with (self._own.home.data / FILE).open("rb") as file:
                return _done.decode(file.read(FILE_BYTES_MAX))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return ()

    def _conclude(self, found: Found, done: Done) -> None:
        """First remembered, then deleted: one that stays must not be used again."""
        self._given_up[found.digest] = done.error
        kept = [each for each in self._remembered() if each.digest != done.digest]
        content = msgspec.json.encode((*kept, done)[-REMEMBERED_MAX:])
        try:
            write_whole(self._own.home.data / FILE, content)
        except OSError as error:
            log.warning("that %s is done is not kept: %s", found.path, error)
        if done.outcome != "in vain":
            with suppress(OSError):  # an administrator's, which others here may still need
                found.path.unlink()


def _vain(path: Path, error: str) -> Diagnosis:
    return Diagnosis("InvitationInVain", folder=str(path), error=error)


def _pending(
    found: Found, invitation: Invitation, before: Diagnosis | None, error: str = ""
) -> Diagnosis:
    """What is told while it is tried; the last error stays until there is another one."""
    places = tuple(str(each) for each in invitation.addresses)
    if not error and before is not None and before.kind == "JoinsByInvitation":
        error = before.error
    return Diagnosis("JoinsByInvitation", places=places, folder=str(found.path), error=error)
