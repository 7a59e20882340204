"""Presence as clients see it, and their rules as it takes them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agent.api import volunteering as api
from agent.api.errors import RefusedError, ServiceError
from agent.api.reasons import as_why, text_of
from agent.api.rpc import ErrorCode
from agent.presence.looking import running_programs
from agent.presence.rules import OWN_NAMES
from agent.presence.watching import PresenceState, PresenceWatcher
from agent.presence.words import FRESH_S
from agent.protocol.phrases import said


class Volunteering:
    """What clients ask of presence, and are told; ``attributed`` adds whose word the rules are."""

    def __init__(
        self,
        watcher: PresenceWatcher,
        attributed: Callable[[api.VolunteeringView], api.VolunteeringView],
    ) -> None:
        self._watcher, self._attributed = watcher, attributed

    def view(self) -> api.VolunteeringView:
        """Return whether this machine helps and why, by what was seen last."""
        return self._attributed(_view(self._watcher.state()))

    async def look(self) -> api.VolunteeringView:
        """Return the same after a look at every source, needed or not."""
        return self._attributed(_view(await self._watcher.look()))

    async def running(self) -> tuple[str, ...]:
        """Return the names of the programs that the owner of this agent runs here, Wingbeat's own
        left out, as the system lists them now; raise ``ServiceError`` where it does not."""
        try:
            names = await asyncio.to_thread(running_programs)
        except OSError as error:
            why = error.strerror or str(error)
            wrong = said(
                "The programs that run here cannot be listed ({why}): write their names yourself.",
                why=why,
            )
            raise RefusedError(ErrorCode.REFUSED, wrong) from None
        return tuple(each for each in names if each.casefold() not in OWN_NAMES)

    def heard(self, person: str, said: api.AtHand) -> float:
        """Note what the desktop of a person shows of them, and return for how long it counts."""
        self._watcher.words.hear(person, said)
        return FRESH_S

    async def pause(self, wanted: api.Pause) -> api.VolunteeringView:
        """Pause helping, over restarts too, until tomorrow, for a while or until it is resumed, and
        return the view after that; what runs is suspended at once, or may end first. Waits until it
        is on disk; a disk that refuses is only logged."""
        watcher, until_s = self._watcher, None
        if wanted.until_tomorrow:
            until_s = watcher.tomorrow_s()
        elif wanted.for_s is not None:
            until_s = time.time() + wanted.for_s
        (watcher.finish_then_pause if wanted.finish_first else watcher.pause)(until_s)
        await watcher.kept()
        return self.view()

    async def resume(self) -> api.VolunteeringView:
        """End the pause, or the wish to pause after what runs, wait until that is on disk, and
        return the view; whether the machine helps then is for its rules to say."""
        self._watcher.resume()
        await self._watcher.kept()
        return self.view()

    async def set_rules(self, told: api.VolunteerRules) -> api.VolunteeringView:
        """Help by these rules in place of those before, also after a restart, and return the view;
        raise ``ServiceError``, and change nothing, for such as are wrong or cannot be saved."""
        if any(each.begins == "24:00" for each in told.hours):
            raise ServiceError("one of the hours is no time of a day: write from 00:00 to 24:00.")
        await self._watcher.set_rules(told)
        return self.view()


def _view(state: PresenceState) -> api.VolunteeringView:
    """Return whether this machine helps and why, as clients see it."""
    until_s = state.paused_until_s
    return api.VolunteeringView(
        state.volunteering,
        state.owner_present,
        text_of(state.reason),
        state.rules,
        state.paused,
        None if until_s is None else round(until_s * 1000),
        state.finishing,
        tuple(
            api.SourceView(
                each.kind.value,
                each.sees,
                each.needed and not each.sees,
                text_of(each.why),
                max(0, round(each.read_s * 1000)),
                each.standing,
                as_why(each.why),
            )
            for each in state.sources
        ),
        as_why(state.reason),
        state.own_work,
    )
