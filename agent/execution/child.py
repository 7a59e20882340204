"""One program of one run, from its start to the end of the last process of its group.

How it ended is decided by its words first and its exit code second: ``TERMINATED`` is success,
``ERROR`` is failure, and a program without words is judged by its exit code. One that has said its
last word gets a moment to exit. Whatever is left of its group then is ended, so that a slot that
counts as free is free.

Asked to stop, it is told ``CANCEL`` and has a grace time. A suspended one is ended at once: it
could not hear the word, and letting it go on would take the machine from its owner again.

Its time is the time that it could run: while it is suspended, neither the limit of its length nor
that of its silence comes nearer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from agent.execution.groups import Exit, Process
from agent.execution.limits import MEGABYTE, Limits
from agent.execution.output import (
    CANCEL,
    CancelledWord,
    CheckpointWord,
    ErrorWord,
    LastWord,
    Output,
    OutputLog,
    ProgressWord,
    TerminatedWord,
    Word,
)
from agent.protocol.reasons import CauseKind, EndCause

GRACE_S = 5.0
LAST_WORDS_S = 1.0
"""What a program has printed before it ended is heard within this."""
PROGRESS_EVERY_S = 0.2
PROGRESS_LEFT_MS_MAX = 2**50
TOO_LARGE = 25
"""The signal that Linux ends those by whose file is larger than it may be."""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """It ended well. ``outputs`` is None when it said none of its own."""

    outputs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The program was asked to stop and has."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The program failed, or could not be run to its end."""

    why: EndCause


@dataclass(frozen=True, slots=True)
class Deprived:
    """The machine could not keep it, which is no fault of its own."""

    why: EndCause


Ending = Succeeded | Stopped | Broken | Deprived


class Child:
    """One program that runs. ``hear`` is what its process tells of its output."""

    def __init__(
        self,
        log: OutputLog,
        limits: Limits,
        progressed: Callable[[int, int], None],
        checkpointed: Callable[[str], None],
        grace_s: float = GRACE_S,
    ) -> None:
        self._output = Output(log, self._word)
        self._limits, self._grace_s = limits, grace_s
        self._progressed, self._checkpointed = progressed, checkpointed
        self._process: Process | None = None
        self._since_s = time.monotonic()
        self._suspended_s = 0.0
        self._suspended_at: float | None = None
        self._heard_s = 0.0
        self._told_s = 0.0
        self._last_word: LastWord | None = None
        self._stopping = False
        self._overdue: EndCause | None = None
        self._killing: asyncio.TimerHandle | None = None
        self._watching: asyncio.TimerHandle | None = None
        self._began_s = 0.0
        self.took_ms = 0
        """For how long it ran, from its start to the end of the last of its processes; 0 before."""

    @property
    def ran_s(self) -> float:
        """For how many seconds the program could run since it was asked for, suspensions left
        out."""
        now_s = time.monotonic() if self._suspended_at is None else self._suspended_at
        return now_s - self._since_s - self._suspended_s

    def suspend(self) -> None:
        """Suspend the program's processes where they are, and stop its clocks; do nothing before
        its start, after ``stop`` or twice."""
        if self._process is not None and self._suspended_at is None and not self._stopping:
            self._suspended_at = time.monotonic()
            self._process.suspend()
            self._watch()

    def resume(self) -> None:
        """Let a suspended program and its clocks go on; do nothing when it is not suspended."""
        if self._process is not None and self._suspended_at is not None:
            self._suspended_s += time.monotonic() - self._suspended_at
            self._suspended_at = None
            self._process.resume()
            self._watch()

    def stop(self) -> None:
        """Ask the program to end, and kill it when it has not after its grace time, at once when it
        is suspended; returns without waiting. Do nothing before its start or twice."""
        if self._stopping or self._process is None:
            return
        self._stopping = True
        self._end()

    def kill(self) -> None:
        """Kill the program and all that it started, now, and return without waiting; it then counts
        as stopped. Before its start nothing is killed."""
        self._stopping = True
        self._end_group()

    def attach(self, process: Process) -> None:
        """Take on the process of the program, which may have said something already, and begin to
        watch its time."""
        self._process, self._began_s = process, self.ran_s
        self._watch()

    async def run(self) -> tuple[Ending, Exit]:
        """Wait until nothing of the program runs any more, and a moment for its last output; return
        how the run ended and how its process did. ``attach`` comes first. When cancelled, kill the
        program."""
        process = self._process
        assert process is not None
        try:
            found = await process.ended
            self.took_ms = max(1, round(1000 * (self.ran_s - self._began_s)))
        except BaseException:
            process.kill()
            raise
        finally:
            for timer in (self._killing, self._watching):
                if timer is not None:
                    timer.cancel()
        if not process.silent.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS_S):
                    await process.silent
        process.close()
        self._output.finish()
        return self._ending(found), found

    def hear(self, file: int, data: bytes) -> None:
        """Take in what the program prints to the file of this number, 1 or 2, in whatever pieces;
        it does not count as silent then."""
        self._heard_s = self.ran_s
        self._output.hear(file, data)

    def _word(self, word: Word) -> None:
        match word:
            case ProgressWord():
                self._tell_progress(word.permille)
            case CheckpointWord():
                self._checkpointed(word.path)
            case TerminatedWord() | CancelledWord() | ErrorWord():
                if self._last_word is None:
                    self._last_word = word
                    self._kill_later()

    def _tell_progress(self, permille: int) -> None:
        """Now and then; a program may tell more than anybody wants to know."""
        now_s = time.monotonic()
        if permille and now_s - self._told_s >= PROGRESS_EVERY_S:
            self._told_s = now_s
            self._progressed(permille, self._left_ms(permille))

    # -- its time --------------------------------------------------------------------------

    def _watch(self) -> None:
        """Wake when the next limit of its time may be reached."""
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None
        left_s = [limit_s - passed_s for limit_s, passed_s, _ in self._times() if limit_s]
        if left_s and self._suspended_at is None and not self._ends_already:
            loop = asyncio.get_running_loop()
            self._watching = loop.call_later(max(0.0, min(left_s)), self._look)

    def _times(self) -> tuple[tuple[int, float, CauseKind], ...]:
        ran_s, limits = self.ran_s, self._limits
        return (
            (limits.wall_s, ran_s, "RanTooLong"),
            (limits.silent_s, ran_s - self._heard_s, "WasSilent"),
        )

    @property
    def _ends_already(self) -> bool:
        """Its grace time runs, and no other limit counts."""
        return self._overdue is not None or self._stopping or self._last_word is not None

    def _look(self) -> None:
        for limit_s, passed_s, kind in self._times():
            if limit_s and passed_s >= limit_s and not self._ends_already:
                self._overdue = EndCause(kind, limit=limit_s)
                self._end()
                return
        self._watch()

    # -- its end ---------------------------------------------------------------------------

    def _end(self) -> None:
        if self._process is None:
            return
        if self._suspended_at is not None:
            self._process.kill()
            return
        self._process.say(CANCEL)
        self._kill_later()

    def _kill_later(self) -> None:
        if self._killing is None:
            loop = asyncio.get_running_loop()
            self._killing = loop.call_later(self._grace_s, self._end_group)

    def _end_group(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _left_ms(self, permille: int) -> int:
        """By the time that it took so far; suspended time does not count."""
        left_s = self.ran_s * (1000 - permille) / max(permille, 1)
        return min(max(0, int(left_s * 1000)), PROGRESS_LEFT_MS_MAX)

    def _ending(self, found: Exit) -> Ending:
        if self._stopping and not isinstance(self._last_word, TerminatedWord):
            return Stopped()
        if self._overdue is not None:
            return Broken(self._overdue)
        match self._last_word:
            case TerminatedWord(outputs):
                return Succeeded(outputs or None)
            case ErrorWord(text):
                kind: CauseKind = "SaidError" if text else "SaidOnlyError"
                return Broken(EndCause(kind, error=text))
            case CancelledWord():
                return Broken(EndCause("EndedItself"))
            case None:
                pass
        if found.code == -TOO_LARGE:
            return self._excess(replace(found, excess="disk", excess_bytes=self._disk_bytes))
        if found.excess:
            return self._excess(found)
        return Succeeded(None) if found.code == 0 else Broken(_told_by(found.code))

    @property
    def _disk_bytes(self) -> int:
        return self._limits.disk_mb * MEGABYTE

    def _excess(self, found: Exit) -> Ending:
        took, limits = found.excess_bytes, self._limits
        match found.excess:
            case "memory":
                limit_bytes = limits.memory_mb * MEGABYTE
                return Broken(EndCause("TookMemory", took_bytes=took, limit_bytes=limit_bytes))
            case "disk":
                limit_bytes = self._disk_bytes
                return Broken(EndCause("WroteTooMuch", took_bytes=took, limit_bytes=limit_bytes))
            case "processes":
                return Broken(EndCause("TookProcesses", count=took, limit=limits.processes))
            case _:
                return Deprived(EndCause("DiskLeft", took_bytes=took))


def _told_by(code: int) -> EndCause:
    return EndCause("Signal", count=-code) if code < 0 else EndCause("ExitCode", count=code)
