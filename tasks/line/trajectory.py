"""The way of the aircraft, as the programs of others write it: SBET, RTKLIB's .pos, NMEA and GPX.

An SBET tells attitudes too, two hundred times a second; the others tell places only. What each says
of time differs, and is kept as ``clock``: seconds of the GPS week, of GPS since 1980, of UTC since
1970, or of a day that nobody names. ``on_clock`` turns one into another where that can be.

What is no way is refused in one sentence; records that cannot be used, or whose time goes back, are
left out and counted, up to a share.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

import gpxpy
import numpy as np
import pynmea2
from numpy.typing import NDArray

from tasks.inspection.conversation import WorkError
from tasks.line.las_header import COPY_AGAIN, FileFaultError
from tasks.line.sentences import said

Column = NDArray[np.float64]
Clock = Literal["week", "gps", "utc", "day"]

SBET_BYTES = 136
SBET_NUMBERS = 17
NUMBER_MAX = 1e15
"""Nothing in a trajectory is larger."""
TEXT_BYTES_MAX = 256 * 1024 * 1024
UNUSABLE_SHARE_MAX = 0.01
UNREADABLE_SHARE_MAX = 0.5
"""Of lines: a receiver writes much that is no place."""
WEEK_S, DAY_S = 604_800.0, 86_400.0
STANDARD_S = 1e9
"""What LAS takes off the seconds of GPS ("adjusted standard time")."""
GPS_EPOCH_S = 315_964_800.0
LEAP_S = 18.0
"""By how much GPS runs before UTC, since 2017."""
HEADINGS = ("roll_rad", "pitch_rad", "heading_rad")
COLUMNS = ("time_s", "latitude_deg", "longitude_deg", "height_m", *HEADINGS, "sigma_m")
UNUSABLE = said("records of the way without a time or a place")
BACK = said("records of the way whose time goes back")


@dataclass(frozen=True)
class Trajectory:
    """A way: a column each, in the order of time; what a file does not tell is NaN."""

    time_s: Column
    latitude_deg: Column
    longitude_deg: Column
    height_m: Column
    roll_rad: Column
    pitch_rad: Column
    heading_rad: Column
    sigma_m: Column
    """How far a place may be off, as the file says."""
    clock: Clock
    survived: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.time_s)

    @property
    def has_attitudes(self) -> bool:
        return bool(len(self)) and not np.isnan(self.roll_rad).any()

    def between(self, first_s: float, last_s: float) -> Trajectory:
        """Return the part that leads from one moment to another, with one record on either side."""
        first = max(int(np.searchsorted(self.time_s, first_s, "right")) - 1, 0)
        last = int(np.searchsorted(self.time_s, last_s, "left")) + 1
        return replace(self, **{name: getattr(self, name)[first:last] for name in COLUMNS})

    def write(self, path: Path) -> None:
        """Write the columns as CSV, with the clock in the heading of the first; raises ``OSError``."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([f"time_s:{self.clock}", *COLUMNS[1:]])
            rows = np.stack([getattr(self, name) for name in COLUMNS], axis=1)
            writer.writerows([repr(float(number)) for number in row] for row in rows)


def read_trajectory(path: Path) -> Trajectory:
    """Return the way that a file tells, whichever of the formats it is. Raises ``FileFaultError``
    where it is none of them, is cut or tells no way, and ``OSError``."""
    with path.open("rb") as file:
        head = file.read(4_096)
    if not head:
        raise FileFaultError(path, said("it is empty"), said("a trajectory"))
    for fits, reader in READERS:
        if fits(path, head):
            return reader(path)
    if b"RINEX VERSION" in head:
        raise FileFaultError(
            path,
            said("it has RINEX observations"),
            said("places"),
            said("let RTKLIB make a .pos of it, and import that"),
        )
    raise FileFaultError(
        path,
        said("it begins with {head}", head=repr(head[:16])),
        said("SBET, RTKLIB .pos, NMEA or GPX"),
        said("export it as one"),
    )


def read_written(path: Path) -> Trajectory:
    """Return what ``Trajectory.write`` wrote. Raises ``FileFaultError`` and ``OSError``."""
    rows = list(csv.reader(_lines(path)))
    try:
        clock = rows[0][0].removeprefix("time_s:")
        told = np.array(rows[1:], np.float64).reshape(-1, len(COLUMNS))
    except (ValueError, IndexError):
        raise FileFaultError(path, said("it is no table of a way"), ", ".join(COLUMNS)) from None
    columns = dict(zip(COLUMNS, told.T, strict=True))
    return Trajectory(**columns, clock=clock)  # type: ignore[arg-type]


def on_clock(time_s: Column, clock: Clock, wanted: Clock, day: date | None = None) -> Column:
    """Return the times as another clock counts them. Raises ``WorkError`` where that needs the day,
    or the week, and nobody names it."""
    if clock == wanted:
        return time_s
    if clock == "day":
        if day is None:
            raise WorkError(said("its times have no date; name it with date=2026-05-31"))
        midnight_s = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
        return on_clock(time_s + midnight_s, "utc", wanted)
    if clock == "utc":
        return on_clock(time_s - GPS_EPOCH_S + LEAP_S, "gps", wanted)
    if clock == "gps" and wanted == "week":
        return np.mod(time_s, WEEK_S)
    if clock == "gps" and wanted == "utc":
        return time_s + GPS_EPOCH_S - LEAP_S
    raise WorkError(
        said("seconds of an unknown {clock} cannot be told as {wanted}", clock=clock, wanted=wanted)
    )


def _read_sbet(path: Path) -> Trajectory:
    size = path.stat().st_size
    if size % SBET_BYTES:
        raise FileFaultError(
            path,
            said(
                "it has {size} bytes, {more} more than whole records",
                size=size,
                more=size % SBET_BYTES,
            ),
            said("records of {size} bytes", size=SBET_BYTES),
        )
    told = np.fromfile(path, "<f8").reshape(-1, SBET_NUMBERS)
    told[np.abs(told) > NUMBER_MAX] = np.nan
    sigma = np.full(len(told), np.nan)
    attitudes = told[:, 7], told[:, 8], told[:, 9] - told[:, 10]  # the platform's, less its wander
    columns = (told[:, 0], np.degrees(told[:, 1]), np.degrees(told[:, 2]), told[:, 3])
    return _in_order(path, [*columns, *attitudes, sigma], "week")


def _read_pos(path: Path) -> Trajectory:
    """RTKLIB's text: date and time or week and seconds, then degrees, height and how sure it is."""
    rows: list[Sequence[float]] = []
    survived: Counter[str] = Counter()
    clock: Clock = "gps"
    for line in _lines(path):
        if line.startswith("%"):
            clock = "utc" if " UTC " in f"{line[1:]} " else clock
            if any(word in line for word in ("-ecef", "-baseline", "(d'\")")):
                raise FileFaultError(
                    path,
                    said("its places are no degrees with fractions"),
                    said("latitude(deg)"),
                    said("let RTKLIB write degrees"),
                )
        elif line.strip():
            try:
                rows.append(_of_pos(line.split(), clock))
            except (ValueError, IndexError):
                survived[said("lines that cannot be read")] += 1
    return _of_rows(path, rows, clock, survived)


def _of_pos(words: Sequence[str], clock: Clock) -> Sequence[float]:
    if "/" in words[0]:
        moment = datetime.fromisoformat(f"{words[0].replace('/', '-')}T{words[1][:8]}+00:00")
        time_s = moment.timestamp() + float(f"0{words[1][8:]}")
        time_s -= GPS_EPOCH_S if clock == "gps" else 0
    else:
        time_s = int(words[0]) * WEEK_S + float(words[1])
    sigma = max(float(word) for word in words[7:10]) if len(words) > 9 else math.nan
    latitude, longitude, height = (float(word) for word in words[2:5])
    return time_s, latitude, longitude, height, sigma


def _read_nmea(path: Path) -> Trajectory:
    """Places with a fix; the date is that of the latest sentence that tells one."""
    rows: list[Sequence[float]] = []
    survived: Counter[str] = Counter()
    day: date | None = None
    lines = dated = 0
    for line in _lines(path):
        lines += bool(line.strip())
        try:
            sentence = pynmea2.parse(line.strip(), check=True)
        except (pynmea2.ParseError, ValueError):
            survived[said("lines that cannot be read")] += bool(line.strip())
            continue
        day = _day_of(sentence) or day
        try:
            row = _of_gga(sentence) if getattr(sentence, "sentence_type", "") == "GGA" else None
        except ValueError:  # a number in it is none, though the check sum is right
            survived[said("lines that cannot be read")] += 1
            continue
        if row is not None:
            dated += day is not None
            rows.append((row[0] + _midnight_s(day), *row[1:]))
    if survived["lines that cannot be read"] > UNREADABLE_SHARE_MAX * lines:
        raise FileFaultError(
            path,
            said("half of its {lines} lines cannot be read", lines=lines),
            said("NMEA sentences"),
        )
    survived += Counter()
    if dated and dated < len(rows):
        early = len(rows) - dated
        survived[said("places before the first date")] = early
        rows = rows[early:]
    elif not dated:
        rows = _over_midnight(rows)
    return _of_rows(path, rows, "utc" if dated else "day", survived)


def _day_of(sentence: pynmea2.NMEASentence) -> date | None:
    found = getattr(sentence, "datestamp", None)
    return found if isinstance(found, date) else None


def _midnight_s(day: date | None) -> float:
    return 0.0 if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _of_gga(sentence: pynmea2.NMEASentence) -> Sequence[float] | None:
    """Second of the day, place, and how sure; None without a fix. Heights above the ellipsoid are
    those above the sea and what the receiver says lies between the two."""
    moment = sentence.timestamp
    if moment is None or isinstance(moment, str) or not sentence.gps_qual or not sentence.lat:
        return None
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1e6
    height = sentence.altitude if sentence.altitude is not None else math.nan
    separation = float(sentence.geo_sep) if sentence.geo_sep else 0.0
    return seconds, sentence.latitude, sentence.longitude, float(height) + separation, math.nan


def _over_midnight(rows: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    days, last_s = 0, -math.inf
    found: list[Sequence[float]] = []
    for row in rows:
        days += row[0] < last_s - DAY_S / 2
        last_s = row[0]
        found.append((row[0] + days * DAY_S, *row[1:]))
    return found


def _read_gpx(path: Path) -> Trajectory:
    try:
        found = gpxpy.parse("".join(_lines(path)))
    except (gpxpy.gpx.GPXException, ValueError) as error:
        raise FileFaultError(
            path,
            said("it is no GPX ({error})", error=str(error).splitlines()[0]),
            said("a track"),
        ) from None
    survived: Counter[str] = Counter()
    rows: list[Sequence[float]] = []
    for point in (p for track in found.tracks for part in track.segments for p in part.points):
        height = math.nan if point.elevation is None else point.elevation
        survived[said("places without a height")] += point.elevation is None
        moment = math.nan if point.time is None else _utc_s(point.time)
        rows.append((moment, point.latitude, point.longitude, height, math.nan))
    if rows and all(math.isnan(row[0]) for row in rows):
        raise FileFaultError(
            path, said("its track has no times"), said("a track that was recorded")
        )
    return _of_rows(path, rows, "utc", survived + Counter())


def _utc_s(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _lines(path: Path) -> Iterable[str]:
    """The lines of a text of bounded size, without the mark of its bytes' order."""
    size = path.stat().st_size
    if size > TEXT_BYTES_MAX:
        raise FileFaultError(
            path,
            said("it has {size} bytes", size=size),
            said("at most {most}", most=TEXT_BYTES_MAX),
            said("cut it"),
        )
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        yield from file


def _of_rows(
    path: Path, rows: Sequence[Sequence[float]], clock: Clock, survived: Counter[str]
) -> Trajectory:
    """Of time, latitude, longitude, height and how sure it is."""
    told = np.array(rows, np.float64).reshape(-1, 5)
    nothing = np.full(len(told), np.nan)
    columns = [*told[:, :4].T, nothing, nothing.copy(), nothing.copy(), told[:, 4]]
    found = _in_order(path, columns, clock)
    found.survived.update(survived)
    return found


def _in_order(path: Path, columns: Sequence[Column], clock: Clock) -> Trajectory:
    """Leave out what has no time or place and what goes back; refuse where that is too much."""
    if not len(columns[0]):
        raise FileFaultError(
            path, said("it has no place with a time"), said("a trajectory"), COPY_AGAIN
        )
    time_s, latitude, longitude = columns[:3]
    usable = np.isfinite(time_s) & (np.abs(latitude) <= 90) & (np.abs(longitude) <= 180)
    if len(columns[0]) and clock == "week":
        usable &= np.isfinite(np.stack(columns[3:7])).all(axis=0)
    latest = np.maximum.accumulate(np.where(usable, time_s, -np.inf))
    forward = usable & (time_s > np.concatenate([[-np.inf], latest[:-1]]))
    survived: Counter[str] = Counter()
    survived[UNUSABLE] = int((~usable).sum())
    survived[BACK] = int((usable & ~forward).sum())
    wrong = int((~forward).sum())
    if wrong > max(UNUSABLE_SHARE_MAX * len(time_s), 10) or not forward.any():
        raise FileFaultError(
            path,
            said(
                "of {count} records {unusable} have no time or place and {back} go back in time",
                count=len(time_s),
                unusable=survived[UNUSABLE],
                back=survived[BACK],
            ),
            said("a trajectory in the order of time"),
        )
    kept = {name: each[forward] for name, each in zip(COLUMNS, columns, strict=True)}
    return Trajectory(**kept, clock=clock, survived=survived + Counter())


def _is_gpx(path: Path, head: bytes) -> bool:
    is_xml = b"<gpx" in head or (path.suffix.lower() == ".gpx" and b"<" in head)
    if is_xml and b"<!" in head.replace(b"<!--", b""):
        raise FileFaultError(path, said("it defines words of its own (<!…>)"), said("plain GPX"))
    return is_xml


def _is_pos(path: Path, head: bytes) -> bool:
    begins = re.match(rb"\s*(\d{4}/\d\d/\d\d \d|\d{4} +\d+\.\d+ )", head)
    return begins is not None or (head.startswith(b"%") and path.suffix.lower() == ".pos")


READERS: tuple[tuple[Callable[[Path, bytes], bool], Callable[[Path], Trajectory]], ...] = (
    (_is_gpx, _read_gpx),
    (lambda _, head: re.match(rb"\s*[$!][A-Z]{2}", head) is not None, _read_nmea),
    (_is_pos, _read_pos),
    (lambda path, _: path.suffix.lower() in (".sbet", ".out"), _read_sbet),
)
