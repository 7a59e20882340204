"""Rows out of a damaged database, from its bare pages, whatever is broken between them.

SQLite reaches a row through the header, the schema and the inner pages of a tree: one flipped byte
there hides everything below it. The rows themselves lie in the leaves, and each has a checksum of
its own. So every page is read as if it were a leaf, and a row counts when its checksum does. A
flipped byte costs the row that it is in, or the rows of one page when it is in that page's head;
a row that is longer than a page goes with any page that it continues on.

The layout is SQLite's documented file format ("b-tree pages", "record format").

**SQLite's write-ahead log as frames: to see what SQLite passes over in silence.**

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

from agent.storage.database import PAGE_BYTES, Row, checksum
from agent.storage.places import write_ahead_log

HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
MAGIC = 0x377F0682
COUNTED_FRAMES_OFFSET = 16
WORD_MASK = 0xFFFFFFFF

Sums = tuple[int, int]
FILE_HEADER_BYTES = 100
LEAF_HEADER_BYTES = 8
WHOLE_BYTES_MAX = PAGE_BYTES - 35
LOCAL_BYTES_MIN = (PAGE_BYTES - 12) * 32 // 255 - 23
ROW_BYTES_MAX = 1_000_000_000
INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Frame:
    """One page as a transaction left it. ``ends``: the last frame of its transaction."""

    number: int
    page: int
    ends: bool
    page_offset: int


def counted_frames(shared_index: Path) -> int:
    """Return how many frames of the log SQLite plays, as its index says while a connection is open;
    0 when the index is too short to say it. Raise ``OSError`` when it cannot be read."""
    with shared_index.open("rb") as file:
        file.seek(COUNTED_FRAMES_OFFSET)
        word = file.read(4)
    return int.from_bytes(word, sys.byteorder) if len(word) == 4 else 0


def passed_over(log: Path, counted: int) -> bool:
    """Tell whether frames would be lost: those behind a whole transaction that SQLite does not count,
    or behind a damaged header that is not all zeros; False without a log. Raise ``OSError`` when it
    cannot be read."""
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
    """Return by page number where in the log its latest image begins; empty without a log. A
    damaged frame counts, since the checksums of its rows tell which are good; only a last
    transaction with a damaged frame and what is unfinished are left out. Raise ``OSError`` when it
    cannot be read."""
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


class Pages:
    """The pages of a database with its log played over them."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None, in_log: dict[int, int]) -> None:
        self._file = file
        self._log = log
        self._in_log = in_log
        self.count = max(file.seek(0, 2) // PAGE_BYTES, max(in_log, default=0))

    def read(self, number: int) -> bytes:
        """Return the page of this number, counted from 1, from the log where that has a later
        image. It is shorter than a page, or empty, behind the end and where the disk cannot read
        it."""
        place = self._in_log.get(number)
        try:
            if place is not None and self._log is not None:
                self._log.seek(place)
                return self._log.read(PAGE_BYTES)
            self._file.seek((number - 1) * PAGE_BYTES)
            return self._file.read(PAGE_BYTES)
        except OSError:
            return b""


def salvage(database: Path) -> Iterator[Row]:
    """Yield the rows that can still be read from the pages of a damaged database and its log, each
    verified by its checksum, and skip all others in silence. Raise ``OSError``, at the first row,
    when the file cannot be opened or its log not be read."""
    log_path = write_ahead_log(database)
    in_log = latest_pages(log_path)
    with database.open("rb") as file:
        log = log_path.open("rb") if in_log else None
        try:
            pages = Pages(file, log, in_log)
            for number in range(1, pages.count + 1):
                yield from _rows_of_page(pages, number)
        finally:
            if log is not None:
                log.close()


def _rows_of_page(pages: Pages, number: int) -> Iterator[Row]:
    page = pages.read(number)
    if len(page) < PAGE_BYTES:
        return
    start = FILE_HEADER_BYTES if number == 1 else 0
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    first = start + LEAF_HEADER_BYTES
    for place in range(first, min(first + 2 * cells, PAGE_BYTES - 1), 2):
        try:
            row = _row(_payload(pages, page, int.from_bytes(page[place : place + 2], "big")))
        except (IndexError, ValueError):
            continue
        if row is not None:
            yield row


def _payload(pages: Pages, page: bytes, place: int) -> bytes:
    """What a cell holds, with the pages that it continues on."""
    size, place = _varint(page, place)
    _, place = _varint(page, place)
    if size <= WHOLE_BYTES_MAX:
        return page[place : place + size]
    if size > min(ROW_BYTES_MAX, pages.count * PAGE_BYTES):
        raise ValueError(size)
    local = LOCAL_BYTES_MIN + (size - LOCAL_BYTES_MIN) % (PAGE_BYTES - 4)
    local = local if local <= WHOLE_BYTES_MAX else LOCAL_BYTES_MIN
    parts = [page[place : place + local]]
    left = size - local
    following = int.from_bytes(page[place + local : place + local + 4], "big")
    while left > 0:
        continued = pages.read(following) if 0 < following <= pages.count else b""
        if len(continued) < PAGE_BYTES:
            raise ValueError(following)
        parts.append(continued[4 : 4 + left])
        left -= PAGE_BYTES - 4
        following = int.from_bytes(continued[:4], "big")
    return b"".join(parts)


def _row(payload: bytes) -> Row | None:
    """The row in a payload; None when it is not a row of ours or not as it was written."""
    types, place = _types(payload)
    if len(types) != COLUMNS or not all(is_text(kind) for kind in types[1:3]):
        return None
    number_type, kind_type, name_type, sum_type, content_type = types
    if number_type != 0 or content_type < 12 or content_type % 2:
        return None
    kind, place = _take(payload, place, (kind_type - 13) // 2)
    name, place = _take(payload, place, (name_type - 13) // 2)
    if sum_type in (8, 9):
        stored = sum_type - 8
    else:
        word, place = _take(payload, place, INTEGER_BYTES[sum_type])
        stored = int.from_bytes(word, "big", signed=True)
    content, _ = _take(payload, place, (content_type - 12) // 2)
    if stored != checksum(kind, name, content):
        return None
    return kind.decode(), name.decode(), stored, content


def is_text(serial_type: int) -> bool:
    """Tell whether a column of this serial type is a text."""
    return serial_type >= 13 and serial_type % 2 == 1


def _types(payload: bytes) -> tuple[list[int], int]:
    end, place = _varint(payload, 0)
    types: list[int] = []
    while place < end and len(types) <= COLUMNS:
        serial_type, place = _varint(payload, place)
        types.append(serial_type)
    return types, end


def _take(payload: bytes, place: int, size: int) -> tuple[bytes, int]:
    if place + size > len(payload):
        raise ValueError(size)
    return payload[place : place + size], place + size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for position in range(place, place + 8):
        byte = data[position]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, position + 1
    return value << 8 | data[place + 8], place + 9
