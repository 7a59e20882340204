"""Whether this machine helps now: watched in a thread, decided by ``agent.presence``, told to the node.

Looking may take a moment (a screen server that hangs, a bus), so it has a thread of its own. What
it decides is told in the loop: not the verdict that the thread had when it asked to, but the newest,
so that a pause cannot be overtaken by what was seen before it.

The node is told when something changes; when somebody moved the mouse last is told to whoever asks,
by ``state``.

All methods are for the loop in which ``start`` was called.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from msgspec import structs

from agent.api.errors import ServiceError
from agent.api.reasons import NO_REASON, Reason
from agent.api.volunteering import OwnWork, VolunteerRules, own_work
from agent.presence.conditions import description, required
from agent.presence.hours import tomorrow_s
from agent.presence.judgement import (
    Bar,
    Cause,
    Finishing,
    Memory,
    Now,
    Paused,
    Unpaused,
    Verdict,
    Wish,
)
from agent.presence.kept_absences import KeptAbsences
from agent.presence.looking import Looker
from agent.presence.pause import keep_wish, read_wish
from agent.presence.readings import Kind, Readings, Unseen
from agent.presence.rules import faults
from agent.presence.sources import Sources
from agent.presence.verdict import (
    LOOK_WHILE_RUNNING_S,
    barred,
    effective,
    held_back_by,
    needed,
    verdict,
)
from agent.presence.words import Words
from agent.protocol.events import PresenceChanged

TOMORROW_HOUR = 8
"""A pause until tomorrow ends then, by the local clock."""
TEST_FOR_S = 3.0
"""So long all sources are watched after somebody asked what they see."""
LOOK_ANEW_AFTER_S = 1.0
"""Whoever asks sooner is told what was seen then."""
ANSWER_WITHIN_S = 5.0
JOIN_S = 2.0

PASSING = frozenset({"at_ms", "since_ms", "percent", "size_mb", "load_percent"})
"""Moments and amounts in reasons that are another at every look."""
MOMENT_STEP_MS = 1_000
"""By so much a reason's moment has to be later to be told anew; ages are counted by who shows them."""

Hand = Callable[[PresenceChanged | None, Reason, bool], None]
"""Told of every change: the event, or None where the node knows it and only the reason is another; the
reason for whoever sits here; whether it is paused."""

log = logging.getLogger(__name__)


Standing = Literal["unasked", "unseen", "free", "holds"]
"""What a source means by the rules, pause or not: nothing, because none asks it or it cannot see;
that the machine may help; or that it may not."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """What one kind of source saw last."""

    kind: Kind
    sees: bool
    needed: bool
    """A rule asks for it now; where it cannot see then, the machine counts as used."""
    standing: Standing
    why: Reason
    """What it sees, or why it cannot."""
    read_s: float
    """When, in seconds since 1970; 0 before the first look."""


@dataclass(frozen=True, slots=True)
class PresenceState:
    """Everything that explains whether this machine helps, and what may begin of what was submitted
    here."""

    volunteering: bool
    own_work: OwnWork
    owner_present: bool
    cause: Cause | Kind
    reason: Reason
    rules: VolunteerRules
    paused: bool
    paused_until_s: float | None
    """Seconds since 1970; None where it is not paused, or until somebody resumes."""
    finishing: bool
    sources: tuple[SourceState, ...]


class PresenceWatcher:
    """Watches, decides, and tells ``hand`` in the loop whenever the node has to know."""

    def __init__(
        self,
        data: Path,
        rules: VolunteerRules,
        keep_rules: Callable[[VolunteerRules], object],
        *,
        starts_paused: bool,
        running: Callable[[], int],
        hand: Hand,
        make_sources: Callable[[], Sources],
    ) -> None:
        self._data, self._keep_rules = data, keep_rules
        self._changing_rules, self._writing = asyncio.Lock(), threading.Lock()
        self._running, self._hand, self.make_sources = running, hand, make_sources
        self.words = Words()
        """Of people's trays, where this agent is a service."""
        self._changed = threading.Condition()
        self._rules = rules
        self._wish: Wish = Paused() if starts_paused else read_wish(data)
        self._written: Wish | None = self._wish
        """What was written of it last; None when a person has asked for something since."""
        self._bar: Bar = ""
        self._keeping: asyncio.Future[None] | None = None
        self._readings = Readings()
        self._read_s: dict[Kind, float | None] = {}
        self._memory = Memory()
        now = _now()
        self._verdict = verdict(rules, self._wish, self._readings, self._memory, now)
        self._memory = self._verdict.memory
        self._told: tuple[PresenceChanged, Wish, VolunteerRules] | None = None
        self._told_reason: Reason = NO_REASON
        self._absences = KeptAbsences(data)
        self._test_until_s = self._tested_s = float("-inf")
        self._woken = self._stopping = self._all_now = False
        self._asking: list[asyncio.Future[None]] = []
        """Who waits for the next round that begins."""
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop

    def start(self) -> None:
        """Begin to watch in a thread and return at once; what is found is handed in this loop from
        now on. It has to be called in the loop, once."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._watch, name="presence", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Stop watching, and keep what the person asked for last, waiting a few seconds for either;
        then answer whoever waits for a look. Do nothing when it does not watch."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        await asyncio.to_thread(thread.join, JOIN_S)
        with suppress(TimeoutError):  # a disk that hangs holds up nobody's handing back
            async with asyncio.timeout(JOIN_S):
                await self.kept()
        _answer(self._asking)

    # -- what a person wants -----------------------------------------------------------------------

    def pause(self, until_s: float | None = None) -> None:
        """Give the machine back now, until then (seconds since 1970) or until somebody resumes."""
        self._want(Paused(until_s))

    def finish_then_pause(self, until_s: float | None = None) -> None:
        """Take nothing new; when what runs has ended, pause."""
        self._want(Finishing(Paused(until_s)))

    def resume(self) -> None:
        """End a pause: the rules decide again, by what is seen now."""
        self._want(Unpaused())

    def tomorrow_s(self) -> float:
        """Return when a pause until tomorrow ends, in seconds since 1970."""
        now = _now()
        return tomorrow_s(now.wall_s, now.zone, TOMORROW_HOUR)

    async def set_rules(self, rules: VolunteerRules) -> None:
        """Help by other rules from now on, also after a restart; returns when they are saved. Raise
        ``ServiceError`` and change nothing when they are wrong or cannot be saved."""
        wrong = faults(rules, _memory_mb())
        if wrong:
            raise ServiceError(f"These rules cannot be kept: {wrong[0]}")
        await asyncio.shield(self._change_rules(rules))  # once on disk they hold, whoever waits

    async def _change_rules(self, rules: VolunteerRules) -> None:
        async with self._changing_rules:
            await asyncio.to_thread(self._keep_rules, rules)
            self.follow(rules)

    def follow(self, rules: VolunteerRules) -> None:
        """Help by other rules from now on, which are on disk already."""
        with self._changed:
            self._rules, self._all_now = rules, True  # what was seen answered other questions
        self._decide_now()

    async def kept(self) -> None:
        """Wait until what a person asked for last is found again after a restart."""
        await asyncio.to_thread(self._keep_wish)

    def bar(self, bar: Bar) -> None:
        """Let nothing of others begin here from now on, or nothing at all; empty for neither."""
        with self._changed:
            self._bar = bar
        self._decide_now()

    # -- what is known -----------------------------------------------------------------------------

    @property
    def rules(self) -> VolunteerRules:
        """The rules by which this machine helps now."""
        return self._rules

    def current(self) -> PresenceChanged:
        """Return the presence that the node has to know now, as an event."""
        with self._changed:
            return self._event()

    def state(self) -> PresenceState:
        """Return why this machine helps or not, decided anew from what was seen last; no source is
        looked at."""
        with self._changed:
            now = _now()
            judged = self._judged(now)
            holds = held_back_by(self._rules, self._readings, judged.memory, now)
            wish = effective(self._wish, now.wall_s)
            paused = wish.then if isinstance(wish, Finishing) else wish
            return PresenceState(
                volunteering=judged.volunteering and not judged.own_only,
                own_work=own_work(
                    willing=judged.volunteering and not judged.owner_present, paused=judged.paused
                ),
                owner_present=judged.owner_present,
                cause=judged.cause,
                reason=judged.reason,
                rules=self._rules,
                paused=isinstance(wish, Paused),
                paused_until_s=paused.until_s if isinstance(paused, Paused) else None,
                finishing=isinstance(wish, Finishing),
                sources=tuple(self._source(kind, holds, now) for kind in Kind),
            )

    async def look(self) -> PresenceState:
        """Have every source looked at, needed or not, wait for that a few seconds at most, and
        return the state then. Whoever asks again within a second gets what was seen before; without
        ``start`` nothing is looked at."""
        if self._thread is not None:
            with self._changed:
                looked = self._have_looked()
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_WITHIN_S):
                    await looked
        return self.state()

    def work_began(self) -> None:
        """Note that a task runs now, so that input is looked for more often from here on; do
        nothing where this machine helps whoever is there, or does not help."""
        found = self._verdict
        if found.cause is Cause.IDLE and found.look_again_s > LOOK_WHILE_RUNNING_S:
            with self._changed:
                self._wake()

    # -- inside ------------------------------------------------------------------------------------

    def _want(self, wish: Wish) -> None:
        """The machine is given back first; nobody waits for the disk."""
        with self._changed:
            self._wish, self._written = wish, None
        self._decide_now()
        self._keep_soon()

    def _keep_soon(self) -> None:
        """Have it written while the loop goes on; in the loop."""
        if self._keeping is None or self._keeping.done():
            loop = asyncio.get_running_loop()
            self._keeping = loop.run_in_executor(None, self._keep_wish)

    def _keep_wish(self) -> None:
        """Write the newest wish, as long as the disk has another; not in the loop."""
        with self._writing:
            while (wish := self._wish) != self._written:
                try:
                    keep_wish(self._data, wish)
                except OSError as error:
                    log.warning("this pause is not kept over a restart: %s", error)
                self._written = wish

    def _decide_now(self) -> None:
        with self._changed:
            self._decide()
            self._wake()
        self._tell()

    def _wake(self) -> None:
        self._woken = True
        self._changed.notify_all()

    def _have_looked(self) -> asyncio.Future[None]:
        """Done when all sources have been looked at that are due; the lock is held."""
        looked = self._loop.create_future()
        now_s = time.monotonic()
        testing = now_s < self._test_until_s
        self._test_until_s = now_s + TEST_FOR_S
        if testing and now_s - self._tested_s < LOOK_ANEW_AFTER_S:
            looked.set_result(None)
        else:
            self._all_now |= not testing
            self._asking.append(looked)
            self._wake()
        return looked

    def _judged(self, now: Now) -> Verdict:
        readings = replace(self._readings, running=self._running())
        return barred(verdict(self._rules, self._wish, readings, self._memory, now), self._bar)

    def _decide(self) -> None:
        """The verdict for what is known now; the lock is held."""
        self._verdict = self._judged(_now())
        self._memory = self._verdict.memory
        wish = self._wish
        if self._verdict.pause_begins and isinstance(wish, Finishing):
            wish = wish.then
        # What has begun, or is over, is kept as such: no clock that is set brings it back.
        self._wish = effective(wish, time.time())

    def _event(self) -> PresenceChanged:
        found = self._verdict
        return PresenceChanged(
            volunteering=found.volunteering,
            owner_present=found.owner_present,
            reason=found.told,
            own_only=found.own_only,
            lets_end_ms=found.lets_end_ms,
            paused=found.paused,
            people=self._rules.people,
            lasts=self._absences.curve if found.volunteering and not found.owner_present else (),
            stays=self._absences.stays,
            bans=self._rules.bans,
        )

    def _tell(self) -> None:
        """Hand the newest verdict, if it or what a person wants is another; in the loop."""
        with self._changed:
            if not self._is_news():
                return
            event, reason = self._event(), self._verdict.reason
            told, paused = (event, self._wish, self._rules), self._verdict.cause is Cause.PAUSED
            known, self._told, self._told_reason = self._told == told, told, reason
        self._hand(None if known else event, reason, paused)

    def _is_news(self) -> bool:
        """Whether there is another verdict, reason or wish, or a later moment of the same reason; the
        lock is held."""
        reason, before = self._verdict.reason, self._told_reason
        if (self._event(), self._wish, self._rules) != self._told:
            return True
        later_ms = abs(_moment(reason) - _moment(before))
        return _lasting(reason) != _lasting(before) or later_ms >= MOMENT_STEP_MS

    def _standing(self, kind: Kind, holds: frozenset[Kind], now: Now) -> Standing:
        if kind in holds:
            return "holds"
        if isinstance(self._readings.of(kind), Unseen):
            return "unseen"
        return "free" if kind in needed(self._rules, Unpaused(), now) else "unasked"

    def _source(self, kind: Kind, holds: frozenset[Kind], now: Now) -> SourceState:
        seen_s = self._read_s.get(kind)
        reading = self._readings.of(kind)
        wanted = kind in needed(self._rules, self._wish, now)
        return SourceState(
            kind=kind,
            sees=not isinstance(reading, Unseen),
            needed=wanted and kind in required(self._rules, self._readings),
            standing=self._standing(kind, holds, now),
            why=description(kind, self._readings, self._memory, now),
            read_s=0.0 if seen_s is None else now.wall_s - (now.steady_s - seen_s),
        )

    # -- the thread --------------------------------------------------------------------------------

    def _watch(self) -> None:
        sources: Sources | None = None
        looker: Looker | None = None
        try:
            while not self._stopping:
                kinds, now, asking = self._begin_round()
                if kinds and looker is None:
                    sources = self.make_sources()
                    looker = Looker(sources, time.monotonic)
                if looker is not None and sources is not None:
                    sources.watch(self._rules.exclusive_programs)
                    looker.look(kinds, brisk=self._running() > 0, now=now)
                    self._take(looker, kinds)
                self._end_round(asking)
        finally:
            if sources is not None:
                sources.close()

    def _begin_round(self) -> tuple[frozenset[Kind], bool, list[asyncio.Future[None]]]:
        """What to look at, whether all of it however lately it was looked at, and who waits."""
        with self._changed:
            self._woken = False
            now, self._all_now = self._all_now, False
            asking, self._asking = self._asking, []
            testing = time.monotonic() < self._test_until_s
            kinds = frozenset(Kind) if testing else needed(self._rules, self._wish, _now())
            return kinds, now, asking

    def _take(self, looker: Looker, kinds: frozenset[Kind]) -> None:
        with self._changed:
            if len(kinds) == len(Kind):
                self._tested_s = time.monotonic()
            self._readings = looker.readings(self._running())
            self._read_s = {kind: looker.read_s(kind) for kind in Kind}

    def _end_round(self, asking: list[asyncio.Future[None]]) -> None:
        """Decide, tell, and rest until there is something to look at."""
        with self._changed:
            self._decide()
            free = self._verdict.volunteering and not self._verdict.owner_present
            self._absences.look(free=free, wall_s=time.time())
            with suppress(RuntimeError):  # the loop has ended
                if self._is_news():
                    self._loop.call_soon_threadsafe(self._tell)
                if asking:
                    self._loop.call_soon_threadsafe(_answer, asking)
                if self._wish != self._written:
                    self._loop.call_soon_threadsafe(self._keep_soon)
        self._absences.keep()
        with self._changed:
            if not (self._woken or self._stopping):
                self._changed.wait(self._verdict.look_again_s)


def _answer(asking: list[asyncio.Future[None]]) -> None:
    """Those who still wait; in the loop."""
    for each in asking:
        if not each.done():
            each.set_result(None)


def _moment(reason: Reason) -> int:
    """When what a reason tells of happened; 0 where it tells of no moment."""
    return int(getattr(reason, "at_ms", 0))


def _lasting(reason: Reason) -> Reason:
    """Return the reason without what of it is another at every look."""
    passing = PASSING.intersection(reason.__struct_fields__)
    return structs.replace(reason, **dict.fromkeys(passing, 0))


def _now() -> Now:
    if hasattr(time, "tzset"):
        time.tzset()  # the machine may have travelled
    return Now(time.monotonic(), time.time())


def _memory_mb() -> float:
    import psutil

    return float(psutil.virtual_memory().total) / 2**20
