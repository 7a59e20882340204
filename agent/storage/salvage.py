"""Rows out of a damaged database, from its bare pages, whatever is broken between them.

SQLite reaches a row through the header, the schema and the inner pages of a tree: one flipped byte
there hides everything below it. The rows themselves lie in the leaves, and each has a checksum of
its own. So every page is read as if it were a leaf, and a row counts when its checksum does. A
flipped byte costs the row that it is in, or the rows of one page when it is in that page's head;
a row that is longer than a page goes with any page that it continues on.

The layout is SQLite's documented file format ("b-tree pages", "record format").
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from agent.storage.database import PAGE_BYTES, Row, checksum
from agent.storage.log_frames import latest_pages
from agent.storage.places import write_ahead_log

FILE_HEADER_BYTES = 100
LEAF_HEADER_BYTES = 8
WHOLE_BYTES_MAX = PAGE_BYTES - 35
LOCAL_BYTES_MIN = (PAGE_BYTES - 12) * 32 // 255 - 23
ROW_BYTES_MAX = 1_000_000_000
INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
COLUMNS = 5


class Pages:
    """The pages of a database with its log played over them."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None, in_log: dict[int, int]) -> None:
        self._file = file
        self._log = log
        self._in_log = in_log
        self.count = max(file.seek(0, 2) // PAGE_BYTES, max(in_log, default=0))

    def read(self, number: int) -> bytes:
        """Return a page, counted from 1, from the log where it has a later image; empty when the
        disk cannot read it."""
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
    """Yield all rows of a damaged database that can still be read, each verified by its
    checksum."""
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
