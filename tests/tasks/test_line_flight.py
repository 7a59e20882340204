"""From the folder of a flight to its tiles: every point is in the file of the one tile that owns it."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pyogrio
import pytest
import rasterio
import shapely
from numpy.typing import NDArray

from agent.workflow.program_folder import read_program
from agent.workflow.reading import Asked
from tasks.inspection.conversation import Work, WorkError, read_parameters
from tasks.line import cloud, georeferencing, importing
from tasks.line.cloud import Points
from tasks.line.crs import Change, Reference, named
from tasks.line.georeferencing import georeferenced
from tasks.line.plan import PlanError, main, make_plan
from tasks.line.terrain import cut_terrain, look_at_terrain
from tasks.line.tiles import Plan
from tasks.line.trajectory import COLUMNS, Trajectory, on_clock, read_trajectory, read_written
from tasks.line.workflow import STEPS
from tests.style.source import REPOSITORY
from tests.tasks.line_outcomes import FILES
from tests.workflow.whole import read_workflow_file

SYSTEM = named("EPSG:32617", "ellipsoid")
WEST, SOUTH = 500_000.0, 3_318_000.0
NOBODY = Plan(route=(), wkt="", name="made")


def flown(folder: Path, count: int = 30_000) -> Points:
    """Two scans along a line of 1,000 m, that lie over each other, with 100 points far from it."""
    dice = np.random.default_rng(1)
    along, beside = dice.uniform(0, 1_000, count), dice.normal(0, 30, count)
    beside[:100] = 900
    points = Points.of(
        np.round(WEST + along, 3), np.round(SOUTH + beside, 3), np.round(along / 10, 3),
        gps_time=400_000 + along / 50, classification=dice.integers(0, 20, count),
    )  # fmt: skip
    folder.mkdir(exist_ok=True)
    for name, rows in (("a.laz", slice(None, count // 2)), ("b.laz", slice(count // 2, None))):
        cloud.write(folder / name, [points.at(rows)], SYSTEM.wkt(), standard_time=False)
    return points


def mapped(path: Path, *lines: list[tuple[float, float]], crs: str = "EPSG:32617") -> Path:
    wkb = np.array([shapely.to_wkb(shapely.LineString(line)) for line in lines], object)
    pyogrio.raw.write(path, wkb, [], [], geometry_type="LineString", crs=crs)
    return path


def straight(folder: Path) -> Path:
    return mapped(folder / "route.gpkg", [(WEST, SOUTH), (WEST + 1_000, SOUTH)])


def work_of(plan: Path, flight: Path, tile: int) -> Work:
    return Work(raw=[plan, flight], parameters={"tile": str(tile)})


def imported(
    tmp_path: Path, plan: Plan, flight: Path, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[Points, dict[str, object]]]:
    found = []
    for tile in range(plan.count):
        folder = tmp_path / f"t{tile}"
        folder.mkdir()
        plan.write(tmp_path / "plan.json")
        monkeypatch.chdir(folder)
        assert importing.do(work_of(tmp_path / "plan.json", flight, tile)) == (
            "points.laz",
            "trajectory.csv",
            "index.json",
            "terrain.tif",
            "pictures.zip",
        )
        found.append(
            (cloud.read(folder / "points.laz"), json.loads(Path("index.json").read_text()))
        )
    return found


def test_every_point_is_owned_by_one_tile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = flown(tmp_path / "flight")
    plan = make_plan(tmp_path / "flight", replace(NOBODY, heights="ellipsoid"), straight(tmp_path))
    assert plan.count == 3
    assert plan.length_m == pytest.approx(1_000)
    assert plan.tile(2).last_m == pytest.approx(1_000)
    owned = []
    for tile, (found, index) in enumerate(
        imported(tmp_path, plan, tmp_path / "flight", monkeypatch)
    ):
        along, beside = plan.chainage(found.x, found.y)
        assert along.min() >= max(0, 400 * tile - 50)
        assert along.max() <= min(1_000, 400 * (tile + 1) + 50)
        assert np.abs(beside).max() <= plan.corridor_m
        assert index["points"] == len(found)
        owned.append(found.at(plan.owner(along) == tile))
    whole, near = Points.joined(owned), points.at(np.abs(points.y - SOUTH) <= plan.corridor_m)
    assert len(whole) == len(near) == len(points) - 100
    for name in ("x", "y", "z", "gps_time", "classification"):
        told, wanted = np.sort(getattr(whole, name)), np.sort(getattr(near, name))
        np.testing.assert_allclose(told, wanted, atol=1e-6)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (["--date", "4.5.2026"], "'4.5.2026' is no day: say it as 2026-05-04"),
        (["--tile-m", "0"], "tile is 0 m and has to be 20 to 100000 m"),
        (["--tile-m", "nan"], "tile is nan m and has to be 20 to 100000 m"),
        (["--lever-m", "0", "nan", "1"], "lever arm and boresight have to be numbers"),
    ],
)
def test_what_a_person_cannot_mean_is_told_before_a_plan_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], said: list[str], sentence: str
) -> None:
    flown(tmp_path / "flight", 2_000)
    words = [str(tmp_path / "flight"), "--heights", "ellipsoid", "--out", str(tmp_path / "out")]
    assert main([*words, *said]) == 1
    assert capsys.readouterr().err == f"{sentence}\n"
    assert not (tmp_path / "out").exists()


def test_the_terrain_of_a_map_is_cut_to_the_tile_and_laid_anew(tmp_path: Path) -> None:
    """Heights that grow eastwards, told in degrees, are as high in metres at the same places."""
    cells, into = np.tile(np.arange(200, dtype=np.float32), (100, 1)), tmp_path / "tile.tif"
    west, north, step = -81.0 - 100 * 1e-4, 29.995, 1e-4
    where = rasterio.transform.from_origin(west, north, step, step)
    told = {"height": 100, "width": 200, "count": 1, "dtype": "float32", "crs": "EPSG:4326"}
    with rasterio.open(tmp_path / "map.tif", "w", driver="GTiff", transform=where, **told) as file:
        file.write(cells, 1)
    look_at_terrain(tmp_path / "map.tif")
    box = (WEST - 100, SOUTH - 100, WEST + 100, SOUTH + 100)
    assert cut_terrain([tmp_path / "map.tif"], box, SYSTEM.wkt(), into) == {}
    with rasterio.open(into) as file:
        west, south, east, north = file.bounds
        heights = file.read(1)
        (told_there,) = next(file.sample([(WEST, SOUTH)]))
    assert box[0] - 15 < west < east < box[2] + 15
    assert box[1] - 15 < south < north < box[3] + 15
    assert told_there == pytest.approx(100, abs=2)
    assert (heights >= 85).all()
    far = tuple(each + 1e6 for each in box)
    lived = cut_terrain([tmp_path / "map.tif"], far, SYSTEM.wkt(), into)  # type: ignore[arg-type]
    assert list(lived.values()) == [1]
    (tmp_path / "map.tif").write_bytes(b"II*\0 no map")
    with pytest.raises(WorkError, match=r"map.tif: it cannot be read"):
        look_at_terrain(tmp_path / "map.tif")


def test_chainage_goes_on_round_corners_and_over_gaps() -> None:
    route = (((0.0, 0.0), (100.0, 0.0), (100.0, 100.0)), ((300.0, 0.0), (400.0, 0.0)))
    plan = Plan("a", route, "", tile_m=150)
    x, y = np.array([50.0, 90.0, 100.0, 350.0, -10.0]), np.array([5.0, 50.0, 60.0, -3.0, 0.0])
    along, beside = plan.chainage(x, y)
    assert along.tolist() == [50, 150, 160, 250, 0]
    assert beside.tolist() == [5, 10, 0, -3, 10]
    assert plan.owner(along).tolist() == [0, 1, 1, 1, 0]
    assert (plan.length_m, plan.count) == (300, 2)
    with pytest.raises(WorkError, match="there is no tile 2: the plan has 0 to 1"):
        plan.tile(2)


def test_fifty_kilometres_are_125_tiles_and_chainage_is_quick() -> None:
    steps = np.linspace(0, 50_000, 201)
    route = (tuple((float(x), float(500 * np.sin(x / 3_000))) for x in steps),)
    plan = Plan("a", route, "")
    assert plan.count >= 125
    tile = plan.tile(60)
    west, south, east, north = plan.box(tile)
    dice = np.random.default_rng(2)
    x, y = dice.uniform(west, east, 10_000), dice.uniform(south, north, 10_000)
    along, beside = plan.chainage(x, y)
    slow = replace(plan, corridor_m=1e9).chainage(x, y)
    near = np.abs(beside) <= plan.corridor_m
    np.testing.assert_allclose(along[near], slow[0][near])
    inside = plan.inside(tile, *slow)
    assert inside.sum() == plan.inside(tile, along, beside).sum() > 1_000


def test_a_plan_of_many_scans_takes_the_memory_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.line.plan.AXIS_POINTS", 1_000)
    flown(tmp_path / "flight", 200_000)
    peaks = []
    tracemalloc.start()
    for count in (0, 0, 6):  # the first time libraries are loaded
        for number in range(count):
            shutil.copy(tmp_path / "flight" / "a.laz", tmp_path / "flight" / f"{number}.laz")
        tracemalloc.reset_peak()
        make_plan(tmp_path / "flight", replace(NOBODY, heights="ellipsoid"))
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    flown(tmp_path / "flight")
    plan = make_plan(tmp_path / "flight", replace(NOBODY, heights="ellipsoid"))
    plan.write(tmp_path / "plan.json")
    assert Plan.read(tmp_path / "plan.json") == plan
    assert plan.survived == {"no route was named: tiles lie along the principal axis": 1}
    assert plan.length_m == pytest.approx(1_000, abs=1)
    (tmp_path / "plan.json").write_text('{"version": 1}')
    with pytest.raises(WorkError, match="is no plan"):
        Plan.read(tmp_path / "plan.json")


def test_all_that_stands_against_a_plan_is_told_at_once(tmp_path: Path) -> None:
    flown(tmp_path)
    (tmp_path / "c.laz").write_bytes((tmp_path / "a.laz").read_bytes()[:-500])
    (tmp_path / "way.sbet").write_bytes(bytes(137))
    (tmp_path / "marks.csv").write_text("a,b\n1,2\n")
    (tmp_path / "film.mp4").write_bytes(b"no film")
    with pytest.raises(PlanError) as told:
        make_plan(tmp_path, NOBODY)
    begun = ["c.laz: ", "way.sbet: ", "marks.csv: ", "film.mp4: "]
    assert [each[: len(b)] for each, b in zip(told.value.faults, begun, strict=True)] == begun


def test_a_plan_asks_for_what_no_file_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = Points.of(*np.random.default_rng(3).uniform(0, 500, (3, 1_000)))
    (tmp_path / "flight").mkdir()
    cloud.write(tmp_path / "flight" / "a.laz", [nothing])
    words = [str(tmp_path / "flight"), "--out", str(tmp_path / "out")]
    assert main(words) == 1
    assert "a.laz: its horizontal reference system is not known" in capsys.readouterr().err
    assert main([*words, "--crs", "EPSG:28992"]) == 1
    assert "heights" in capsys.readouterr().err
    assert main([*words, "--crs", "EPSG:28992", "--heights", "metres"]) == 0
    assert "2 tiles along" in capsys.readouterr().out
    text = (tmp_path / "out" / "line.wingbeat.yaml").read_text()
    assert "for_each: {tile: {from: 0, to: 1}}" in text
    submit = read_workflow_file(tmp_path / "out" / "line.wingbeat.yaml", Asked({})).submit
    assert {each.program for each in submit.tasks if not each.gate} == set(STEPS)
    assert {each.id for each in submit.tasks if each.gate} == {
        "features.0", "features.1", "points", "annotations"
    }  # fmt: skip
    alone = read_workflow_file(tmp_path / "out" / "line.wingbeat.yaml", Asked({"gates": "none"}))
    assert not any(each.gate for each in alone.submit.tasks)
    said = Asked({"operator": "A. Person", "notes": 'windy: "gusts" = 8'})
    report = read_workflow_file(tmp_path / "out" / "line.wingbeat.yaml", said).submit.tasks
    (given,) = [each.parameters for each in report if each.id == "report"]
    assert read_parameters(given) == {
        "gates": "all", "operator": "A. Person", "notes": 'windy: "gusts" = 8'
    }  # fmt: skip
    assert len(alone.submit.tasks) == len(submit.tasks) - 4 - 3, "nothing is drawn for nobody"
    assert [each.id for each in submit.tasks][:2] == ["import.0", "import.1"]
    needed = {need.task for each in alone.submit.tasks for need in each.inputs}
    last = [each.id for each in alone.submit.tasks if each.id not in needed]
    assert last == ["report"], "what is opened is the report"


@pytest.mark.parametrize("name", STEPS)
def test_the_programs_are_described(name: str) -> None:
    described = read_program(REPOSITORY / "tasks" / name)
    assert described.name == name
    assert described.requirements.tags == ("wingbeat[inspection]",)


def test_a_route_in_degrees_is_turned_and_pieces_become_one(tmp_path: Path) -> None:
    pieces = [[(-81.0, 30.0), (-81.0, 30.01)], [(-81.0, 30.01), (-81.0, 30.02)]]
    path = mapped(tmp_path / "route.geojson", *pieces, crs="EPSG:4326")
    flown(tmp_path / "flight")
    plan = make_plan(tmp_path / "flight", replace(NOBODY, heights="ellipsoid"), path)
    assert len(plan.route) == 1
    assert plan.length_m == pytest.approx(2_217 * 0.9996, abs=1)


def straight_flight(seconds: float = 20.0) -> Trajectory:
    """North-east over the line, 100 m above it, turned a little, 100 times a second."""
    time_s = 400_000 + np.arange(0, seconds, 0.01)
    latitude = 29.99 + (time_s - 400_000) * 50 / 111_000
    level = np.full(len(time_s), 1.0)
    return Trajectory(
        time_s, latitude, -81.0 + (time_s - 400_000) * 1e-5, 300 * level,
        0.02 * np.sin(time_s), 0.03 * level, 0.3 + 0.01 * np.cos(time_s), np.nan * level, "week",
    )  # fmt: skip


def beams_in_body(points: Points, source: Reference, way: Trajectory) -> NDArray[np.float64]:
    """What the scanner saw: the way from the aircraft to each point, in the frame of its body. The
    inverse of ``georeferenced`` without lever arm and boresight."""
    place = georeferencing.interpolated(way, georeferencing._time_s(points, way))
    x, y, z = Change(source, georeferencing.EARTH)(points.x, points.y, points.z)
    apart = np.stack([x, y, z], axis=1) - georeferencing._earth(place)
    north_east_down = np.einsum("nji,nj->ni", georeferencing.earth_from_ned(place), apart)
    beams: NDArray[np.float64] = np.einsum(
        "nij,nj->ni", georeferencing.body_from_ned(place), north_east_down
    )
    return beams


def beam_plane_mrad(beams: NDArray[np.float64]) -> float:
    """How far beams lie from one plane of the scanner, as the root of the mean square. A scanner with
    one mirror sweeps a plane, so this shows whether attitudes are right."""
    told = beams / np.linalg.norm(beams, axis=1, keepdims=True)
    return float(np.linalg.svd(told, compute_uv=False)[-1] / np.sqrt(len(told)) * 1_000)


def test_points_of_the_scanner_come_to_where_they_were(tmp_path: Path) -> None:
    """What a scanner with lever arm and boresight would have seen of known places."""
    way, dice = straight_flight(), np.random.default_rng(4)
    plan = replace(NOBODY, lever_m=(0.1, -0.2, 0.3), boresight_deg=(1.0, -2.0, 3.0))
    time_s = dice.uniform(400_001, 400_019, 500)
    x, y = 500_000 + dice.uniform(-200, 200, 500), 3_318_000 + dice.uniform(-200, 200, 500)
    truth = Points.of(x, y, dice.uniform(0, 50, 500), gps_time=time_s)
    seen = (beams_in_body(truth, SYSTEM, way) - plan.lever_m) @ georeferencing.boresight(
        plan.boresight_deg
    )
    raw = replace(truth, x=seen[:, 0], y=seen[:, 1], z=seen[:, 2])
    found, known = georeferenced(raw, way, SYSTEM, plan)
    assert known.all()
    for name in "xyz":
        np.testing.assert_allclose(getattr(found, name), getattr(truth, name), atol=1e-4)
    wrong, _ = georeferenced(raw, way, SYSTEM, replace(plan, boresight_deg=(-1.0, -2.0, 3.0)))
    assert np.abs(wrong.x - truth.x).max() > 1


def test_a_time_without_a_way_has_no_place() -> None:
    way = straight_flight()
    hole = replace(way, **{n: getattr(way, n)[(way.time_s < 400_005) | (way.time_s > 400_007)]
                           for n in COLUMNS})  # fmt: skip
    times = np.array([399_999.0, 400_004.0, 400_006.0, 400_008.0, 400_021.0])
    points = Points.of(times * 0, times * 0, times * 0 + 100, gps_time=times)
    assert georeferenced(points, hole, SYSTEM, NOBODY)[1].tolist() == [0, 1, 0, 1, 0]


PAIR = FILES / "trajectory"


@pytest.mark.skipif(not PAIR.is_dir(), reason=f"{PAIR} is not there: a flight of others")
def test_beams_of_a_real_flight_lie_in_one_plane() -> None:
    points = cloud.read(PAIR / "leeward_slice_points.las")
    way = read_trajectory(PAIR / "leeward_slice_sbet.out")
    system = named("EPSG:32611", "ellipsoid")

    def plane(flight: Trajectory) -> float:
        return beam_plane_mrad(beams_in_body(points, system, flight))

    assert plane(way) <= 0.08
    for name in ("roll_rad", "pitch_rad", "heading_rad"):
        assert plane(replace(way, **{name: -getattr(way, name)})) > 0.09
    assert plane(replace(way, roll_rad=way.pitch_rad, pitch_rad=way.roll_rad)) > 0.5


def test_a_scan_in_its_place_is_passed_on_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = flown(tmp_path / "flight", 1_000)
    way = straight_flight()
    sbet = np.zeros((len(way), 17))
    sbet[:, 0], sbet[:, 3] = way.time_s, way.height_m
    sbet[:, 1], sbet[:, 2] = np.radians(way.latitude_deg), np.radians(way.longitude_deg)
    sbet.tofile(tmp_path / "flight" / "way.sbet")
    (tmp_path / "flight" / "marks.csv").write_text(
        "lat,lon,text\n29.993,-80.995,look here\n29.9,-80.9,far away\n,,nowhere\n"
    )
    plan = make_plan(tmp_path / "flight", replace(NOBODY, heights="ellipsoid", tile_m=2_000))
    ((_, index),) = imported(tmp_path, plan, tmp_path / "flight", monkeypatch)
    assert [each["text"] for each in cast("list[dict[str, str]]", index["marks"])] == ["look here"]
    work = work_of(tmp_path / "plan.json", tmp_path, 0)
    work.raw = [tmp_path / "plan.json"]
    work.inputs = [tmp_path / "t0" / "points.laz", tmp_path / "t0" / "trajectory.csv"]
    (tmp_path / "g").mkdir()
    monkeypatch.chdir(tmp_path / "g")
    georeferencing.do(work)
    assert Path("points.laz").read_bytes() == work.inputs[0].read_bytes()
    assert "say where they lie" in json.loads(Path("index.json").read_text())["skipped"]
    rows = list(csv.DictReader(Path("quality.csv").read_text().splitlines()))
    assert {row["records"] for row in rows[1:-2]} == {"100"}
    assert sum(int(row["points"]) for row in rows) == len(cloud.read(Path("points.laz")))
    assert float(rows[3]["speed_m_s"]) == pytest.approx(50, rel=0.02)
    kept = read_written(work.inputs[1])
    assert (kept.clock, kept.has_attitudes) == ("week", True)
    assert len(points) == 1_000


def test_clocks_are_turned_into_each_other() -> None:
    time_s = np.array([1_440_437_439.749])  # of RTKLIB's text, 2025-08-28 17:30:39.749 of GPS
    assert on_clock(time_s, "gps", "utc")[0] == pytest.approx(1_756_402_221.749)
    assert on_clock(on_clock(time_s, "gps", "utc"), "utc", "gps")[0] == pytest.approx(time_s[0])
    assert on_clock(time_s, "gps", "week")[0] == pytest.approx(408_639.749)
    with pytest.raises(WorkError, match="no date"):
        on_clock(time_s, "day", "gps")


IN_ITS_OWN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tasks.inspection.conversation import Work
from tasks.line import importing
from tests.tasks.line_outcomes import most_memory_mb
importing.do(Work(raw=[Path(each) for each in sys.argv[2:]], parameters={"tile": "0"}))
print(most_memory_mb())
"""


@pytest.mark.scans
def test_an_import_of_many_points_needs_little_memory(tmp_path: Path) -> None:
    """Three chunks of points, from reading to writing, in a process of its own."""
    flown(tmp_path / "flight", 3_000_000)
    plan = make_plan(tmp_path / "flight", replace(NOBODY, heights="ellipsoid"), straight(tmp_path))
    replace(plan, tile_m=1_000.0).write(tmp_path / "plan.json")
    done = subprocess.run(
        [sys.executable, "-c", IN_ITS_OWN, str(REPOSITORY), "plan.json", "flight"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout.splitlines()[-1]) < 500
    assert cloud.Cloud(tmp_path / "points.laz").header.points > 2_900_000
