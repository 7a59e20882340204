"""Virtual time: one heap of what will happen, one source of chance, one hash of what did.

A failing run is only worth something when its seed repeats it, so nothing here may depend on the
machine that runs it: every draw comes from one seeded generator, what happens at the same instant
happens in the order in which it was planned, and no decision follows the order of a set. The hash
over all steps lets two runs under different hash seeds of the interpreter be compared.

The loop is the hot path of every run, so an entry of the heap is a plain tuple of a bound method
and its two arguments, steps are noted as numbers, and text is made only when somebody reads it.
"""

from __future__ import annotations

import hashlib
import heapq
import random
from array import array
from collections.abc import Callable
from typing import Any

Act = Callable[[Any, Any], None]

STEPS_PER_HASH = 3 * 4096
EVENTS_MAX = 4_000_000


class Storm(Exception):  # noqa: N818 - an ending of a run, not an error of the code
    """More happened than any sane run needs: messages answer each other without end."""


class World:
    """Time, chance and the order of happenings, for one run."""

    __slots__ = (
        "_digest",
        "_heap",
        "_sequence",
        "events",
        "events_max",
        "now",
        "random",
        "steps",
        "tell",
    )

    def __init__(self, seed_text: str, tell: Callable[[str], None] | None = None) -> None:
        self.now = 0.0
        self.random = random.Random(seed_text)
        self.events = 0
        self.events_max = EVENTS_MAX
        self.steps = array("d")
        self.tell = tell
        self._heap: list[tuple[float, int, Act, Any, Any]] = []
        self._sequence = 0
        self._digest = hashlib.blake2b(digest_size=16)

    def at(self, time: float, act: Act, first: Any = None, second: Any = None) -> None:
        """Let ``act(first, second)`` happen at ``time``, after all planned for then before."""
        self._sequence += 1
        heapq.heappush(self._heap, (time, self._sequence, act, first, second))

    def after(self, delay: float, act: Act, first: Any = None, second: Any = None) -> None:
        """Let it happen ``delay`` seconds from now."""
        self._sequence += 1
        heapq.heappush(self._heap, (self.now + delay, self._sequence, act, first, second))

    def run(self, until: float) -> None:
        """Everything planned up to and with ``until``; then the time is ``until``."""
        heap, pop, limit = self._heap, heapq.heappop, self.events_max
        count = self.events
        try:
            while heap and heap[0][0] <= until:
                self.now, _, act, first, second = pop(heap)
                count += 1
                if count > limit:
                    raise Storm(f"{count} events by {self.now:.3f} s of virtual time")
                act(first, second)
        finally:
            self.events = count
        self.now = until
        if len(self.steps) > STEPS_PER_HASH:
            self._absorb()

    def note(self, what: float, detail: float) -> None:
        """One step for the hash: when, what, and a number that says how it went."""
        steps = self.steps
        steps.append(self.now)
        steps.append(what)
        steps.append(detail)

    def trace_hash(self) -> str:
        """The hash over all steps so far."""
        self._absorb()
        return self._digest.copy().hexdigest()

    def _absorb(self) -> None:
        self._digest.update(self.steps.tobytes())
        del self.steps[:]
