"""From shots to plants too near to a wire, on a landscape that is known."""

from __future__ import annotations

import struct
from collections import Counter
from math import hypot, pi, radians
from pathlib import Path

import pytest

from tasks.inspection import anomaly_detection, georeferencing, importing, segmentation
from tasks.inspection.conversation import Work
from tasks.inspection.las import GROUND, VEGETATION, WIRE, Cloud, read_las, write_las
from tasks.inspection.points_of_interest import read_points_of_interest
from tasks.inspection.scan import read_scan
from tasks.inspection.survey import (
    CLEARANCE_M,
    START_S,
    WIRES_M,
    Plan,
    ground_m,
    wire_m,
)
from tasks.inspection.terrain import ground_below
from tasks.inspection.track import Series, Track, read_track
from tasks.inspection.wires import line_through, wire_points
from tests.certain import certain
from tests.tasks.flown import SMALL, Flown, fly, said_by

RIGHT_MIN = 0.99
POSITION_M, DISTANCE_M = 1.0, 0.1


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Flown:
    return fly(tmp_path_factory.mktemp("flight"))


@pytest.fixture(scope="module")
def work(flown: Flown, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what each program made of the flight."""
    return worked(flown, tmp_path_factory.mktemp("work"))


def worked(flown: Flown, folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for do, arguments in (
            (importing.do, ["-p", flown.raw]),
            (georeferencing.do, ["-i", "scan.bin", "-i", "track.csv"]),
            (segmentation.do, ["-i", "points.las"]),
            (anomaly_detection.do, ["-i", "segmented.las", "-x", "section=section1"]),
        ):
            said = said_by(do, arguments)
            assert said.code == 0, said
    return folder


def test_every_point_is_where_the_landscape_is(flown: Flown, work: Path) -> None:
    cloud = read_las(work / "points.las")
    assert len(cloud) == len(flown.labels)
    for x, y, z, label in zip(cloud.x, cloud.y, cloud.z, flown.labels, strict=True):
        if label == "ground":
            assert abs(z - ground_m(x, y)) < 0.1
        elif label == "wire":
            assert min(abs(y - wire) for wire in WIRES_M) < 0.1
            assert abs(z - wire_m(x, SMALL.length_m, 0.0)) < 0.1


def test_without_the_attitude_points_would_be_metres_away(flown: Flown, work: Path) -> None:
    track = read_track(work / "track.csv")
    times = track.attitudes.times
    track.attitudes = Series(times, [(0.0, 0.0, pi / 2)] * len(times))
    assert (
        max(
            abs(place[2] - ground_m(place[0], place[1]))
            for shot, label in zip(read_scan(work / "scan.bin"), flown.labels, strict=True)
            if label == "ground" and (place := georeferencing.place_hit(shot, track))
        )
        > 1.0
    )


def test_attitude_goes_the_short_way_round_north() -> None:
    series = Series([0.0, 0.2], [(0.0, 0.0, radians(359.0)), (0.0, 0.0, radians(1.0))])
    assert certain(series.at(0.1, turning=True))[2] == pytest.approx(radians(360.0))


def test_nothing_is_guessed_outside_of_the_track_or_in_a_hole_of_it() -> None:
    series = Series([1.0, 1.1, 9.0], [(0.0, 0.0, 0.0)] * 3)
    assert [series.at(at) is None for at in (0.9, 1.05, 1.1, 5.0, 9.0, 9.1)] == [
        *(True, False, True, True, False, True)
    ]


def test_shots_in_holes_of_the_track_are_left_out_or_too_many() -> None:
    track = Track(
        Series([0.0, 0.1], [(0.0, 0.0, 50.0)] * 2), Series([0.0, 0.1], [(0.0, 0.0, 0.0)] * 2)
    )
    assert georeferencing.place_hit((0.05, 0.0, 0.0, 20.0, 1), track) == (0.0, 0.0, 30.0)
    assert georeferencing.place_hit((0.2, 0.0, 0.0, 20.0, 1), track) is None


def test_the_file_is_las_as_the_standard_has_it(tmp_path: Path) -> None:
    cloud = Cloud()
    cloud.add(500_000.25, 4_100_000.5, 123.456, START_S, 77)
    cloud.classes[0] = WIRE
    write_las(tmp_path / "a.las", cloud)
    data = (tmp_path / "a.las").read_bytes()
    assert data[:4] == b"LASF"
    assert (data[24], data[25]) == (1, 2)
    assert struct.unpack_from("<HI", data, 94) == (227, 227)
    assert (data[104], *struct.unpack_from("<HI", data, 105)) == (1, 28, 1)
    scales, offsets = struct.unpack_from("<3d", data, 131), struct.unpack_from("<3d", data, 155)
    found = struct.unpack_from("<iii", data, 227)
    assert [
        each * scale + offset for each, scale, offset in zip(found, scales, offsets, strict=True)
    ] == pytest.approx([500_000.25, 4_100_000.5, 123.456])
    assert data[227 + 15] == WIRE
    assert struct.unpack_from("<d", data, 227 + 20)[0] == START_S


def test_points_come_back_to_the_millimetre(tmp_path: Path) -> None:
    cloud = Cloud()
    for number in range(1_000):
        cloud.add(number / 7, -number / 3, number / 11, number / 13, number)
        cloud.classes[-1] = number % 15
    write_las(tmp_path / "a.las", cloud)
    again = read_las(tmp_path / "a.las")
    assert (again.classes, again.intensity, again.time_s) == (
        *(cloud.classes, cloud.intensity, cloud.time_s),
    )
    for ours, theirs in ((cloud.x, again.x), (cloud.y, again.y), (cloud.z, again.z)):
        assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) <= 0.0005001


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"nothing", "a.las is no LAS file: give one that georeferencing made"),
        (b"LASF" + bytes(223), "a.las is LAS 0.0 with points of format 0: 1.2 and 1 are"),
    ],
)
def test_what_is_no_las_is_said(tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "a.las").write_bytes(data)
    assert said_by(segmentation.do, ["-i", tmp_path / "a.las"]).last.startswith(f"ERROR {sentence}")


def test_points_are_told_apart(flown: Flown, work: Path) -> None:
    kinds = {GROUND: "ground", WIRE: "wire", **dict.fromkeys(VEGETATION, "plant")}
    cloud = read_las(work / "segmented.las")
    told = Counter(
        (label, kinds[kind]) for label, kind in zip(flown.labels, cloud.classes, strict=True)
    )
    for label in ("ground", "wire", "plant"):
        of_label = sum(count for (was, _), count in told.items() if was == label)
        as_label = sum(count for (_, kind), count in told.items() if kind == label)
        assert told[label, label] / of_label > RIGHT_MIN, told
        assert told[label, label] / as_label > RIGHT_MIN, told


def test_an_attempt_goes_on_from_what_was_saved(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = said_by(segmentation.do, ["-i", work / "points.las"])
    assert "CHECKPOINT segmentation.saved" in first.lines
    whole = (tmp_path / "segmented.las").read_bytes()
    monkeypatch.setenv("WINGBEAT_CHECKPOINT", str(tmp_path / "segmentation.saved"))
    again = said_by(segmentation.do, ["-i", work / "points.las"])
    assert not any(line.startswith("CHECKPOINT") for line in again.lines)
    assert (tmp_path / "segmented.las").read_bytes() == whole


@pytest.mark.parametrize("text", ["", "{}", '{"points": 3, "first": [1, 2, 3], "terrain": 1}'])
def test_a_saved_state_that_is_useless_is_no_harm(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saved").write_text(text)
    monkeypatch.setenv("WINGBEAT_CHECKPOINT", str(tmp_path / "saved"))
    assert said_by(segmentation.do, ["-i", work / "points.las"]).last == "TERMINATED segmented.las"
    assert (tmp_path / "segmented.las").read_bytes() == (work / "segmented.las").read_bytes()


@pytest.mark.parametrize("seed", [SMALL.seed, 11, 12])
def test_exactly_the_planted_are_found(flown: Flown, work: Path, seed: int, tmp_path: Path) -> None:
    """Each at its place and as near as it was set, and nothing else."""
    if seed != SMALL.seed:
        flown = fly(tmp_path, Plan(seed, 1, 80.0, 2.0, 30, seed % 3))
        work = worked(flown, tmp_path)
    found = read_points_of_interest(work / "anomalies.csv")
    assert len(found) == len(flown.planted)
    for truth in flown.planted:
        (near,) = [
            each
            for each in found
            if hypot(each.east_m - truth.east_m, each.north_m - truth.north_m) < POSITION_M
        ]
        assert near.distance_m == pytest.approx(truth.distance_m, abs=DISTANCE_M)
        assert near.clearance_m == CLEARANCE_M


def test_a_greater_clearance_finds_no_less(work: Path, tmp_path: Path) -> None:
    cloud = read_las(work / "segmented.las")
    counts = [len(anomaly_detection.too_near(Work(), cloud, at)) for at in (2.0, 4.0, 6.0, 9.0)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_points_without_wires_are_an_error(work: Path) -> None:
    said = said_by(anomaly_detection.do, ["-i", work / "points.las"])
    assert said.last == (
        "ERROR there are no wires among the points: was this flown along the line?"
    )


def test_a_slope_is_ground() -> None:
    points = [(x / 2, y / 2, 0.15 * x - 0.1 * y) for x in range(100) for y in range(100)]
    terrain = ground_below(points)
    inside = [each for each in points if 4 < each[0] < 46 and 4 < each[1] < 46]
    assert max(abs(z - terrain.height(x, y)) for x, y, z in inside) < 0.4


def test_a_single_wrong_low_point_makes_no_hole() -> None:
    points = [(x / 2, y / 2, 10.0) for x in range(60) for y in range(60)]
    assert ground_below([*points, (15.0, 15.0, 2.0)]).height(15.0, 15.0) == pytest.approx(10.0)


def test_only_long_level_lines_are_wires() -> None:
    wire = [(n * 0.1, 0.0, 15.0) for n in range(300)]
    mast = [(5.0, 20.0, n * 0.1) for n in range(300)]
    twig = [(n * 0.1, 40.0, 15.0) for n in range(20)]
    found = wire_points([*wire, *mast, *twig])
    assert found == set(range(300))


@pytest.mark.parametrize(
    "points",
    [
        [(0.0, 0.0, 0.0)] * 10,
        [(float(n % 3), float(n // 3), 0.0) for n in range(9)],
        [(0.0, 0.0, 0.0)],
    ],
)
def test_points_on_no_line_have_none(points: list[tuple[float, float, float]]) -> None:
    assert line_through(points) is None
