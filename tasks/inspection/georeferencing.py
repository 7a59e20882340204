"""Georeferencing: every shot gets its place on the ground.

At the time of a shot the helicopter was somewhere, turned somehow; the shot went so far in that
direction, as seen from the scanner. Position and attitude are interpolated, the direction is turned
into north, east and down, and added. A shot within a hole of the recording is left out and counted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import cos, sin
from pathlib import Path

from tasks.inspection.conversation import Work, WorkError
from tasks.inspection.las import Cloud, write_las
from tasks.inspection.scan import Shot, read_scan
from tasks.inspection.track import Track, Triple, read_track, rotation

POINTS = "points.las"
TOLD_EVERY = 2_000
LOST_SHARE_MAX = 0.2


def do(work: Work) -> Sequence[str]:
    """Write the points of a scan in their places on the ground, say on standard error how many have
    none, and return the file's name. Raises ``WorkError`` where scan or track cannot be used, or
    too many shots fall into holes of the track, and ``CancelledError``."""
    shots = read_scan(work.input(0, "the checked scan"))
    track = read_track(work.input(1, "the track"))
    cloud = Cloud()
    lost = 0
    for number, shot in enumerate(shots):
        if number % TOLD_EVERY == 0:
            work.progress(0.9 * number / len(shots))
        place = place_hit(shot, track)
        if place is None:
            lost += 1
        else:
            cloud.add(*place, shot[0], shot[4])
    if lost > LOST_SHARE_MAX * len(shots):
        raise WorkError(f"{lost} of {len(shots)} shots fall into holes of the track: fly again")
    sys.stderr.write(f"{len(cloud)} points, {lost} shots without a place\n")
    write_las(Path(POINTS), cloud)
    return (POINTS,)


def place_hit(shot: Shot, track: Track) -> Triple | None:
    """Return east, north and height of what a shot hit; None where the track has a hole or does not
    reach."""
    time_s, across, along, range_m, _ = shot
    position = track.positions.at(time_s)
    attitude = track.attitudes.at(time_s, turning=True)
    if position is None or attitude is None:
        return None
    forward = range_m * sin(along)
    right = range_m * cos(along) * sin(across)
    down = range_m * cos(along) * cos(across)
    north_row, east_row, down_row = rotation(*attitude)
    return (
        position[0] + east_row[0] * forward + east_row[1] * right + east_row[2] * down,
        position[1] + north_row[0] * forward + north_row[1] * right + north_row[2] * down,
        position[2] - (down_row[0] * forward + down_row[1] * right + down_row[2] * down),
    )
