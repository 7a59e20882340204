"""A checked scan: when, in which direction, how far and how bright, in seconds, radians and metres.

The directions are the scanner's: ``across`` turns to the right of the flight, ``along`` forward, both
from straight down. 26 bytes a record, little-endian, after a header with the number of records.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from tasks.inspection.conversation import WorkError

MAGIC = b"WSCN"
_HEADER = struct.Struct("<4sI")
_RECORD = struct.Struct("<dfffHxxxx")

Shot = tuple[float, float, float, float, int]
"""Time, across, along, range, intensity."""


def write_scan(path: Path, shots: list[Shot]) -> None:
    """Write all shots in their order to a file, over what is there. Raises ``OSError``."""
    with path.open("wb") as file:
        file.write(_HEADER.pack(MAGIC, len(shots)))
        file.write(b"".join(_packed(shots)))


def _packed(shots: Iterable[Shot]) -> Iterator[bytes]:
    for shot in shots:
        yield _RECORD.pack(*shot)


def read_scan(path: Path) -> list[Shot]:
    """Return the shots of a file, in its order. Raises ``WorkError`` where it is no checked scan,
    or not whole, and ``OSError``."""
    data = path.read_bytes()
    if len(data) < _HEADER.size or data[:4] != MAGIC:
        raise WorkError(f"{path.name} is no checked scan: let the program import make one")
    count = _HEADER.unpack_from(data)[1]
    body = data[_HEADER.size :]
    if len(body) != count * _RECORD.size:
        raise WorkError(f"{path.name} has not all of its {count} records: make it again")
    return list(_RECORD.iter_unpack(body))
