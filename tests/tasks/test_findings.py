"""Aggregation and report: each plant once, and told to people."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tasks.inspection import aggregation, reporting
from tasks.inspection.points_of_interest import (
    PointOfInterest,
    read_points_of_interest,
    write_points_of_interest,
)
from tests.tasks.flown import said_by

NEAR = PointOfInterest("section1", 119.5, 3.9, 112.0, 2.1, 5.0, 40)
SAME = PointOfInterest("section2", 120.6, 4.2, 111.8, 2.4, 5.0, 25)
OTHER = PointOfInterest("section2", 180.0, -4.0, 113.0, 4.5, 5.0, 60)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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
