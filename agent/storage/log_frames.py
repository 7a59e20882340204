"""SQLite's write-ahead log as frames: to see what SQLite passes over in silence.

After a crash SQLite plays the log up to the first frame whose checksum is wrong. That is right for
the torn end of a transaction that nobody was promised, but a flipped bit in the middle takes all
transactions after it, too, without a word. A transaction is flushed before the next one is written,
so a whole one with more behind it was on disk once: if SQLite does not count it, it is damage.
Only the last transaction can be lost unseen, because it looks like one that was never finished.

The layout is SQLite's documented file format: a header of 32 bytes, then frames of a header of 24
bytes and a page. Frames of the present log carry the salts of its header.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agent.storage.database import PAGE_BYTES

HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
MAGIC = 0x377F0682
COUNTED_FRAMES_OFFSET = 16
WORD_MASK = 0xFFFFFFFF

Sums = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """One page as a transaction left it. ``ends``: the last frame of its transaction."""

    number: int
    page: int
    ends: bool
    page_offset: int


def counted_frames(shared_index: Path) -> int:
    """Return how many frames of the log SQLite plays, as its index says while a connection is open;
    0 when it does not."""
    with shared_index.open("rb") as file:
        file.seek(COUNTED_FRAMES_OFFSET)
        word = file.read(4)
    return int.from_bytes(word, sys.byteorder) if len(word) == 4 else 0


def passed_over(log: Path, counted: int) -> bool:
    """Tell whether a transaction that was flushed lies behind the frames that SQLite counts, so
    that it would be lost."""
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return False
    with file:
        header = _header(file)
        if header is None:
            file.seek(0)
            return any(file.read(HEADER_BYTES)) and bool(file.read(FRAME_HEADER_BYTES))
        ended = False
        for frame in _frames(file, header[8:], counted):
            if ended:
                return True
            ended = frame.ends
    return False


def latest_pages(log: Path) -> dict[int, int]:
    """Return where in the log the latest image of each page begins, by page, played over damaged
    frames. A damaged frame still counts: most of its rows are good, and their checksums tell which.
    Only a last transaction with a damaged frame is left out, because it may never have been
    finished, and what follows it."""
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return {}
    whole: dict[int, int] = {}
    open_pages: dict[int, int] = {}
    held: list[tuple[dict[int, int], bool]] = []
    sound = True
    with file:
        header = _header(file)
        salts = _salts(file) if header is None else header[8:]
        before = -1
        for frame in _frames(file, salts, 0):
            sound = sound and frame.number == before + 1 and _is_sound(file, frame)
            before = frame.number
            open_pages[frame.page] = frame.page_offset
            if frame.ends:
                held.append((open_pages, sound))
                open_pages, sound = {}, True
    if held and not held[-1][1]:
        held.pop()
    for pages, _ in held:
        whole.update(pages)
    return whole


def _header(file: BinaryIO) -> bytes | None:
    """Magic and version are dropped; page size, sequence, salts remain. None when it is wrong."""
    data = file.read(HEADER_BYTES)
    if len(data) < HEADER_BYTES:
        return None
    magic = int.from_bytes(data[:4], "big")
    if magic & ~1 != MAGIC or _sums(data[:24], (0, 0), magic) != struct.unpack(">II", data[24:]):
        return None
    return data[8:24]


def _salts(file: BinaryIO) -> bytes:
    """The salts of most frames, for a log whose header is damaged."""
    votes: dict[bytes, int] = {}
    number = 0
    while len(head := _frame_header(file, number)) == FRAME_HEADER_BYTES:
        votes[head[8:16]] = votes.get(head[8:16], 0) + 1
        number += 1
    return max(votes, key=lambda salts: votes[salts], default=b"")


def _frames(file: BinaryIO, salts: bytes, first: int) -> Iterator[Frame]:
    number = first
    while len(head := _frame_header(file, number)) == FRAME_HEADER_BYTES:
        page, pages_after = struct.unpack(">II", head[:8])
        if head[8:16] == salts:
            offset = HEADER_BYTES + number * FRAME_BYTES + FRAME_HEADER_BYTES
            yield Frame(number, page, pages_after != 0, offset)
        number += 1


def _frame_header(file: BinaryIO, number: int) -> bytes:
    file.seek(HEADER_BYTES + number * FRAME_BYTES)
    return file.read(FRAME_HEADER_BYTES)


def _is_sound(file: BinaryIO, frame: Frame) -> bool:
    """Whether a frame's checksum follows from that of the frame before it, as that one says it."""
    file.seek(0)
    header = file.read(HEADER_BYTES)
    before = _frame_header(file, frame.number - 1)[16:] if frame.number else header[24:]
    head = _frame_header(file, frame.number)
    page = file.read(PAGE_BYTES)
    if len(page) < PAGE_BYTES or len(before) < 8:
        return False
    sums: Sums = struct.unpack(">II", before)
    magic = int.from_bytes(header[:4], "big")
    return _sums(head[:8] + page, sums, magic) == struct.unpack(">II", head[16:])


def _sums(data: bytes, sums: Sums, magic: int) -> Sums:
    order = ">" if magic & 1 else "<"
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    first, second = sums
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & WORD_MASK
        second = (second + odd + first) & WORD_MASK
    return first, second
