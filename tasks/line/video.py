"""What a video shows when, and where: its length and start, and the track beside it.

The track is a file of the same name: GPX, NMEA or .pos, or the subtitles (.srt) that a DJI writes,
with ``[latitude: …] [longitude: …]`` in them. Of what lies inside the video only the start and the
place of the start are read (as ISO 6709). Tracks inside (GoPro's GPMF and others) are not: no real
one was at hand to try it with.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from tasks.inspection.conversation import WorkError
from tasks.line.las_header import FileFaultError
from tasks.line.sentences import said
from tasks.line.trajectory import TEXT_BYTES_MAX, read_trajectory

Column = NDArray[np.float64]

BESIDE = (".srt", ".gpx", ".nmea", ".pos")
ROWS_MAX = 1_000_000
_CUE = re.compile(r"(\d+):(\d\d):(\d\d)[,.](\d{3}) *-->")
_PLACE = re.compile(r"\b(latitude|longitude|longtitude|abs_alt|altitude) *: *(-?\d+(?:\.\d+)?)")
_ISO_6709 = re.compile(r"([+-]\d+\.\d+)([+-]\d+\.\d+)([+-]\d+(?:\.\d+)?)?")
PLACES_OF_START = ("location", "com.apple.quicktime.location.ISO6709", "location-eng")


@dataclass(frozen=True)
class Video:
    """A video and where its seconds were taken; no rows where nobody says."""

    name: str
    seconds: float
    start_s: float
    """UTC since 1970; NaN where it does not say."""
    at_s: Column
    """Seconds from the start of the video, for the places that follow."""
    latitude_deg: Column
    longitude_deg: Column
    survived: Counter[str]


def read_video(path: Path) -> Video:
    """Return what is known of a video. Raises ``FileFaultError`` where it is none, or its track
    cannot be read, and ``OSError``."""
    seconds, told = _opened(path)
    start_s = _moment_s(told.get("creation_time", ""))
    beside = next((f for f in map(path.with_suffix, BESIDE) if f.is_file()), None)
    survived: Counter[str] = Counter()
    places = np.zeros((0, 3))
    if beside is not None and beside.suffix == ".srt":
        places = _of_subtitles(beside)
    elif beside is not None:
        way = read_trajectory(beside)
        if way.clock != "utc" or math.isnan(start_s):
            survived[said("tracks beside a video of which the start is not known")] += 1
        else:
            places = np.stack([way.time_s - start_s, way.latitude_deg, way.longitude_deg], axis=1)
            places = places[(places[:, 0] >= 0) & (places[:, 0] <= seconds)]
    else:
        found = next((m for n in PLACES_OF_START if (m := _ISO_6709.match(told.get(n, "")))), None)
        if found:
            places = np.array([[0.0, float(found[1]), float(found[2])]])
    survived[said("videos of which nobody says where they were taken")] += not len(places)
    at_s, latitude, longitude = places.T
    return Video(path.name, seconds, start_s, at_s, latitude, longitude, survived + Counter())


def _opened(path: Path) -> tuple[float, dict[str, str]]:
    try:
        with av.open(str(path)) as held:
            if not held.streams.video:
                raise FileFaultError(
                    path, said("it has no pictures"), said("a video"), said("leave it out")
                )
            seconds = (held.duration or 0) / av.time_base
            return float(seconds), {str(k): str(v) for k, v in held.metadata.items()}
    except (av.FFmpegError, ValueError) as error:
        raise FileFaultError(
            path,
            said("it cannot be opened ({error})", error=getattr(error, "strerror", error)),
            said("a video"),
        ) from None


def _of_subtitles(path: Path) -> NDArray[np.float64]:
    if path.stat().st_size > TEXT_BYTES_MAX:
        raise FileFaultError(
            path,
            said("it is large"),
            said("at most {most} bytes", most=TEXT_BYTES_MAX),
            said("cut it"),
        )
    rows: list[tuple[float, float, float]] = []
    at_s, place = math.nan, dict[str, float]()
    for line in path.read_text("utf-8-sig", "replace").splitlines():
        cue = _CUE.match(line)
        if cue:
            hours, minutes, seconds, thousandths = map(int, cue.groups())
            at_s, place = hours * 3600 + minutes * 60 + seconds + thousandths / 1000, {}
        place |= {name: float(number) for name, number in _PLACE.findall(line)}
        longitude = place.get("longitude", place.get("longtitude"))
        if "latitude" in place and longitude is not None and not math.isnan(at_s):
            rows.append((at_s, place["latitude"], longitude))
            at_s = math.nan
        if len(rows) > ROWS_MAX:
            raise WorkError(
                said(
                    "{file}: it has more than {rows_max} places; cut it",
                    file=path.name,
                    rows_max=ROWS_MAX,
                )
            )
    if not rows:
        raise FileFaultError(
            path,
            said("it has no place"),
            said("[latitude: …] [longitude: …]"),
            said("leave it out"),
        )
    return np.array(rows)


def _moment_s(word: str) -> float:
    try:
        moment = datetime.fromisoformat(word)
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
