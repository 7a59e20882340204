"""What a person has to look at, as a table that a spreadsheet reads.

One line each: where, how near to the wire, how near it may be, how many points say so. The most
urgent first.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tasks.inspection.conversation import WorkError

COLUMNS = ("section", "east_m", "north_m", "height_m", "distance_m", "clearance_m", "points")


@dataclass(frozen=True, slots=True)
class PointOfInterest:
    """Vegetation nearer to a wire than it may be: its nearest point."""

    section: str
    east_m: float
    north_m: float
    height_m: float
    distance_m: float
    clearance_m: float
    points: int

    @property
    def urgent(self) -> bool:
        """Nearer than half of what it may be."""
        return self.distance_m < 0.5 * self.clearance_m


def write_points_of_interest(path: Path, found: list[PointOfInterest]) -> None:
    """Write all findings to a table, over what is there, the nearest to a wire first. Raises
    ``OSError``."""
    lines = StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in sorted(found, key=lambda each: (each.distance_m, each.east_m)):
        writer.writerow(
            [
                each.section,
                f"{each.east_m:.2f}",
                f"{each.north_m:.2f}",
                f"{each.height_m:.2f}",
                f"{each.distance_m:.3f}",
                f"{each.clearance_m:g}",
                each.points,
            ]
        )
    path.write_text(lines.getvalue(), "utf-8")


def read_points_of_interest(path: Path) -> list[PointOfInterest]:
    """Return the findings in a table, in its order. Raises ``WorkError`` where it is none or a line
    of it makes no sense, and ``OSError``."""
    rows = list(csv.reader(StringIO(path.read_text("utf-8", "replace"))))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise WorkError(f"{path.name} is no table of points of interest: {','.join(COLUMNS)}")
    found: list[PointOfInterest] = []
    for number, row in enumerate(rows[1:], 2):
        try:
            section, *numbers, points = row
            east, north, height, distance, clearance = map(float, numbers)
            found.append(
                PointOfInterest(section, east, north, height, distance, clearance, int(points))
            )
        except ValueError:
            raise WorkError(f"{path.name}, line {number} is no point of interest") from None
    return found
