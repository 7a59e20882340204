"""Memory that is not needed any more goes back to the system.

Of two kinds, and an agent that has nothing to do would hold both for weeks:

- The C library keeps what was freed for the next time it is asked; after a crowd of connections or
  a table taken in that is many megabytes. glibc gives them back when told to.
- Starting touches nearly all of Python, OpenSSL and the other libraries, beating touches a tenth of
  them. What has not changed since it was read from its file can be let go at any time: whatever is
  needed after all comes back by itself, from the system's cache of files. The system does so too
  when memory is short, but then the owner of the machine is already waiting.

Systems other than Linux do the one or the other by themselves, or have no word for it.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from agent.host.libraries import libc_call

OBJECTS_BEFORE_A_SEARCH = 10_000
"""New objects, less those that are gone; Python's own figure is 700."""
DONT_NEED = 4
"""What ``madvise`` calls it."""
WORTH_BYTES = 8 * 1024 * 1024
"""When so much more of files has come into memory, a good deal has happened: circles that nobody
refers to will be there too."""
OWN_WORTH_BYTES = 1024 * 1024
"""When it has grown by so much, there may be some that was freed since."""

Piece = tuple[int, int]
"""Where it begins and ends."""


def collect_garbage_rarely() -> None:
    """Have Python, in this whole process, look seldom for circles that nobody refers to, and never
    at what is there now: nearly all that an agent makes and drops is free of them."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BEFORE_A_SEARCH)


class MemoryTrimmer:
    """Gives back memory that this process holds and does not need."""

    def __init__(self) -> None:
        self._mapped_bytes = self._own_bytes = 0
        self._pieces = _pieces()

    def give_back(self) -> None:
        """Collect garbage and return unused memory to the system: what was freed, and pages
        unchanged since they were read from files, if they were so at the last call too. Do nothing
        unless the process has grown by megabytes since the last call, nor except on Linux. Takes up
        to ten milliseconds."""
        mapped_bytes, own_bytes = _held_bytes()
        much_came = mapped_bytes - self._mapped_bytes >= WORTH_BYTES
        if much_came:
            gc.collect()
            pieces = _pieces()
            let_go_of_files(pieces & self._pieces)
            self._pieces = pieces
        if much_came or own_bytes - self._own_bytes >= OWN_WORTH_BYTES:
            trim = libc_call("malloc_trim", ctypes.c_size_t)
            if trim is not None:
                trim(0)
            self._mapped_bytes, self._own_bytes = _held_bytes()


def let_go_of_files(pieces: Iterable[Piece]) -> None:
    """Let the system take pieces of memory back that it can read from their files again; do nothing
    where it has no such call."""
    advise = libc_call("madvise", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if advise is not None:
        for begin, end in pieces:
            advise(begin, end - begin, DONT_NEED)


def as_in_file(described: bytes) -> Iterator[Piece]:
    """Yield the pieces of a memory map, in the words of ``/proc/self/smaps``, that are as in their
    files: they cannot be written to and were not. What was written before it was closed to writing
    (the loader does so) is not in the file; the system may have put it into the swap meanwhile, and
    then counts it nowhere else."""
    for found in _PIECE.finditer(described):
        if found["changed"] == found["swapped"] == b"0":
            yield int(found["begin"], 16), int(found["end"], 16)


def _pieces() -> frozenset[Piece]:
    return frozenset(as_in_file(_read("smaps")))


_PIECE = re.compile(
    rb"^(?P<begin>[0-9a-f]+)-(?P<end>[0-9a-f]+) r-[-x]p [0-9a-f]+ \S+ \d+ +/.*\n"
    rb"(?:[A-Z].*\n)*?Anonymous: +(?P<changed>\d+) kB\n"
    rb"(?:[A-Z].*\n)*?Swap: +(?P<swapped>\d+) kB",
    re.MULTILINE,
)


def _held_bytes() -> tuple[int, int]:
    """Of files, and of its own; 0 where it is not told."""
    words = _read("statm").split()
    resident, mapped = map(int, words[1:3]) if len(words) > 2 else (0, 0)
    return mapped * mmap.PAGESIZE, (resident - mapped) * mmap.PAGESIZE


def _read(name: str) -> bytes:
    try:
        return Path("/proc/self", name).read_bytes()
    except OSError:  # another system, or one that hides it
        return b""
