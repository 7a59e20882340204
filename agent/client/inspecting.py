"""A flight looked at before it is submitted: the program that plans an inspection, as a process.

It needs libraries that this process neither has to have nor wants, so it runs as other programs do,
and answers in one line of JSON. The window and the command line both come through here.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from agent.api.phrases import Phrase, Translate, worded
from agent.client.errors import ClientError
from agent.paths import PACKAGED

ROOT = Path(__file__).resolve().parents[2]
PLACES = ROOT, PACKAGED
"""Below which the programs lie in ``tasks``: with Wingbeat itself, or by the package for it."""
PROGRAM = Path("tasks", "line", "__main__.py")
ANSWER_BYTES_MAX = 16 * 1024 * 1024
WORDS_MAX = 400
SCANS = (".las", ".laz")
NO_FLIGHT = (".wingbeat.yaml", ".wingbeat.yml", "program.yaml", "program.xml")
"""Ends of names in a folder that has work in it, or is a program."""
NEAR_MAX = 10_000


class Flight(Struct, frozen=True):
    """What comes of looking at a flight: how many ``files`` there are of each kind, and either all
    that stands against a plan (``said`` are the same in parts), with the options (``asks``) by which a
    person says what no file does, or the plan: its tiles, what was lived with, the steps, and the file of
    the workflow, empty where none was written."""

    files: Mapping[str, int] = {}
    faults: tuple[str, ...] = ()
    said: tuple[Phrase, ...] = ()
    asks: tuple[str, ...] = ()
    tiles: int = 0
    length_m: int = 0
    points: int = 0
    size_bytes: int = 0
    survived: Mapping[str, int] = {}
    steps: tuple[str, ...] = ()
    name: str = ""
    workflow: str = ""

    @property
    def lived_with(self) -> tuple[str, ...]:
        """Return what was lived with, and how often where that is more than once."""
        return self.lived_with_in(str)

    def lived_with_in(self, translated: Translate) -> tuple[str, ...]:
        """Return the same in the language of a catalogue."""
        told = ((translated(what), count) for what, count in self.survived.items())
        return tuple(what if count == 1 else f"{what}: {count}" for what, count in told)

    def faults_in(self, translated: Translate) -> tuple[str, ...]:
        """Return what stands against a plan in the language of a catalogue; in English where the
        program does not say what its sentences are made of."""
        if len(self.said) != len(self.faults):
            return self.faults
        return tuple(worded(each, translated) for each in self.said)


_read = msgspec.json.Decoder(Flight).decode


def is_flight(path: Path) -> bool:
    """Tell whether a folder, that has no workflow in it and is no program, holds a scan, itself or
    in a folder right below it; False for what is no folder or cannot be read."""
    try:
        near = [*islice(path.iterdir(), NEAR_MAX)] if path.is_dir() else []
        if any(each.name.endswith(NO_FLIGHT) for each in near):
            return False
        near += islice(path.glob("*/*"), NEAR_MAX)
    except OSError:
        return False
    return any(each.suffix.lower() in SCANS for each in near)


async def look_at_flight(
    flight: Path, options: Mapping[str, str | Sequence[str]], into: Path | None = None
) -> Flight:
    """Return what the planning program says of a flight, with these options of it by their names;
    with ``into`` plan, workflow and programs are written there. Raise ``ClientError`` where it is
    not installed, lacks its libraries, or ends without an answer. Whoever cancels this ends it."""
    words, place = _command(flight, options, into)
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=place,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        limit=ANSWER_BYTES_MAX,
    )
    try:
        said, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _answer(said, errors)


def _command(
    flight: Path, options: Mapping[str, str | Sequence[str]], into: Path | None
) -> tuple[list[str], Path]:
    place = _place()
    words = [sys.executable, "-I", str(place / PROGRAM), "plan", str(flight.absolute()), "--json"]
    for name, value in options.items():
        told = [value] if isinstance(value, str) else [*value]
        if name == "route":  # the process works elsewhere
            told = [str(Path(each).expanduser().absolute()) for each in told]
        words += [f"--{name}={told[0]}"] if len(told) == 1 else [f"--{name}", *told]
    if into is not None:
        words.append(f"--out={into.absolute()}")
    return words, place


def _answer(said: bytes, errors: bytes) -> Flight:
    last = said.strip().rpartition(b"\n")[2].decode("utf-8", "replace")
    if last.startswith("ERROR "):
        raise ClientError(last.removeprefix("ERROR "))
    try:
        return _read(last)
    except msgspec.MsgspecError:
        words = errors.decode("utf-8", "replace").strip().rpartition("\n")[2][-WORDS_MAX:]
        sentence = f"the flight cannot be looked at: {words or 'the program says nothing'}"
        raise ClientError(sentence) from None


def program_of(name: str) -> Path:
    """Return the folder of a program that comes with the one that plans. Raises ``ClientError``."""
    return _place() / "tasks" / name


def _place() -> Path:
    place = next((each for each in PLACES if (each / PROGRAM).is_file()), None)
    if place is None:
        raise ClientError("what inspects lines is not installed: the package wingbeat-inspection")
    return place


def share_of(flight: Path, shares: Mapping[str, str]) -> str:
    """Return how a folder is named within a share of this machine, such as ``flights/line-7``;
    empty where it lies in none."""
    real = flight.resolve()
    for name, folder in shares.items():
        place = Path(folder).resolve()
        if real.is_relative_to(place):
            return "/".join((name, *real.relative_to(place).parts))
    return ""
