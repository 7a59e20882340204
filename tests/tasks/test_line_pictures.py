"""Each point of a report has the photograph or second of video taken nearest to it, from the files of
the flight to the page and the sheets."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from tasks.inspection.conversation import Work
from tasks.line import album, importing, reporting
from tasks.line.crs import Change, named
from tasks.line.las_header import FileFaultError
from tasks.line.photographs import place_of
from tasks.line.plan import PlanError, make_plan
from tasks.line.reporting import PAGE, SHEETS
from tasks.line.shots import SHOTS, read_shot
from tasks.line.tiles import Plan
from tests.tasks.made_report import SOUTH, WAYS, WEST, MadeReport, made_report
from tests.tasks.test_line_flight import flown

Place = tuple[float, float]
GPS, POSITION, SECONDS = 0x8825, 2, 8
RED, BLUE = (200, 30, 30), (30, 30, 200)


def degrees_of(place: Place) -> Place:
    way = Change(named("EPSG:32617", "metres"), named("EPSG:4326", "metres"))
    longitude, latitude, _ = way(np.array([place[0]]), np.array([place[1]]), np.zeros(1))
    return float(longitude[0]), float(latitude[0])


def photograph(path: Path, place: Place | None, colour: tuple[int, int, int]) -> None:
    """As a camera writes it: large, on its side, with the place where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = 6
    if place:
        longitude, latitude = degrees_of(place)
        told = exif.get_ifd(GPS)
        for number, side, value, names in ((1, 2, latitude, "NS"), (3, 4, longitude, "EW")):
            minutes, seconds = divmod(abs(value) * 3600, 60)
            told[number] = names[value < 0]
            told[side] = (minutes // 60, minutes % 60, seconds)
    Image.new("RGB", (3_000, 2_000), colour).save(path, exif=exif)


def film(path: Path, places: list[Place]) -> None:
    """A video with a picture of its own for each second, and the track that a DJI writes beside it."""
    with av.open(str(path), "w") as held:
        stream = held.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.gop_size = 640, 360, 10
        for number in range(10 * len(places)):
            shade = number // 10 * 20
            frame = av.VideoFrame.from_image(Image.new("RGB", (640, 360), (shade, 200, 0)))
            held.mux(stream.encode(frame))
        held.mux(stream.encode(None))
    cues = []
    for second, place in enumerate(places):
        longitude, latitude = degrees_of(place)
        cues.append(
            f"{second + 1}\n00:00:{second:02d},000 --> 00:00:{second:02d},999\n"
            f"[latitude: {latitude:.7f}] [longitude: {longitude:.7f}]\n"
        )
    path.with_suffix(".srt").write_text("\n".join(cues))


def along(metres: float) -> Place:
    x, y = np.array([WEST, SOUTH]) + metres * WAYS[0]
    return float(x), float(y)


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photograph above the first span, one that says no place, and a video above the second."""
    folder = tmp_path_factory.mktemp("flight")
    photograph(folder / "one.JPG", along(100.0), RED)
    photograph(folder / "nowhere.jpg", None, BLUE)
    film(folder / "film.mp4", [along(350.0 + 25.0 * each) for each in range(SECONDS)])
    return folder


def planned(flight: Path, folder: Path) -> Plan:
    """What the plan says of pictures, of a flight that has scans as well."""
    flown(folder / "scans", 2_000)
    for each in flight.iterdir():
        (folder / "scans" / each.name).write_bytes(each.read_bytes())
    return make_plan(folder / "scans", Plan(route=(), wkt="", name="made", heights="ellipsoid"))


def imported(made: MadeReport, flight: Path, folder: Path, plan: Plan) -> list[Path]:
    """What the import of each tile leaves of the pictures of a flight, and what it says of them."""
    paths = [each for each in made.paths if not each.name.startswith("import-")]
    named_plan = replace(made.plan, scans=(), videos=plan.videos, photographs=plan.photographs)
    named_plan.write(paths[0])
    for tile in range(named_plan.count):
        inside = folder / f"tile{tile}"
        inside.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(inside)
            importing.do(Work(raw=[paths[0], flight], parameters={"tile": str(tile)}))
        paths += [inside / importing.INDEX, inside / SHOTS]
    return paths


@pytest.fixture(scope="module")
def given(flight: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[MadeReport, list[Path]]:
    folder = tmp_path_factory.mktemp("given")
    made = made_report(folder, spans=2, points=12)
    return made, imported(made, flight, folder, planned(flight, folder))


def reported(paths: list[Path], folder: Path) -> str:
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        reporting.do(Work(raw=paths[:1], inputs=paths[1:]))
    return (folder / PAGE).read_text("utf-8")


def pictures_of(page: str) -> dict[str, tuple[tuple[int, int, int], str]]:
    """The pictures of a page by their names: the colour in the middle, and what is said of it."""
    found = re.findall(
        r'id="(f-\d+)"><img alt="" src="data:image/jpeg;base64,([^"]+)"><figcaption>([^<]+)<', page
    )
    told = {}
    for name, data, says in found:
        image = Image.open(io.BytesIO(base64.b64decode(data)))
        assert max(image.size) <= 400
        told[name] = image.getpixel((image.width // 2, image.height // 2)), says
    return told


def test_each_point_shows_what_was_taken_nearest_to_it(
    given: tuple[MadeReport, list[Path]], tmp_path: Path
) -> None:
    made, paths = given
    pictures = pictures_of(reported(paths, tmp_path / "report"))
    page = (tmp_path / "report" / PAGE).read_text("utf-8")
    red = [says for (r, g, _), says in pictures.values() if r > 150 > g]
    assert len(red) == 1
    assert red[0].startswith("one.JPG: points ")
    seconds = {int(says.split(":")[2]): r for (r, g, _), says in pictures.values() if g > 150}
    assert len(seconds) > 3
    for second, shade in seconds.items():
        assert shade == pytest.approx(20 * second, abs=12), "the picture is of that second"
    leads = re.findall(r'<td><a href="#(f-\d+)">([^<]+)</a></td>', page)
    assert {name for name, _ in leads} == set(pictures)
    for name, words in leads:
        assert pictures[name][1].split(":")[0] in words
    assert len(leads) == len(made.line.points), "all lie within 200 m of one"


def test_pictures_are_on_the_sheets_and_upright(
    given: tuple[MadeReport, list[Path]], tmp_path: Path
) -> None:
    page = reported(given[1], tmp_path / "report")
    sheets = (tmp_path / "report" / SHEETS).read_bytes()
    assert sheets.count(b"/Subtype /Image") == len(pictures_of(page))
    tall = [int(each) for each in re.findall(rb"/Height (\d+)", sheets)]
    assert max(tall) == 400, "the photograph was taken on its side"


def test_the_same_flight_leaves_the_same_bytes(flight: Path, tmp_path: Path) -> None:
    left = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        made = made_report(folder, spans=2, points=12)
        paths = imported(made, flight, folder, planned(flight, folder))
        left.append([each.read_bytes() for each in paths if each.name == SHOTS])
    assert left[0] == left[1]
    with zipfile.ZipFile(io.BytesIO(left[0][0])) as held:
        assert all(Image.open(held.open(each)).getexif() == {} for each in held.namelist())


def test_what_cannot_be_placed_is_counted_and_what_is_none_is_refused(
    flight: Path, tmp_path: Path
) -> None:
    plan = planned(flight, tmp_path)
    assert [each.path for each in plan.photographs] == ["one.JPG"]
    assert plan.survived["photographs that do not say where they were taken"] == 1
    longitude, latitude = degrees_of(along(100.0))
    assert plan.photographs[0][1:] == pytest.approx((longitude, latitude), abs=1e-6)
    (tmp_path / "scans" / "bad.jpg").write_bytes(b"no picture")
    with pytest.raises(PlanError, match=re.escape("bad.jpg: it is no photograph; expected a JPEG")):
        planned(flight, tmp_path)


def test_a_photograph_cut_off_is_counted_when_it_is_read(
    flight: Path, given: tuple[MadeReport, list[Path]], tmp_path: Path
) -> None:
    """Its place stands at its beginning, so the plan takes it."""
    made, _ = given
    cut, folder = tmp_path / "cut", tmp_path / "made"
    cut.mkdir()
    folder.mkdir()
    for each in flight.iterdir():
        data = each.read_bytes()
        (cut / each.name).write_bytes(data[:2_000] if each.suffix == ".JPG" else data)
    paths = imported(made, cut, folder, planned(cut, folder))
    told = [json.loads(each.read_text()) for each in paths if each.name == importing.INDEX]
    assert sum(each["survived"].get("photographs that cannot be shown", 0) for each in told) == 1
    page = reported(paths, tmp_path / "report")
    assert "photographs that cannot be shown" in page
    assert all(r < 200 or g > 150 for (r, g, _), _ in pictures_of(page).values())


@pytest.mark.parametrize("kind", ["", "no exif", "nonsense"])
def test_a_photograph_without_a_place_has_none(tmp_path: Path, kind: str) -> None:
    exif = Image.Exif()
    if kind == "nonsense":
        exif.get_ifd(GPS).update({1: "N", 2: (400.0, 1.0, 2.0), 3: "E", 4: (1.0, 2.0, 3.0)})
    extra = {} if kind == "no exif" else {"exif": exif}
    Image.new("RGB", (30, 20)).save(tmp_path / "a.jpg", **extra)
    assert place_of(tmp_path / "a.jpg") is None


def test_another_kind_of_picture_is_refused(tmp_path: Path) -> None:
    Image.new("RGB", (30, 20)).save(tmp_path / "a.jpg", "PNG")
    with pytest.raises(FileFaultError, match="it is no photograph"):
        place_of(tmp_path / "a.jpg")


def test_pictures_without_room_are_counted(
    given: tuple[MadeReport, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(album, "BYTES_MAX", 2_500)
    page = reported(given[1], tmp_path / "report")
    assert 0 < len(pictures_of(page)) < 4
    (left,) = re.findall(r"For (\d+) points there was no room", page)
    assert int(left) > 2


def test_what_is_no_picture_is_not_shown(tmp_path: Path) -> None:
    """Of a file that another machine made, nothing is believed."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as held:
        held.writestr("0-0.jpg", b"<svg onload=alert(1)>")
        held.writestr("0-1.jpg", b"\xff\xd8\xff" + bytes(10_000_000))
    (tmp_path / "b.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:40])
    assert read_shot(tmp_path / "a.zip", "0-0.jpg") == b""
    assert read_shot(tmp_path / "a.zip", "0-1.jpg") == b""
    assert read_shot(tmp_path / "a.zip", "0-2.jpg") == b""
    assert read_shot(tmp_path / "b.zip", "0-0.jpg") == b""
