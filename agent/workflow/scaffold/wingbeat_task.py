"""Talks with Wingbeat from inside a program. Copy this file beside yours; it needs nothing else.

    import wingbeat_task as task

    for number, path in enumerate(task.inputs()):
        task.stop_if_cancelled()
        work_on(path)
        task.progress(100 * number / len(task.inputs()))
    task.terminated("result.las")

Nothing of this is needed: a program that exits with 0 has succeeded, and where it named no outputs
they are all that it has made in its working folder. Everything here can be done with plain lines in
any language. A line of its own on standard output is a word to the node:

    PROGRESS 12.5            how far it is, in percent
    CHECKPOINT state.bin     its state is in this file or folder of its working folder
    TERMINATED out.las 17    it has succeeded; files of its working folder, or identifiers;
                             "in quotation marks" where there are spaces
    ERROR no such flight     it has failed
    CANCELLED                it has stopped, because it read the line CANCEL on standard input

Other lines go to the log of the task, and so does everything on standard error. It is started as
``program -p raw … -i input … -x parameters`` in a working folder of its own.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

TAKEN_S_MAX = 30.0
_cancelled = threading.Event()
_lock = threading.Lock()
_listening: list[threading.Thread] = []


def raw() -> list[str]:
    """Return what was given at submission: the words behind ``-p``, paths or identifiers."""
    return _behind("-p")


def inputs() -> list[str]:
    """Return outputs of earlier tasks: the words behind ``-i``, paths or identifiers."""
    return _behind("-i")


def parameters() -> str:
    """Return the text behind ``-x``, empty where none was given. One of many lines, or XML, comes
    as the path of a file, whose text is returned; so is that of any other file whose whole path is
    given. ``OSError`` where it cannot be read, ``ValueError`` where it is no UTF-8."""
    given = next(iter(_behind("-x")), "")
    if os.path.isabs(given) and os.path.isfile(given):  # noqa: PTH113, PTH117
        return Path(given).read_text("utf-8")
    return given


def working_folder() -> Path:
    """Return where to write. It is thrown away at the end, but for the outputs."""
    return Path(os.environ.get("WINGBEAT_SCRATCH") or ".")


def progress(percent: float) -> None:
    """Tell how far the program is."""
    say(f"PROGRESS {percent:.1f}")


def cancelled() -> bool:
    """Tell at once whether the node has asked to stop; from the first call on a thread reads
    standard input. Ask often: a program that does not stop is ended."""
    with _lock:
        if not _listening:
            _listening.append(threading.Thread(target=_listen, daemon=True))
            _listening[0].start()
    return _cancelled.is_set()


def stop_if_cancelled() -> None:
    """End the program with exit code 0, and say that it was cancelled, if the node has asked to
    stop; else do nothing."""
    if cancelled():
        say("CANCELLED")
        sys.exit(0)


def checkpoint(path: str) -> None:
    """Hand over a file or folder with the program's state; the next attempt gets the newest one.

    Waits until the node has taken it away, so that the next one can have the same name, but for
    ``TAKEN_S_MAX`` at most; without a node it returns at once.
    """
    say(f"CHECKPOINT {path}")
    give_up_s = time.monotonic() + TAKEN_S_MAX
    while "WINGBEAT_SCRATCH" in os.environ and time.monotonic() < give_up_s:
        if not Path(path).exists():
            return
        time.sleep(0.01)


def saved() -> Path | None:
    """Return the path of what an earlier attempt has handed over, which is not looked at; None when
    this one begins at the beginning."""
    given = os.environ.get("WINGBEAT_CHECKPOINT")
    return Path(given) if given else None


def terminated(*outputs: str) -> None:
    """End the program as successful, with exit code 0, with these files of its working folder, or
    identifiers. Does not return, nor look whether the files are there."""
    say(" ".join(["TERMINATED", *(f'"{each}"' if " " in each else each for each in outputs)]))
    sys.exit(0)


def failed(reason: str) -> None:
    """End the program as failed, with exit code 1; people read the reason, which becomes one
    line."""
    say("ERROR " + " ".join(reason.split()))
    sys.exit(1)


def say(line: str) -> None:
    """Write a line of its own to the node, at once, also while other threads write."""
    with _lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _behind(option: str) -> list[str]:
    words = sys.argv[1:]
    return [word for before, word in zip(words[::2], words[1::2], strict=False) if before == option]


def _listen() -> None:
    for line in sys.stdin:
        if line.strip() == "CANCEL":
            _cancelled.set()
            return
