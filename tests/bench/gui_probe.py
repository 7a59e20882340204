"""How long the window's event loop is ever blocked, by what, and whose time it was.

A timer of the loop itself should fire every five milliseconds; what it is late is what a person
feels. On a shared machine that also counts what others took: so the system is asked how long the
window's thread could have run and had no processor, and beside what was blocked stands what was
blocked without that. It still has all waiting for the interpreter, for locks and for disks. Beside it
stands the processor's time of the window's thread and of the whole process.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from PySide6.QtCore import QEventLoop, Qt, QTimer

PROBE_MS = 5
POLL_MS = 10
WITHIN_S = 120.0
LONG_MS = 20.0
"""A turn that takes longer is worth a look at where it was."""
STACK_DEPTH, PLACES_MAX = 7, 40


@dataclass(frozen=True, slots=True)
class Turn:
    """From one firing to the next: how late, and how much the processor did meanwhile."""

    late_ms: float
    queued_ms: float
    busy_ms: float
    process_ms: float

    @property
    def own_ms(self) -> float:
        """How late it would have been with a processor for itself."""
        return self.late_ms - self.queued_ms


class Probe:
    """``doing`` is what the person does at the moment; turns are kept under it."""

    def __init__(self) -> None:
        self.doing = "opening"
        self.turns: dict[str, list[Turn]] = defaultdict(list)
        self.watch: Watch | None = None
        self._schedule = _schedule()
        self._last = self._now_s()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(PROBE_MS)
        self._timer.timeout.connect(self._fired)
        self._collecting_s = 0.0
        self.collected_ms: list[float] = [0.0]
        gc.callbacks.append(self._collecting)

    def start(self) -> None:
        self._last = self._now_s()
        self._timer.start()

    def all(self) -> list[Turn]:
        return [turn for turns in self.turns.values() for turn in turns]

    def sheet(self) -> str:
        """For each thing that was done the worst turns, in milliseconds."""
        lines = [
            f"{'':26} {'turns':>6} {'blocked':>8} {'99 %':>6} {'own':>6} {'thread':>7} {'process':>8}"
        ]
        for doing, turns in self.turns.items():
            late = sorted(turn.late_ms for turn in turns)
            lines.append(
                f"{doing:26} {len(turns):6} {late[-1]:8.1f} {late[len(late) * 99 // 100]:6.1f} "
                f"{max(turn.own_ms for turn in turns):6.1f} "
                f"{max(turn.busy_ms for turn in turns):7.1f} "
                f"{max(turn.process_ms for turn in turns):8.1f}"
            )
        lines.append(
            f"the collector of garbage came {len(self.collected_ms) - 1} times, "
            f"at most for {max(self.collected_ms):.1f} ms"
        )
        return "\n".join(lines)

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        del info
        if phase == "start":
            self._collecting_s = time.thread_time()
        else:
            self.collected_ms.append((time.thread_time() - self._collecting_s) * 1000)

    def _now_s(self) -> tuple[float, float, float, float]:
        """The clock, time without a processor, processor time of the thread and of the process."""
        told = os.pread(self._schedule, 100, 0).split() if self._schedule is not None else ()
        queued_s = int(told[1]) / 1e9 if told else 0.0
        return time.monotonic(), queued_s, time.thread_time(), time.process_time()

    def _fired(self) -> None:
        before, self._last = self._last, self._now_s()
        wall, queued, thread, process = (
            (now - then) * 1000 for now, then in zip(self._last, before, strict=True)
        )
        self.turns[self.doing].append(Turn(wall - PROBE_MS, queued, thread, process))
        if self.watch is not None:
            self.watch.turned(self.doing)


class Watch:
    """Tells where the window's thread was when a turn took long.

    An alarm asks that thread itself: who looks at its frames from another one keeps its painters alive.
    """

    def __init__(self) -> None:
        self._stack = ""
        self._seen: Counter[str] = Counter()
        signal.signal(signal.SIGALRM, self._late)

    def turned(self, doing: str) -> None:
        """A turn is over, and a new one begins."""
        if self._stack:
            self._seen[f"{doing}\n{self._stack}"] += 1
            self._stack = ""
        signal.setitimer(signal.ITIMER_REAL, LONG_MS / 1000)

    def sheet(self) -> str:
        """The places where it was seen most."""
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        return "\n".join(
            f"{count} x {stack}" for stack, count in self._seen.most_common(PLACES_MAX)
        )

    def _late(self, number: int, frame: FrameType | None) -> None:
        del number
        self._stack = "".join(traceback.format_stack(frame, STACK_DEPTH))


def until(true: Callable[[], bool], within_s: float = WITHIN_S) -> float:
    """The loop runs as in life until something holds; how long that took."""
    begin_s = time.monotonic()
    loop, poll = QEventLoop(), QTimer()

    def look() -> None:
        if true() or time.monotonic() - begin_s > within_s:
            loop.quit()

    poll.setInterval(POLL_MS)
    poll.timeout.connect(look)
    poll.start()
    loop.exec()
    poll.stop()
    if not true():
        raise TimeoutError(true)
    return time.monotonic() - begin_s


def wait(for_s: float) -> None:
    """The loop runs, and sleeps while nothing happens."""
    loop = QEventLoop()
    QTimer.singleShot(round(for_s * 1000), loop.quit)
    loop.exec()


def _schedule() -> int | None:
    """What Linux tells of this thread; other systems do not."""
    try:
        return os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
    except OSError:
        return None
