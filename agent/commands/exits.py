"""How a command ends: what its exit code says, and what Ctrl-C does.

While a command is still being loaded, or when it is done, Ctrl-C ends the process without a word.

Python answers Ctrl-C with an exception, wherever it is just then: in the middle of an import that
comes out as pages about the insides of this program, or as "Exception ignored". Before a command has
begun and after it has ended there is nothing to hand back, so there the process just ends. In
between the exception is what it should be: commands and loops of events clean up on it.

What comes before, the start of the interpreter itself, is in nobody's hands here.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType

DONE = 0
FAILED = 1
MISUSED = 2
NO_AGENT = 3
WORK_FAILED = 4
INTERRUPTED = 130

DESCRIPTION = """exit codes:
  0    done
  1    refused or failed; a sentence on standard error says why
  2    the command was told something that makes no sense
  3    no agent runs here
  4    the work that was waited for failed or was cancelled
  130  interrupted (Ctrl-C)"""


Handler = Callable[[int, FrameType | None], object]


def end_at_once() -> None:
    """End the process without a word on Ctrl-C from now on, unless whoever started it wants Ctrl-C
    to be ignored."""
    _replace(signal.default_int_handler, _end)


def raise_again() -> None:
    """Raise ``KeyboardInterrupt`` on Ctrl-C from now on, as usual."""
    _replace(_end, signal.default_int_handler)


def _replace(present: Handler, wanted: Handler) -> None:
    if signal.getsignal(signal.SIGINT) is present:
        try:  # no `suppress` here: each import makes the time longer in which Ctrl-C is not heard
            signal.signal(signal.SIGINT, wanted)
        except ValueError:
            return  # a thread asks, which signals do not reach


def _end(*_: object) -> None:
    os._exit(INTERRUPTED)
