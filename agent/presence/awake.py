"""Keeps a machine awake while a program runs on it and it is on mains, and lets it sleep otherwise.

A machine that nobody touches goes to sleep after a while, by the wish of its owner; work would end with it.
So this looks, as long as anything was begun here, whether a program is at work and where the current comes
from, and holds off the system's sleep only then. What cannot be held off is told once, and nothing else
comes of it. A suspended program keeps nothing awake: its owner is there, who may well send it to sleep.

All is done in one thread, which begins with the first program: Windows keeps awake for a thread, and forgets
what one wanted that has ended.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from agent.presence.readings import Seen
from agent.presence.sources import Source

LOOK_EVERY_S = 0.4
"""What has ended is missed at two looks, within a second."""
JOIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Sleep:
    """What a system has to say of its sleep. ``hold_off`` keeps it awake, and raises ``OSError`` where
    that is refused; ``let`` ends that, and does nothing where nothing is held off."""

    mains: Source[bool]
    hold_off: Callable[[], object]
    let: Callable[[], object]


def native_sleep() -> Sleep:
    """Return what holds off the sleep of this system, Windows or, on all others, Linux and its like."""
    if sys.platform == "win32":
        from agent.presence.sources.windows import windows_mains
        from agent.presence.sources.windows_calls import WindowsCalls

        calls = WindowsCalls()
        mains = windows_mains(calls)
        return Sleep(mains, lambda: calls.keep_awake(on=True), lambda: calls.keep_awake(on=False))
    else:  # noqa: RET505 - so that the type checker sees one of the two on each system
        from agent.presence.sources.bus import Bus, SleepLock
        from agent.presence.sources.linux import linux_mains

        lock = SleepLock(Bus("SYSTEM", descriptors=True))
        return Sleep(linux_mains(), lock.take, lock.give_back)


class Awake:
    """Of one node, from its first program to ``stop``. ``begun`` tells how many runs were begun and have
    not ended, ``at_work`` how many of them have a program that runs; both are asked in a thread.
    ``refused`` is told there once why this machine cannot be kept awake."""

    def __init__(
        self,
        begun: Callable[[], int],
        at_work: Callable[[], int],
        refused: Callable[[OSError], object],
        native: Callable[[], Sleep] = native_sleep,
    ) -> None:
        self._begun, self._at_work, self._refused, self._native = begun, at_work, refused, native
        self._changed = threading.Condition()
        self._idle = self._stopping = self._told = False
        self._thread: threading.Thread | None = None

    def work_began(self) -> None:
        """Note that a program has started, and look from here on; return at once. Do nothing while
        this looks already, or after ``stop``."""
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._watch, name="awake", daemon=True)
            self._thread.start()
        elif self._idle:
            with self._changed:
                self._changed.notify_all()

    def stop(self) -> None:
        """Let the machine sleep, for good; waits for that a few seconds at most."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def _watch(self) -> None:
        sleep, before, held = self._native(), False, False
        try:
            while self._rested(held=held):
                now = self._at_work() > 0 and _on_mains(sleep)
                wanted, before = now or before, now  # from one short task to the next it is held on
                if wanted and not held:
                    self._hold_off(sleep)
                elif held and not wanted:
                    _let(sleep)
                held = wanted
        finally:
            _let(sleep)

    def _hold_off(self, sleep: Sleep) -> None:
        """One that is refused is asked for again when work begins anew, not at every look."""
        try:
            sleep.hold_off()
        except OSError as error:
            if not self._told:
                self._refused(error)
            self._told = True

    def _rested(self, *, held: bool) -> bool:
        """Whether to look again, when it is time: not before anything was begun, where nothing is held
        off, and then after a moment, in which most short tasks have ended."""
        with self._changed:
            self._idle = not held
            self._changed.wait_for(lambda: held or self._stopping or self._begun() > 0)
            self._idle = False
            return not self._changed.wait_for(lambda: self._stopping, LOOK_EVERY_S)


def _let(sleep: Sleep) -> None:
    with suppress(OSError):
        sleep.let()


def _on_mains(sleep: Sleep) -> bool:
    """Where nobody can tell, it is not."""
    with suppress(OSError):
        reading = sleep.mains.read()
        return isinstance(reading, Seen) and reading.value
    return False
