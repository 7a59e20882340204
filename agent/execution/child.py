"""One program of one run, from its start to the end of the last process of its group.

How it ended is decided by its words first and its exit code second: ``TERMINATED`` is success,
``ERROR`` is failure, and a program without words is judged by its exit code. One that has said its
last word gets a moment to exit. Whatever is left of its group then is ended, so that a slot that
counts as free is free.

Asked to stop, it is told ``CANCEL`` and has a grace time. A suspended one is ended at once: it
could not hear the word, and letting it go on would take the machine from its owner again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from agent.execution.groups import Process
from agent.execution.words import (
    CANCEL,
    LINE_BYTES_MAX,
    CancelledWord,
    ErrorWord,
    ProgressWord,
    TerminatedWord,
    read_word,
)

GRACE_S = 5.0
LAST_WORDS_S = 1.0
"""What a program has printed before it ended is heard within this."""
PROGRESS_EVERY_S = 0.2
LOG_BYTES_MAX = 4 * 1024 * 1024
PROGRESS_LEFT_MS_MAX = 2**50


@dataclass(frozen=True, slots=True)
class Succeeded:
    """It ended well. ``outputs`` is None when it said none of its own."""

    outputs: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Stopped:
    """It was asked to stop and has."""


@dataclass(frozen=True, slots=True)
class Broken:
    """It failed."""

    error: str


Ending = Succeeded | Stopped | Broken


class Child:
    """One program that runs. ``hear`` is what its process tells of its output."""

    def __init__(
        self,
        log: IO[bytes],
        progressed: Callable[[int, int], None],
        grace_s: float = GRACE_S,
    ) -> None:
        self._log, self._progressed, self._grace_s = log, progressed, grace_s
        self._process: Process | None = None
        self._logged_bytes = 0
        self._unfinished = b""
        self._since_s = time.monotonic()
        self._suspended_s = 0.0
        self._suspended_at: float | None = None
        self._told_s = 0.0
        self._last_word: TerminatedWord | CancelledWord | ErrorWord | None = None
        self._stopping = False
        self._killing: asyncio.TimerHandle | None = None

    def suspend(self) -> None:
        """Stop it where it is."""
        if self._process is not None and self._suspended_at is None and not self._stopping:
            self._suspended_at = time.monotonic()
            self._process.suspend()

    def resume(self) -> None:
        """Let it go on."""
        if self._process is not None and self._suspended_at is not None:
            self._suspended_s += time.monotonic() - self._suspended_at
            self._suspended_at = None
            self._process.resume()

    def stop(self) -> None:
        """Ask it to end, and see to it that it does."""
        if self._stopping or self._process is None:
            return
        self._stopping = True
        if self._suspended_at is not None:
            self._process.kill()
            return
        self._process.say(CANCEL)
        self._kill_later()

    def kill(self) -> None:
        """End it now."""
        self._stopping = True
        self._end_group()

    def attach(self, process: Process) -> None:
        """The process is there; it may have said something already."""
        self._process = process

    async def run(self) -> Ending:
        """Until nothing of it runs any more."""
        process = self._process
        assert process is not None
        try:
            code = await process.exited
        finally:
            if self._killing is not None:
                self._killing.cancel()
            process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                await process.silent
        process.close()
        self._hear_line(self._unfinished)
        return self._ending(code)

    def hear(self, file: int, data: bytes) -> None:
        """What it prints, in whatever pieces."""
        if file != 1:
            self._keep(data)
            return
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            self._hear_line(line + b"\n")
        if len(self._unfinished) > LINE_BYTES_MAX:
            self._keep(self._unfinished)
            self._unfinished = b""

    def _hear_line(self, line: bytes) -> None:
        word = None if self._last_word is not None else read_word(line)
        match word:
            case None:
                self._keep(line)
            case ProgressWord():
                self._tell_progress(word.permille)
            case _:
                self._last_word = word
                self._kill_later()

    def _keep(self, data: bytes) -> None:
        room = max(0, LOG_BYTES_MAX - self._logged_bytes)
        self._logged_bytes += len(data)
        with suppress(OSError):
            self._log.write(data[:room])

    def _tell_progress(self, permille: int) -> None:
        """Now and then; a program may tell more than anybody wants to know."""
        now_s = time.monotonic()
        if permille and now_s - self._told_s >= PROGRESS_EVERY_S:
            self._told_s = now_s
            self._progressed(permille, self._left_ms(permille))

    def _kill_later(self) -> None:
        if self._killing is None:
            loop = asyncio.get_running_loop()
            self._killing = loop.call_later(self._grace_s, self._end_group)

    def _end_group(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _left_ms(self, permille: int) -> int:
        """By the time that it took so far; suspended time does not count."""
        ran_s = time.monotonic() - self._since_s - self._suspended_s
        left_s = ran_s * (1000 - permille) / max(permille, 1)
        return min(max(0, int(left_s * 1000)), PROGRESS_LEFT_MS_MAX)

    def _ending(self, code: int) -> Ending:
        match self._last_word:
            case TerminatedWord(outputs):
                return Succeeded(outputs)
            case ErrorWord(text):
                return Stopped() if self._stopping else Broken(text or "says ERROR, not which")
            case CancelledWord():
                return Stopped() if self._stopping else Broken("ended itself as cancelled")
            case None:
                pass
        if self._stopping:
            return Stopped()
        if code == 0:
            return Succeeded(None)
        return Broken(_told_by(code))


def _told_by(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
