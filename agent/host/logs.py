"""The log of the agent: ``[YYYY-MM-DD HH:MM:SS]: <severity> text``, one line per happening.

It goes to files that take each other's place, so that a disk is never filled by it, and to the
terminal too where somebody watches. A file that cannot be written is no reason to stop: that is
said once on the terminal. Lines of one happening that need more (where a fault occurred) are
indented, so that every line that begins with a bracket is a new one.

==========  ============================================================================
severity    what it is for
==========  ============================================================================
debug       each step, for whoever looks for a fault; not written unless asked for
info        what this machine does and why: programs, links, why a task moves
normal      milestones: the agent runs, a workflow has ended
warning     something is not as it should be, and the work goes on
error       something failed
==========  ============================================================================
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from agent.protocol.names import visible

LOGGER = "agent"
FILE = "agent.log"
FILE_BYTES_MAX = 2 * 1024 * 1024
FILES_MAX = 5
LINES_UNMEASURED_MAX = 50
"""A file may become larger by so many lines."""
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
NORMAL = 25
"""Between info and warning: what people who read only the milestones want to see."""
SEVERITIES = {10: "debug", 20: "info", NORMAL: "normal", 30: "warning", 40: "error"}


def severity_of(level: int) -> str:
    """Return the word in ``SEVERITIES`` for a level of the library, rounded down; ``debug`` below
    all of them."""
    return next((name for at, name in reversed(SEVERITIES.items()) if level >= at), "debug")


class LineFormatter(logging.Formatter):
    """One record as its line, and whatever belongs to it indented below."""

    def __init__(self) -> None:
        super().__init__("[%(asctime)s]: <%(severity)s> %(message)s", TIME_FORMAT)

    def format(self, record: logging.LogRecord) -> str:
        record.severity = severity_of(record.levelno)
        lines = super().format(record).splitlines()
        return "\n    ".join(visible(line.expandtabs()) for line in lines)


class PrivateFileHandler(RotatingFileHandler):
    """Files that only their owner reads; trouble with them is told once and not again."""

    def __init__(self, path: Path) -> None:
        self._told = False
        self._unmeasured = LINES_UNMEASURED_MAX
        super().__init__(
            path,
            maxBytes=FILE_BYTES_MAX,
            backupCount=FILES_MAX - 1,
            encoding="utf-8",
            errors="backslashreplace",
        )

    def _open(self) -> TextIO:  # type: ignore[override]
        stream = super()._open()
        Path(self.baseFilename).chmod(0o600)
        return stream

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the library's name
        """Tell whether the file is so large that the next one begins before this record. It is
        measured for one record in fifty, and the others get False, because measuring asks the
        system twice what kind of file this is."""
        self._unmeasured += 1
        if self._unmeasured < LINES_UNMEASURED_MAX:
            return False
        self._unmeasured = 0
        return bool(super().shouldRollover(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Report on standard error, the first time only, that the log cannot be written; the record
        is lost."""
        del record
        if not self._told and sys.stderr is not None:
            self._told = True
            said = f"The log {self.baseFilename} cannot be written: {sys.exception()}\n"
            with contextlib.suppress(OSError, ValueError):  # it may be on the same disk, or closed
                sys.stderr.write(said)


def begin(
    folder: Path | None, terminal: TextIO | None = None, level: int = logging.INFO
) -> Callable[[], None]:
    """Log what this program says (the logger ``agent`` and those below it, no library's) and is at
    least of this level to files in the folder and to the terminal, to no other handler any more,
    until what is returned is called, which puts all back. None leaves a place out, and nothing
    changes without both. Raise ``OSError``, with nothing changed, when the log file cannot be
    opened."""
    handlers: list[logging.Handler] = []
    if folder is not None:
        handlers.append(PrivateFileHandler(folder / FILE))
    if terminal is not None:
        handlers.append(logging.StreamHandler(terminal))
    logger = logging.getLogger(LOGGER)
    before, logger_propagates = logger.level, logger.propagate
    for handler in handlers:
        handler.setFormatter(LineFormatter())
        logger.addHandler(handler)
    if handlers:
        logger.setLevel(level)
        logger.propagate = False

    def end() -> None:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()
        if handlers:
            logger.setLevel(before)
            logger.propagate = logger_propagates

    return end
