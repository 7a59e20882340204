"""The lines between a program and the node that runs it (the source's table 3.4).

A program is called ``-p raw… -i input… -x parameters`` and says ``PROGRESS p``, ``CHECKPOINT file``
and at last one of ``TERMINATED file…``, ``CANCELLED`` and ``ERROR text``. Whenever it tells how far
it is, it hears whether it is to stop: the node says ``CANCEL``, or nothing any more because it is
gone, and in both cases nobody wants the result. So a program tells its progress often; it is said
aloud at most ten times a second.

``WorkError`` is for what a person can mend, in one sentence. Anything else is a fault of the program:
its traceback goes to the standard error, which the node keeps as the task's log.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, TypeVar

SAID_EVERY_S = 0.1
READ_BYTES = 4_096
CHECKPOINT_VARIABLE = "WINGBEAT_CHECKPOINT"

T = TypeVar("T", bound=float | int | str)


class WorkError(Exception):
    """One sentence: what is wrong, where, what to do."""


class CancelledError(Exception):
    """Nobody wants the result any more."""


@dataclass
class Work:
    """What a program is to do, and its way to say how far it is."""

    raw: list[Path] = field(default_factory=list)
    inputs: list[Path] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    checkpoint: Path | None = None
    """What an earlier attempt saved last."""
    say: Callable[[str], None] = lambda _: None
    unwanted: threading.Event = field(default_factory=threading.Event)
    _said_s: float = 0.0

    def progress(self, share: float) -> None:
        """Tell the node that so much is done, from 0 to 1, unless that was told a moment ago.
        Raises ``CancelledError`` when the work is not wanted any more."""
        if self.unwanted.is_set():
            raise CancelledError
        now_s = time.monotonic()
        if now_s - self._said_s >= SAID_EVERY_S:
            self._said_s = now_s
            self.say(f"PROGRESS {100 * min(max(share, 0.0), 1.0):.0f}")

    def save(self, path: Path) -> None:
        """Hand a file to the node, from which another attempt may go on."""
        self.say(f"CHECKPOINT {path}")

    def parameter(self, name: str, default: T) -> T:
        """Return a parameter as the type of its default, or the default if it was not given. Raises
        ``WorkError`` where it cannot be read as that."""
        given = self.parameters.get(name)
        if given is None:
            return default
        try:
            return type(default)(given)
        except ValueError:
            kind = "a whole number" if isinstance(default, int) else "a number"
            raise WorkError(f"the parameter {name} is {given!r} and has to be {kind}") from None

    def input(self, number: int, what: str) -> Path:
        """Return the path of the input with this number, counted from 0; nobody has looked whether
        it exists. Raises ``WorkError`` where there are fewer, which says by ``what`` what is
        missing."""
        if number >= len(self.inputs):
            raise WorkError(f"input {number + 1} is missing: {what}, given with -i")
        return self.inputs[number]


Do = Callable[[Work], Sequence[str]]
"""Does the work in the current folder and names the files that it left there."""


def main(do: Do) -> None:
    """Do the work that the arguments of this process name, talking with the node over standard
    input and output; then end the process with the exit code. Never returns."""
    out = sys.stdout

    def say(line: str) -> None:
        out.write(line + "\n")
        out.flush()

    work = Work(say=say)
    threading.Thread(target=_listen, args=(work.unwanted,), daemon=True).start()
    sys.exit(converse(do, work, sys.argv[1:], sys.stderr))


def converse(do: Do, work: Work, arguments: Sequence[str], errors: TextIO) -> int:
    """Read the arguments, do the work, say the last word; return the exit code, 0 also when
    cancelled, 1 where it failed. Errors of the work are said, not raised; a fault of the program
    goes to ``errors`` with its traceback."""
    try:
        read_arguments(work, arguments)
        outputs = do(work)
        quoted = (f'"{each}"' if " " in each else each for each in outputs)
        work.say(" ".join(["TERMINATED", *quoted]))
    except CancelledError:
        work.say("CANCELLED")
    except WorkError as error:
        work.say(f"ERROR {error}")
        return 1
    except OSError as error:
        work.say(f"ERROR {error.filename or 'a file'} cannot be used: {error.strerror or error}")
        return 1
    except Exception as error:  # noqa: BLE001 - the last word must be said whatever is wrong
        traceback.print_exc(file=errors)
        work.say(f"ERROR this program is at fault: {type(error).__name__}: {error}")
        return 1
    return 0


def read_arguments(work: Work, arguments: Sequence[str]) -> None:
    """Fill into ``work`` what the arguments say, and the checkpoint that the environment names, if
    that file exists. Raises ``WorkError`` for an argument that makes no sense, and ``OSError`` for
    a file of parameters that cannot be read."""
    words = list(arguments)
    while words:
        option = words.pop(0)
        if option not in ("-p", "-i", "-x"):
            raise WorkError(f"{option!r} is no argument: -p raw, -i input and -x parameters are")
        if not words:
            raise WorkError(f"nothing stands behind {option}")
        word = words.pop(0)
        if option == "-x":
            work.parameters.update(read_parameters(word))
        else:
            (work.raw if option == "-p" else work.inputs).append(Path(word))
    saved = os.environ.get(CHECKPOINT_VARIABLE, "")
    if saved and Path(saved).is_file():
        work.checkpoint = Path(saved)


def read_parameters(given: str) -> dict[str, str]:
    """Return the parameters by name: ``name=value`` words, a JSON object of single values or the XML of
    the documents, in the argument itself or in the file that it names; of two alike the later. Raises
    ``WorkError`` for anything else, and ``OSError``."""
    text = given
    if (
        not given.startswith("{")
        and "\n" not in given
        and "=" not in given
        and Path(given).is_file()
    ):
        text = Path(given).read_text("utf-8")
    if text.lstrip().startswith("{"):
        return _read_json(text)
    if text.lstrip().startswith("<"):
        return _read_xml(text)
    found: dict[str, str] = {}
    for word in text.split():
        name, sign, value = word.partition("=")
        if not (name and sign):
            raise WorkError(f"the parameter {word!r} has no value: write name=value")
        found[name] = value
    return found


def _read_json(text: str) -> dict[str, str]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WorkError(f"the parameters are not JSON: {error}") from None
    for name, value in told.items():
        if isinstance(value, dict | list):
            raise WorkError(f"the parameter {name!r} is a list or an object: write a single value")
    return {name: "" if value is None else str(value) for name, value in told.items()}


def _read_xml(text: str) -> dict[str, str]:
    try:
        top = ET.fromstring(text)
    except ET.ParseError as error:
        raise WorkError(f"the parameters are not XML: {error}") from None
    return {each.get("name", each.tag): (each.text or "").strip() for each in top}


def _listen(unwanted: threading.Event) -> None:
    """Until the node says CANCEL or is gone. Reads past Python's own buffer, which would keep
    the process from ending while this thread waits in it."""
    heard = b""
    while True:
        try:
            data = os.read(0, READ_BYTES)
        except OSError:
            data = b""
        heard = (heard + data)[-READ_BYTES:]
        if not data or b"CANCEL\n" in heard:
            unwanted.set()
            return
