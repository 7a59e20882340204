"""Makes what comes off an aircraft: raw measurements of a landscape whose faults are known.

``python -m tasks.inspection.survey FOLDER --seed 7 --sections 4``. Each section is a raw folder for
``import`` below ``raw``; ``truth.json`` beside that says where plants were set too near to a wire,
and how near. The same seed makes the same bytes.

The landscape: rolling ground, three wires that sag between the ends of each section, shrubs and trees
that keep their distance, and the few that do not. Points are chosen on these surfaces and turned into
what the scanner would have measured from a helicopter that sways in the wind, with the noise of its
range finder. Some shots come back from nowhere and one block in each section is damaged, as happens.
Nothing hides behind anything: every chosen point is seen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import asin, atan2, ceil, cos, cosh, exp, hypot, pi, radians, sin, sqrt
from pathlib import Path
from random import Random

from tasks.inspection.importing import RAW_SCAN, RAW_TRACK
from tasks.inspection.raw_scan import MICRORADIAN, MILLIMETRE_M, TICK_S, Record, write_raw
from tasks.inspection.track import Track, Triple, rotation, write_track

RAW, TRUTH = "raw", "truth.json"
START_S = 345_600.0
SPEED_M_S, HEIGHT_M = 20.0, 60.0
GPS_S, IMU_S = 0.1, 0.02
WIDTH_M = 60.0
WIRES_M = (-4.0, 0.0, 4.0)
ENDS_M, SAG_M = 19.0, 4.5
WIRE_STEP_M = 0.12
RANGE_NOISE_M = 0.01
CLEARANCE_M, KEPT_M = 5.0, 6.5
OVERLAP_M = 4.0
LEAD_S = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of a survey is made, and from which seed."""

    seed: int = 1
    sections: int = 4
    length_m: float = 120.0
    ground_per_m2: float = 3.0
    plants: int = 40
    anomalies: int = 2
    """In each section."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A plant too near to a wire: its point nearest to one, and how near."""

    section: str
    east_m: float
    north_m: float
    height_m: float
    distance_m: float


@dataclass(frozen=True, slots=True)
class Target:
    """A point that is measured, and what it is on: ground, wire or plant."""

    place: Triple
    on: str


def ground_m(east: float, north: float) -> float:
    """Return the height of the ground at a place."""
    return 100.0 + 0.02 * east + 1.5 * sin(east / 40.0) + 0.8 * cos(north / 25.0)


def wire_m(along: float, length_m: float, start_m: float) -> float:
    """Return the height of the wires at the place ``along`` the line, within the section that
    begins at ``start_m`` and is ``length_m`` long."""
    middle, half = start_m + length_m / 2, length_m / 2
    shape = (cosh((along - middle) / 150.0) - 1.0) / (cosh(half / 150.0) - 1.0)
    ends = (ground_m(start_m, 0.0) + ground_m(start_m + length_m, 0.0)) / 2 + ENDS_M
    return ends - SAG_M * (1.0 - shape)


class Section:
    """One span of the line, measured in one go."""

    def __init__(self, plan: Plan, number: int) -> None:
        self.plan, self.name = plan, f"section{number + 1}"
        self.start_m = number * plan.length_m
        self.draw = Random(f"survey {plan.seed} {number}")
        self.planted: list[Planted] = []
        self.targets: list[Target] = []
        self._ground()
        self._wires()
        self._plants()
        self._anomalies()

    def _ground(self) -> None:
        count = round(self.plan.length_m * WIDTH_M * self.plan.ground_per_m2)
        for _ in range(count):
            east, north = self._somewhere(), self.draw.uniform(-WIDTH_M / 2, WIDTH_M / 2)
            self.targets.append(Target((east, north, ground_m(east, north)), "ground"))

    def _wires(self) -> None:
        for north in WIRES_M:
            for number in range(ceil((self.plan.length_m + OVERLAP_M) / WIRE_STEP_M)):
                east = self.start_m + number * WIRE_STEP_M
                place = (east, north, self._wire_m(east))
                self.targets.append(Target(place, "wire"))

    def _plants(self) -> None:
        """Shrubs and trees that keep their distance."""
        for _ in range(self.plan.plants):
            east, north = self._somewhere(), self.draw.uniform(-WIDTH_M / 2, WIDTH_M / 2)
            size = self.draw.uniform(0.8, 3.0)
            ground = ground_m(east, north)
            top = ground + self.draw.uniform(1.0, 9.0)
            self._plant((east, north, top - size), size, ground, KEPT_M)

    def _anomalies(self) -> None:
        """Trees below or beside a wire, far from each other."""
        room_m = (self.plan.length_m - 20.0) / max(self.plan.anomalies, 1)
        for number in range(self.plan.anomalies):
            east = self.start_m + 10.0 + room_m * (number + self.draw.uniform(0.3, 0.7))
            wire = self.draw.choice(WIRES_M)
            size = self.draw.uniform(1.2, 2.0)
            distance_m = self.draw.uniform(2.2, CLEARANCE_M - 0.5)
            middle = (east, wire, self._wire_m(east) - distance_m - size)
            points = self._plant(middle, size, ground_m(east, wire), 0.0)
            nearest_m, place = min((self._from_wire_m(each), each) for each in points)
            self.planted.append(Planted(self.name, *place, nearest_m))

    def _plant(self, middle: Triple, size: float, ground: float, keeps_m: float) -> list[Triple]:
        """A crown of leaves, more of them outside than inside, no nearer to a wire than this."""
        made: list[Triple] = []
        for _ in range(round(40 * size * size)):
            x, y, z = (self.draw.gauss(0.0, 1.0) for _ in range(3))
            length = hypot(x, y, z) or 1.0
            reach = size * (1.0 - 0.3 * self.draw.random() ** 2)
            place = (
                middle[0] + reach * x / length,
                middle[1] + reach * y / length,
                middle[2] + reach * z / length,
            )
            if place[2] > ground + 0.6 and self._from_wire_m(place) > keeps_m:
                made.append(place)
        self.targets += (Target(place, "plant") for place in made)
        return made

    def _from_wire_m(self, place: Triple) -> float:
        """The distance to the nearest wire, whose sag is flat enough to look straight across
        within a few steps of it."""
        east, north, height = place
        return min(
            sqrt((east - at) ** 2 + (north - wire) ** 2 + (height - self._wire_m(at)) ** 2)
            for wire in WIRES_M
            for at in (east + step * 0.06 for step in range(-10, 11))
        )

    def _wire_m(self, east: float) -> float:
        return wire_m(east, self.plan.length_m, self.start_m)

    def _somewhere(self) -> float:
        return self.draw.uniform(self.start_m, self.start_m + self.plan.length_m + OVERLAP_M)


class Flight:
    """The helicopter, which sways: where it is and how it is turned at any time."""

    def __init__(self, start_m: float, draw: Random) -> None:
        self.start_m = start_m
        self._phases = [draw.uniform(0.0, 2 * pi) for _ in range(6)]
        self.heading = pi / 2 + draw.uniform(-0.02, 0.02)

    def place(self, time_s: float) -> Triple:
        """Return east, north and height of the helicopter at a time."""
        a, b, _, _, _, _ = self._phases
        east = self.start_m + SPEED_M_S * (time_s - START_S - LEAD_S)
        return (
            east,
            1.5 * sin(0.4 * time_s + a),
            100.0 + HEIGHT_M + 1.0 * sin(0.3 * time_s + b),
        )

    def attitude(self, time_s: float) -> Triple:
        """Return roll, pitch and heading of the helicopter at a time, in radians."""
        _, _, c, d, e, f = self._phases
        return (
            radians(4.0) * sin(1.3 * time_s + c) + radians(0.5) * sin(4.0 * time_s + f),
            radians(-3.0) + radians(2.0) * sin(0.9 * time_s + d),
            self.heading + radians(3.0) * sin(0.5 * time_s + e),
        )


def measure(section: Section) -> tuple[list[Record], list[str], Track, float]:
    """Return what scanner and recorder would have of a section: records by their time, what each of
    them is on (some on nothing), the track, and the start. Draws from the section's random numbers,
    so a second call measures otherwise."""
    flight = Flight(section.start_m, section.draw)
    draw = section.draw
    shots: list[tuple[Record, str]] = []
    for target in section.targets:
        abeam_s = START_S + LEAD_S + (target.place[0] - section.start_m) / SPEED_M_S
        ticks = max(0, round((abeam_s + draw.uniform(-0.3, 0.3) - START_S) / TICK_S))
        shots.append((_record(target.place, ticks, flight, draw), target.on))
    for _ in range(len(shots) // 100):
        ticks = draw.randrange(round(LEAD_S / TICK_S), shots[-1][0][0] + 1)
        shots.append(((ticks, draw.randrange(-500_000, 500_000), 0, 0, 0), "nothing"))
    shots.sort()
    end_s = START_S + shots[-1][0][0] * TICK_S
    track = _recorded(flight, end_s + LEAD_S)
    return [shot[0] for shot in shots], [shot[1] for shot in shots], track, START_S


def _record(place: Triple, ticks: int, flight: Flight, draw: Random) -> Record:
    """The direction and distance of a place, as seen from the turned scanner at that time."""
    time_s = START_S + ticks * TICK_S
    at = flight.place(time_s)
    rows = rotation(*flight.attitude(time_s))
    north, east, down = place[1] - at[1], place[0] - at[0], at[2] - place[2]
    forward, right, below = (
        rows[0][axis] * north + rows[1][axis] * east + rows[2][axis] * down for axis in range(3)
    )
    range_m = sqrt(forward**2 + right**2 + below**2)
    noisy_m = range_m + draw.gauss(0.0, RANGE_NOISE_M)
    return (
        ticks,
        round(atan2(right, below) / MICRORADIAN),
        round(asin(forward / range_m) / MICRORADIAN),
        round(noisy_m / MILLIMETRE_M),
        round(40_000 * exp(-range_m / 100.0)),
    )


def _recorded(flight: Flight, end_s: float) -> Track:
    track = Track()
    for number in range(ceil((end_s - START_S) / GPS_S) + 1):
        track.positions.times.append(START_S + number * GPS_S)
        track.positions.values.append(flight.place(track.positions.times[-1]))
    for number in range(ceil((end_s - START_S) / IMU_S) + 1):
        track.attitudes.times.append(START_S + number * IMU_S)
        track.attitudes.values.append(flight.attitude(track.attitudes.times[-1]))
    return track


def make(folder: Path, plan: Plan, damaged: bool = True) -> list[Planted]:
    """Write the raw measurements of all sections into a folder, with the truth beside them, and
    return what was planted too near to a wire; ``damaged`` spoils the first block of each scan.
    Raises ``FileExistsError`` where a section is there already."""
    planted: list[Planted] = []
    for number in range(plan.sections):
        section = Section(plan, number)
        raw = folder / RAW / section.name
        raw.mkdir(parents=True)
        records, _, track, start_s = measure(section)
        write_raw(raw / RAW_SCAN, start_s, records)
        if damaged:
            _damage(raw / RAW_SCAN)
        write_track(raw / RAW_TRACK, track)
        planted += section.planted
    told = {"plan": asdict(plan), "planted": [asdict(each) for each in planted]}
    (folder / TRUTH).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    return planted


def _damage(path: Path) -> None:
    """One bit of the first block, as on a bad cable."""
    data = bytearray(path.read_bytes())
    data[1_000] ^= 0x10
    path.write_bytes(data)


def main(argv: Sequence[str] | None = None) -> int:
    """Make a survey as the arguments (default: those of the process) say, print how much it is, and
    return 0. Raises ``FileExistsError`` where one is there already, and ``SystemExit`` for
    arguments that make no sense."""
    defaults = Plan()
    parser = argparse.ArgumentParser(prog="survey", description="Raw measurements of known faults.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--sections", type=int, default=defaults.sections)
    parser.add_argument("--anomalies", type=int, default=defaults.anomalies, help="per section")
    parser.add_argument("--density", type=float, default=defaults.ground_per_m2, help="points/m2")
    options = parser.parse_args(argv)
    planted = make(
        options.folder,
        Plan(
            options.seed,
            options.sections,
            anomalies=options.anomalies,
            ground_per_m2=options.density,
        ),
    )
    sys.stdout.write(f"{options.sections} sections, {len(planted)} plants too near to a wire\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
