"""The scanner's own file: counts as its electronics give them, in blocks with a check sum each.

    header   4s magic "WRS1", u16 version, u16 records per block, f64 start (GPS seconds)
    block    u32 records, u32 CRC-32 of what follows, then the records
    record   u32 ticks of 10 us since the start, i32 across, i32 along (both micro-radians),
             u32 range in mm (0: nothing came back), u16 intensity

A block that was damaged on its way is left out and counted; the others are good, because each stands
for itself. All numbers are little-endian.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.inspection.conversation import WorkError

MAGIC, VERSION = b"WRS1", 1
BLOCK_RECORDS = 100
TICK_S, MICRORADIAN, MILLIMETRE_M = 1e-5, 1e-6, 1e-3

_HEADER = struct.Struct("<4sHHd")
_BLOCK = struct.Struct("<II")
_RECORD = struct.Struct("<IiiIH")

Record = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """The records of one block; none where it is damaged."""

    records: tuple[Record, ...]
    damaged: bool = False


def write_raw(path: Path, start_s: float, records: list[Record]) -> None:
    """Write all records to a file, over what is there, in blocks with their check sums, as the
    scanner does. Raises ``OSError``."""
    with path.open("wb") as file:
        file.write(_HEADER.pack(MAGIC, VERSION, BLOCK_RECORDS, start_s))
        for first in range(0, len(records), BLOCK_RECORDS):
            chosen = records[first : first + BLOCK_RECORDS]
            data = b"".join(_RECORD.pack(*record) for record in chosen)
            file.write(_BLOCK.pack(len(chosen), zlib.crc32(data)) + data)


def read_raw(path: Path) -> tuple[float, Iterator[Block]]:
    """Return when the scan began, and its blocks, which are checked as they are taken. Raises
    ``WorkError`` where the file is no such scan, or, as blocks are taken, ends within one; and
    ``OSError``. A damaged block is returned without records."""
    data = path.read_bytes()
    if len(data) < _HEADER.size:
        raise WorkError(f"{path.name} is too short to be a scan: copy it from the scanner again")
    magic, version, _, start_s = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise WorkError(f"{path.name} is no scan of this scanner: it begins with {magic!r}")
    if version != VERSION:
        raise WorkError(f"{path.name} has version {version} of the format, known is {VERSION}")
    return start_s, _blocks(path.name, data)


def _blocks(name: str, data: bytes) -> Iterator[Block]:
    place = _HEADER.size
    while place < len(data):
        if place + _BLOCK.size > len(data):
            raise WorkError(f"{name} ends within a block: copy it from the scanner again")
        count, check = _BLOCK.unpack_from(data, place)
        place += _BLOCK.size
        size = count * _RECORD.size
        if count > BLOCK_RECORDS or place + size > len(data):
            raise WorkError(f"{name} ends within a block: copy it from the scanner again")
        body = data[place : place + size]
        place += size
        if zlib.crc32(body) != check:
            yield Block((), damaged=True)
        else:
            yield Block(tuple(_RECORD.iter_unpack(body)))
