"""Import, aggregation and report: damaged raw folders, each plant once, and what people are told."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tasks.inspection import aggregation, importing, reporting
from tasks.inspection.points_of_interest import (
    PointOfInterest,
    read_points_of_interest,
    write_points_of_interest,
)
from tasks.inspection.raw_scan import BLOCK_RECORDS, read_raw, write_raw
from tasks.inspection.scan import read_scan
from tasks.inspection.survey import START_S
from tasks.inspection.track import read_track
from tests.tasks.flown import fly, said_by

RECORDS_OF_A_BLOCK = [(n, n % 7, -n % 5, 60_000 + n, 100) for n in range(3 * BLOCK_RECORDS)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_counts_become_seconds_radians_and_metres(tmp_path: Path) -> None:
    flown = fly(tmp_path)
    said = said_by(importing.do, ["-p", flown.raw])
    assert said.last == "TERMINATED scan.bin track.csv"
    shots = read_scan(Path("scan.bin"))
    assert len(shots) == len(flown.labels)
    assert shots == sorted(shots)
    assert all(START_S <= shot[0] <= START_S + 60 for shot in shots)
    assert all(30.0 < shot[3] < 90.0 for shot in shots)
    assert len(read_track(Path("track.csv")).attitudes.times) > 100


def test_blocks_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_raw(tmp_path / "scan.raw", 5.0, RECORDS_OF_A_BLOCK)
    start_s, blocks = read_raw(tmp_path / "scan.raw")
    assert start_s == 5.0
    assert [record for block in blocks for record in block.records] == RECORDS_OF_A_BLOCK


def test_a_damaged_block_is_left_out_and_the_others_are_good(tmp_path: Path) -> None:
    path = tmp_path / "scan.raw"
    write_raw(path, 5.0, RECORDS_OF_A_BLOCK)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    blocks = list(read_raw(path)[1])
    assert [block.damaged for block in blocks] == [False, True, False]
    assert [len(block.records) for block in blocks] == [BLOCK_RECORDS, 0, BLOCK_RECORDS]


def test_too_much_damage_is_an_error(tmp_path: Path) -> None:
    flown = fly(tmp_path)
    path = flown.raw / "scan.raw"
    data = bytearray(path.read_bytes())
    for place in range(500, len(data), 10_000):
        data[place] ^= 1
    path.write_bytes(data)
    said = said_by(importing.do, ["-p", flown.raw])
    assert said.code == 1
    assert said.last.endswith("blocks of scan.raw are damaged: copy it from the scanner again")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "scan.raw is too short to be a scan: copy it from the scanner again"),
        (
            b"PK\x03\x04" + bytes(40),
            "scan.raw is no scan of this scanner: it begins with b'PK\\x03\\x04'",
        ),
        (b"WRS1\x02\x00" + bytes(40), "scan.raw has version 2 of the format, known is 1"),
        (
            b"WRS1\x01\x00" + bytes(11),
            "scan.raw ends within a block: copy it from the scanner again",
        ),
        (b"WRS1\x01\x00" + bytes(10), "scan.raw has not one good record"),
    ],
)
def test_what_is_no_scan_is_said(tmp_path: Path, data: bytes, sentence: str) -> None:
    flown = fly(tmp_path)
    (flown.raw / "scan.raw").write_bytes(data)
    assert said_by(importing.do, ["-p", flown.raw]).lines[-1] == f"ERROR {sentence}"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("GPS,1.0,2,3", "track.csv, line 2: four numbers belong here"),
        ("SONAR,1,2,3,4", "track.csv, line 2: 'SONAR' is neither GPS nor IMU"),
        ("GPS,1,2,3,4\nGPS,1,2,3,4", "track.csv, line 3: the time goes back"),
        ("", "track.csv has no GPS lines: without them no point has a place"),
    ],
)
def test_what_is_no_track_is_said(tmp_path: Path, line: str, sentence: str) -> None:
    flown = fly(tmp_path)
    (flown.raw / "track.csv").write_text(f"source\n{line}".rstrip("\n") + "\n")
    assert said_by(importing.do, ["-p", flown.raw]).last == f"ERROR {sentence}"


def test_scan_and_track_of_different_flights_are_noticed(tmp_path: Path) -> None:
    flown = fly(tmp_path)
    lines = (flown.raw / "track.csv").read_text().splitlines()
    (flown.raw / "track.csv").write_text("\n".join(lines[: len(lines) // 2]))
    said = said_by(importing.do, ["-p", flown.raw])
    assert said.code == 1
    assert "they are not of one flight" in said.last or "no IMU lines" in said.last


def test_an_incomplete_folder_is_said(tmp_path: Path) -> None:
    flown = fly(tmp_path)
    (flown.raw / "track.csv").unlink()
    said = said_by(importing.do, ["-p", flown.raw])
    assert said.last == ("ERROR section1 has no track.csv: copy the whole folder from the recorder")
    assert said_by(importing.do, []).last == "ERROR one raw folder is wanted, given with -p"


NEAR = PointOfInterest("section1", 119.5, 3.9, 112.0, 2.1, 5.0, 40)
SAME = PointOfInterest("section2", 120.6, 4.2, 111.8, 2.4, 5.0, 25)
OTHER = PointOfInterest("section2", 180.0, -4.0, 113.0, 4.5, 5.0, 60)


def test_a_plant_in_the_overlap_counts_once(tmp_path: Path) -> None:
    write_points_of_interest(tmp_path / "a.csv", [NEAR])
    write_points_of_interest(tmp_path / "b.csv", [OTHER, SAME])
    said = said_by(aggregation.do, ["-i", "a.csv", "-i", "b.csv"])
    assert said.last == "TERMINATED points_of_interest.csv"
    found = read_points_of_interest(tmp_path / "points_of_interest.csv")
    assert [(each.section, each.distance_m, each.points) for each in found] == [
        ("section1", 2.1, 65),
        ("section2", 4.5, 60),
    ]


def test_the_order_of_the_tables_does_not_matter(tmp_path: Path) -> None:
    assert aggregation.merge_plants([NEAR, SAME, OTHER], 3.0) == aggregation.merge_plants(
        [OTHER, SAME, NEAR], 3.0
    )


def test_what_is_no_table_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n")
    assert said_by(aggregation.do, ["-i", "a.csv"]).last.startswith("ERROR a.csv is no table of")
    write_points_of_interest(tmp_path / "b.csv", [NEAR])
    with (tmp_path / "b.csv").open("a") as file:
        file.write("section9,east\n")
    assert said_by(aggregation.do, ["-i", "b.csv"]).last == (
        "ERROR b.csv, line 3 is no point of interest"
    )
    assert said_by(aggregation.do, []).last == (
        "ERROR nothing to put together: give tables of points of interest with -i"
    )


def test_the_report_tells_what_was_found(tmp_path: Path) -> None:
    write_points_of_interest(tmp_path / "p.csv", [OTHER, NEAR])
    said = said_by(reporting.do, ["-i", "p.csv", "-x", "title=Line_<7>"])
    assert said.last == "TERMINATED report.html report.md"
    text = (tmp_path / "report.md").read_text()
    assert "2 plants are nearer to a wire than it may be, 1 of them nearer than half" in text
    assert "| 1 | section1 | 119.5 | 3.9 | 112.0 | 2.10 | 5 | 40 |" in text
    page = (tmp_path / "report.html").read_text()
    assert "<h1>Line &lt;7&gt;</h1>" in page
    assert page.count("<circle") == 2
    ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])


def test_nothing_found_is_good_news(tmp_path: Path) -> None:
    write_points_of_interest(tmp_path / "p.csv", [])
    assert said_by(reporting.do, ["-i", "p.csv"]).code == 0
    assert "No vegetation is nearer" in (tmp_path / "report.md").read_text()
    assert "<svg" not in (tmp_path / "report.html").read_text()
