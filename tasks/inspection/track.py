"""The way of the helicopter: where it was, from GPS, and how it was turned, from the inertial unit.

One CSV file for both, as the recorder writes it: ``GPS,time,east,north,height`` at 10 Hz and
``IMU,time,roll,pitch,heading`` at 50 Hz, degrees in the file and radians here. In between is
interpolated linearly: at these rates and accelerations that is good to a few millimetres on the
ground. Heading turns the short way round north. Outside of what was recorded nothing is guessed.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from math import cos, degrees, pi, radians, sin
from pathlib import Path

from tasks.inspection.conversation import WorkError

GAP_S_MAX = 0.5
"""A longer hole in the recording is not bridged."""

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]


@dataclass
class Series:
    """Times and the triples that belong to them."""

    times: list[float] = field(default_factory=list)
    values: list[Triple] = field(default_factory=list)

    def at(self, time_s: float, turning: bool = False) -> Triple | None:
        """Return the values at a time, interpolated; None outside of the recording and within a
        hole of it.

        ``turning``: the third value is a direction and goes the short way round.
        """
        place = bisect_right(self.times, time_s)
        if place == len(self.times) and self.times and self.times[-1] == time_s:
            return self.values[-1]
        if not 0 < place < len(self.times):
            return None
        before_s, after_s = self.times[place - 1], self.times[place]
        if after_s - before_s > GAP_S_MAX:
            return None
        share = (time_s - before_s) / (after_s - before_s)
        a, b = self.values[place - 1], self.values[place]
        third = b[2] - a[2]
        if turning:
            third = (third + pi) % (2 * pi) - pi
        return (
            a[0] + share * (b[0] - a[0]),
            a[1] + share * (b[1] - a[1]),
            a[2] + share * third,
        )


@dataclass
class Track:
    """Where the helicopter was, and how it was turned."""

    positions: Series = field(default_factory=Series)
    attitudes: Series = field(default_factory=Series)


def rotation(roll: float, pitch: float, heading: float) -> Matrix:
    """Return the matrix, row by row, that turns the helicopter's axes (forward, right, down) to
    north, east, down; the angles are in radians."""
    cr, sr, cp, sp = cos(roll), sin(roll), cos(pitch), sin(pitch)
    ch, sh = cos(heading), sin(heading)
    return (
        (cp * ch, sr * sp * ch - cr * sh, cr * sp * ch + sr * sh),
        (cp * sh, sr * sp * sh + cr * ch, cr * sp * sh - sr * ch),
        (-sp, sr * cp, cr * cp),
    )


def write_track(path: Path, track: Track) -> None:
    """Write a track to a file, over what is there, as the recorder does: its angles in degrees.
    Raises ``OSError``."""
    lines = ["source,time_s,first,second,third"]
    for time_s, (east, north, height) in zip(
        track.positions.times, track.positions.values, strict=True
    ):
        lines.append(f"GPS,{time_s:.4f},{east:.4f},{north:.4f},{height:.4f}")
    for time_s, turned in zip(track.attitudes.times, track.attitudes.values, strict=True):
        lines.append(f"IMU,{time_s:.4f}," + ",".join(f"{degrees(each):.6f}" for each in turned))
    path.write_text("\n".join(lines) + "\n", "utf-8")


def read_track(path: Path) -> Track:
    """Return the recording in a file, its angles in radians. Raises ``WorkError`` where a line
    makes no sense, time goes back, or it has fewer than two lines of a kind, and ``OSError``."""
    track = Track()
    lines = path.read_text("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        source, *words = line.split(",")
        if source not in ("GPS", "IMU"):
            if number == 1:
                continue
            raise WorkError(f"{path.name}, line {number}: {source!r} is neither GPS nor IMU")
        try:
            time_s, first, second, third = map(float, words)
        except ValueError:
            raise WorkError(f"{path.name}, line {number}: four numbers belong here") from None
        series = track.positions if source == "GPS" else track.attitudes
        if series.times and time_s <= series.times[-1]:
            raise WorkError(f"{path.name}, line {number}: the time goes back")
        turned = (radians(first), radians(second), radians(third))
        series.times.append(time_s)
        series.values.append(turned if source == "IMU" else (first, second, third))
    for name, series in (("GPS", track.positions), ("IMU", track.attitudes)):
        if len(series.times) < 2:
            raise WorkError(f"{path.name} has no {name} lines: without them no point has a place")
    return track
