"""Points of a laser scan as arrays, and the one way in which they are read and written.

A flight has more points than a machine has memory, so nothing here holds more than a chunk, but
for ``read``, which is for tiles and has a limit. laspy and lazrs decode; what they are given was
looked at before (``las_header``), with the header set right and without the records that nobody
here needs. lazrs can end in what is no ``Exception`` ("panic"), so everything is caught that is not
meant for the process itself.

Files are written as LAZ 1.4 with points of format 6. They hold no date and no name of a machine, so
that the same points are the same bytes wherever they are written.
"""

from __future__ import annotations

import io
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import laspy
import numpy as np
from numpy.typing import NDArray

from tasks.line.las_header import (
    VLR_BYTES,
    FileFaultError,
    LasHeader,
    Record,
    read_header,
)
from tasks.line.laz_chunks import LASZIP, look_at_compression
from tasks.line.sentences import said

CHUNK_POINTS = 1_000_000
POINTS_MAX = 60_000_000
"""Of what is read at once: three GB as arrays, far above a tile."""
SCALE_M = 0.001
POINT_FORMAT = 6
WKT = ("LASF_Projection", 2112)
ONE_CORE = laspy.LazBackend.Lazrs
MADE_ON = date(2000, 1, 1)
BOX_SLACK = 2.0
"""By how many steps of the scale a point may lie outside the box of its header."""

Mask = NDArray[np.bool_] | NDArray[np.integer[Any]] | slice


@dataclass(frozen=True)
class Points:
    """Points of one reference system, a column each; times are 0 where the file has none."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    intensity: NDArray[np.uint16]
    return_number: NDArray[np.uint8]
    returns: NDArray[np.uint8]
    gps_time: NDArray[np.float64]
    classification: NDArray[np.uint8]
    source: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.x)

    def at(self, which: Mask) -> Points:
        """Return the points of a mask, of indices or of a slice."""
        return Points(*(getattr(self, each.name)[which] for each in fields(self)))

    @classmethod
    def of(
        cls, x: NDArray[np.float64], y: NDArray[np.float64], z: NDArray[np.float64], **others: Any
    ) -> Points:
        """Return points at these places; the columns that nobody names are 0."""
        columns = {name: np.zeros(len(x), kind) for name, kind in COLUMNS.items()}
        columns |= {name: np.asarray(told, COLUMNS[name]) for name, told in others.items()}
        return cls(**{**columns, "x": x, "y": y, "z": z})

    @classmethod
    def joined(cls, parts: Sequence[Points]) -> Points:
        """Return all points in the order of the parts; none where there are no parts."""
        if not parts:
            nothing = np.zeros(0)
            return cls.of(nothing, nothing, nothing)
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(each, name) for each in parts]) for name in names))


COLUMNS: dict[str, type[np.generic]] = {
    "x": np.float64,
    "y": np.float64,
    "z": np.float64,
    "intensity": np.uint16,
    "return_number": np.uint8,
    "returns": np.uint8,
    "gps_time": np.float64,
    "classification": np.uint8,
    "source": np.uint16,
}
NAMES_OF_LASPY = {"returns": "number_of_returns", "source": "point_source_id"}


class Cloud:
    """A file of points, open to be read. ``survived`` counts what was lived with, by the words in
    which it is told; it is complete when all chunks were read."""

    def __init__(self, path: Path) -> None:
        """Look at the header. Raises ``FileFaultError`` where that cannot be true, and
        ``OSError``."""
        self.header: LasHeader = read_header(path)
        look_at_compression(self.header)
        self.survived: Counter[str] = Counter(self.header.survived)

    def __len__(self) -> int:
        return self.header.points

    def chunks(self, points_max: int = CHUNK_POINTS) -> Iterator[Points]:
        """Yield all points, so many at once at most, in the order of the file; those that somebody
        withheld are left out and counted. Raises ``FileFaultError`` where they cannot be read."""
        with self.header.path.open("rb") as file, _trusting(self.header) as told:
            reader = laspy.LasReader(
                _SetRight(file, self.header), closefd=False, laz_backend=ONE_CORE, read_evlrs=False
            )
            read = 0
            while read < len(self):
                wanted = min(points_max, len(self) - read)
                raw = reader.read_points(wanted)
                if len(raw) != wanted:
                    told.append(f"it has {read + len(raw)} points")
                    raise EOFError
                read += wanted
                yield self._looked_at(raw)
        if self.header.by_return not in (0, len(self)):
            self.survived[
                said("the header's count by number of return is not that of its points")
            ] = 1

    def _looked_at(self, raw: Any) -> Points:
        columns: dict[str, NDArray[Any]] = {}
        for number, name in enumerate("xyz"):
            counted = raw.array[name.upper()].astype(np.float64)
            columns[name] = counted * self.header.scales[number] + self.header.offsets[number]
        has = set(raw.point_format.dimension_names)
        for name, kind in COLUMNS.items():
            theirs = NAMES_OF_LASPY.get(name, name)
            if name in columns:
                continue
            told = np.asarray(raw[theirs]) if theirs in has else np.zeros(len(raw))
            columns[name] = told.astype(kind)
        points = Points(**columns)
        self._count_times(points)
        self._count_strays(points)
        left_out = _blank(raw.array)
        if left_out.any():
            self._survive(said("points of nothing but zeros; they are left out"), left_out)
        if "withheld" in has and (withheld := np.asarray(raw["withheld"], bool)).any():
            self._survive(said("points that somebody withheld; they are left out"), withheld)
            left_out |= withheld
        return points.at(~left_out) if left_out.any() else points

    def _survive(self, what: str, points: NDArray[np.bool_]) -> None:
        self.survived[what] += int(points.sum())

    def _count_times(self, points: Points) -> None:
        wrong = ~np.isfinite(points.gps_time)
        if wrong.any():
            self.survived[said("points without a time that is a number")] += int(wrong.sum())
            points.gps_time[wrong] = 0.0

    def _count_strays(self, points: Points) -> None:
        outside = np.zeros(len(points), bool)
        for number, column in enumerate((points.x, points.y, points.z)):
            slack = BOX_SLACK * self.header.scales[number]
            outside |= ~(column >= self.header.least[number] - slack)
            outside |= ~(column <= self.header.most[number] + slack)
        if outside.any():
            self.survived[said("points outside the box of the header")] += int(outside.sum())


def _blank(records: NDArray[Any]) -> NDArray[np.bool_]:
    """Which records are but zeros, as what was never copied is; a single one may be a point."""
    blank = (records["X"] == 0) & (records["Y"] == 0) & (records["Z"] == 0)
    these = np.flatnonzero(blank)
    if len(these):
        raw = np.ascontiguousarray(records[these]).view(np.uint8).reshape(len(these), -1)
        blank[these] = ~raw.any(axis=1)
    return blank if blank.sum() > 1 else np.zeros(len(records), bool)


def read(path: Path, points_max: int = POINTS_MAX) -> Points:
    """Return all points of a file, which is a tile and no flight. Raises ``FileFaultError`` where it
    has more than that or cannot be read, and ``OSError``."""
    cloud = Cloud(path)
    if len(cloud) > points_max:
        raise FileFaultError(
            path,
            said("it has {count} points", count=len(cloud)),
            said("at most {most}", most=points_max),
            said("cut it into tiles"),
        )
    return Points.joined(list(cloud.chunks()))


class CloudWriter:
    """A file of points to be written chunk by chunk, with its reference system as WKT."""

    def __init__(
        self,
        path: Path,
        offsets: tuple[float, float, float],
        wkt: str = "",
        *,
        standard_time: bool = True,
    ) -> None:
        """Begin the file; places are kept to the millimetre from the offsets on, 2,000 km far.
        Raises ``OSError``."""
        header = laspy.LasHeader(version="1.4", point_format=POINT_FORMAT)
        header.offsets = np.round(np.asarray(offsets, np.float64))
        header.scales = np.full(3, SCALE_M)
        header.creation_date = MADE_ON
        header.generating_software = "Wingbeat"
        header.system_identifier = "OTHER"
        header.global_encoding.gps_time_type = laspy.header.GpsTimeType(int(standard_time))
        header.global_encoding.wkt = True
        if wkt:
            header.vlrs.append(laspy.VLR(*WKT, record_data=wkt.encode() + b"\0"))
        self._writer = laspy.LasWriter(
            path.open("wb"), header, do_compress=True, laz_backend=ONE_CORE, closefd=True
        )

    def write(self, points: Points) -> None:
        """Append points; nothing where there are none. Raises ``OSError``."""
        if not len(points):
            return
        header = self._writer.header
        raw = laspy.ScaleAwarePointRecord.zeros(len(points), header=header)
        for number, name in enumerate("xyz"):
            counted = (getattr(points, name) - header.offsets[number]) / SCALE_M
            raw.array[name.upper()] = np.rint(counted)
        for name in COLUMNS:
            if name not in "xyz":
                raw[NAMES_OF_LASPY.get(name, name)] = getattr(points, name)
        self._writer.write_points(raw)

    def close(self) -> None:
        """Finish the file. Raises ``OSError``."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def write(
    path: Path, parts: Iterable[Points], wkt: str = "", *, standard_time: bool = True
) -> None:
    """Write points as LAZ; their offsets are those of the first point. Raises ``OSError``."""
    chunks = iter(parts)
    first = next((each for each in chunks if len(each)), None)
    at = (0.0, 0.0, 0.0) if first is None else (first.x[0], first.y[0], first.z[0])
    with CloudWriter(path, at, wkt, standard_time=standard_time) as writer:
        if first is not None:
            writer.write(first)
        for each in chunks:
            writer.write(each)


@contextmanager
def _trusting(header: LasHeader) -> Iterator[list[str]]:
    """Turn whatever the libraries end in, panics too, into one sentence about the file."""
    told: list[str] = []
    try:
        yield told
    except (KeyboardInterrupt, SystemExit, GeneratorExit, FileFaultError, MemoryError):
        raise
    except BaseException as error:
        if isinstance(error, OSError) and error.filename:
            raise
        found = told[0] if told else f"its points cannot be decoded ({error})"
        raise FileFaultError(
            header.path, found, said("{points} points", points=header.points)
        ) from None


class _SetRight(io.RawIOBase):
    """A file as laspy sees it: its header with the true count of records, and of these only that
    which tells how points are compressed."""

    def __init__(self, file: BinaryIO, header: LasHeader) -> None:
        self._file, self._at = file, 0
        self._front = _front(file, header)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset += self._at
        elif whence == io.SEEK_END:
            offset += self._file.seek(0, io.SEEK_END)
        self._at = offset
        return offset

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        front = self._front[self._at : self._at + len(view)]
        view[: len(front)] = front
        count = len(front)
        if count < len(view):
            self._file.seek(self._at + count)
            behind = self._file.read(len(view) - count)
            view[count : count + len(behind)] = behind
            count += len(behind)
        self._at += count
        return count


def _front(file: BinaryIO, header: LasHeader) -> bytes:
    """Everything before the points, of the same length, with the one record that matters."""
    file.seek(0)
    head = bytearray(file.read(header.header_bytes))
    laszip = header.record(*LASZIP) if header.compressed else None
    kept = [] if laszip is None else [Record(*LASZIP, laszip)]
    struct.pack_into("<I", head, 100, len(kept))
    if header.version >= "1.4":
        struct.pack_into("<QI", head, 235, 0, 0)
        struct.pack_into("<Q", head, 247, header.points)
    body = b"".join(
        struct.pack("<H16sHH32s", 0, each.user.encode(), each.number, len(each.data), b"")
        + each.data
        for each in kept
    )
    assert len(body) == sum(VLR_BYTES + len(each.data) for each in kept)
    return bytes(head) + body.ljust(header.points_at - header.header_bytes, b"\0")
