"""Sends a machine that was woken for work back to sleep, when the work is done and nobody has touched it.

Its owner had it asleep. It goes back if a peer has woken it (``woken``), nothing has run here for
``RESTS_S``, and whoever could see a touch says that there was none since; where nobody can see, it stays
awake, as its own settings have it. It looks only from then until that is decided.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from agent.presence.readings import Kind, Seen
from agent.presence.sources import Source, Sources

RESTS_S = 120.0
"""Nothing has run for so long: what follows has begun by then, if anything does."""
LOOK_EVERY_S = 5.0
TOUCH_S = 5.0
"""A card that wakes a machine may look like a touch for so long."""
GIVES_UP_S = 12 * 3600.0
JOIN_S = 2.0


def fall_asleep() -> None:
    """Ask the system to send this machine to sleep; raise ``OSError`` where it refuses."""
    if sys.platform == "win32":
        from agent.presence.sources.windows_calls import WindowsCalls

        WindowsCalls().fall_asleep()
    else:
        from agent.presence.sources.bus import Bus, suspend

        with closing(Bus("SYSTEM")) as bus:
            suspend(bus)


class AsleepAgain:
    """Of one node. ``running`` tells how many programs there are, ``make_sources`` what sees whether
    somebody is there; ``told`` is told why it stays awake, ``asleep`` sends it to sleep."""

    def __init__(
        self,
        running: Callable[[], int],
        make_sources: Callable[[], Sources],
        told: Callable[[str], object],
        asleep: Callable[[], None] = fall_asleep,
        clock: Callable[[], float] = time.monotonic,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        self._running, self.make_sources, self._told = running, make_sources, told
        self._asleep, self._clock, self._look_every_s = asleep, clock, look_every_s
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def woken(self) -> None:
        """Note that this machine is awake for work alone; returns at once."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._watch, name="asleep again", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Leave it awake, and look no more; waits for that a few seconds at most."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(JOIN_S)

    def _watch(self) -> None:
        sources, since_s = self.make_sources(), self._clock()
        worked_s = since_s
        try:
            while not self._ended.wait(self._look_every_s):
                now_s = self._clock()
                why = self._stays(sources, since_s, now_s)
                if why:
                    self._told(why)
                    return
                worked_s = now_s if self._running() else worked_s
                if now_s - worked_s >= RESTS_S:
                    self._send_to_sleep()
                    return
        finally:
            sources.close()

    def _stays(self, sources: Sources, since_s: float, now_s: float) -> str:
        """Why it stays awake; empty where nothing is in the way."""
        if now_s - since_s >= GIVES_UP_S:
            return "it has worked for half a day"
        seen = [_touched_s(each) for each in sources.of.get(Kind.INPUT, ())]
        if not seen or None in seen:
            return "nobody can see whether somebody uses it"
        touched_s = max(each for each in seen if each is not None)
        return "somebody uses it" if touched_s > since_s + TOUCH_S else ""

    def _send_to_sleep(self) -> None:
        try:
            self._asleep()
        except OSError as error:
            self._told(f"the system does not let it sleep: {error}")


def _touched_s(source: Source[Any]) -> float | None:
    """When somebody touched it last, by the monotonic clock; None where that is not seen."""
    try:
        reading = source.read()
    except OSError:
        return None
    return reading.value.at_s if isinstance(reading, Seen) else None
