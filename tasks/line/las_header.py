"""What a LAS or LAZ file says of itself, held against its size before any library sees the file.

A header is a claim. A count of records that is a thousand times too large makes a library allocate
until the machine stands, a cut file reads as a short one, and a decoder that meets what it does not
expect ends the process. So each number that leads somewhere is looked at here first: signature,
version, sizes, how many variable length records there are, where the points begin and how many
there can be. What is compressed is looked at in ``laz_chunks``.

What cannot be right ends in one sentence: what was found, what was expected, what to do. What can
be lived with is counted in ``survived`` by the words in which the report tells it.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tasks.inspection.conversation import WorkError
from tasks.line.sentences import said

SIGNATURE = b"LASF"
HEADER_BYTES = {0: 227, 1: 227, 2: 227, 3: 235, 4: 375, 5: 393}
"""The least size of the header, by the second number of the version 1.x."""
RECORD_BYTES = {0: 20, 1: 28, 2: 26, 3: 34, 4: 57, 5: 63, 6: 30, 7: 36, 8: 38, 9: 59, 10: 67}
"""The least size of a point, by its format."""
COMPRESSED, FORMAT_BITS = 0x80, 0x3F
VLR_BYTES, EVLR_BYTES = 54, 60
EMPTY_BYTES = 16
"""Of LAZ without a point: where its table of chunks is, and that table."""
RECORDS_BYTES_MAX = 64 * 1024 * 1024
"""Of everything before the points; what is larger is no header."""
EVLRS_MAX = 1_000
PLACE_MAX = 1e12
"""No coordinate of anything on Earth is larger, in whatever unit."""
STEP_MIN = 1e-3
"""All that a coordinate can count comes to more than this, in degrees too."""
COPY_AGAIN = said("copy it again from where it came")
WRITE_ANEW = said("write it anew with the program that made it")


class FileFaultError(WorkError):
    """A file that cannot be used: what was found, what was expected, what to do."""

    def __init__(self, path: Path, found: str, expected: str, to_do: str = COPY_AGAIN) -> None:
        super().__init__(
            said(
                "{file}: {found}; expected {expected}; {to_do}",
                file=path.name,
                found=found,
                expected=expected,
                to_do=to_do,
            )
        )


class Record(NamedTuple):
    """One variable length record."""

    user: str
    number: int
    data: bytes


@dataclass(frozen=True)
class LasHeader:
    """What holds of a file after everything here was looked at."""

    path: Path
    version: str
    point_format: int
    record_bytes: int
    header_bytes: int
    points_at: int
    points: int
    compressed: bool
    scales: tuple[float, float, float]
    offsets: tuple[float, float, float]
    least: tuple[float, float, float]
    most: tuple[float, float, float]
    """The box that the header claims; nobody has looked whether the points lie in it."""
    encoding: int
    by_return: int
    """How many points the table by number of return adds up to."""
    records: tuple[Record, ...]
    survived: Counter[str] = field(default_factory=Counter)

    @property
    def standard_time(self) -> bool:
        """Whether times are seconds of GPS less 1e9, instead of seconds of a week."""
        return bool(self.encoding & 1)

    def record(self, user: str, number: int) -> bytes | None:
        """Return the data of the first record of that name and number; None without one."""
        found = (each.data for each in self.records if (each.user, each.number) == (user, number))
        return next(found, None)


def read_header(path: Path) -> LasHeader:
    """Return what a file says of itself, once that was held against its size. Raises
    ``FileFaultError`` where it cannot be true, and ``OSError``."""
    size = path.stat().st_size
    with path.open("rb") as file:
        header = _fixed_part(path, file, size)
        header = _with_records(header, file, size)
        end = _end_of_points(header, file, size)
    if not header.compressed:
        _look_at_count(header, size, end)
    elif not header.points and end - header.points_at >= EMPTY_BYTES + header.record_bytes:
        raise FileFaultError(
            path,
            said(
                "its header says 0 points and {bytes} bytes of points follow",
                bytes=end - header.points_at,
            ),
            said("a count of them"),
            WRITE_ANEW,
        )
    return header


def _fixed_part(path: Path, file: BinaryIO, size: int) -> LasHeader:
    head = file.read(max(HEADER_BYTES.values()))
    _look_at_beginning(path, head, size)
    counted, points_at, _, kind, record_bytes = struct.unpack_from("<HIIBH", head, 94)
    points, by_return, survived = _counts(head)
    numbers = struct.unpack_from("<12d", head, 131)
    header = LasHeader(
        path,
        f"{head[24]}.{head[25]}",
        kind & FORMAT_BITS,
        record_bytes,
        counted,
        points_at,
        points,
        bool(kind & COMPRESSED),
        numbers[0:3],
        numbers[3:6],
        numbers[7:12:2],
        numbers[6:12:2],
        struct.unpack_from("<H", head, 6)[0],
        by_return,
        (),
        survived,
    )
    _look_at_scale(header)
    return header


def _look_at_beginning(path: Path, head: bytes, size: int) -> None:
    """Whether this is a header of a known version, and whether header, records and points can lie
    behind each other as it says."""
    if not head:
        raise FileFaultError(path, said("it is empty"), said("a LAS or LAZ file"))
    if head[:4] != SIGNATURE:
        raise FileFaultError(
            path,
            said("it begins with {head}", head=repr(head[:4])),
            repr(SIGNATURE),
            said("it is no LAS or LAZ file"),
        )
    if len(head) < HEADER_BYTES[0]:
        raise FileFaultError(
            path,
            said("it has {size} bytes", size=size),
            said("a header of {least}", least=HEADER_BYTES[0]),
        )
    least = HEADER_BYTES.get(head[25])
    if head[24] != 1 or least is None:
        raise FileFaultError(
            path,
            said("it is LAS {major}.{minor}", major=head[24], minor=head[25]),
            said("1.0 to 1.5"),
            said("write it anew as LAS 1.4"),
        )
    _look_at_places(path, head, size, least)


def _look_at_places(path: Path, head: bytes, size: int, least: int) -> None:
    own_bytes, points_at = struct.unpack_from("<HI", head, 94)
    if own_bytes < least or own_bytes > points_at or len(head) < least:
        raise FileFaultError(
            path,
            said(
                "its header says that it has {size} bytes and points begin at {points_at}",
                size=own_bytes,
                points_at=points_at,
            ),
            said("at least {least} bytes, and points behind them", least=least),
        )
    if points_at > min(size, RECORDS_BYTES_MAX):
        raise FileFaultError(
            path,
            said("its points begin at byte {points_at} of {size}", points_at=points_at, size=size),
            said(
                "a place within the file, below {most}",
                most=RECORDS_BYTES_MAX,
            ),
        )


def _counts(head: bytes) -> tuple[int, int, Counter[str]]:
    """How many points the header says, in all and added up by number of return."""
    survived: Counter[str] = Counter()
    (legacy,), old = struct.unpack_from("<I", head, 107), sum(struct.unpack_from("<5I", head, 111))
    if head[25] < 4:
        return legacy, old, survived
    points, by_return = (
        struct.unpack_from("<Q", head, 247)[0],
        struct.unpack_from("<15Q", head, 255),
    )
    if points == 0 and legacy:
        survived[said("the header of LAS 1.4 has its count only where older versions have it")] = 1
        return legacy, old, survived
    if legacy not in (0, points):
        survived[said("the header has two counts that differ")] = 1
    return points, sum(by_return), survived


def _look_at_scale(header: LasHeader) -> None:
    least = RECORD_BYTES.get(header.point_format)
    if least is None or header.record_bytes < least:
        raise FileFaultError(
            header.path,
            said(
                "its points are of format {point_format} with {record_bytes} bytes each",
                point_format=header.point_format,
                record_bytes=header.record_bytes,
            ),
            "a format from 0 to 10" if least is None else f"at least {least} bytes",
            WRITE_ANEW,
        )
    if not all(math.isfinite(each) and 2**31 * each > STEP_MIN for each in header.scales):
        raise FileFaultError(
            header.path,
            said(
                "its scale factors are {listed}",
                listed=", ".join(f"{each:g}" for each in header.scales),
            ),
            said("three numbers above 0, without which all points fall on one place"),
            WRITE_ANEW,
        )
    if not all(
        abs(each) < PLACE_MAX for each in (*header.offsets, *(2**31 * s for s in header.scales))
    ):
        raise FileFaultError(
            header.path,
            said("its scale factors and offsets lead beyond every place"),
            said("coordinates below {most}", most=f"{PLACE_MAX:g}"),
            WRITE_ANEW,
        )


def _with_records(header: LasHeader, file: BinaryIO, size: int) -> LasHeader:
    """Read the records between header and points, and those behind the points, as far as they fit
    where they have to lie; what is claimed beyond that is counted, not looked for."""
    file.seek(0)
    area = file.read(header.points_at)
    counted = struct.unpack_from("<I", area, 100)[0]
    found: list[Record] = []
    at = header.header_bytes
    while len(found) < counted and at + VLR_BYTES <= len(area):
        user, number, length = struct.unpack_from("<16sHH", area, at + 2)
        if at + VLR_BYTES + length > len(area):
            break
        at += VLR_BYTES
        found.append(_record(user, number, area[at : at + length]))
        at += length
    if len(found) < counted:
        header.survived[
            said("variable length records that the header counts and the file lacks")
        ] = counted - len(found)
    if header.version >= "1.4":
        found += _behind_the_points(header, area, file, size)
    return replace(header, records=tuple(found))


def _behind_the_points(header: LasHeader, area: bytes, file: BinaryIO, size: int) -> list[Record]:
    at, counted = struct.unpack_from("<QI", area, 235)
    found: list[Record] = []
    while len(found) < min(counted, EVLRS_MAX) and header.points_at <= at <= size - EVLR_BYTES:
        file.seek(at)
        user, number, length = struct.unpack_from("<16sHQ", file.read(EVLR_BYTES), 2)
        if at + EVLR_BYTES + length > size:
            break
        wanted = length <= RECORDS_BYTES_MAX and user.startswith(b"LASF_Projection")
        found.append(_record(user, number, file.read(length) if wanted else b""))
        at += EVLR_BYTES + length
    if len(found) < counted:
        header.survived[said("extended records that the header counts and the file lacks")] = (
            counted - len(found)
        )
    return found


def _record(user: bytes, number: int, data: bytes) -> Record:
    return Record(user.partition(b"\0")[0].decode("ascii", "replace"), number, data)


def _look_at_count(header: LasHeader, size: int, end: int) -> None:
    room = (size - header.points_at) // header.record_bytes
    if header.points > room:
        raise FileFaultError(
            header.path,
            said(
                "its header says {points} points and the file has room for {room}",
                points=header.points,
                room=room,
            ),
            said(
                "{wanted} bytes instead of {size}",
                wanted=header.points_at + header.points * header.record_bytes,
                size=size,
            ),
        )
    behind = (end - header.points_at) // header.record_bytes - header.points
    if behind > 0:
        header.survived[said("records behind the last point that the header counts")] = behind


def _end_of_points(header: LasHeader, file: BinaryIO, size: int) -> int:
    """Where something else begins behind the points: waveforms, extended records."""
    if header.version < "1.3":
        return size
    file.seek(227)
    told = struct.unpack("<QQI", file.read(20))
    begins: list[int] = [size, told[0]] + ([told[1]] if header.version >= "1.4" and told[2] else [])
    return min(each for each in begins if header.points_at <= each or each == size)
