"""Points in the LAS 1.2 format of the ASPRS: version 1.2, point format 1, nothing else.

Coordinates are kept as whole millimetres, as in the file. Classes are those of the standard, and 14
for wire conductors as its later versions have it. Header fields that mean nothing here are zero, which
the standard allows; the bounding box is right, so that viewers find the points.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from pathlib import Path

from tasks.inspection.conversation import WorkError

UNCLASSIFIED, GROUND = 1, 2
LOW_VEGETATION, MEDIUM_VEGETATION, HIGH_VEGETATION = 3, 4, 5
WIRE = 14
VEGETATION = (LOW_VEGETATION, MEDIUM_VEGETATION, HIGH_VEGETATION)
SCALE_M = 0.001

_HEADER = struct.Struct("<4sHHIHH8sBB32s32sHHHIIBHI5I12d")
_POINT = struct.Struct("<iiiHBBbBHd")
ONE_RETURN = 0b00001001
FORMAT, SIGNATURE = 1, b"LASF"


@dataclass
class Cloud:
    """Points as columns: metres, seconds, brightness, class."""

    x: array[float] = field(default_factory=lambda: array("d"))
    y: array[float] = field(default_factory=lambda: array("d"))
    z: array[float] = field(default_factory=lambda: array("d"))
    time_s: array[float] = field(default_factory=lambda: array("d"))
    intensity: array[int] = field(default_factory=lambda: array("H"))
    classes: bytearray = field(default_factory=bytearray)

    def __len__(self) -> int:
        return len(self.x)

    def add(
        self, x: float, y: float, z: float, time_s: float, intensity: int, kind: int = UNCLASSIFIED
    ) -> None:
        """Add a point: its place in metres, its time and brightness, and its class, none yet if it
        is not given."""
        self.x.append(x)
        self.y.append(y)
        self.z.append(z)
        self.time_s.append(time_s)
        self.intensity.append(intensity)
        self.classes.append(kind)


def write_las(path: Path, cloud: Cloud) -> None:
    """Write all points of a cloud to a file, over what is there, in whole millimetres. Raises
    ``OSError``."""
    offsets = tuple(float(int(min(each, default=0.0))) for each in (cloud.x, cloud.y, cloud.z))
    body = b"".join(
        _POINT.pack(
            round((x - offsets[0]) / SCALE_M),
            round((y - offsets[1]) / SCALE_M),
            round((z - offsets[2]) / SCALE_M),
            intensity,
            ONE_RETURN,
            kind,
            0,
            0,
            0,
            time_s,
        )
        for x, y, z, intensity, kind, time_s in zip(
            cloud.x, cloud.y, cloud.z, cloud.intensity, cloud.classes, cloud.time_s, strict=True
        )
    )
    path.write_bytes(_header(cloud, offsets) + body)


def _header(cloud: Cloud, offsets: tuple[float, ...]) -> bytes:
    count = len(cloud)
    box: list[float] = []
    for column in (cloud.x, cloud.y, cloud.z):
        box += [max(column, default=0.0), min(column, default=0.0)]
    return _HEADER.pack(
        SIGNATURE,
        *(0, 0, 0, 0, 0, bytes(8)),
        *(1, 2, b"Wingbeat inspection", b"Wingbeat tasks"),
        *(0, 0, _HEADER.size, _HEADER.size, 0),
        *(FORMAT, _POINT.size, count),
        *(count, 0, 0, 0, 0),
        *(SCALE_M, SCALE_M, SCALE_M),
        *offsets,
        *box,
    )


def read_las(path: Path) -> Cloud:
    """Return the points of a file. Raises ``WorkError`` where it is none of this version and
    format, or not whole, and ``OSError``."""
    data = path.read_bytes()
    if len(data) < _HEADER.size or data[:4] != SIGNATURE:
        raise WorkError(f"{path.name} is no LAS file: give one that georeferencing made")
    head = _HEADER.unpack_from(data)
    first, kind, size, count = head[14], head[16], head[17], head[18]
    scales, offsets = head[24:27], head[27:30]
    if head[7:9] != (1, 2) or kind != FORMAT or size != _POINT.size:
        version = f"{head[7]}.{head[8]}"
        raise WorkError(f"{path.name} is LAS {version} with points of format {kind}: 1.2 and 1 are")
    if first + count * size > len(data):
        raise WorkError(f"{path.name} has not all of its {count} points: make it again")
    cloud = Cloud()
    for x, y, z, intensity, _, what, _, _, _, time_s in _POINT.iter_unpack(
        data[first : first + count * size]
    ):
        place = (x * scales[0] + offsets[0], y * scales[1] + offsets[1], z * scales[2] + offsets[2])
        cloud.add(*place, time_s, intensity, what)
    return cloud
