"""What goes back to the system: only what a file still has, and everything works on."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from agent.host import memory
from agent.host.memory import MemoryTrimmer, as_in_file, let_go_of_files

ANONYMOUS = b"""
5000-6000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
Swap:                  0 kB
6000-7000 r--p 00000000 00:00 0
Anonymous:             0 kB
Swap:                  0 kB
"""
OF_FILES = b"""
1000-2000 r--p 00000000 fe:00 11                         /usr/lib/libone.so (deleted)
Rss:                   4 kB
Anonymous:             0 kB
Swap:                  0 kB
2000-4000 r-xp 00001000 fe:00 11                         /usr/lib/with a space/libone.so
Anonymous:             0 kB
Swap:                  0 kB
"""
CHANGED = b"""
7000-8000 r--p 00003000 fe:00 11                         /usr/lib/libone.so
Anonymous:             4 kB
Swap:                  0 kB
8000-9000 rw-p 00003000 fe:00 11                         /usr/lib/libone.so
Anonymous:             0 kB
Swap:                  0 kB
8800-8900 r--p 00003000 fe:00 11                         /usr/lib/libtwo.so
Anonymous:             0 kB
LazyFree:              0 kB
Swap:                  4 kB
9000-a000 r--s 00000000 fe:00 12                         /var/shared
Anonymous:             0 kB
Swap:                  0 kB
"""


def test_only_what_a_file_still_has_is_let_go() -> None:
    described = ANONYMOUS + OF_FILES + CHANGED

    assert list(as_in_file(described)) == [(0x1000, 0x2000), (0x2000, 0x4000)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux describes a process in this way")
def test_the_interpreter_itself_is_among_it() -> None:
    assert list(as_in_file(Path("/proc/self/smaps").read_bytes()))


def test_what_has_just_come_stays_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = (0x1000, 0x2000), (0x2000, 0x4000)
    seen = iter([frozenset({old}), frozenset({old, new})])
    gone: list[tuple[int, int]] = []
    monkeypatch.setattr(memory, "_pieces", lambda: next(seen))
    monkeypatch.setattr(memory, "_held_bytes", lambda: (memory.WORTH_BYTES, 0))
    monkeypatch.setattr(memory, "let_go_of_files", gone.extend)

    MemoryTrimmer().give_back()

    assert gone == [old]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux describes a process in this way")
def test_everything_works_on() -> None:
    expected = hashlib.sha256(bytes(1_000)).hexdigest()

    MemoryTrimmer().give_back()
    let_go_of_files(as_in_file(Path("/proc/self/smaps").read_bytes()))

    assert hashlib.sha256(bytes(1_000)).hexdigest() == expected


def test_where_little_has_happened_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed: list[int] = []
    looks = iter(
        [(0, 0), (0, 3_000_000), (0, 3_000_000), (0, 3_500_000), (8_500_000, 0), (0, 0), (0, 0)]
    )
    monkeypatch.setattr(memory, "_held_bytes", lambda: next(looks))
    monkeypatch.setattr(memory, "_pieces", frozenset)
    monkeypatch.setattr(memory, "libc_call", lambda *_: trimmed.append)
    trimmer = MemoryTrimmer()

    after_each = []
    for _ in range(5):
        trimmer.give_back()
        after_each.append(len(trimmed))

    assert after_each == [0, 1, 1, 2, 2]
