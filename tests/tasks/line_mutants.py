"""Small files of every kind that is read, broken at random: each is read or ends in a sentence.

    python -m tests.tasks.line_mutants FOLDER --seed 1 --count 1000

In a process of its own with little memory, because what a decoder does with a lie may end it.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import laspy
import numpy as np
import pyogrio
import shapely

from tasks.inspection.conversation import WorkError
from tasks.line import cloud
from tasks.line.cloud import Cloud, Points
from tasks.line.crs import named, of_scan
from tasks.line.marks import read_marks
from tasks.line.routes import read_route
from tasks.line.trajectory import read_trajectory

MEMORY_BYTES = 3 << 30
POS = "2025/08/28 17:30:39.749 40.09 -105.14 1601.4 1 25 .01 .01 .01\n"
NMEA = "$GPRMC,222507.00,A,4249.96542,S,14726.73195,E,0.013,,231019,,,A*6F\n"
NMEA += "$GPGGA,222507.00,4249.96542,S,14726.73195,E,1,09,0.96,30.0,M,-8.8,M,,*61\n"
GPX = '<gpx version="1.1"><trk><trkseg><trkpt lat="1" lon="2"><ele>3</ele>'
GPX += "<time>2016-05-27T10:08:47Z</time></trkpt></trkseg></trk></gpx>"
MARKS = "time,lat,lon,text\n2026-05-31T10:00:00Z,1,2,a\n,3,4,b\n"
TARGET = named("EPSG:32617", "metres")
LIES = (bytes(4), b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x01")


def make(folder: Path) -> dict[Path, Callable[[Path], object]]:
    """Write a file of each kind, and return who reads it."""
    dice = np.random.default_rng(7)
    points = Points.of(*dice.uniform(0, 99, (3, 300)), gps_time=dice.uniform(0, 9, 300))
    cloud.write(folder / "new.laz", [points], TARGET.wkt())
    for name, kind in (("old.las", 3), ("old.laz", 1), ("colour.laz", 7)):
        data = laspy.LasData(laspy.LasHeader(point_format=kind))
        data.x, data.y, data.z = points.x, points.y, points.z
        data.write(str(folder / name))
    (np.tile(np.arange(1.0, 51)[:, None], (1, 17)) / 20).tofile(folder / "way.sbet")
    for name, text in (("a.pos", POS), ("a.nmea", NMEA), ("a.gpx", GPX), ("a.csv", MARKS)):
        (folder / name).write_text(text * (1 if name in ("a.gpx", "a.csv") else 5))
    line = np.array([shapely.to_wkb(shapely.LineString([(0, 0), (9, 9)]))], object)
    for name in ("a.gpkg", "a.geojson", "a.shp"):
        pyogrio.raw.write(folder / name, line, [], [], geometry_type="LineString", crs="EPSG:32617")
    readers: dict[str, Callable[[Path], object]] = {
        **dict.fromkeys((".las", ".laz"), _cloud),
        **dict.fromkeys((".gpkg", ".geojson", ".shp"), lambda path: read_route(path, TARGET, "")),
        **dict.fromkeys((".sbet", ".pos", ".nmea", ".gpx"), read_trajectory),
        ".csv": read_marks,
    }
    found = sorted(path for path in folder.iterdir() if path.suffix in readers)
    return {path: readers[path.suffix] for path in found}


def _cloud(path: Path) -> None:
    held = Cloud(path)
    of_scan(held.header)
    for _ in held.chunks():
        pass


def broken(data: bytearray, dice: random.Random) -> bytearray:
    """Change a few bytes, rather near the beginning, or cut it."""
    for _ in range(dice.randint(1, 6)):
        size = min(len(data), 700) if dice.random() < 0.7 else len(data)
        at, how = dice.randrange(max(size, 1)), dice.random()
        if how < 0.4:
            data[at : at + 1] = dice.randbytes(1)
        elif how < 0.6:
            data[at : at + 4] = dice.choice(LIES)
        elif how < 0.7:
            data[at : at + 8] = dice.randbytes(8)
        elif how < 0.8:
            del data[dice.randrange(len(data) + 1) :]
        elif at < len(data):
            data[at] ^= 1 << dice.randrange(8)
    return data


def main(folder: Path, seed: int, count: int) -> None:
    """Break, read, and print how many were read and how many refused."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    (folder / "made").mkdir()
    (folder / "tried").mkdir()
    dice, readers, ended = random.Random(seed), make(folder / "made"), Counter[str]()
    for number in range(count):
        path = dice.choice(list(readers))
        tried = folder / "tried" / path.name
        tried.write_bytes(broken(bytearray(path.read_bytes()), dice))
        try:
            readers[path](tried)
            ended["read"] += 1
        except WorkError as error:
            ended["refused"] += 1
            if "\n" in str(error):
                sys.exit(f"{number} {path.name}: {error}")
    print(ended["read"], ended["refused"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1_000)
    told = parser.parse_args()
    main(told.folder, told.seed, told.count)
